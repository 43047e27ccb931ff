"""Plays up to 64 games at once and answers all waiting questions with one matrix multiplication.

A network costs nearly as much for one position as for a hundred: what counts is how often it is
called. So this bot says `"tables": 64` in its hello and is asked by up to 64 games over one pipe.
It reads all that has come, makes one batch of it, and writes all answers in one go. The referee
writes what is ready in one go as well, so the batches fill themselves: while this bot is thinking,
the next questions arrive.

Every option is a row of FEATURES, and `rows @ WEIGHTS` is what the options are worth. Put your
network there: the rest stays as it is. The numbers are whole and small, so that sums of floats are
exact: an answer never hangs on what else is in the batch.

A lack is known from a pass: who passed has neither of the two numbers, until it draws.
The WEIGHTS were found by playing some ten thousand rounds of four games against greedy.py.

Needs numpy, which comes with boneyard.
"""

import gc
import json
import os
from select import select

# One core is what a bot has, and threads would only fight for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

TABLES = 64
FEATURES = {
    "pips": 10,  # that are played
    "doubles": 79,  # that are played
    "own": 28,  # tiles of the rest of the hand that show a new end, both ends added up
    "safe": 46,  # 1 if the rest has such a tile at all
    "gone": 20,  # tiles in the line that show a new end, both ends added up
    "kinds": 12,  # numbers in the rest of the hand
    "same": 4,  # 1 if both new ends show the same number
    "next": 66,  # new ends that the next seat lacks
    "stuck": 55,  # 1 if the next seat lacks both
    "rivals": 27,  # new ends that rivals further on lack
    "partner": -75,  # new ends that the partner lacks
}
WEIGHTS = np.array([*FEATURES.values()], float)

PIPS = 19  # the largest set goes up to 18
TILES = [(high, low) for high in range(PIPS) for low in range(high + 1)]
NONE = len(TILES)  # the row of no tile
ROW = [[TILES.index((max(a, b), min(a, b))) for b in range(PIPS)] for a in range(PIPS)]
SHOWS = np.zeros((NONE + 1, PIPS))  # 1 where a tile shows a number
for row, tile in enumerate(TILES):
    SHOWS[row, tile] = 1
WEIGHT = np.array([*map(sum, TILES), 0.0])
IS_DOUBLE = np.array([*(high == low for high, low in TILES), False], float)
USUAL = 6  # pips of a tile that nobody has seen, about


def held(tile):
    """The row of a tile, whichever way it lies."""
    return ROW[tile[0]][tile[1]]


def other(tile, pip):
    """The number that shows when this tile lies on that number."""
    return tile[1] if tile[0] == pip else tile[0]


def play_of(option, ends):
    """What a play plays, as two rows, and the two ends that it leaves; None if it is no play."""
    if option["do"] == "play_two":
        left, right = option["left"], option["right"]
        return held(left), held(right), other(left, ends[0]), other(right, ends[1])
    if option["do"] != "play":
        return None
    tile = option["tile"]
    if option["end"] == "left":
        return held(tile), NONE, other(tile, ends[0]), ends[1]
    if option["end"] == "right":
        return held(tile), NONE, ends[0], other(tile, ends[1])
    return held(tile), NONE, tile[0], tile[1]


def lacked(ask, game):
    """The numbers that next seat (0), rivals further on (1) and partner (2) lack: (who, number)."""
    rules, seats = game.get("rules", {}), len(ask["hands"])
    turn, deal = rules.get("turn", {}), rules.get("deal", {})
    if turn.get("tiles", 1) == 2:
        return []  # who passes there has no pair, and that says little
    step = -1 if deal.get("direction") == "counter_clockwise" else 1
    who = [0, 2 if deal.get("partners") else 1, 1]
    known = passed_on(ask["events"], seats)
    order = [(ask["seat"] + step * far) % seats for far in range(1, seats)]
    return [(role, pip) for role, seat in zip(who, order, strict=False) for pip in known[seat]]


def passed_on(events, seats):
    """For each seat: the numbers at the ends when it passed, unless it has drawn since."""
    known, ends = [set() for _ in range(seats)], ()
    for event in events:
        do = event["do"]
        if do == "play":
            tile, end = event["tile"], event["end"]
            left = ends[0] if end == "right" and ends else tile[0]
            right = ends[1] if end == "left" and ends else tile[1]
            ends = (left, right)
        elif do == "turn_up":
            ends = tuple(event["tile"])
        elif do == "pass":
            known[event["seat"]].update(ends)
        elif do == "draw":
            known[event["seat"]].clear()
    return known


