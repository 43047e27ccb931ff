"""The luck of an event's games: computed from their logs, and kept in luck.jsonl.

A log is the unit of work, so that many run at once.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from arena.logs.catalog import FOLDER, logs_of_sittings
from arena.logs.checksummed import DamagedFileError, SealedLog
from arena.logs.gamelog import LoggedGame, read_games
from protocol.codec import decode_json
from protocol.records import Record, Result
from tournaments.plan.event import Event
from tournaments.rating.tables import PARTS, Correction
from tournaments.storage.folder import Folder, mode_of_logs

POINT_DECIMALS = 3
"""Decimals of luck in points,"""
SHARE_DECIMALS = 5
"""and in the share of a game."""
Luck = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Luck in points or in a share of the game: far more than any game has, so that sums fit."""


class LuckRecord(Record, frozen=True, tag="luck"):
    """The luck of a game, a line of luck.jsonl; each list has a number for each seat."""

    game: str
    scores: tuple[int, ...]
    """Its scores: a game that was played again has others."""
    points: tuple[Luck, ...]
    """Points that each seat owes to the tiles drawn."""
    share: tuple[Luck, ...]
    """The share of the game's pairs of sides, 0 to 1, that each seat owes to them."""
    rounds: tuple[tuple[Luck, ...], ...]

    def __post_init__(self) -> None:
        """Raise ValueError unless each list has a number for each seat."""
        if {len(one) for one in (self.points, self.share, *self.rounds)} != {len(self.scores)}:
            raise ValueError("a list has not a number for each seat")


class LuckTask(Struct, frozen=True):
    """A log, and the games in it whose luck is wanted."""

    path: Path
    games: tuple[str, ...]


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


LUCK_REMEDY = ". Remove the file: `boneyard report --luck` computes it again"
"""The end of a sentence about a damaged luck.jsonl."""


def decode_luck(line: bytes) -> LuckRecord:
    """Decode a line of luck.jsonl without its checksum. Raises DamagedRecordError."""
    return decode_json(line, LuckRecord)


class LuckStore:
    """The luck of an event's games, as its file has it; read when it is first asked for.

    Every method raises DamagedFileError if the file is damaged.
    """

    def __init__(
        self,
        folder: Folder,
        event: Event,
        *,
        most: int | None = None,
        writes: bool = False,
        computed: ComputeLuck = luck_of_logs,
    ) -> None:
        """`most`: lines of the file that count. `writes`: luck that is computed goes into it."""
        self._folder = folder
        self._event = event
        self._most = most
        self._writes = writes
        self._computed = computed
        self._records: dict[str, LuckRecord] = {}
        self._size = -1
        self._log = SealedLog(folder.luck, decode_luck, LUCK_REMEDY)

    @property
    def records(self) -> dict[str, LuckRecord]:
        """The lines of the file, by game."""
        path = self._folder.luck
        size = path.stat().st_size if path.is_file() else 0
        if size != self._size:
            self._records = {}
            for record in self._log.read():
                if self._most is not None and len(self._records) >= self._most:
                    break
                self._records[record.game] = record
            self._size = size
        return self._records

    @cached_property
    def weight(self) -> tuple[float, float]:
        """The part of the luck that is taken out of points, and of the share of a game."""
        from arena.valuation.weights import weight_of  # It needs numpy.

        return weight_of(self._event.rules, self._event.seats)

    @property
    def has_luck(self) -> bool:
        """True if tiles are drawn, so that there is luck to take out, and it can be computed."""
        from arena.valuation import batch, luck  # They need numpy.

        known = not batch.why_no_values(self._event.rules)
        return known and luck.has_draws(self._event.rules, self._event.seats)

    def known(self, result: Result) -> LuckRecord | None:
        """Return the luck of a game; None if the file does not have it."""
        found = self.records.get(result.game)
        return found if found and found.scores == result.scores else None

    def corrections(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games that the file has."""
        # Once: it looks at the file each time.
        records = self.records
        pairs = ((one, records.get(one.game)) for one in results)
        return {
            one.game: self._weighted(luck)
            for one, luck in pairs
            if luck and luck.scores == one.scores
        }

    def compute(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games; compute from logs what is not known.

        Raises DamagedFileError also if a game has no log.
        """
        games = list(results)
        known = self.corrections(games)
        missing = [one.game for one in games if one.game not in known]
        if not missing:
            return known
        found = self._from_logs(missing)
        self.add(found[game] for game in missing)
        return self.corrections(games)

    def add(self, records: Iterable[LuckRecord]) -> None:
        """Add the luck of games, to the file too if the store writes. Raises OSError."""
        new, known = list(records), self.records
        if self._writes:
            self._log.mend()
            # It tells of hidden tiles, as the logs do.
            self._log.append(new, mode_of_logs(self._folder))
            self._size = self._folder.luck.stat().st_size
        known.update((one.game, one) for one in new)

    def drop_stale(self, results: Iterable[Result]) -> None:
        """Remove from the file the luck of games that were played again, or not at all.

        Raises OSError.
        """
        played = {one.game for one in results if self.known(one)}
        kept = [one for game, one in self.records.items() if game in played]
        if len(kept) < len(self.records):
            self._log.rewrite(kept, mode_of_logs(self._folder))

    def _weighted(self, luck: LuckRecord) -> Correction:
        points, share = self.weight
        return Correction(
            tuple(round(PARTS * points * one) for one in luck.points),
            tuple(round(PARTS * share * one) for one in luck.share),
        )

    def _from_logs(self, games: list[str]) -> dict[str, LuckRecord]:
        """Compute the luck of games, each from the likeliest log that has it."""
        logs = {game: logs_of_sittings(self._folder.path / FOLDER, game) for game in games}
        found: dict[str, LuckRecord] = {}
        while left := [game for game in games if game not in found]:
            tasks: dict[Path, list[str]] = {}
            for game in left:
                if not logs[game]:
                    raise DamagedFileError(
                        f"{self._folder.path / FOLDER}: no log has {game}, and "
                        f"{self._folder.luck.name} does not have its luck"
                    )
                tasks.setdefault(logs[game].pop(0), []).append(game)
            of_logs = [LuckTask(path, tuple(some)) for path, some in tasks.items()]
            for luck in self._computed(of_logs):
                found.update((one.game, one) for one in luck.records)
        return found
