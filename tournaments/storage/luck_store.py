"""The luck of an event's games: computed from their logs, and kept in luck.jsonl.

A log is the unit of work, so that many run at once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from arena.analysis.timeline import Timeline
from arena.logs.catalog import FOLDER, SittingLogs
from arena.logs.checksummed import DamagedFileError, SealedLog
from arena.logs.gamelog import LoggedGame
from arena.valuation import USUAL_TERMS, LuckTerms, why_no_values
from protocol.codec import decode_json
from protocol.records import Record, Result
from tournaments.plan.event import Event
from tournaments.rating.tables import PARTS, Correction
from tournaments.storage.folder import Folder, event_folder, load_event, mode_of_logs
from tournaments.storage.learnt_policies import (
    LearnTask,
    Policies,
    PolicyRecord,
    games_to_learn_from,
    learn,
    learn_task,
    luck_terms,
    read_timelines,
)

TOGETHER = 6
"""Games of a log whose luck is computed at once, in 0.2 s or so: less work, and some MB."""
POINT_DECIMALS, SHARE_DECIMALS = 3, 5
"""Decimals of luck in points, and in the share of a game."""
Luck = Annotated[float, Meta(ge=-1e6, le=1e6)]
"""Luck in points or in a share of the game: far more than any game has, so that sums fit."""


class LuckRecord(Record, frozen=True, tag="luck"):
    """The luck of a game, a line of luck.jsonl; each list has a number for each seat."""

    game: str
    scores: tuple[int, ...]
    """Its scores: a game that was played again has others."""
    points: tuple[Luck, ...]
    """Points that each seat owes to the deals and the tiles drawn."""
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
    games: dict[str, LuckTerms]


def tasks_of_log(
    event: Event, policies: Policies, path: Path, games: Sequence[str]
) -> Iterator[LuckTask]:
    """Yield tasks to compute the luck of these games of a log, a few each, by known policies."""
    for first in range(0, len(games), TOGETHER):
        some = games[first : first + TOGETHER]
        yield LuckTask(path, {game: _terms(event, policies, game) for game in some})


def _terms(event: Event, policies: Policies, game: str) -> LuckTerms:
    return luck_terms(policies, game, event.first_board_of, deals=event.has_drawn_seeds)


class LogLuck(Struct, frozen=True):
    """The luck of the games of a log."""

    records: tuple[LuckRecord, ...]
    """The luck of those that the log has whole, in the order of the task."""
    damage: str = ""
    """The damage after which nothing was read, a sentence; empty if there is none."""


MapTasks = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""A function that does work on tasks and yields what comes of each, in order, as `map` does."""


def luck_of_log(task: LuckTask) -> LogLuck:
    """Compute the luck of some games of a log, up to the first damage."""
    found, damage = dict[str, LuckRecord](), list[str]()
    read = read_timelines(task.path, task.games, damage)
    for terms, same in groupby(read, lambda one: task.games[one.logged.game.game]):
        found |= {one.game: one for one in luck_records([*same], terms)}
    return LogLuck(tuple(found[game] for game in task.games if game in found), "".join(damage))


