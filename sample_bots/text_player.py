"""No bot by itself: it reads words and knows nothing of JSON. adapter.py puts it at a table.

It plays the tile whose two pips differ least, so that its hand keeps many numbers.
"""

import sys


def wish(option):
    """How much it wants an option, a list of words such as ["2", "play", "5-4", "left"]."""
    _, what, *tile = option
    if what != "play":
        return -100
    high, low = map(int, tile[0].split("-"))
    return low - high


options = []
for line in sys.stdin:
    word, *rest = line.split()
    if word == "option":
        options.append(rest)
    elif word == "choose":
        print(max(options, key=wish)[0], flush=True)
        options = []
