"""A game between scripted seats, with its log and with every line that each seat was told."""

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame
from arena.match.game_setup import GameSetup, Question
from arena.match.referee import Referee
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import GameRecord
from protocol.ruleset import Ruleset
from tests.support.tables import sitting

NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
NONSENSE = -1
"""The choice of a seat that fouls."""
Pick = Callable[[Question], int]


class Overheard(NamedTuple):
    """A game, and what was said."""

    logged: LoggedGame
    lines: tuple[tuple[bytes, ...], ...]
    """Of each seat, all that it was told."""


def any_of(seed: object, foul: float = 0.0) -> Pick:
    """Chooses at random, and now and then answers nonsense."""
    luck = random.Random(str(seed))
    return lambda question: (
        NONSENSE if luck.random() < foul else luck.randrange(len(question.options))
    )


def overheard(
    rules: Ruleset, seats: int, pick: Pick, clock: Clock | None = None, board: int = 1
) -> Overheard:
    """Play a game; each answer takes longer than the one before, so that the bank is used."""
    names, clock = NAMES[:seats], clock or Clock(bank_ms=100)
    seating = GameSetup(f"{board}.{'.'.join(names)}", 3, board, names, rules, clock)
    referee = Referee(seating, board_seed(b"overheard", "event", board))
    lines: list[list[bytes]] = [[] for _ in names]
    for ms in _ever_longer(clock):
        for seat, line in referee.outgoing():
            lines[seat].append(line)
        if referee.awaiting is None:
            break
        question = referee.awaiting
        choice = pick(question)
        said = encode_line(Choose(id=question.id, choice=max(0, choice), note="so"))[:-1]
        referee.receive(question.seat, b"no" if choice == NONSENSE else said, ms)
    game, *records = referee.records()
    assert isinstance(game, GameRecord)
    record = sitting(names, (board,), rules, clock, event="event")
    logged = LoggedGame(record, game, tuple(records), referee.result)
    return Overheard(logged, tuple(map(tuple, lines)))


def _ever_longer(clock: Clock) -> Iterator[float]:
    ms = clock.move_ms - 50.0
    while True:
        yield ms
        ms += 1.0
