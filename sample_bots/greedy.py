"""The heaviest tile that fits, doubles first.

Two rules of thumb make a decent player:

* Pips that are still in the hand at the end are the other side's points, so heavy tiles go
  early.
* A double fits only one number where any other tile fits two, so it is the hardest to get rid
  of: a double goes before any tile that is not one.

It never draws while it can play: each tile drawn is one more to get rid of.
"""

import json
import sys


def worth(tile):
    """Rank a tile: tuples compare from the left, so any double beats the heaviest other tile."""
    high, low = tile
    return high == low, high + low


def choose(options):
    """Index of the best play; the first option where there is nothing to play.

    The options may be of a kind that this bot has never heard of (a bid, two tiles at once).
    It leaves those alone and falls back to the first, which is always legal.
    """
    plays = [index for index, option in enumerate(options) if option["do"] == "play"]
    if not plays:
        return 0
    # max() keeps the first of equals: the same question gets the same answer
    return max(plays, key=lambda index: worth(options[index]["tile"]))


def main():
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "name": "greedy", "version": "1"}
        elif kind == "ask":
            choice = choose(message["options"])
            answer = {"type": "choose", "id": message["id"], "choice": choice}
        elif kind == "bye":
            break
        else:
            continue  # "game", "round", "end" and whatever comes later: nothing to say
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
