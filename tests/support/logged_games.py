"""Games as the referee writes them down, without processes."""

import random
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.logs.gamelog import GameLog, LoggedGame
from arena.match.game_setup import GameSetup, Question
from arena.match.referee import Referee
from arena.rules.variants import VARIANTS, find_variant
from protocol.codec import encode_line
from protocol.messages import (
    Choose,
    Clock,
)
from protocol.records import (
    GameRecord,
    LogRecord,
)
from protocol.ruleset import Ruleset, derive, playable_seat_counts
from tests.support.tables import sitting

NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
SMALL = derive(find_variant("draw"), "small", {"hand": 2, "target": 5})
DEVIL = "[red]hi[/red] \x1b[2J\u202e"


def first(_: Question) -> int:
    return 0


def bob_fouls(question: Question) -> int:
    return 99 if question.seat == 1 else 0


def logged(
    rules: Ruleset = SMALL,
    seats: int = 2,
    pick: Callable[[Question], int] = first,
    note: str = "",
    board: int = 1,
) -> LoggedGame:
    """Return a game as the referee writes it down, without processes."""
    names, clock = NAMES[:seats], Clock()
    referee = Referee(
        GameSetup(f"{board}.game", 1, board, names, rules, clock),
        board_seed(b"render", "event", board),
    )
    while referee.awaiting:
        question = referee.awaiting
        said = Choose(id=question.id, choice=pick(question), note=note)
        referee.receive(question.seat, encode_line(said)[:-1], 1.5)
    game, *records = referee.records()
    assert isinstance(game, GameRecord)
    record = sitting(names, (board,), rules, clock, event="event")
    return LoggedGame(record, game, tuple(records), referee.result)


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


GAMES = [(name, seats) for name in VARIANTS for seats in playable_seat_counts(find_variant(name))]
ODD = derive(SMALL, "odd", {"first": "odd_even", "later": "lot", "target": 20})
AGAIN = derive(SMALL, "again", {"first": "double_six", "later": "double_six", "missing": "redeal"})
PROUD = derive(SMALL, "proud", {"refuse_doubles": 1, "hand": 5, "target": 60})


def any_of(seed: object) -> Callable[[Question], int]:
    luck = random.Random(str(seed))
    return lambda question: luck.randrange(len(question.options))
