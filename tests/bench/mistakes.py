"""How well reviewed losses rank bots, and how often they show a planted blunder.

    python -m tests.bench.mistakes FOLDER [PLAYER]      of an event that has been played
    python -m tests.bench.mistakes --blunders GAME [WORLDS]

The first prints for each bot its share of wins and its mean loss a decision, and Spearman's rank
correlation between both; then its least and its greatest value over all orders of the bots that the
wins allow (bots whose wins differ by less than a 95 % interval may stand either way). Names may be
commands, such as `montecarlo --worlds 12`.

The second plays games of counting against itself, in which seat 0 takes at one decision in fifty
the option that counting likes least; it prints how many of these blunders are among the ten dearest
decisions of their games (in the order of the report), by how much they really cost: that is found
in other worlds than those of the review.
"""

import importlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, combinations, permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from arena.analysis.timeline import Timeline
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame, read_games
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from arena.rules.variants import find_variant
from arena.valuation.decision_loss import (
    ReviewedDecision,
    measured_loss,
    review_seat,
    try_options,
)
from arena.valuation.playouts import PLAYERS
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import ChoiceRecord, GameRecord
from tests.support.tables import sitting
from tournaments.report.review.sums import certain_loss, ratio

counting: Any = importlib.import_module("sample_bots.counting")
ONE_IN = 50
"""A blunder is planted at one decision in so many."""
GAMES, DEAREST, WORLDS, MANY_WORLDS = 40, 10, 64, 1_000
CLASSES = ((0.0, 2.0), (2.0, 4.0), (4.0, 8.0), (8.0, 1_000.0), (2.0, 1_000.0))
"""Blunders by what they cost, in points; the last class has all that are worth finding."""
Boards = defaultdict[int, list[float]]
"""Values by the board on which they were found."""


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
    wins, losses = defaultdict[str, Boards](by_board), defaultdict[str, Boards](by_board)
    for path in sorted((folder / "games").iterdir()):
        for logged in read_games(path):
            if not logged.result:
                continue
            places, board = logged.result.places, logged.game.board
            for seat, bot in enumerate(logged.sitting.seats):
                lost = [places[seat] - place for at, place in enumerate(places) if at != seat]
                wins[bot][board].append(fmean(1.0 if by < 0 else 0.5 * (by == 0) for by in lost))
                reviewed = review_seat(Timeline(logged), seat, WORLDS, PLAYERS[player])
                losses[bot][board] += [one.loss for one in reviewed]
    shares, costs = ({bot: mean_of(of[bot]) for bot in of} for of in (wins, losses))
    bots = sorted(shares, key=shares.__getitem__)
    for bot in bots:
        won, cost = (f"{mean_of(of[bot]):.3f} ± {half_width(of[bot]):.3f}" for of in (wins, losses))
        print(f"{bot:12} {won} of its games won, {cost} points lost a decision")
    kept = [-costs[bot] for bot in bots]
    orders = [
        spearman([order.index(bot) for bot in bots], kept)
        for order in permutations(bots)
        if not any(is_better(wins[one], wins[two]) for one, two in combinations(order, 2))
    ]
    found = spearman([shares[bot] for bot in bots], kept)
    print(f"Spearman: {found:.3f}; as the wins allow: {min(orders):.3f} to {max(orders):.3f}")


def by_board() -> Boards:
    """Return boards without values."""
    return defaultdict(list)


def mean_of(boards: Boards) -> float:
    """Return the mean of all values."""
    return fmean(chain(*boards.values()))


def half_width(boards: Boards) -> float:
    """Return half the 95 % interval of the mean; boards are independent."""
    sums, counts = [sum(own) for own in boards.values()], [len(own) for own in boards.values()]
    return ratio(sums, counts).half_width or 0.0


def is_better(one: Boards, other: Boards) -> bool:
    """Tell whether a bot won more than another, beyond a 95 % interval."""
    apart = [fmean(one[board]) - fmean(other[board]) for board in one]
    return fmean(apart) > (ratio(apart, [1] * len(apart)).half_width or 0.0)


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
        lines = dict(referee.take_outgoing())
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
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    seats = sitting(names, (board,), rules, Clock(), event="bench")
    return LoggedGame(seats, game, tuple(records), referee.result), found


def _gap(one: ReviewedDecision) -> float:
    """Return what the best option is worth more than the chosen one."""
    return one.options[one.best].lead - one.options[one.choice].lead


def print_blunders(name: str, worlds: int) -> None:
    """Print how many blunders are among the dearest decisions of their games."""
    shown = defaultdict[tuple[float, float], list[bool]](list)
    for board in range(1, GAMES + 1):
        logged, blunders = blundered(name, board)
        if not blunders:
            continue
        reviewed = list(review_seat(Timeline(logged), 0, worlds))
        dearest = sorted(reviewed, key=lambda one: -certain_loss(_gap(one), one.error))[:DEAREST]
        planted = [one for one in Timeline(logged).questions(0) if one.number in blunders]
        truth = try_options(planted, MANY_WORLDS, slow=MANY_WORLDS)
        for asked, tried in zip(planted, truth, strict=True):
            assert isinstance(asked.answer, ChoiceRecord)
            real = measured_loss(tried, asked.answer.choice)[1]
            for least, most in CLASSES:
                if least <= real < most:
                    shown[least, most].append(any(one.number == asked.number for one in dearest))
    for (least, most), found in sorted(shown.items()):
        print(f"{name}: cost {least:g} to {most:g}: {sum(found)} of {len(found)} shown")


def main() -> None:
    """Print what is asked."""
    match sys.argv[1:]:
        case ["--blunders", game, *worlds]:
            print_blunders(game, int((*worlds, str(WORLDS))[0]))
        case [folder, *player]:
            print_ranking(Path(folder), (*player, "keen")[0])
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