def marked(shape, places):
    """Zeros, with ones at these places."""
    table = np.zeros(shape)
    if places:
        table[tuple(np.array(places).T)] = 1
    return table


def features(asks, games, plays):
    """A row of FEATURES for each play: its question's number, two tiles and two ends."""
    many = range(len(asks))
    hand = marked((len(asks), NONE + 1), [(at, held(t)) for at in many for t in asks[at]["hand"]])
    line = marked((len(asks), NONE + 1), [(at, held(t)) for at in many for t in asks[at]["line"]])
    known = [(at, *lack) for at in many for lack in lacked(asks[at], games[at])]
    lacks = marked((len(asks), 3, PIPS), known)
    of, one, two, left, right = np.array(plays).T
    rows = np.arange(len(plays))
    rest = hand[of]
    rest[rows, one] = rest[rows, two] = 0
    shown, gone = rest @ SHOWS, (line @ SHOWS)[of]
    own = shown[rows, left] + shown[rows, right]
    open_to = lacks[of, :, left] + lacks[of, :, right]
    return np.stack(
        [
            WEIGHT[one] + WEIGHT[two],
            IS_DOUBLE[one] + IS_DOUBLE[two],
            own,
            own > 0,
            gone[rows, left] + gone[rows, right],
            (shown > 0).sum(1),
            left == right,
            open_to[:, 0],
            open_to[:, 0] == 2,
            open_to[:, 1],
            open_to[:, 2],
        ],
        1,
    )


def choices(asks, games):
    """The index of the best option of each question; those without a play take a rule of thumb."""
    plays, places, best = [], [], []
    for number, ask in enumerate(asks):
        before = len(plays)
        for index, option in enumerate(ask["options"]):
            play = play_of(option, ask["ends"])
            if play:
                plays.append((number, *play))
                places.append(index)
        best.append(thumb(ask) if len(plays) == before else None)
    if not plays:
        return best
    worth = (features(asks, games, plays) @ WEIGHTS).tolist()
    highest = [float("-inf")] * len(asks)
    for (number, *_), index, value in zip(plays, places, worth, strict=True):
        if value > highest[number]:  # of equals the first
            highest[number], best[number] = value, index
    return best


def thumb(ask):
    """Where there is nothing to play: draw, check, keep; call if the hand looks the lightest."""
    kinds = [option["do"] for option in ask["options"]]
    others = [many for seat, many in enumerate(ask["hands"]) if seat != ask["seat"]]
    if "call" in kinds and sum(map(sum, ask["hand"])) >= USUAL * min(others):
        return kinds.index("go_on")
    return kinds.index("refuse") if "refuse" in kinds else 0


def arrivals():
    """All lines that have come, again and again, until stdin is closed."""
    rest = b""
    while data := os.read(0, 1 << 16):
        while select([0], [], [], 0)[0] and (more := os.read(0, 1 << 16)):
            data += more
        *lines, rest = (rest + data).split(b"\n")
        yield map(json.loads, lines)


def say(messages):
    """Write all of them in one go."""
    said = "".join(json.dumps(message) + "\n" for message in messages).encode()
    while said:
        said = said[os.write(1, said) :]


def main():
    gc.disable()  # no message holds itself: to look for such circles costs more than reading it
    games = {}
    for messages in arrivals():
        asks, over = [], False
        for message in messages:
            kind = message["type"]
            if kind == "hello":
                say([{"type": "hello", "name": "batched", "version": "1", "tables": TABLES}])
            elif kind == "game":
                games[message["game"]] = message
            elif kind == "end":
                games.pop(message["game"], None)
            elif kind == "ask":
                asks.append((message, games.get(message["game"], {})))
            over = over or kind == "bye"
        if asks:
            chosen = choices(*zip(*asks, strict=True))
            say(
                {"type": "choose", "id": ask["id"], "choice": choice}
                for (ask, _), choice in zip(asks, chosen, strict=True)
            )
        if over:
            return


if __name__ == "__main__":
    main()
