"""The luck of games, from their logs alone: a log is the unit of work, so that many run at once."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import LoggedGame, read_games
from protocol.records import Record

POINT_DECIMALS = 3
"""Decimals of luck in points,"""
SHARE_DECIMALS = 5
"""and in the share of a game."""
Luck = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Luck in points or in a share of the game: far more than any game has, so that sums fit."""


class LuckRecord(Record, frozen=True, tag="luck"):
    """The luck of a game, a line of luck.jsonl; each list has a number for each seat."""

    game: str
    """The game's name in the event."""
    scores: tuple[int, ...]
    """Its scores: a game that was played again has others."""
    points: tuple[Luck, ...]
    """Points that each seat owes to the tiles drawn."""
    share: tuple[Luck, ...]
    """The share of the game's pairs of sides, 0 to 1, that each seat owes to them."""
    rounds: tuple[tuple[Luck, ...], ...]
    """The points, round by round."""

    def __post_init__(self) -> None:
        """Raise ValueError unless each list has a number for each seat."""
        if {len(one) for one in (self.points, self.share, *self.rounds)} != {len(self.scores)}:
            raise ValueError("a list has not a number for each seat")


class LuckTask(Struct, frozen=True):
    """A log, and the games in it whose luck is wanted."""

    path: Path
    """The log."""
    games: tuple[str, ...]
    """The games, in the order of the ledger."""


class LogLuck(Struct, frozen=True):
    """The luck of the games of a log."""

    records: tuple[LuckRecord, ...]
    """The luck of those that the log has whole, in the order of the task."""
    damage: str
    """The damage after which nothing was read, a sentence; empty if there is none."""


ComputeLuck = Callable[[list[LuckTask]], Iterator[LogLuck]]
"""A function that computes the luck of logs, in order."""


def luck_of_log(task: LuckTask) -> LogLuck:
    """Compute the luck of some games of a log, up to the first damage."""
    found, damage = dict[str, LuckRecord](), ""
    try:
        for logged in read_games(task.path):
            if logged.result and logged.game.game in task.games:
                found[logged.game.game] = luck_of_game(logged)
    except DamagedFileError as error:
        damage = str(error)
    return LogLuck(tuple(found[game] for game in task.games if game in found), damage)


luck_of_logs: ComputeLuck = partial(map, luck_of_log)


def luck_of_game(logged: LoggedGame) -> LuckRecord:
    """Compute the luck of a finished game from its log. Raises DamagedLogError."""
    from arena.analysis.timeline import Timeline
    from arena.valuation.luck import game_luck  # It needs numpy.

    result = logged.result
    assert result, "It is finished."
    luck, seats = game_luck(Timeline(logged)), range(len(result.seats))
    # A round that a foul ended is not counted in the result.
    rounds = max([result.rounds, *(draw.round for draw in luck.draws)])
    points = [[0.0 for _ in seats] for _ in range(rounds)]
    for draw in luck.draws:
        for seat in seats:
            points[draw.round - 1][seat] += draw.points[seat]
    return LuckRecord(
        game=result.game,
        scores=result.scores,
        points=_rounded(luck.points, POINT_DECIMALS),
        share=_rounded(luck.share, SHARE_DECIMALS),
        rounds=tuple(_rounded(one, POINT_DECIMALS) for one in points),
    )


def _rounded(values: Iterable[float], decimals: int) -> tuple[float, ...]:
    return tuple(round(value, decimals) + 0.0 for value in values)
