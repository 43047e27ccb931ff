"""The files luck.jsonl and review.jsonl: luck, the policies that it is measured by, and reviews."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import astuple, replace

from arena.analysis.timeline import Timeline
from arena.files import DamagedFileError
from arena.logs.catalog import GAMES_FOLDER, SittingLogs
from arena.logs.checksummed import SealedLog
from arena.logs.gamelog import LoggedGame, read_games
from arena.valuation.terms import USUAL_TERMS, LuckTerms, Policy, ReviewedDecision, why_no_values
from protocol.codec import decode_json
from protocol.errors import UserError
from protocol.records import Record, Result
from tournaments.event.folder import Folder, event_folder, load_event, lock_file, mode_of_logs
from tournaments.plan.event import Event
from tournaments.rating.tables import LUCK_PARTS, Correction

# Policies of an event's bots, learnt from their games on earlier boards, for the luck of games.
#
# Playouts of a board use policies that were learnt on the boards before it alone: so no correction
# has seen its own future, and what is known stays as it is when more is played.


NO_REPEATS: Mapping[int, int] = MappingProxyType({})
"""The boards that repeat a deal, where none does."""
LEARNT_BOARDS = 32
"""The number of latest boards that a policy is learnt from: more would teach little, and so the
policy follows a bot that begins to play otherwise."""
MAX_LEARNT_GAMES = 64
"""The most games that a policy is learnt from: two or three thousand choices."""
MIN_LEARNT_BOARDS = 4
"""A bot's boards before its policy is learnt for the first time."""


WEIGHTS = len(Policy.__struct_fields__)
MAX_WEIGHT = 1000.0
"""The largest weight, in logits: sums of them, in thousandths, fit the kernel's 32 bits."""


class PolicyRecord(Record, frozen=True, tag="policy"):
    """A bot's policy, a line of luck.jsonl; see `arena.valuation.policy`."""

    entrant: str
    boards: int
    """The number of the last board that it was learnt from."""
    games: tuple[str, ...]
    weights: Annotated[
        tuple[Annotated[float, Meta(ge=-MAX_WEIGHT, le=MAX_WEIGHT)], ...],
        Meta(min_length=WEIGHTS, max_length=WEIGHTS),
    ]
    """Its weights, in logits, in the order of `FEATURES`."""
    choices: int
    """The plays among several that it was learnt from."""
    foreseen: float
    """The share of them, 0 to 1, that a policy learnt on the other half of the boards foresees."""


class LearnTask(Struct):
    """Games of a bot in logs, from which its policy is to be learnt."""

    entrant: str
    logs: dict[Path, list[str]]
    boards: list[int]
    """The last boards of the policies that these games teach."""


def learn_task(
    logs: SittingLogs, entrant: str, games: Iterable[str], boards: Iterable[int] = ()
) -> LearnTask:
    """Return the task to learn a bot's policy from these games, see `LearnTask`."""
    task = LearnTask(entrant, {}, [*boards])
    for game in games:
        for path in logs.of(game):
            task.logs.setdefault(path, []).append(game)
    return task


def last_board_before(board: int, first: int) -> int:
    """Return the last board that teaches the policy for this one; 0: none does.

    `first`: the bot's first board: one that joins later learns later.
    """
    before = board - first
    return first - 1 + (1 << before.bit_length() - 1) if before >= MIN_LEARNT_BOARDS else 0


def learn(task: LearnTask) -> list[PolicyRecord]:
    """Learn a bot's policy from its games; what a damaged log does not have teaches nothing."""
    from arena.valuation.policy import Choice, learn_policy

    played, choices = list[str](), list[Choice]()
    for path, games in task.logs.items():
        for timeline in read_timelines(path, games, []):
            game, seat = timeline.logged.game, timeline.logged.sitting.seats.index(task.entrant)
            played.append(game.game)
            choices += [Choice(*chosen, game.board) for chosen in timeline.chosen_plays(seat)]
    learnt = learn_policy(choices)
    fields = astuple(learnt.policy), learnt.choices, learnt.foreseen
    return [PolicyRecord(task.entrant, board, tuple(played), *fields) for board in task.boards]


