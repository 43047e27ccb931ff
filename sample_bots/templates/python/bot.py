"""my-bot: a bot for draw dominoes. Your idea goes into `choose`."""

import json
import sys


def choose(ask):
    """Index of the option that the bot takes. It may think for ask["time_ms"] milliseconds.

    `ask` is all that you may know: your "hand", the "line" and its open "ends", how many tiles
    the other "hands" hold, what happened in "events". The fields are explained in SPEC.md.
    """
    weights = [weight(option) for option in ask["options"]]
    return weights.index(max(weights))  # the heaviest play; the first option if there is none


def weight(option):
    """The pips that an option plays; whatever plays nothing (draw, pass, bid) weighs less."""
    if option["do"] == "play":
        return sum(option["tile"])
    if option["do"] == "play_two":
        return sum(option["left"]) + sum(option["right"])
    return -1


def index_of(ask, tile, end=None):
    """Index of the option that plays a tile, either way round, at an end; None if there is none."""
    for index, option in enumerate(ask["options"]):
        here = option["do"] == "play" and end in (None, option["end"])
        if here and sorted(option["tile"]) == sorted(tile):
            return index
    return None


def say(message):
    """Write a line, at once: without the flush it would wait here, and the bot would be late."""
    print(json.dumps(message), flush=True)


# The referee writes one JSON object a line. Two of them want an answer, the others are news.
# Print nothing else: to look inside the bot, print(..., file=sys.stderr).
# An answer may also have "info": {"value": 1.5}: replays chart such numbers.
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "hello", "name": "my-bot", "version": "1"})
    elif message["type"] == "ask":
        say({"type": "choose", "id": message["id"], "choice": choose(message)})
