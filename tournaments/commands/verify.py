"""Verification of an event from its published files: deals, bytes, scores, ledger, report.

A file that cannot be trusted is reported once, with the amount that stays unchecked because of it.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, structs

from arena.analysis.replay import mismatches
from arena.engine.shuffle import commitment
from arena.logs.checksummed import DamagedFileError
from arena.logs.compression import actual_path
from arena.logs.gamelog import LoggedGame, is_over, read_games
from arena.rules.english import count_in_digits
from arena.ui.replay_files import FOLDER as REPLAYS
from arena.ui.replay_files import page_name, pages
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from protocol.records import Result, Sitting
from tournaments.plan.event import Event
from tournaments.rating.fouls import fouls_given
from tournaments.report.log_facts import log_facts
from tournaments.report.missing_data import reported, shortened
from tournaments.report.report import Results, from_logs, report_files
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.game_numbers import numbers
from tournaments.schedule.schedule import PlannedSitting, past_order, retired_games, sittings
from tournaments.schedule.seating import forfeited
from tournaments.storage.folder import (
    Folder,
    digest,
    has_content,
    most_promised,
    published_commitments,
    published_seeds,
    read_event,
)
from tournaments.storage.history import broken_promises
from tournaments.storage.ledger import boards_left, finished_sittings, past_sittings, read_ledger
from tournaments.storage.result_store import ResultStore

T = TypeVar("T")
SHORT = 10
"""The factor by which commitments may be too few before the plan itself is not believed."""
Checked = Generator[str, None, T]
"""A generator that yields every fault and returns the part that can be trusted."""


class Promises(Struct, frozen=True):
    """The published facts about the deals, as far as they are consistent."""

    commitments: dict[int, str]
    """Commitments by board; empty when they cannot be read."""
    seeds: dict[int, bytes]
    """Revealed seeds by board; only those that match their commitments."""
    revealed: frozenset[int]
    """Boards with a published seed, valid or not."""


def verify_folder(folder: Folder) -> Iterator[str]:
    """Yield every inconsistency of an event, finished or not.

    Raises UserError when there is no event.
    """
    event = read_event(folder)
    # Read the report first: while a run goes on, its ledger is never behind its report.
    before = reported(folder)
    promises = yield from _promises(folder, event)
    # To look for each of so many games would take for ever. A damaged file still has its size.
    if event.all_boards > SHORT * most_promised(folder) + SHORT:
        yield (
            f"{folder.event}: it has {event.all_boards} boards, far more than were ever promised; "
            "all else is thereby unchecked"
        )
        return
    ledger = yield from _ledger(folder, event)
    short = None if ledger is None else shortened(folder, before, len(ledger))
    if short:
        yield f"{short}; the report is thereby unchecked"
    plans = [*past_sittings(folder, event), *sittings(event, ledger or {})]
    sound = True
    trusted: list[Path] = []
    for plan in plans:
        faults = [*_sitting(folder.log(plan.name), event, plan, promises, ledger or {})]
        yield from faults
        sound = sound and not faults
        trusted += [folder.log(plan.name)] if not faults else []
    yield from _past(folder, event, ledger)
    planned = {folder.log(plan.name) for plan in plans}
    strange = [path for path in folder.logs() if path not in planned]
    # A Swiss or a knockout plans later rounds from the ledger: without it they are unknown.
    if (ledger is None or short) and not event.format.IS_STATIC:
        if strange:
            yield f"{strange[0]}: logs of later rounds, {len(strange)}, are thereby unchecked"
    else:
        yield from (f"{path}: the schedule has no such sitting" for path in strange)
    if ledger is not None and not short:
        unsure = () if sound else from_logs(folder)
        yield from _report(folder, event, ledger, promises, unsure)
    yield from _pages(folder, trusted)


def verify_log(path: Path, seeds: Path | None) -> Iterator[str]:
    """Yield every inconsistency of one log with the seeds in this file, or those of its folder.

    Raises UserError when they do not reveal all its boards.
    """
    folder = Folder(path.resolve().parent.parent)
    revealed = published_seeds(seeds or folder.seeds)
    commitments = published_commitments(folder) if seeds is None else {}
    promises = Promises(commitments, revealed, frozenset(revealed))
    games, damage = _readable(path)
    if missing := {logged.game.board for logged in games} - promises.revealed:
        raise UserError(
            f"{path}: the seeds of its board {min(missing)} are not in {seeds or folder.seeds}; "
            "say where they are (--seeds)."
        )
    for logged in games:
        yield from _game(path, logged, promises)
    for last in games[-1:]:
        who, boards = ".".join(last.sitting.seats), last.sitting.boards
        yield from _numbers(path, who, boards, games, promises)
    if damage:
        yield f"{damage}; nothing after it is trusted"
    elif not is_over(path):
        yield f"{path}: it has no end: its sitting is not over, or lines were cut off it"


def unchecked(folder: Folder) -> int:
    """Count the games that nobody can check yet, because their boards are not finished.

    Raises DamagedFileError.
    """
    seeds = published_seeds(folder.seeds)
    return sum(result.board not in seeds for result in read_ledger(folder.ledger))


def _promises(folder: Folder, event: Event) -> Checked[Promises]:
    """Read the published files; drop each seed that does not match its commitment."""
    try:
        commitments, seeds = published_commitments(folder), published_seeds(folder.seeds)
    except DamagedFileError as error:
        yield f"{error}; no deal is thereby checked"
        return Promises({}, {}, frozenset(range(1, event.all_boards + 1)))
    if list(commitments) != list(range(1, event.all_boards + 1)):
        yield f"{folder.commitments}: not one commitment for each of {event.all_boards} boards"
    yield from _kept_since(folder)
    revealed = frozenset(seeds)
    broken = [board for board, seed in seeds.items() if commitments.get(board) != commitment(seed)]
    for board in broken:
        yield (
            f"{folder.seeds}: board {board}: the revealed seed does not match its commitment; "
            "its games are thereby unchecked"
        )
        del seeds[board]
        commitments.pop(board, None)
    return Promises(commitments, seeds, revealed)


def _ledger(folder: Folder, event: Event) -> Checked[ResultStore | None]:
    """Read the results by game, in order; return None when not all can be read."""
    results = ResultStore()
    names = [entrant.name for entrant in event.entrants]
    # A generator: a stage plans its games from the results that are read before it.
    planned = (
        (game.name, game.board, tuple(names[entrant] for entrant in plan.seats))
        for plan in sittings(event, results)
        for game in plan.games
    )
    before, old = (0, tuple[str, ...]()), 0
    try:
        for result in read_ledger(folder.ledger):
            if not event.retired.isdisjoint(result.seats):
                in_turn = before < past_order(result) and len(results) == old
                before, old = past_order(result), old + 1
            else:
                in_turn = (result.game, result.board, result.seats) == next(planned, None)
            if not in_turn:
                yield f"{folder.ledger}: {result.game} is not the next game of the schedule"
                return None
            results.add(result)
    except DamagedFileError as error:
        yield f"{error}; nothing after it is trusted, and the report is thereby unchecked"
        return None
    return results


def _kept_since(folder: Folder) -> Iterator[str]:
    """Yield the promises from before an extension of the event that are broken."""
    try:
        yield from broken_promises(folder)
    except DamagedFileError as error:
        yield f"{error}; what was promised before is thereby unchecked"


def _past(folder: Folder, event: Event, ledger: Mapping[str, Result] | None) -> Iterator[str]:
    """Yield the games of earlier versions that only the ledger or only a log has."""
    if ledger is None:
        return
    logs = GameIndex(past_sittings(folder, event), lambda plan, _: folder.log(plan.name))
    for game in retired_games(event, ledger):
        if game not in logs:
            yield f"{folder.ledger}: {game} stands in no log; it is thereby unchecked"
    untold = {
        logged.game.game: path
        for path in (folder.log(plan.name) for plan in past_sittings(folder, event))
        for logged in _readable(path)[0]
        if logged.game.game not in ledger
    }
    yield from (f"{path}: the ledger does not have {game}" for game, path in untold.items())


def _readable(path: Path) -> tuple[list[LoggedGame], DamagedFileError | None]:
    """Return the finished games of a log up to its first damage, and that damage."""
    games: list[LoggedGame] = []
    try:
        games.extend(logged for logged in read_games(path) if logged.result)
    except DamagedFileError as error:
        return games, error
    return games, None


def _sitting(
    path: Path, event: Event, plan: PlannedSitting, promises: Promises, ledger: Mapping[str, Result]
) -> Iterator[str]:
    """Yield the faults of a sitting's log and its differences from the ledger."""
    games, damage = _readable(path)
    for sitting in {logged.sitting.boards: logged.sitting for logged in games}.values():
        yield from _misplaced(path, event, plan, sitting)
    results = yield from _games(path, plan, games, promises)
    due = [game.name for game in plan.games if game.name in ledger]
    over = len(due) == len(plan.games) and event.retired.isdisjoint(_names(event, plan))
    for name in due:
        if name in results and results[name] != ledger[name]:
            yield f"{path}: the ledger tells of another result of {name}"
    yield from _forfeits(path, event, plan, results)
    yield from _numbers(path, plan.who, plan.boards, games, promises)
    lost = sum(name not in results for name in due)
    if damage:
        yield f"{damage}; nothing after it is trusted: {_results(lost)} thereby unchecked"
    elif lost and not actual_path(path).exists():
        yield f"{path} is missing: {_results(lost)} thereby unchecked"
    elif lost or (over and not is_over(path)):
        yield f"{path}: lines are missing at its end: {_results(lost)} thereby unchecked"


