"""No bot by itself: it reads words and knows nothing of JSON. adapter.py puts it at a table.

It plays the tile whose two pips differ least, so that its hand keeps many numbers.
"""

import sys

options = {}  # the number of each, and how much it is wanted
for line in sys.stdin:
    word, *rest = line.split()
    if word == "option":
        number, what, *tile = rest
        high, low = map(int, tile[0].split("-")) if what == "play" else (100, 0)
        options[number] = low - high
    elif word == "choose":
        print(max(options, key=options.get), flush=True)
        options = {}
