"""Counts what the others cannot hold and keeps its own numbers open.

Every tile that is neither in the hand nor in the line is somewhere unseen. Events narrow down
where: a seat that passes holds neither of the numbers at the ends. Where a seat may draw only
when it cannot play, a draw says the same; where it may draw as it likes, a draw is only a hint
(most players draw when they must). But a tile drawn after that may be anything.

So for each number the bot keeps `may[number]`, how many tiles of the next seat may show it: all
of them at first, none after a pass, one more with each draw. Nothing is remembered between two
questions: the events are read afresh each time, only the rules come from the `game` message.

Then each play gets a mark: for the pips it sheds, for a double out early, for ends that the next
seat cannot serve, for ends that the own hand can. It never draws while it can play. The WEIGHTS
were found by playing some thousand games against greedy.py; find better ones!
"""

import json
import sys

WEIGHTS = {"pips": 0.065, "double": 1.1, "stuck": 20, "fits": 0.3, "safe": 0.7, "kinds": 0.16}
HINT = 0.15  # what is left of `may` after a draw that need not have been


def what_it_may_hold(seat, ask, rules, numbers):
    """For each number: how many tiles of this seat may show it."""
    drawn = sum(event["do"] == "draw" and event["seat"] == seat for event in ask["events"])
    played = sum(event["do"] == "play" and event["seat"] == seat for event in ask["events"])
    tiles = ask["hands"][seat] + played - drawn  # what it was dealt
    may = dict.fromkeys(numbers, float(tiles))
    turn = rules.get("turn", {"draw_when_able": True})
    if turn.get("tiles", 1) != 1:  # it needs two tiles that fit: to lack a pair says little
        return dict.fromkeys(numbers, float(ask["hands"][seat]))
    left_after_draw = (HINT if rules else 1.0) if turn["draw_when_able"] else 0.0
    ends = [None, None]  # the numbers to match, None while they are not known
    for event in ask["events"]:
        do, its_own = event["do"], event.get("seat") == seat
        if do in ("draw", "pass") and its_own:
            for number in set(ends) - {None}:
                may[number] *= left_after_draw if do == "draw" else 0.0
            if do == "draw":
                tiles += 1
                may = {number: count + 1 for number, count in may.items()}
        elif do == "play":
            tile = event["tile"]
            if event["end"] != "right":
                ends[0] = tile[0]
            if event["end"] != "left":
                ends[1] = tile[1]
            if its_own:
                tiles -= 1
                may = {n: min(tiles, max(0, may[n] - (n in tile))) for n in numbers}
        elif do not in ("draw", "pass", "leads", "lot"):
            ends = [None, None]  # something new: better to know less than to be wrong
    return may


def chances(ask, rules):
    """For each unseen tile: how likely it is in the hand of the next seat."""
    seen = [tuple(sorted(tile)) for tile in ask["hand"] + ask["line"]]
    highest = rules.get("deal", {}).get("highest_pip", max([6, *(high for _, high in seen)]))
    numbers = range(highest + 1)
    tiles = {(low, high) for high in numbers for low in numbers if low <= high}
    if not rules.get("deal", {}).get("doubles", True):
        tiles = {(low, high) for low, high in tiles if low != high}
    seat = (ask["seat"] + 1) % len(ask["hands"])
    may = what_it_may_hold(seat, ask, rules, numbers)
    share = {tile: min(may[tile[0]], may[tile[1]]) for tile in tiles.difference(seen)}
    total = sum(share.values()) or 1.0
    return {tile: min(1.0, ask["hands"][seat] * part / total) for tile, part in share.items()}


def mark(option, ask, unseen):
    """How good this play looks."""
    high, low = option["tile"]
    ends = list(ask["ends"])
    if option["end"] == "lead":
        ends = [high, low]
    else:
        side = 0 if option["end"] == "left" else 1
        ends[side] = low if ends[side] == high else high
    stuck = 1.0
    for tile, chance in unseen.items():
        if tile[0] in ends or tile[1] in ends:
            stuck *= 1.0 - chance
    rest = [tile for tile in ask["hand"] if tile != option["tile"]]
    fits = sum(tile[0] in ends or tile[1] in ends for tile in rest)
    return (
        WEIGHTS["pips"] * (high + low)
        + WEIGHTS["double"] * (high == low)
        + WEIGHTS["stuck"] * stuck
        + WEIGHTS["fits"] * fits
        + WEIGHTS["safe"] * (fits > 0)
        + WEIGHTS["kinds"] * len({number for tile in rest for number in tile})
    )


def choose(ask, rules):
    """Index of the best play; the first option where there is nothing to play."""
    options = ask["options"]
    plays = [index for index, option in enumerate(options) if option["do"] == "play"]
    if not plays:
        return 0
    unseen = chances(ask, rules)
    return max(plays, key=lambda index: mark(options[index], ask, unseen))


def main():
    rules = {}  # by game, for a table may play by other rules than the one before
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "name": "counting", "version": "1"}
        elif kind == "ask":
            choice = choose(message, rules.get(message["game"], {}))
            answer = {"type": "choose", "id": message["id"], "choice": choice}
        elif kind == "bye":
            break
        else:
            if kind == "game":
                rules[message["game"]] = message["rules"]
            elif kind == "end":
                rules.pop(message["game"], None)
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
