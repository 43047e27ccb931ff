"""Any legal option, each as likely as the next.

Chance without surprise: the dice are seeded with the question itself, so the same question
gets the same answer today, tomorrow and in another process. A game with this bot replays, and
a bug that it finds can be found again. Nothing has to be remembered between two questions.
"""

import json
import random
import sys


def choose(line, options):
    """Index of an option; the same line always gives the same one."""
    return random.Random(line).randrange(len(options))


def main():
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "name": "random", "version": "1"}
        elif kind == "ask":
            choice = choose(line.rstrip("\n"), message["options"])
            answer = {"type": "choose", "id": message["id"], "choice": choice}
        elif kind == "bye":
            break
        else:
            continue  # "game", "round", "end" and whatever comes later: nothing to say
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