def read_timelines(path: Path, games: Iterable[str], damage: list[str]) -> Iterator[Timeline]:
    """Yield those of these games that a log has finished; add its first damage to `damage`."""
    left = set(games)
    try:
        for logged in read_games(path):
            if logged.game.game in left and logged.result:
                left.remove(logged.game.game)
                yield Timeline(logged)
            if not left:
                return
    except DamagedFileError as error:
        damage.append(str(error))


Policies = dict[tuple[str, int], PolicyRecord]
"""The policies of an event's bots, by the bot and the last board that they were learnt from."""


def luck_terms(
    policies: Policies, game: str, first_board_of: Mapping[int, int] = NO_REPEATS, *, deals: bool
) -> LuckTerms:
    """Return the terms of a game's luck: each bot's latest policy from boards before its deal.

    `first_board_of`: for each board that repeats a deal the first board that has it. `deals`: the
    luck of deals counts too.
    """
    name, *seats = game.split(".")
    board = first_board_of.get(int(name), int(name))
    earlier = [key for key in policies if key[1] < board]
    latest = [max((key for key in earlier if key[0] == bot), default=None) for bot in seats]
    records = [policies[key] for key in latest if key] if all(latest) else []
    learnt = tuple(Policy(*record.weights) for record in records)
    return LuckTerms(learnt, tuple(record.foreseen for record in records), deals)


