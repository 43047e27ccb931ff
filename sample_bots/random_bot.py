"""Any legal option, each as likely as the next.

Chance without surprise: the dice are seeded with the question itself, so the same question
gets the same answer today, tomorrow and in another process. A game with this bot replays, and
a bug that it finds can be found again. Nothing is remembered, so eight `tables` may ask at once.
"""

import json
import random
import sys


def choose(line, options):
    """Index of an option; the same line always gives the same one."""
    return random.Random(line).randrange(len(options))


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type": "hello", "name": "random", "version": "1", "tables": 8}', flush=True)
        elif message["type"] == "ask":
            choice = choose(line.rstrip("\n"), message["options"])
            answer = {"type": "choose", "id": message["id"], "choice": choice}
            print(json.dumps(answer), flush=True)
