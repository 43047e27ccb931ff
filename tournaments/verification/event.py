"""Verification of an event from its published files: deals, bytes, scores, ledger, report.

A file that cannot be trusted is reported once, with the amount that stays unchecked because of it.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import UNSET

from arena.engine.shuffle import SEED, commitment
from arena.files import DamagedFileError
from arena.logs.catalog import published_commitments, published_seeds
from arena.logs.checksummed import compressed_path, has_twin
from arena.logs.gamelog import sitting_lines
from arena.processes import ShowProgress, map_tasks
from arena.rules.english import count_in_digits
from arena.ui.console import print_line
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.book import (
    Book,
    ResultStore,
    boards_left,
    broken_promises,
    finished_boards,
    read_ledger,
    shortened,
)
from tournaments.event.facts import files_with_facts
from tournaments.event.folder import Folder, most_promised, read_event
from tournaments.event.luck import LuckStore
from tournaments.plan.event import Event, repeated_deals
from tournaments.plan.read_plan import satisfies
from tournaments.plan.schedule import (
    GameIndex,
    PlannedSitting,
    past_order,
    retired_games,
    seat_names,
    sittings,
    spent_out,
    withdrawn_results,
)
from tournaments.rating.tables import sum_usage
from tournaments.verification.logs import (
    LogTask,
    Promises,
    check_log,
    number_faults,
    sitting_faults,
)

T = TypeVar("T")
PROMISE_FACTOR = 10
"""Most boards of a plan for each commitment; a plan with more is not believed."""
Checked = Generator[str, None, T]
"""A generator that yields every fault and returns the part that can be trusted."""


class Verified(NamedTuple):
    """The extent of a check that found no fault."""

    games: int
    """Games that were replayed from their boards' seeds."""
    boards: int
    """Boards whose deals were computed again."""
    ratings: bool = False
    """True if there are ratings, and they were computed again."""
    luck: bool = False
    """True if the luck of games is told, and was computed again."""


def no_progress(done: int, total: int) -> None:
    """Show nothing."""
    del done, total


def verify_folder(folder: Folder, progress: ShowProgress = no_progress) -> Checked[Verified]:
    """Yield every inconsistency of an event, finished or not; return what was checked.

    `progress`: told now and then how many games are replayed. Raises UserError when there is no
    event.
    """
    plan_only = Book(folder, read_event(folder))
    event = plan_only.event
    # Read the report first: during a run, its ledger is never behind its report.
    before = plan_only.reported
    yield from _twin_faults(folder)
    promises = yield from _promises(plan_only)
    # Looking for that many games would take for ever. A damaged file still has its size.
    if event.all_boards > PROMISE_FACTOR * most_promised(folder) + PROMISE_FACTOR:
        yield (
            f"{folder.event}: it has {event.all_boards} boards, far more than were ever committed "
            "to; nothing else was checked"
        )
        return Verified(0, 0)
    ledger = yield from _ledger(plan_only)
    book = None if ledger is None else Book(folder, event, ledger)
    if book:
        book.reported = before
    short = book and shortened(book)
    if short:
        yield f"{short}; the report was not checked"
    plans = [*plan_only.past, *sittings(event, ledger or {})]
    logs = yield from _check_logs(plan_only, plans, promises, ledger or {}, progress)
    if book:
        yield from _past(book, logs.past_games)
    from tournaments.verification import derived  # It needs numpy, as no log alone does.

    wrong = list[str]()
    if folder.luck.exists() and book:
        wrong = [*derived.luck_faults(book, progress)]
    yield from wrong
    planned = {folder.log(plan.name) for plan in plans}
    strange = [path for path in folder.logs() if path not in planned]
    # A Swiss or a knockout plans later rounds from the ledger: without it they are unknown.
    if (ledger is None or short) and not event.format.IS_STATIC:
        if strange:
            yield f"{strange[0]}: {len(strange)} logs of later rounds were not checked"
    else:
        yield from (f"{path}: the schedule has no such sitting" for path in strange)
    if book and not short and not wrong:
        suspects = () if logs.are_sound else files_with_facts(folder)
        report = _report(book, promises, suspects)
        yield from _until_damage(report, "the report was not checked")
        if folder.review_log.exists() or folder.review.exists():
            review = derived.review_faults(book)
            yield from _until_damage(review, "the review was not checked")
    yield from derived.replay_faults(folder, logs.trusted)
    is_rated, boards = Book(folder, event).reported > 0, logs.boards
    return Verified(len(boards), len(set(boards)), is_rated, folder.luck.exists() and not wrong)


class _CheckedLogs:
    """The logs of an event that were checked."""

    def __init__(self) -> None:
        self.are_sound = True
        self.trusted: list[Path] = []
        """The logs of sittings that are over, without a fault."""
        self.past_games: dict[str, Path] = {}
        """The logs of games of retired entrants, by game."""
        self.boards: list[int] = []
        """The board of each game that was replayed from its seed."""