def _forfeits(
    path: Path, event: Event, plan: PlannedSitting, results: Mapping[str, Result]
) -> Iterator[str]:
    """Yield the games whose forfeits do not follow from the fouls before them in the log."""
    before: dict[str, Result] = {}
    for game, result in results.items():
        if fouls_given(result) != forfeited(event.fouls, plan, before):
            yield f"{path}: {game} is not forfeited as the fouls before it say"
        before[game] = result


def _numbers(
    path: Path,
    who: str,
    boards: Iterable[int],
    games: Iterable[LoggedGame],
    promises: Promises,
) -> Iterator[str]:
    """Yield the games whose numbers for the bots do not follow from the public seeds."""
    due = numbers(who, boards, promises.seeds.get)
    for game in (logged.game for logged in games):
        if game.number != due.get(game.board, game.number):
            yield f"{path}: {game.game} has number {game.number}, but {due[game.board]} follows"


def _games(
    path: Path, plan: PlannedSitting, games: list[LoggedGame], promises: Promises
) -> Checked[dict[str, Result]]:
    """Check each game by itself; return the results by game."""
    results: dict[str, Result] = {}
    for logged in games:
        game = logged.game
        own = plan.game_on(game.board)
        if own is None or own.name != game.game:
            yield f"{path}: {game.game} does not belong there"
        if game.game in results:
            yield f"{path}: {game.game} has two results"
        yield from _game(path, logged, promises)
        if logged.result:
            results[game.game] = logged.result
    return results


