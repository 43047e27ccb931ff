"""Checks an event from its published files alone: deals, bytes, scores, ledger, report."""

from collections.abc import Iterator
from pathlib import Path

from arena.engine.chance import commitment
from arena.gamelog import DamagedLogError, LoggedGame, read_games
from arena.replay import misfits
from protocol.codec import DamagedRecordError
from protocol.records import Result
from protocol.usage import UserError
from tournaments.event import Event
from tournaments.folder import Folder, load, published
from tournaments.fouls import forfeited, given
from tournaments.ledger import DamagedLedgerError, read_ledger
from tournaments.report import report_files
from tournaments.schedule import sittings
from tournaments.times import as_json, times


def verify_folder(folder: Folder) -> Iterator[str]:
    """Every way in which a finished event does not fit together.

    Raises UserError when there is no event.
    """
    event = load(folder)
    try:
        commitments, seeds = published(folder)
    except (DamagedRecordError, ValueError) as error:
        yield f"{folder.commitments.name} or {folder.seeds.name}: {error}"
        return
    yield from _broken_promises(commitments, seeds)
    results: dict[str, Result] = {}
    for path in folder.logs():
        yield from _verify_log(path, event, seeds, results)
    yield from _verify_ledger(folder, event, results)
    yield from _verify_report(folder, event)


def verify_log(path: Path) -> Iterator[str]:
    """Every way in which one log does not fit the seeds that its event's folder reveals.

    Raises UserError when it reveals none.
    """
    _, seeds = published(Folder(path.resolve().parent.parent))
    if not seeds:
        raise UserError(f"{path} lies in no event's folder that reveals its seeds.")
    yield from _verify_log(path, None, seeds, {})


def unchecked(folder: Folder) -> int:
    """Games that nobody can check yet, because their boards are not finished."""
    _, seeds = published(folder)
    return sum(result.board not in seeds for result in read_ledger(folder.ledger))


def _broken_promises(commitments: dict[int, str], seeds: dict[int, bytes]) -> Iterator[str]:
    for board, seed in seeds.items():
        if commitments.get(board) != commitment(seed):
            yield f"board {board}: the revealed seed does not match its commitment"


def _verify_log(
    path: Path, event: Event | None, seeds: dict[int, bytes], results: dict[str, Result]
) -> Iterator[str]:
    try:
        for logged in read_games(path):
            if logged.result:
                yield from _verify_game(path, logged, event, seeds)
                results[logged.result.game] = logged.result
    except DamagedLogError as error:
        yield str(error)


def _verify_game(
    path: Path, logged: LoggedGame, event: Event | None, seeds: dict[int, bytes]
) -> Iterator[str]:
    sitting = logged.sitting
    plan = event and (event.rules, event.clock, event.fouls)
    if plan and (sitting.rules, sitting.clock, sitting.fouls) != plan:
        yield f"{path}: the rules, the clock or what a foul costs are not the event's"
    seed = seeds.get(logged.game.board)
    if seed is None:
        return
    for misfit in misfits(logged, seed):
        yield f"{path}: {misfit}"


def _verify_ledger(folder: Folder, event: Event, logged: dict[str, Result]) -> Iterator[str]:
    try:
        ledger = list(read_ledger(folder.ledger))
    except DamagedLedgerError as error:
        yield str(error)
        return
    names = [entrant.name for entrant in event.entrants]
    planned = [
        (game.name, game.board, tuple(names[entrant] for entrant in plan.seats))
        for plan in sittings(event)
        for game in plan.games
    ]
    found = [(result.game, result.board, result.seats) for result in ledger]
    if found != planned[: len(ledger)]:
        yield f"{folder.ledger}: its games are not those of the schedule, in order"
    yield from _verify_forfeits(folder, event, {result.game: result for result in ledger})
    for number, result in enumerate(ledger, 1):
        if logged.get(result.game) != result:
            yield f"{folder.ledger}, line {number}: {result.game} is not as its log says"


def _verify_forfeits(folder: Folder, event: Event, results: dict[str, Result]) -> Iterator[str]:
    """What was lost beforehand must follow from the fouls before it."""
    for plan in sittings(event):
        for game in plan.games:
            lost = forfeited(event.fouls, plan, game, results)
            if game.name in results and given(results[game.name]) != lost:
                yield f"{folder.ledger}: {game.name} is not forfeited as the fouls before it say"


def _verify_report(folder: Folder, event: Event) -> Iterator[str]:
    if not folder.report.exists():
        return
    followed = {**report_files(folder, event), folder.times: as_json(times(folder))}
    for path, data in followed.items():
        if not path.exists() or path.read_bytes() != data:
            yield f"{path}: does not follow from the ledger and the logs"