def _check_logs(
    book: Book,
    plans: Sequence[PlannedSitting],
    promises: Promises,
    ledger: Mapping[str, Result],
    progress: ShowProgress,
) -> Checked[_CheckedLogs]:
    """Yield every fault of the logs of these sittings; return what was checked."""
    logs, event = _CheckedLogs(), book.event
    tasks = (LogTask(book.folder.log(plan.name), promises.select(plan.boards)) for plan in plans)
    done, total = 0, sum(len(plan.games) for plan in plans)
    for plan, check in zip(plans, map_tasks(check_log, tasks), strict=True):
        faults = [*sitting_faults(check, event, plan, promises, ledger)]
        yield from faults
        logs.are_sound = logs.are_sound and not faults
        boards = (entry.game.board for entry in check.games)
        logs.boards += [board for board in boards if board in promises.seeds]
        logs.trusted += [check.path] if check.over and not faults else []
        if not event.retired.isdisjoint(seat_names(event, plan)):
            logs.past_games |= {entry.game.game: check.path for entry in check.games}
        done += len(plan.games)
        progress(done, total)
    return logs


def verify_log(path: Path, seeds: Path | None) -> Checked[Verified]:
    """Yield every inconsistency of one log with the seeds in this file, or those of its folder.

    Return what was checked.

    Raises UserError when the seeds do not reveal all boards of the log.
    """
    folder = Folder(path.resolve().parent.parent)
    revealed = published_seeds(seeds or folder.seeds)
    commitments = published_commitments(folder.commitments) if seeds is None else {}
    promises = Promises(commitments, revealed, frozenset(revealed))
    check = check_log(LogTask(path, promises))
    if missing := {entry.game.board for entry in check.games} - promises.revealed:
        raise UserError(
            f"{path}: the seeds of its board {min(missing)} are not in {seeds or folder.seeds}; "
            "give their file (--seeds)."
        )
    for entry in check.games:
        yield from (f"{path}: {fault}" for fault in entry.faults)
    for last in check.games[-1:]:
        name, boards = ".".join(last.sitting.seats), last.sitting.boards
        yield from number_faults(check, name, boards, promises)
    if check.damage:
        yield f"{check.damage}; nothing after it was checked"
    elif not check.over and not is_abandoned(path, promises):
        yield f"{path}: the end is missing: the sitting is unfinished, or lines were removed"
    return Verified(len(check.games), len({entry.game.board for entry in check.games}))


def is_abandoned(path: Path, promises: Promises) -> bool:
    """Tell whether a log is of a game that its player left: no seed of its board was published.

    `play` publishes the seed of each game that has a result.
    """
    boards = {board for sitting in sitting_lines(path) for board in sitting.boards}
    has_promises = bool(boards) and boards <= promises.commitments.keys()
    return has_promises and promises.revealed.isdisjoint(boards)


def unchecked(folder: Folder) -> int:
    """Count the games that nobody can check yet, because their boards are not finished.

    Raises DamagedFileError.
    """
    seeds = published_seeds(folder.seeds)
    return sum(result.board not in seeds for result in read_ledger(folder.ledger))


def _promises(book: Book) -> Checked[Promises]:
    """Read the published files; drop each seed that does not match its commitment."""
    folder, event = book.folder, book.event
    try:
        commitments = published_commitments(folder.commitments)
        seeds = published_seeds(folder.seeds)
    except DamagedFileError as error:
        yield f"{error}; no deal was checked"
        return Promises({}, {}, frozenset(range(1, event.all_boards + 1)))
    if list(commitments) != list(range(1, event.all_boards + 1)):
        yield f"{folder.commitments}: must have a commitment for each of {event.all_boards} boards"
    # The promises from before an extension of the event.
    yield from _until_damage(broken_promises(folder), "earlier commitments were not checked")
    revealed = frozenset(seeds)
    broken = [board for board, seed in seeds.items() if commitments.get(board) != commitment(seed)]
    for board in broken:
        yield (
            f"{folder.seeds}: board {board}: the revealed seed does not match its commitment; "
            "its games were not checked"
        )
    strange = {board: why for board, seed in seeds.items() if (why := _strange(event, seed))}
    for board, why in strange.items():
        yield f"{folder.seeds}: board {board}: {why}; its games were not checked"
    for board in {*broken, *strange}:
        del seeds[board]
        commitments.pop(board, None)
    if not event.has_drawn_seeds and len(seeds) == event.all_boards:
        repeats = repeated_deals(event.rules, event.seats, seeds)
        if repeats != event.first_board_of:
            yield f"{folder.event}: repeats names other boards than those that repeat a deal"
    return Promises(commitments, seeds, revealed)


def _strange(event: Event, seed: bytes) -> str:
    """Return why a seed cannot be one of this event; empty if it can."""
    if len(seed) > SEED and not event.deals_set:
        return "its seed sets tiles, but the event's deals are drawn"
    if not satisfies(event, seed):
        return f"its first deal does not satisfy {' and '.join(event.deals_with)}"
    return ""


