"""Plays up to 64 games at once and answers all waiting questions with one matrix multiplication.

A network costs nearly as much for one position as for a hundred: what counts is how often it is
called. So this bot says `"tables": 64` in its hello and is asked by up to 64 games over one pipe.
It reads all that has come, makes one batch of it, and writes all answers in one go. The referee
writes what is ready in one go as well, so the batches fill themselves: while this bot is thinking,
the next questions arrive.

Every play is a row of FEATURES, and `rows @ WEIGHTS` is what the plays are worth. Put your network
there: the rest stays as it is. The numbers are whole and small, so that sums of floats are exact:
an answer never depends on what else is in the batch.

A seat that passed lacks both numbers at the ends of that moment, until it draws.
The WEIGHTS were found by playing some ten thousand rounds of four games against greedy.py.

Needs numpy, which comes with boneyard.
"""

import gc
import json
import os

# One core is what a bot has, and threads would only fight for it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

TABLES = 64
FEATURES = {
    "pips": 10,  # that are played
    "double": 79,  # 1 if a double is played
    "own": 28,  # tiles of the rest of the hand that show a new end, both ends added up
    "safe": 46,  # 1 if the rest has such a tile at all
    "gone": 20,  # tiles in the line that show a new end, both ends added up
    "kinds": 12,  # numbers in the rest of the hand
    "same": 4,  # 1 if both new ends show the same number
    "next": 66,  # new ends that the next seat lacks
    "stuck": 55,  # 1 if the next seat lacks both
}
WEIGHTS = np.array([*FEATURES.values()], float)

PIPS = 19  # the largest set goes up to 18
TILES = [(high, low) for high in range(PIPS) for low in range(high + 1)]
ROW = [[TILES.index((max(a, b), min(a, b))) for b in range(PIPS)] for a in range(PIPS)]
SHOWS = np.zeros((len(TILES), PIPS))  # 1 where a tile shows a number
for row, tile in enumerate(TILES):
    SHOWS[row, tile] = 1
WEIGHT = np.array([*map(sum, TILES)], float)
IS_DOUBLE = np.array([high == low for high, low in TILES], float)


def play_of(option, ends):
    """The row of the tile and the two ends that a play leaves; None if it is no play of a tile."""
    if option["do"] != "play":
        return None
    (a, b), end = option["tile"], option["end"]
    if end == "left":
        a, b = a + b - ends[0], ends[1]
    elif end == "right":
        a, b = ends[0], a + b - ends[1]
    return ROW[option["tile"][0]][option["tile"][1]], a, b


def lacks_of_next(ask, game):
    """The numbers that the next seat lacks, because it passed on them and has not drawn since."""
    deal = game.get("rules", {}).get("deal", {})
    step = -1 if deal.get("direction") == "counter_clockwise" else 1
    seat, lacks, ends = (ask["seat"] + step) % len(ask["hands"]), set(), ()
    for event in ask["events"]:
        do = event["do"]
        if do in ("play", "turn_up"):
            (left, right), end = event["tile"], event.get("end")
            ends = (ends[0] if end == "right" else left, ends[1] if end == "left" else right)
        elif do == "pass" and event["seat"] == seat:
            lacks.update(ends)
        elif do == "draw" and event["seat"] == seat:
            lacks.clear()
    return lacks


def marked(columns, each):
    """A row of zeros for each of these lists, with ones at the places that it names."""
    table = np.zeros((len(each), columns))
    for row, places in zip(table, each, strict=True):
        row[list(places)] = 1
    return table


def features(asks, games, plays):
    """A row of FEATURES for each play: its question's number, its tile's row and two ends."""
    hand = marked(len(TILES), [[ROW[a][b] for a, b in ask["hand"]] for ask in asks])
    line = marked(len(TILES), [[ROW[a][b] for a, b in ask["line"]] for ask in asks])
    lacks = marked(PIPS, list(map(lacks_of_next, asks, games)))
    of, tile, left, right = np.array(plays).T
    rows = np.arange(len(plays))
    rest = hand[of]
    rest[rows, tile] = 0
    shown, gone = rest @ SHOWS, (line @ SHOWS)[of]
    own = shown[rows, left] + shown[rows, right]
    closed = lacks[of, left] + lacks[of, right]
    columns = [WEIGHT[tile], IS_DOUBLE[tile], own, own > 0, gone[rows, left] + gone[rows, right]]
    columns += [(shown > 0).sum(1), left == right, closed, closed == 2]
    return np.stack(columns, 1)


def choices(asks, games):
    """The index of the best option of each question; those without a play take a rule of thumb."""
    plays, places, best = [], [], []
    for number, ask in enumerate(asks):
        found = [play_of(option, ask["ends"]) for option in ask["options"]]
        plays += [(number, *play) for play in found if play]
        places += [index for index, play in enumerate(found) if play]
        best.append(None if any(found) else thumb(ask))
    if not plays:
        return best
    worth = (features(asks, games, plays) @ WEIGHTS).tolist()
    highest = [float("-inf")] * len(asks)
    for (number, *_), index, value in zip(plays, places, worth, strict=True):
        if value > highest[number]:  # of equals the first
            highest[number], best[number] = value, index
    return best


def thumb(ask):
    """The rule of thumb without a play: draw, check, keep; call if the hand looks the lightest."""
    kinds = [option["do"] for option in ask["options"]]
    others = [many for seat, many in enumerate(ask["hands"]) if seat != ask["seat"]]
    if "call" in kinds and sum(map(sum, ask["hand"])) >= 6 * min(others):
        return kinds.index("go_on")
    return kinds.index("refuse") if "refuse" in kinds else 0


def arrivals():
    """All lines that have come, again and again, until stdin is closed."""
    rest = b""
    while data := os.read(0, 1 << 20):  # more than a pipe holds
        *lines, rest = (rest + data).split(b"\n")
        yield map(json.loads, lines)


def say(messages):
    """Write all of them in one go."""
    print("\n".join(map(json.dumps, messages)), flush=True)


if __name__ == "__main__":
    gc.disable()  # messages have no reference cycles: looking for them takes longer than reading
    games = {}
    for messages in arrivals():
        asks = []
        for message in messages:
            kind = message["type"]
            if kind == "hello":
                say([{"type": "hello", "name": "batched", "version": "1", "tables": TABLES}])
            elif kind == "game":
                games[message["game"]] = message
            elif kind == "end":
                games.pop(message["game"], None)
            elif kind == "ask":
                asks.append(message)
        if asks:
            best = choices(asks, [games.get(ask["game"], {}) for ask in asks])
            pairs = zip(asks, best, strict=True)
            say({"type": "choose", "id": ask["id"], "choice": choice} for ask, choice in pairs)
