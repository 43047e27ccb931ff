"""Games as the referee writes them down, without processes."""

import random
from collections.abc import Callable, Iterable
from itertools import count, repeat
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.logs.gamelog import GameLog, LoggedGame
from arena.match.referee import GameSetup, OpenQuestion, Referee
from arena.rules.variants import find_variant
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import GameRecord, LogRecord
from protocol.ruleset import Ruleset, derive
from tests.support.tables import sitting

NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
SMALL = derive(find_variant("draw"), "small", {"hand": 2, "target": 5})
Pick = Callable[[OpenQuestion], int]
NONSENSE = -1
DEVIL = "[red]hi[/red] \x1b[2J\u202e"


def first(_: OpenQuestion) -> int:
    return 0


def bob_fouls(question: OpenQuestion) -> int:
    return 99 if question.seat == 1 else 0


class Overheard(NamedTuple):
    """A game, and what was said."""

    logged: LoggedGame
    lines: list[list[bytes]]
    """Of each seat, all that it was told."""


def overhear(
    setup: GameSetup, seed: bytes, pick: Pick, times_ms: Iterable[float], note: str = ""
) -> Overheard:
    """Play a game without processes; each answer takes the next of these times."""
    referee, lines = Referee(setup, seed), list[list[bytes]]([] for _ in setup.seats)
    for ms in times_ms:
        for seat, line in referee.take_outgoing():
            lines[seat].append(line)
        if (question := referee.awaiting) is None:
            break
        choice = pick(question)
        said = encode_line(Choose(id=question.id, choice=max(0, choice), note=note))[:-1]
        referee.receive(question.seat, b"no" if choice == NONSENSE else said, ms)
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    record = sitting(setup.seats, (setup.board,), setup.rules, setup.clock, event="event")
    return Overheard(LoggedGame(record, game, tuple(records), referee.result), lines)


def heard(
    rules: Ruleset = SMALL, seats: int = 2, pick: Pick = first, note: str = "", board: int = 1
) -> Overheard:
    """Return a game as the referee writes it down, and all that it sends."""
    setup = GameSetup(f"{board}.game", 1, board, NAMES[:seats], rules, Clock())
    return overhear(setup, board_seed(b"render", "event", board), pick, repeat(1.5), note)


def logged(
    rules: Ruleset = SMALL, seats: int = 2, pick: Pick = first, note: str = "", board: int = 1
) -> LoggedGame:
    """Return a game as the referee writes it down."""
    return heard(rules, seats, pick, note, board).logged


def write(path: Path, *games: LoggedGame) -> Path:
    boards = tuple(range(1, len(games) + 1))
    log = GameLog(path, replace(games[0].sitting, boards=boards))
    for game in games:
        log.append([game.game, *game.records])
    log.close()
    return path


def changed(game: LoggedGame, kind: type[LogRecord], **fields: object) -> LoggedGame:
    """Return the same log with its first record of a kind spoilt."""
    at = next(at for at, record in enumerate(game.records) if isinstance(record, kind))
    spoilt = replace(game.records[at], **fields)
    return replace(game, records=(*game.records[:at], spoilt, *game.records[at + 1 :]))


ODD = derive(SMALL, "odd", {"first": "odd_even", "later": "lot", "target": 20})
PROUD = derive(SMALL, "proud", {"refuse_doubles": 1, "hand": 5, "target": 60})


def any_of(seed: object, foul: float = 0.0) -> Pick:
    """Choose at random, and now and then answer nonsense."""
    rng = random.Random(str(seed))
    return lambda question: (
        NONSENSE if foul and rng.random() < foul else rng.randrange(len(question.options))
    )


def overheard(
    rules: Ruleset, seats: int, pick: Pick, clock: Clock | None = None, board: int = 1
) -> Overheard:
    """Play a game; each answer takes longer than the one before, so that the bank is used."""
    names, clock = NAMES[:seats], clock or Clock(bank_ms=100)
    setup = GameSetup(f"{board}.{'.'.join(names)}", 3, board, names, rules, clock)
    seed = board_seed(b"overheard", "event", board)
    return overhear(setup, seed, pick, count(clock.move_ms - 50.0), "so")