def luck_records(
    timelines: Sequence[Timeline], terms: LuckTerms = USUAL_TERMS
) -> Iterator[LuckRecord]:
    """Compute the luck of finished games, by the usual terms if by no others."""
    from arena.valuation.luck import luck_of_games  # It needs numpy.

    results = (one.logged.result for one in timelines)
    every = luck_of_games(timelines, terms)
    for result, luck in zip(results, every, strict=True):
        assert result, "It is finished."
        # A round that a foul ended is not counted in the result.
        rounds = max([result.rounds, *(draw.round for draw in luck.draws)])
        points = [[0.0 for _ in result.seats] for _ in range(rounds)]
        for draw in luck.draws:
            for seat, value in enumerate(draw.points):
                points[draw.round - 1][seat] += value
        yield LuckRecord(
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


def decode_luck(line: bytes) -> LuckRecord | PolicyRecord:
    """Decode a line of luck.jsonl without its checksum. Raises DamagedRecordError."""
    return decode_json(line, LuckRecord | PolicyRecord)  # type: ignore[arg-type]  # a union


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
        tasks: MapTasks = map,
    ) -> None:
        """`most`: games of the file that count. `writes`: luck that is computed goes into it."""
        self._folder = folder
        self.event = event
        self._most = most
        self._writes = writes
        self._tasks = tasks
        self._records: dict[str, LuckRecord] = {}
        self._policies: Policies = {}
        self._size = -1
        self._log = SealedLog(folder.luck, decode_luck, LUCK_REMEDY)
        self.played: Callable[[], Collection[Result]] = tuple
        """The results of all games so far: those of early boards teach the policies."""

    @property
    def records(self) -> dict[str, LuckRecord]:
        """The luck of games that the file has, by game."""
        self._read()
        return self._records

    @property
    def policies(self) -> Policies:
        """The policies that the file has."""
        self._read()
        return self._policies

    def _read(self) -> None:
        path = self._folder.luck
        size = path.stat().st_size if path.is_file() else 0
        if size == self._size:
            return
        self._records, self._policies = {}, {}
        for record in self._log.read():
            if self._most is not None and len(self._records) >= self._most:
                break
            self._keep(record)
        self._size = size

    def _keep(self, record: LuckRecord | PolicyRecord) -> None:
        if isinstance(record, PolicyRecord):
            self._policies[record.entrant, record.boards] = record
        else:
            self._records[record.game] = record

    @property
    def has_luck(self) -> bool:
        """True if luck can be computed by these rules."""
        return not why_no_values(self.event.rules)

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
            one.game: Correction(
                tuple(round(PARTS * each) for each in luck.points),
                tuple(round(PARTS * each) for each in luck.share),
            )
            for one, luck in pairs
            if luck and luck.scores == one.scores
        }

    def compute(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games; compute from logs what is not known.

        Raises DamagedFileError also if a game has no log.
        """
        games = list(results)
        known = self.corrections(games)
        missing = [one for one in games if one.game not in known]
        if not missing:
            return known
        self.learn(missing)
        found = self._from_logs([one.game for one in missing])
        self.add([found[one.game] for one in missing])
        return self.corrections(games)

    def learn(self, games: Collection[Result]) -> None:
        """Learn the policies that the luck of these games needs. Raises OSError."""
        first = self.event.first_board_of
        needed = games_to_learn_from(self.policies, games, self.played(), first)
        logs = SittingLogs(self._folder.path / FOLDER)
        tasks: dict[tuple[str, ...], LearnTask] = {}
        for (entrant, boards), teaching in needed.items():
            own = [one.game for one in teaching]
            # Once there are enough games, the same teach for all later boards.
            tasks.setdefault((entrant, *own), learn_task(logs, entrant, own)).boards.append(boards)
        for learnt in self._tasks(learn, tasks.values()):
            self.add(learnt)

    def add(self, records: Iterable[LuckRecord | PolicyRecord]) -> None:
        """Add the luck of games, to the file too if the store writes. Raises OSError."""
        new = list(records)
        self._read()
        if self._writes:
            self._log.mend()
            # It tells of hidden tiles, as the logs do.
            self._log.append(new, mode_of_logs(self._folder))
            self._size = self._folder.luck.stat().st_size
        for one in new:
            self._keep(one)

    def drop_stale(self, results: Iterable[Result]) -> None:
        """Remove all from the file if it has a game that was played again, or not at all.

        The policies, too, may have been learnt from it. Raises OSError.
        """
        played = {one.game for one in results if self.known(one)}
        if not played.issuperset(self.records):
            self._log.rewrite([], mode_of_logs(self._folder))

    def _from_logs(self, games: Sequence[str]) -> dict[str, LuckRecord]:
        """Compute the luck of games, each from the likeliest log that has it."""
        known = SittingLogs(self._folder.path / FOLDER)
        logs = {game: known.of(game) for game in games}
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
            every = (tasks_of_log(self.event, self.policies, *one) for one in tasks.items())
            for luck in self._tasks(luck_of_log, chain.from_iterable(every)):
                found.update((one.game, one) for one in luck.records)
        return found


def terms_of_game(place: Path, logged: LoggedGame) -> LuckTerms:
    """Return the terms by which an event has measured a game's luck; the usual if it has not.

    `place`: the event's folder, or a log in it. Raises UserError if one of its files is damaged.
    """
    folder = event_folder(place)
    if folder and folder.luck.exists() and logged.result:
        store = _store(folder.path.resolve())
        if store.known(logged.result):
            return _terms(store.event, store.policies, logged.game.game)
    return USUAL_TERMS


@lru_cache(maxsize=1)
def _store(path: Path) -> LuckStore:
    folder = Folder(path)
    return LuckStore(folder, load_event(folder))