def _ledger(book: Book) -> Checked[ResultStore | None]:
    """Read the results by game, in order; return None when not all can be read."""
    folder, event = book.folder, book.event
    results = ResultStore(luck=LuckStore(folder, event))
    names = [entrant.name for entrant in event.entrants]
    # A generator: a stage plans its games from the results that are read before it.
    planned = (
        (game.name, game.board, tuple(names[entrant] for entrant in plan.seats))
        for plan in sittings(event, results)
        for game in plan.games
    )
    before, old = (0, tuple[str, ...]()), 0
    try:
        stopped = frozenset[str]()
        if event.limits.cents is not None:
            stopped = spent_out(event, sum_usage(read_ledger(folder.ledger)))
        for result in read_ledger(folder.ledger):
            if not event.retired.isdisjoint(result.seats):
                in_turn = before < past_order(result) and len(results) == old
                before, old = past_order(result), old + 1
            else:
                due = next(planned, None)
                while due and due[0] != result.game and stopped.intersection(due[2]):
                    due = next(planned, None)
                in_turn = (result.game, result.board, result.seats) == due
            if not in_turn:
                yield f"{folder.ledger}: {result.game} is not the next game of the schedule"
                return None
            results.add(result)
    except DamagedFileError as error:
        yield f"{error}; neither what follows it nor the report was checked"
        return None
    return results


def _twin_faults(folder: Folder) -> Iterator[str]:
    """Yield a fault for each file whose plain and compressed copies differ: one is a forgery."""
    for path in (*folder.logs(), *folder.parts()):
        try:
            forged = has_twin(path)
        except DamagedFileError as error:
            yield f"{error}; it stands beside {path.name}"
            continue
        if forged:
            yield f"{compressed_path(path)}: holds something else than {path.name}. Remove one"


def _until_damage(faults: Iterable[str], unchecked: str) -> Iterator[str]:
    """Yield these faults; a damaged file ends them and yields what it leaves unchecked."""
    try:
        yield from faults
    except DamagedFileError as error:
        yield f"{error}; {unchecked}"


def _past(book: Book, logged: Mapping[str, Path]) -> Iterator[str]:
    """Yield the games of earlier versions that only the ledger or only a log has."""
    folder = book.folder
    logs = GameIndex(book.past, lambda plan, _: folder.log(plan.name))
    for game in retired_games(book.event, book.results):
        if game not in logs:
            yield f"{folder.ledger}: {game} is in no log and was not checked"
    ends = [(bot.name, bot.withdrawn_after) for bot in book.event.entrants]
    for result in withdrawn_results(book.event, book.results):
        for name, last in ends:
            if last is not UNSET and name in result.seats and result.board > last:
                yield f"{folder.event}: {name} played {result.game} after it withdrew"
    untold = {game: path for game, path in logged.items() if game not in book.results}
    yield from (f"{path}: the ledger does not have {game}" for game, path in untold.items())


def _report(book: Book, promises: Promises, suspects: Collection[Path]) -> Iterator[str]:
    """Yield the faults of the report, and of the seeds of the boards that it calls over."""
    from tournaments.site.status import is_running
    from tournaments.verification import derived

    folder, ledger = book.folder, book.results
    if not folder.results.exists():
        # A run writes it at its end; one that was killed has none.
        if len(ledger) >= book.planned and not is_running(folder):
            yield f"{folder.results}: the file is missing; the same `boneyard run` writes it"
        return
    summary = yield from derived.report_faults(book, suspects)
    for board in finished_boards(boards_left(book.event, ledger.beginning(summary.played))):
        if board not in promises.revealed:
            yield f"{folder.seeds}: board {board} is over, but its seed is missing"
    boards = [*promises.seeds]
    # A run orders them before it publishes that the event is over.
    if summary.played == summary.planned and boards != sorted(boards):
        yield f"{folder.seeds}: its boards are not in order"


# The faults that a check finds, and what it has checked, in words.


def print_faults(checked: Checked[T], in_json: bool) -> tuple[list[str], T]:
    """Print all faults and their number; return them, and what the check returns."""
    faults: list[str] = []
    while True:
        try:
            faults.append(next(checked))
        except StopIteration as end:
            if faults and not in_json:
                print_line(count_in_digits(len(faults), "problem found.", "problems found."))
            verified: T = end.value
            return faults, verified
        if not in_json:
            print_line(faults[-1])


def describe_extent(extent: Verified) -> str:
    """Return the extent of a check in words."""
    if not extent.games:
        return "no game can be replayed yet"
    deals = "1 board's deals" if extent.boards == 1 else f"{extent.boards:,} boards' deals"
    games = f"{extent.games:,} {'game' if extent.games == 1 else 'games'}"
    equal = {", ratings equal": extent.ratings, ", luck equal": extent.luck}
    return f"{games} replayed, {deals} recomputed{''.join(filter(equal.get, equal))}"
