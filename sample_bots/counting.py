"""Counts what the others cannot hold and keeps its own numbers open.

Every tile that is neither in the hand nor in the line is somewhere unseen. Events narrow down
where: a seat that passes holds neither of the numbers at the ends. Where a seat may draw only
when it cannot play, a draw says the same; where it may draw as it likes, a draw is only a hint
(most players draw when they must). But a tile drawn after that may be anything.

So for each number the bot keeps `may[number]`, how many tiles of another seat may show it: all
of them at first, none after a pass, one more with each draw. Nothing is remembered between two
questions: the events are read afresh each time, only the rules come from the `game` message.

Then each play gets a mark: for the pips it sheds, for a double out early, for ends that the next
seat cannot serve (and the partner can), for ends that the own hand can. It never draws while it
can play. The WEIGHTS were found by playing some thousand games against the rungs below; find
better ones! `counting.py --stuck 15 --safe 1` plays with others, and `[tune]` can look for
them. Where a turn takes two tiles to be stuck is common, so other weights hold there.
"""

import json
import math
import sys

WEIGHTS = {"pips": 0.065, "double": 1.1, "stuck": 20, "fits": 0.3, "safe": 0.7, "kinds": 0.16}
FOR_TWO = {"pips": 0.2, "double": 0.5, "stuck": 4, "fits": 0.2, "safe": 2.0, "kinds": 0.25}
LATER = {"next": 1.0, "partner": -0.5, "later": 0.25}  # the worth of a seat being stuck
HINT = 0.15  # the share of `may` that stays after a draw that was not forced


def tiles_of(option):
    """The tiles that an option plays: one, two, or none if it is no play."""
    if option["do"] == "play_two":
        return [option["left"], option["right"]]
    return [option["tile"]] if option["do"] == "play" else []


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
    at_once = turn.get("draw_limit") == "two_at_once"  # the second draw says nothing: one may fit
    last, ends = None, [None, None]  # the numbers to match, None while they are not known
    for event in ask["events"]:
        do, its_own = event["do"], event.get("seat") == seat
        is_second, last = at_once and last == do == "draw", do
        if do in ("draw", "pass") and its_own:
            for number in set() if is_second else set(ends) - {None}:
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


def chances(seat, ask, rules):
    """For each tile neither in the hand nor in the line: the chance that this seat holds it."""
    seen, deal = [tuple(sorted(tile)) for tile in ask["hand"] + ask["line"]], rules.get("deal", {})
    numbers = range(deal.get("highest_pip", max([6, *(high for _, high in seen)])) + 1)
    tiles = {(low, high) for high in numbers for low in range(high + deal.get("doubles", True))}
    may = what_it_may_hold(seat, ask, rules, numbers)
    share = {tile: min(may[tile[0]], may[tile[1]]) for tile in tiles.difference(seen)}
    total = sum(share.values()) or 1.0
    return {tile: min(1.0, ask["hands"][seat] * part / total) for tile, part in share.items()}


def roles(ask, rules):
    """For each other seat: the worth to this bot of that seat being stuck."""
    seats, deal = len(ask["hands"]), rules.get("deal", {})
    step = -1 if deal.get("direction") == "counter_clockwise" else 1
    across = "partner" if deal.get("partners") else "later"
    order = ["next", across, *["later"] * seats][: seats - 1]
    return {
        (ask["seat"] + turns * step) % seats: LATER[role] for turns, role in enumerate(order, 1)
    }


def ends_after(option, ends):
    """The two ends when this has been played."""
    if option["do"] == "play_two":
        return sum(option["left"]) - ends[0], sum(option["right"]) - ends[1]
    tile, end = option["tile"], option["end"]
    if end == "left":
        return sum(tile) - ends[0], ends[1]
    return (ends[0], sum(tile) - ends[1]) if end == "right" else tuple(tile)


def stuck(ends, chance, two):
    """The chance that a seat cannot play; with `two` it needs two tiles, one for each end."""
    if two:
        return 1.0 - (1.0 - stuck(ends[:1], chance, False)) * (1.0 - stuck(ends[1:], chance, False))
    return math.prod(1.0 - likely for (a, b), likely in chance.items() if a in ends or b in ends)


def can_go_on(rest, ends, two):
    """Tell if the rest of the hand has a play on these ends; two tiles if a turn takes two."""
    left, right = ([tile for tile in rest if end in tile] for end in ends)
    return any(one != another for one in left for another in right) if two else left or right


def mark(option, ask, seats):
    """How good this play looks; `seats` has the worth and the chances of each other seat."""
    played, two = tiles_of(option), option["do"] == "play_two"
    weights = FOR_TWO if two else WEIGHTS
    rest = [tile for tile in ask["hand"] if tile not in played]
    ends = ends_after(option, ask["ends"])
    return (
        weights["pips"] * sum(map(sum, played))
        + weights["double"] * sum(high == low for high, low in played)
        + weights["stuck"] * sum(worth * stuck(ends, each, two) for worth, each in seats)
        + weights["fits"] * sum(ends[0] in tile or ends[1] in tile for tile in rest)
        + weights["safe"] * bool(can_go_on(rest, ends, two))
        + weights["kinds"] * len({number for tile in rest for number in tile})
    )


def looks_lightest(ask):
    """Tell whether this hand counts less than each other one should, at six pips a tile."""
    others = [many for seat, many in enumerate(ask["hands"]) if seat != ask["seat"]]
    return sum(map(sum, ask["hand"])) < 6 * min(others)


def choose(ask, rules):
    """Index of the best play; where there is nothing to play, a rule of thumb or the first."""
    options = ask["options"]
    plays = [index for index, option in enumerate(options) if tiles_of(option)]
    if plays:
        seats = [(worth, chances(seat, ask, rules)) for seat, worth in roles(ask, rules).items()]
        return max(plays, key=lambda index: mark(options[index], ask, seats))
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
    rules = {}  # of this game, for a table may play by other rules than the one before
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type": "hello", "name": "counting", "version": "1"}', flush=True)
        elif message["type"] == "game":
            rules = {message["game"]: message["rules"]}
        elif message["type"] == "ask":
            choice = choose(message, rules.get(message["game"], {}))
            answer = {"type": "choose", "id": message["id"], "choice": choice}
            print(json.dumps(answer), flush=True)