def _results(count: int) -> str:
    return count_in_digits(count, "result of the ledger is", "results of the ledger are")


def _names(event: Event, plan: PlannedSitting) -> tuple[str, ...]:
    return tuple(event.entrants[entrant].name for entrant in plan.seats)


def _misplaced(path: Path, event: Event, plan: PlannedSitting, sitting: Sitting) -> Iterator[str]:
    """Yield the differences between a sitting and its plan."""
    was = (sitting.event, sitting.seats, sitting.boards)
    terms = (sitting.rules, sitting.clock, sitting.fouls)
    # The sitting may have been played before boards were added.
    boards = tuple(game.board for game in plan.games)[: len(sitting.boards)]
    if was != (event.name, _names(event, plan), boards):
        yield f"{path}: the event, the seats or the boards are not as planned"
    if terms != (event.rules, event.clock, event.fouls):
        yield f"{path}: the rules, the clock or what a foul costs are not the event's"


def _game(path: Path, logged: LoggedGame, promises: Promises) -> Iterator[str]:
    """Yield each part of a game that contradicts its seed or the published facts."""
    board = logged.game.board
    if promises.commitments.get(board, logged.game.commitment) != logged.game.commitment:
        yield f"{path}: {logged.game.game} names another commitment than was published"
    elif board in promises.seeds:
        yield from (f"{path}: {misfit}" for misfit in mismatches(logged, promises.seeds[board]))


def _report(
    folder: Folder,
    event: Event,
    ledger: ResultStore,
    promises: Promises,
    unsure: Collection[Path],
) -> Iterator[str]:
    """Yield the report's files that do not follow from the ledger and the logs of their time.

    The files in `unsure` are left out: they show logs that are known to be wrong.
    """
    if not folder.results.exists():
        # A kill may come between the plan and its first report, but no game is played without.
        if ledger:
            yield f"{folder.results}: there is none"
        return
    try:
        told = decode_json(folder.results.read_bytes(), Results)
    except DamagedRecordError as error:
        yield f"{folder.results}: {error}"
        return
    if told.commitments != digest(folder):
        yield f"{folder.commitments}: its SHA-256 is not the one in {folder.results.name}"
    results = ledger.beginning(told.played)
    known = log_facts(folder, results)
    if sum(one.sittings for one in known.sandboxes) < sum(one.sittings for one in told.sandboxes):
        # A log is gone, which another check reports.
        known = structs.replace(known, sandboxes=told.sandboxes)
    for path, lines in report_files(folder, event, results, known).items():
        if path not in unsure and not has_content(path, lines):
            yield f"{path}: does not follow from the ledger, the logs and the commitments"
    over = finished_sittings(boards_left(event, results))
    hidden = [board for board in over if board not in promises.revealed]
    yield from (f"{folder.seeds}: board {board} is over, but no seed is there" for board in hidden)
    boards = [*promises.seeds]
    # A run orders them before it publishes that the event is over.
    if told.played == told.planned and boards != sorted(boards):
        yield f"{folder.seeds}: its boards are not in order"


def _pages(folder: Folder, logs: Sequence[Path]) -> Iterator[str]:
    """Yield the replay pages that do not show what their log says.

    A log that goes on is newer than its pages. An event may have none at all: they are made from
    its logs at any time; when it is over it has all or none.
    """
    place = folder.path / REPLAYS
    over = [log for log in logs if is_over(log)]
    all_due = len(over) == len(logs) and place.is_dir() and any(place.iterdir())
    for log in over:
        if all_due or (place / page_name(log.stem, 1)).exists():
            for name, html in pages(log):
                if not has_content(place / name, [html.encode()]):
                    yield (
                        f"{place / name}: is not what its log leads to: "
                        "`boneyard replay --html` makes it anew"
                    )
