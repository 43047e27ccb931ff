"""Keeps its own numbers in play: looks at its own hand and the two ends, and at nothing else.

The next rung after greedy.py. Shedding pips is not all: whoever cannot play must draw or pass,
so a good play is one after which the *rest* of the hand still fits. Four things make a mark:

* pips: heavy tiles still go early, and doubles, which fit one number only;
* fits: how many tiles of the rest fit the ends that this play leaves, and above all one;
* kinds: how many different numbers the rest holds, for variety fits whatever the others do;
* suit: an end with a number of which the rest holds many is likely one that nobody else can
  serve: of seven tiles with a number, those in this hand are in no other.

It draws no conclusions from what the others do. That is the next rung: counting.py.
Like greedy.py it offers `tables`, for it answers fast and remembers nothing.
The WEIGHTS were found by playing some thousand games against greedy.py; find better ones!
`suit.py --pips 0.1 --safe 1` plays with others, and `[tune]` in an event can look for them.
"""

import json
import sys

WEIGHTS = {"pips": 0.07, "double": 2.5, "fits": 0.4, "safe": 2.0, "kinds": 0.25, "suit": 0.5}


def tiles_of(option):
    """The tiles that an option plays: one, two, or none if it is no play."""
    if option["do"] == "play_two":
        return [option["left"], option["right"]]
    return [option["tile"]] if option["do"] == "play" else []


def ends_after(option, ends):
    """The two ends when this has been played."""
    if option["do"] == "play_two":
        return sum(option["left"]) - ends[0], sum(option["right"]) - ends[1]
    tile, end = option["tile"], option["end"]
    if end == "left":
        return sum(tile) - ends[0], ends[1]
    return (ends[0], sum(tile) - ends[1]) if end == "right" else tuple(tile)


def can_go_on(rest, ends, two):
    """Tell if the rest of the hand has a play on these ends; two tiles if a turn takes two."""
    left, right = ([tile for tile in rest if end in tile] for end in ends)
    return any(one != another for one in left for another in right) if two else left or right


def mark(option, ask):
    """How good this play looks."""
    played = tiles_of(option)
    rest = [tile for tile in ask["hand"] if tile not in played]
    ends = ends_after(option, ask["ends"])
    return (
        WEIGHTS["pips"] * sum(map(sum, played))
        + WEIGHTS["double"] * sum(high == low for high, low in played)
        + WEIGHTS["fits"] * sum(ends[0] in tile or ends[1] in tile for tile in rest)
        + WEIGHTS["safe"] * bool(can_go_on(rest, ends, option["do"] == "play_two"))
        + WEIGHTS["kinds"] * len({pip for tile in rest for pip in tile})
        + WEIGHTS["suit"] * sum(pip in tile for tile in rest for pip in ends)
    )


def looks_lightest(ask):
    """Tell whether this hand counts less than each other one should, at six pips a tile."""
    others = [many for seat, many in enumerate(ask["hands"]) if seat != ask["seat"]]
    return sum(map(sum, ask["hand"])) < 6 * min(others)


def choose(ask):
    """Index of the best play; where there is nothing to play, a rule of thumb or the first."""
    options = ask["options"]
    plays = [index for index, option in enumerate(options) if tiles_of(option)]
    if plays:
        return max(plays, key=lambda index: mark(options[index], ask))
    kinds = [option["do"] for option in options]
    if "call" in kinds and not looks_lightest(ask):
        return kinds.index("go_on")
    # So many doubles are a bad hand; draw rather than pass, check rather than bid.
    return kinds.index("refuse") if "refuse" in kinds else 0


if __name__ == "__main__":
    for option, value in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        if (name := option.removeprefix("--")) not in WEIGHTS:
            sys.exit(f"There is no weight {name}. There are: {', '.join(WEIGHTS)}.")
        WEIGHTS[name] = float(value)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type": "hello", "name": "suit", "version": "1", "tables": 8}', flush=True)
        elif message["type"] == "ask":
            answer = {"type": "choose", "id": message["id"], "choice": choose(message)}
            print(json.dumps(answer), flush=True)
