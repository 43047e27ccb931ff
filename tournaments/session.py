"""One run of the program: plays an event into its folder, shows it, publishes what came of it."""

import signal
import sys
from pathlib import Path

import click
import trio

from arena.sandbox.choice import best_sandbox
from arena.sandbox.sandbox import Sandbox
from protocol.records import Result
from protocol.usage import UserError
from tournaments import folder as folders
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.ledger import Ledger, finished_boards
from tournaments.progress import Progress
from tournaments.report import report_files
from tournaments.run import Runner, StoppedError, call_roll, innermost
from tournaments.verify import unchecked, verify_folder, verify_log
from tournaments.wishes import Wishes, planned

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def run_event(wishes: Wishes, out: Path, seed: int | None, jobs: int, as_json: bool) -> int:
    """Play an event, or what is left of it; the program's exit code.

    Raises UserError.
    """
    folder = Folder(out.resolve())
    with folders.only_writer(folder):
        event = planned(wishes, folder.build, predictable=seed is not None)
        folders.begin(folder, event, seed)
        ledger = Ledger(folder, event)
        if seed is not None and not as_json:
            click.echo("The deals come from --seed: anyone can predict them.", err=True)
        code = trio.run(_play, folder, event, ledger, jobs)
        _publish(folder, event, ledger)
    _tell(folder, as_json)
    return code


async def _play(folder: Folder, event: Event, ledger: Ledger, jobs: int) -> int:
    """Play until the plan is done, or somebody or something stops it; the exit code."""
    if ledger.complete:
        return 0
    sandbox = best_sandbox(event.sandbox, event.limits, folder.path)
    for sentence in sandbox.missing:
        click.echo(sentence, err=True)
    complaint, stopped = None, False
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            await nursery.start(_stop_on_signal, scope)
            complaint = await call_roll(event, sandbox)
            if complaint is None:
                stopped = await _run(folder, event, ledger, sandbox, jobs)
            nursery.cancel_scope.cancel()
    if complaint:
        raise UserError(complaint)
    if scope.cancelled_caught or stopped:
        click.echo(f"Stopped; run the same command again to go on. Folder: {folder.path}", err=True)
        return 1 if stopped else INTERRUPTED
    return 0


async def _run(folder: Folder, event: Event, ledger: Ledger, sandbox: Sandbox, jobs: int) -> bool:
    """Play and show it; whether the machine or we ourselves stopped it."""
    sender, receiver = trio.open_memory_channel[Result](100)
    stopped = False
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_watch, receiver, event, ledger)
            await Runner(folder, event, ledger, sandbox, sender).play(jobs)
    except* StoppedError as group:
        click.echo(str(innermost(group)), err=True)
        stopped = True
    return stopped


async def _stop_on_signal(
    scope: trio.CancelScope, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()


async def _watch(receiver: trio.MemoryReceiveChannel[Result], event: Event, ledger: Ledger) -> None:
    with Progress(event, ledger) as progress:
        async for _ in receiver:
            progress.update()


def _publish(folder: Folder, event: Event, ledger: Ledger) -> None:
    folders.reveal(folder, event, finished_boards(event, ledger.results))
    for path, data in report_files(folder, event).items():
        folders.write_whole(path, [data])


def _tell(folder: Folder, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.write(folder.results.read_bytes())
        return
    Progress.final(folder)


def verify_event(path: Path) -> int:
    """Check a folder or one log, and print what does not fit; the exit code.

    Raises UserError.
    """
    faults = 0
    for fault in verify_log(path) if path.is_file() else verify_folder(Folder(path)):
        click.echo(fault)
        faults += 1
    if faults:
        click.echo("1 thing does not fit." if faults == 1 else f"{faults} things do not fit.")
        return 1
    click.echo("Everything fits.")
    if path.is_dir() and (waiting := unchecked(Folder(path))):
        click.echo(f"{waiting} games wait for their boards' seeds: run the event to its end.")
    return 0