def games_to_learn_from(
    policies: Policies,
    games: Collection[Result],
    played: Collection[Result],
    first_board_of: Mapping[int, int] = NO_REPEATS,
) -> Mapping[tuple[str, int], list[Result]]:
    """Return the policies that the luck of these games still needs, each with games to learn."""
    # Each bot's first board, as it was when its first policy was learnt: that comes last here.
    first = {
        entrant: boards - MIN_LEARNT_BOARDS + 1
        for entrant, boards in sorted(policies, reverse=True)
    }
    unknown = {entrant for result in games for entrant in result.seats} - first.keys()
    for result in played if unknown else ():
        for entrant in unknown.intersection(result.seats):
            first[entrant] = min(result.board, first.get(entrant, result.board))
    needed = {
        (entrant, boards): list[Result]()
        for result in games
        for entrant in result.seats
        for board in [first_board_of.get(result.board, result.board)]
        if (boards := last_board_before(board, first.get(entrant, board)))
        and (entrant, boards) not in policies
    }
    # Nothing is needed once all have learnt: then the results, which may be many, are not read.
    all_results = sorted(played, key=lambda result: (result.board, result.game)) if needed else []
    for (entrant, boards), sample in needed.items():
        latest = range(boards - LEARNT_BOARDS + 1, boards + 1)
        all_own = [
            result for result in all_results if result.board in latest and entrant in result.seats
        ]
        # Spread over these boards: a bot may have played many games on each.
        count = min(MAX_LEARNT_GAMES, len(all_own))
        sample += [all_own[place * len(all_own) // count] for place in range(count)]
    return needed


# The luck of an event's games: computed from their logs, and kept in luck.jsonl.
#
# A log is the unit of work, so that many run at once.


LUCK_BATCH_GAMES = 6
"""Games of a log whose luck is computed at once, in 0.2 s or so: less work than each alone makes,
and some MB."""
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
    """The share of pairs of sides that each seat owes to them; 1 is all pairs."""
    rounds: tuple[tuple[Luck, ...], ...]

    def __post_init__(self) -> None:
        """Raise ValueError unless each list has a number for each seat."""
        if {len(row) for row in (self.points, self.share, *self.rounds)} != {len(self.scores)}:
            raise ValueError("a list has not a number for each seat")


class LuckTask(Struct, frozen=True):
    """A log, and the games in it whose luck is wanted."""

    path: Path
    games: dict[str, LuckTerms]


def tasks_of_log(
    event: Event, policies: Policies, path: Path, games: Sequence[str]
) -> Iterator[LuckTask]:
    """Yield tasks to compute the luck of these games of a log, a few each, by known policies."""
    for first in range(0, len(games), LUCK_BATCH_GAMES):
        batch = games[first : first + LUCK_BATCH_GAMES]
        yield LuckTask(path, {game: _terms(event, policies, game) for game in batch})


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


def on_all_cores(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
    """Yield what comes of each task, in order, from as many processes as there are cores."""
    # Each run imports this module, and few need processes, whose modules take 10 ms.
    from arena.processes import map_tasks

    return map_tasks(work, tasks)


def luck_of_log(task: LuckTask) -> LogLuck:
    """Compute the luck of some games of a log, up to the first damage."""
    records, damage = dict[str, LuckRecord](), list[str]()
    read = read_timelines(task.path, task.games, damage)
    for terms, group in groupby(read, lambda timeline: task.games[timeline.logged.game.game]):
        records |= {record.game: record for record in luck_records([*group], terms)}
    return LogLuck(tuple(records[game] for game in task.games if game in records), "".join(damage))


def luck_records(
    timelines: Sequence[Timeline], terms: LuckTerms = USUAL_TERMS
) -> Iterator[LuckRecord]:
    """Compute the luck of finished games, by the usual terms if by no others."""
    from arena.valuation.luck import luck_of_games  # It needs numpy.

    results = (timeline.logged.result for timeline in timelines)
    estimates = luck_of_games(timelines, terms)
    for result, luck in zip(results, estimates, strict=True):
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
            rounds=tuple(_rounded(row, POINT_DECIMALS) for row in points),
        )


def _rounded(values: Iterable[float], decimals: int) -> tuple[float, ...]:
    return tuple(round(value, decimals) + 0.0 for value in values)


LUCK_REMEDY = ". Remove the file: `boneyard report --luck` computes it again"
"""The end of a sentence about a damaged luck.jsonl."""


def decode_luck(line: bytes) -> LuckRecord | PolicyRecord:
    """Decode a line of luck.jsonl without its checksum. Raises DamagedRecordError."""
    return decode_json(line, LuckRecord | PolicyRecord)  # type: ignore[arg-type]  # a union


def record_of(result: Result, records: Mapping[str, LuckRecord]) -> LuckRecord | None:
    """Return the luck of a game among these records; None if they do not have it."""
    record = records.get(result.game)
    return record if record and record.scores == result.scores else None


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
        return record_of(result, self.records)

    def corrections(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games that the file has."""
        # Once: it looks at the file each time.
        records = self.records
        pairs = ((result, record_of(result, records)) for result in (results if records else ()))
        return {
            result.game: Correction(
                tuple(round(LUCK_PARTS * points) for points in luck.points),
                tuple(round(LUCK_PARTS * share) for share in luck.share),
            )
            for result, luck in pairs
            if luck
        }

    def compute(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games; compute from logs what is not known.

        Raises DamagedFileError also if a game has no log.
        """
        games = list(results)
        corrections = self.corrections(games)
        missing = [result for result in games if result.game not in corrections]
        if not missing:
            return corrections
        self.learn(missing)
        records = self._from_logs([result.game for result in missing])
        self.add([records[result.game] for result in missing])
        return self.corrections(games)

    def learn(self, games: Collection[Result]) -> None:
        """Learn the policies that the luck of these games needs. Raises OSError."""
        first = self.event.first_board_of
        needed = games_to_learn_from(self.policies, games, self.played(), first)
        logs = SittingLogs(self._folder.path / GAMES_FOLDER)
        tasks: dict[tuple[str, ...], LearnTask] = {}
        for (entrant, boards), teaching in needed.items():
            ids = [result.game for result in teaching]
            # Policies that the same games teach are learnt once.
            tasks.setdefault((entrant, *ids), learn_task(logs, entrant, ids)).boards.append(boards)
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
        for record in new:
            self._keep(record)

    def drop_stale(self, results: Iterable[Result]) -> None:
        """Remove all from the file if it has a game that was played again, or not at all.

        The policies, too, may have been learnt from it. Raises OSError.
        """
        played = {result.game for result in results if self.known(result)}
        if not played.issuperset(self.records):
            self._log.rewrite([], mode_of_logs(self._folder))

    def _from_logs(self, games: Sequence[str]) -> dict[str, LuckRecord]:
        """Compute the luck of games, each from the likeliest log that has it."""
        sitting_logs = SittingLogs(self._folder.path / GAMES_FOLDER)
        logs = {game: sitting_logs.of(game) for game in games}
        records: dict[str, LuckRecord] = {}
        while left := [game for game in games if game not in records]:
            tasks: dict[Path, list[str]] = {}
            for game in left:
                if not logs[game]:
                    raise DamagedFileError(
                        f"{self._folder.path / GAMES_FOLDER}: no log has {game}, and "
                        f"{self._folder.luck.name} does not have its luck"
                    )
                tasks.setdefault(logs[game].pop(0), []).append(game)
            batches = (tasks_of_log(self.event, self.policies, *item) for item in tasks.items())
            for luck in self._tasks(luck_of_log, chain.from_iterable(batches)):
                records.update((record.game, record) for record in luck.records)
        return records


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


# The file review.jsonl: what each reviewed decision cost, a line for each seat of a game.


REVIEW_FORMAT = 3
MOST_WORLDS = 10_000
REVIEW_REMEDY = ". Remove the file: `boneyard explain --review` makes it again"
"""The end of a sentence about a damaged review.jsonl."""


class ReviewTerms(Struct, frozen=True, tag_field="type", tag="review"):
    """The way in which decisions are valued: the file's first line, the same for all its games."""

    event: str
    worlds: Annotated[int, Meta(ge=2, le=MOST_WORLDS)]
    """Deals of the hidden tiles over which an option is valued."""
    format: int = REVIEW_FORMAT


class DecisionLoss(ReviewedDecision, frozen=True, array_like=True):
    """A reviewed decision, and where it stands; numbers are rounded."""

    id: int
    at: int
    """Its moment in the replay, from 0."""
    chosen: str
    better: str


class SeatLosses(Struct, frozen=True, tag_field="type", tag="seat"):
    """The review of one seat's decisions in one game."""

    game: str
    board: int
    seat: int
    entrant: str
    rounds: int
    decisions: tuple[DecisionLoss, ...]


def read_terms(folder: Folder) -> ReviewTerms | None:
    """Return the terms of an event's review; None if there is none. Raises DamagedFileError."""
    first = next(_log(folder.review_log).read(), None)
    return first if isinstance(first, ReviewTerms) else None


def read_seats(folder: Folder) -> Iterator[SeatLosses]:
    """Yield the reviewed seats of an event, in the order of the file. Raises DamagedFileError."""
    return (record for record in _log(folder.review_log).read() if isinstance(record, SeatLosses))


def _log(path: Path) -> SealedLog[ReviewTerms | SeatLosses]:
    return SealedLog(path, decode_review, REVIEW_REMEDY)


def decode_review(line: bytes) -> ReviewTerms | SeatLosses:
    """Decode a line without its checksum. Raises DamagedRecordError."""
    return decode_json(line, ReviewTerms | SeatLosses)  # type: ignore[arg-type]  # a union


class ReviewLog:
    """The file, to append to; the folder's review is locked meanwhile."""

    def __init__(self, path: Path, terms: ReviewTerms) -> None:
        """Read the file, or begin it; `terms` are those that a new file gets.

        Remove a line that a kill cut short. Raises DamagedFileError, OSError.
        """
        self.terms, self.done = terms, set[tuple[str, int]]()
        self._log = _log(path)
        self._log.mend()
        for record in self._log.read():
            if isinstance(record, SeatLosses):
                self.done.add((record.game, record.seat))
            else:
                self.terms = record
        if not self._log.checksum:
            self._log.append([terms])

    def add(self, seat: SeatLosses) -> None:
        """Append a seat. Raises OSError, and then nothing was written."""
        self._log.append([seat])
        self.done.add((seat.game, seat.seat))


@contextmanager
def open_review(folder: Folder, usual: ReviewTerms, worlds: int | None) -> Iterator[ReviewLog]:
    """Open an event's review to add to it; a new one has the `usual` terms, with these `worlds`.

    Raises UserError if the file values games in another way, or while another process reviews the
    event.
    """
    with lock_file(folder.review_lock, f"{folder.path} is being reviewed by another process."):
        log = ReviewLog(folder.review_log, replace(usual, worlds=worlds or usual.worlds))
        has = log.terms
        wish = replace(has, worlds=worlds or has.worlds, format=REVIEW_FORMAT)
        if wish != has:
            raise UserError(
                f"{folder.review_log} has {has.worlds} worlds (format {has.format}), not "
                f"{wish.worlds} (format {wish.format}). Leave out --deals to go on with it, or "
                "remove the file to review all games again."
            )
        yield log
