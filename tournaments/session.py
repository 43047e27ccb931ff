"""One run of the program: plays an event into its folder, shows it, publishes what came of it."""

import signal
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import click
import trio

from arena.sandbox.choice import best_sandbox
from arena.sandbox.limits import called
from arena.sandbox.sandbox import Sandbox
from protocol.records import Result
from protocol.usage import UserError
from tournaments import folder as folders
from tournaments.begin import begin
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.history import read_history
from tournaments.ledger import Ledger, finished
from tournaments.pages.replays import make_pages
from tournaments.progress import Progress
from tournaments.report import files_now
from tournaments.run import Runner, call_roll, crashed, innermost
from tournaments.sitting import MACHINE, StoppedError
from tournaments.times import as_json, times
from tournaments.verify import unchecked, verify_folder, verify_log
from tournaments.wishes import Wishes, planned

STOPPED = 1
"""Exit code when the machine, or we ourselves, kept a run from going on."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def run_event(wishes: Wishes, out: Path, seed: int | None, jobs: int, in_json: bool) -> int:
    """Play an event, or what is left of it; the program's exit code.

    Raises UserError.
    """
    folder = Folder(out.resolve())
    try:
        code = _run_in(folder, wishes, seed, jobs)
    except OSError as error:
        click.echo(f"The run stopped: {error}.", err=True)
        _go_on(folder)
        return STOPPED
    _tell(folder, in_json)
    return code


def _run_in(folder: Folder, wishes: Wishes, seed: int | None, jobs: int) -> int:
    """Play into the folder and publish there; the exit code.

    Raises OSError, UserError.
    """
    with folders.only_writer(folder):
        plan = planned(wishes, folder.build, predictable=seed is not None)
        event, notices = begin(folder, plan, seed)
        ledger = Ledger(folder, event)
        for notice in (*notices, *ledger.notices):
            click.echo(notice, err=True)
        if seed is not None:
            click.echo("The deals come from --seed: anyone can predict them.", err=True)
        # Before the first game too: the commitments' digest is of use only if it is known then.
        _publish(folder, event, ledger)
        code = trio.run(_play, folder, event, ledger, jobs)
        # A disk too full for a game may be too full for a report: the next run writes it.
        with suppress(OSError) if code == STOPPED else nullcontext():
            _publish(folder, event, ledger)
        if code == 0 and (later := make_pages(folder, len(ledger.results))):
            click.echo(later, err=True)
    return code


def _go_on(folder: Folder) -> None:
    click.echo(f"Stopped; run the same command again to go on. Folder: {folder.path}", err=True)


async def _play(folder: Folder, event: Event, ledger: Ledger, jobs: int) -> int:
    """Play until the plan is done, or somebody or something stops it; the exit code.

    Raises UserError.
    """
    if ledger.complete:
        return 0
    sandbox = best_sandbox(event.sandbox, event.limits, folder.path)
    for sentence in sandbox.missing:
        click.echo(f"Sandbox {called(sandbox.level)}: {sentence}", err=True)
    ended: BaseExceptionGroup[Exception] | None = None
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            await nursery.start(_stop_on_signal, scope)
            ended = await _ended(folder, event, ledger, sandbox, jobs)
            nursery.cancel_scope.cancel()
    if ended:
        click.echo(_reason(folder, ended), err=True)
    if ended or scope.cancelled_caught:
        _go_on(folder)
        return STOPPED if ended else INTERRUPTED
    return 0


async def _ended(
    folder: Folder, event: Event, ledger: Ledger, sandbox: Sandbox, jobs: int
) -> BaseExceptionGroup[Exception] | None:
    """Play; what ended it before its time."""
    ended = None
    try:
        complaint = await call_roll(event.entrants, event.clock.start_ms, sandbox)
        if complaint is not None:
            raise UserError(complaint)
        await _run(folder, event, ledger, sandbox, jobs)
    except* Exception as group:
        ended = group
    return ended


def _reason(folder: Folder, ended: BaseExceptionGroup[Exception]) -> str:
    """Why a run stopped, and whose doing that is.

    Raises UserError if it is the user's.
    """
    error = innermost(ended)
    if isinstance(error, UserError):
        raise error
    if isinstance(error, StoppedError):
        return str(error)
    if isinstance(error, MACHINE):
        return f"The run stopped: {error}."
    return crashed(folder, ended, "between two games")


async def _run(folder: Folder, event: Event, ledger: Ledger, sandbox: Sandbox, jobs: int) -> None:
    """Play and show it; what stops it is raised in a group."""
    sender, receiver = trio.open_memory_channel[Result](100)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_watch, receiver, folder, event, ledger)
        await Runner(folder, event, ledger, sandbox, sender).play(jobs)


async def _stop_on_signal(
    scope: trio.CancelScope, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()


async def _watch(
    receiver: trio.MemoryReceiveChannel[Result], folder: Folder, event: Event, ledger: Ledger
) -> None:
    """Show each result, and reveal each board's seed when its last game is over."""
    with Progress(event, ledger) as progress:
        async for result in receiver:
            if ledger.left[result.board] == 0:
                over = finished(ledger.left)
                await trio.to_thread.run_sync(folders.reveal, folder, event, over)
            progress.update(result)


def _publish(folder: Folder, event: Event, ledger: Ledger) -> None:
    folders.reveal(folder, event, finished(ledger.left))
    for path, lines in files_now(folder, event).items():
        folders.write_whole(path, lines)
    folders.write_whole(folder.times, [as_json(times(folder))])


def _tell(folder: Folder, in_json: bool) -> None:
    if in_json:
        sys.stdout.buffer.write(folder.results.read_bytes())
        return
    Progress.final(folder)


def verify_event(path: Path, seeds: Path | None) -> int:
    """Check a folder or one log, and print what does not fit; the exit code.

    Raises UserError.
    """
    faults = 0
    for fault in verify_log(path, seeds) if path.is_file() else verify_folder(Folder(path)):
        click.echo(fault)
        faults += 1
    if faults:
        click.echo("1 thing does not fit." if faults == 1 else f"{faults} things do not fit.")
        return 1
    click.echo("Everything fits.")
    if path.is_dir():
        _tell_what_is_left(Folder(path))
    return 0


def _tell_what_is_left(folder: Folder) -> None:
    """What nobody can check yet, and what only who was there at the beginning can check."""
    if waiting := unchecked(folder):
        click.echo(f"{waiting} games wait for their boards' seeds: run the event to its end.")
    click.echo(f"The commitments' SHA-256 is {folders.digest(folder)}:")
    click.echo("compare it with the one that was published before the first game.")
    for before in read_history(folder):
        click.echo(
            f"Until it was extended it had {before.boards} boards, promised by {before.sha256}, "
            f"and {', '.join(before.entrants)}; the seeds of {before.revealed} were public then."
        )
