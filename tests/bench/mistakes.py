"""How well reviewed losses rank bots, and how often they show a planted blunder.

    python -m tests.bench.mistakes FOLDER [PLAYER]      of an event that has been played
    python -m tests.bench.mistakes --blunders GAME [PLAYER]

The first prints for each bot its share of wins and its mean loss a decision, and Spearman's rank
correlation between both. The second plays games of counting against itself, in which seat 0 takes
at one decision in fifty the option that counting likes least; it prints how many of these blunders
are among the ten dearest decisions of their games, by how much they really cost: that is found in
other worlds than those of the review.
"""

import importlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame, read_games
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from arena.rules.variants import find_variant
from arena.valuation.decision_loss import review_seat
from arena.valuation.playouts import PLAYERS
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import GameRecord
from tests.support.tables import sitting

counting: Any = importlib.import_module("sample_bots.counting")
ONE_IN = 50
"""A blunder is planted at one decision in so many."""
GAMES, DEAREST, WORLDS, MANY_WORLDS = 40, 10, 64, 1_000
CLASSES = ((0.0, 4.0), (4.0, 8.0), (8.0, 1_000.0))
"""Blunders by what they cost, in points."""


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 0, equal ones sharing theirs."""
    below = (sum(other < one for other in values) for one in values)
    same = (sum(other == one for other in values) for one in values)
    return [less + (equal - 1) / 2 for less, equal in zip(below, same, strict=True)]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation of two lists."""
    pairs = zip(ranks(one), ranks(other), strict=True)
    many = len(one)
    return 1 - 6 * sum((first - second) ** 2 for first, second in pairs) / (many**3 - many)


def print_ranking(folder: Path, player: str) -> None:
    """Print the bots of an event by their wins, with their mean loss."""
    wins, losses = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for path in sorted((folder / "games").iterdir()):
        for logged in read_games(path):
            if not logged.result:
                continue
            places = logged.result.places
            for seat, bot in enumerate(logged.sitting.seats):
                lost = [places[seat] - place for at, place in enumerate(places) if at != seat]
                wins[bot].append(fmean(1.0 if by < 0 else 0.5 * (by == 0) for by in lost))
                reviewed = review_seat(logged, seat, WORLDS, PLAYERS[player])
                losses[bot] += [one.loss for one in reviewed]
    bots = sorted(wins, key=lambda bot: fmean(wins[bot]))
    for bot in bots:
        print(f"{bot:12} {fmean(wins[bot]):6.1%} won, {fmean(losses[bot]):6.3f} lost a decision")
    shares, costs = ([fmean(of[bot]) for bot in bots] for of in (wins, losses))
    print(f"Spearman: {spearman(shares, [-cost for cost in costs]):.3f}")


def disliked(ask: dict[str, Any], rules: dict[str, Any], choice: int) -> int:
    """Return the play that counting likes least; its choice if there is but one."""
    options = ask["options"]
    plays = [at for at, option in enumerate(options) if counting.tiles_of(option)]
    seats = [
        (worth, counting.chances(seat, ask, rules))
        for seat, worth in counting.roles(ask, rules).items()
    ]
    if len(plays) < 2:
        return choice
    return min(plays, key=lambda at: counting.mark(options[at], ask, seats))


def blundered(name: str, board: int) -> tuple[LoggedGame, list[int]]:
    """Play a game of counting against itself; return the questions at which seat 0 blundered."""
    rules, luck, names = find_variant(name), random.Random(board), ("ada", "bob")
    setup = GameSetup(f"{board}.ada.bob", 1, board, names, rules, Clock())
    referee = Referee(setup, board_seed(b"mistakes", "bench", board))
    plain, found, number = msgspec.to_builtins(rules), list[int](), 0
    while True:
        lines = dict(referee.outgoing())
        if (asked := referee.awaiting) is None:
            break
        ask = json.loads(lines[asked.seat])
        choice = counting.choose(ask, plain)
        number += asked.seat == 0
        if asked.seat == 0 and luck.random() < 1 / ONE_IN:
            worst = disliked(ask, plain, choice)
            found += [number] if worst != choice else []
            choice = worst
        referee.receive(asked.seat, encode_line(Choose(id=asked.id, choice=choice))[:-1], 1.0)
    game, *records = referee.records()
    assert isinstance(game, GameRecord)
    seats = sitting(names, (board,), rules, Clock(), event="bench")
    return LoggedGame(seats, game, tuple(records), referee.result), found


def print_blunders(name: str, player: str) -> None:
    """Print how many blunders are among the dearest decisions of their games."""
    shown = defaultdict[tuple[float, float], list[bool]](list)
    for board in range(1, GAMES + 1):
        logged, blunders = blundered(name, board)
        if not blunders:
            continue
        reviewed = list(review_seat(logged, 0, WORLDS, PLAYERS[player]))
        dearest = sorted(reviewed, key=lambda one: -one.loss)[:DEAREST]
        real = {one.number: one.loss for one in review_seat(logged, 0, MANY_WORLDS)}
        for number in blunders:
            for least, most in CLASSES:
                if least <= real[number] < most:
                    shown[least, most].append(any(one.number == number for one in dearest))
    for (least, most), found in sorted(shown.items()):
        print(f"{name}: cost {least:g} to {most:g}: {sum(found)} of {len(found)} shown")


def main() -> None:
    """Print what is asked."""
    match sys.argv[1:]:
        case ["--blunders", game, *player]:
            print_blunders(game, (*player, "plain")[0])
        case [folder, *player]:
            print_ranking(Path(folder), (*player, "plain")[0])
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
