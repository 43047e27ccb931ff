"""The command `run`: plays an event into its folder, shows its progress, publishes its results."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trio

from arena.logs.catalog import FOLDER, remove_leftovers
from arena.sandbox.limits import level_name
from arena.sandbox.select import choose_level
from arena.ui.console import print_note
from protocol.errors import UserError
from protocol.records import Result
from tournaments.commands.progress import Progress
from tournaments.plan.event import Event, WrittenBot, files_of
from tournaments.plan.from_options import EventOptions, bots_in_file, build_event, fresh_boards
from tournaments.report.html.replay_links import make_pages
from tournaments.report.missing_data import missing_results, refuse_fewer_logs
from tournaments.report.report import files_now
from tournaments.runner.exit import (
    INTERRUPTED,
    STOPPED,
    stop_on_signal,
    stop_sentence,
)
from tournaments.runner.runner import Runner, check_greetings
from tournaments.storage import folder as folders
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import Ledger, finished_sittings, read_ledger
from tournaments.storage.open_event import open_event
from tournaments.storage.result_store import ResultStore

if TYPE_CHECKING:
    from tournaments.cluster.address import ClusterAddress


class Execution(NamedTuple):
    """The processes or workers that play an event."""

    jobs: int
    """Sittings side by side; with a cluster on each worker that is started here."""
    cluster: "ClusterAddress | None" = None
    """The workers that play it; None: this process plays."""


class SeedOption(NamedTuple):
    """Deals from a fixed seed instead of chance."""

    seed: int
    """The seed of the deals."""
    why: str
    """The warning about it, in a sentence."""


Play = Callable[[trio.MemorySendChannel[Result]], Awaitable[None]]
"""A function that plays what a ledger misses, sends each result into the channel and closes it."""


def run_event(
    wishes: EventOptions, out: Path, fixed: SeedOption | None, where: Execution, in_json: bool
) -> int:
    """Play an event, or the rest of it; return the exit code.

    Raises UserError.
    """
    folder = Folder(out.resolve())
    try:
        code = _run_in(folder, wishes, fixed, where)
    except OSError as error:
        print_note(f"The run stopped: {error}.")
        _go_on(folder)
        return STOPPED
    _tell(folder, in_json)
    return code


def _run_in(
    folder: Folder, wishes: EventOptions, fixed: SeedOption | None, where: Execution
) -> int:
    """Play into the folder and publish there; return the exit code.

    Raises OSError, UserError.
    """
    with folders.lock_for_writing(folder):
        plan = build_event(wishes, folder.build, predictable=fixed is not None)
        fresh = fresh_boards(wishes)
        event, notices = open_event(folder, plan, fixed.seed if fixed else None, fresh_boards=fresh)
        ledger = Ledger(folder, event)
        lost = missing_results(folder, ledger.results)
        refuse_fewer_logs(folder, event, ledger.results)
        remove_leftovers(folder.path / FOLDER)
        for notice in (*notices, *ledger.notices, *([lost] if lost else [])):
            print_note(notice)
        if fixed:
            print_note(fixed.why)
        # Before the first game too: the commitments' digest is of use only if it is known then.
        _publish(folder, event, ledger)
        published = len(ledger.results)
        if where.cluster:
            ready = _there(folder, event, ledger, _sources(wishes, plan), where, where.cluster)
        else:
            ready = _here(folder, event, ledger, where.jobs)
        with folders.kept_private(folder, lambda: ledger.complete):
            code = 0 if ledger.complete else trio.run(_play, folder, event, ledger, ready)
        # A disk too full for a game may be too full for a report: the next run writes it.
        with suppress(OSError) if code == STOPPED else nullcontext():
            if len(ledger.results) > published:
                _publish(folder, event, ledger)
        if code == 0 and (later := make_pages(folder, len(ledger.results))):
            print_note(later)
    return code


def _go_on(folder: Folder) -> None:
    print_note(f"Stopped; run the same command again to go on. Folder: {folder.path}")


def _sources(wishes: EventOptions, plan: Event) -> dict[str, tuple[WrittenBot, Path]]:
    """Return each bot's entry and its folder by fingerprint, because a version's name changes."""
    bots, base = bots_in_file(wishes)
    return {one.fingerprint: (bot, base) for one, bot in zip(plan.entrants, bots, strict=True)}


async def _play(
    folder: Folder, event: Event, ledger: Ledger, ready: AbstractAsyncContextManager[Play]
) -> int:
    """Play until the plan is done or the run is stopped; return the exit code.

    Raises UserError.
    """
    ended: BaseExceptionGroup[Exception] | None = None
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            await nursery.start(stop_on_signal, scope)
            ended = await _ended(folder, event, ledger, ready)
            nursery.cancel_scope.cancel()
    if ended:
        print_note(stop_sentence(folder, ended, "run", "between two games"))
    if ended or scope.cancelled_caught:
        _go_on(folder)
        return STOPPED if ended else INTERRUPTED
    return 0


@asynccontextmanager
async def _here(folder: Folder, event: Event, ledger: Ledger, jobs: int) -> AsyncIterator[Play]:
    """Yield the function that plays in this process.

    Raises UserError, StoppedError.
    """
    sandbox = choose_level(event.sandbox, event.limits, folder.path, files_of(event.entrants))
    for sentence in sandbox.notices:
        print_note(f"Sandbox {level_name(sandbox.level)}: {sentence}")
    complaint = await check_greetings(event.entrants, event.clock.start_ms, sandbox)
    if complaint is not None:
        raise UserError(complaint)

    async def play(finished: trio.MemorySendChannel[Result]) -> None:
        await Runner(folder, event, ledger, sandbox, finished).play(jobs)

    yield play


def _there(
    folder: Folder,
    event: Event,
    ledger: Ledger,
    sources: Mapping[str, tuple[WrittenBot, Path]],
    where: Execution,
    cluster: "ClusterAddress",
) -> AbstractAsyncContextManager[Play]:
    """Return a context with the function that plays on workers."""
    from tournaments.cluster.connect import connect

    tell = print_note
    return connect(cluster, folder, event, ledger, sources, where.jobs, tell)


async def _ended(
    folder: Folder, event: Event, ledger: Ledger, ready: AbstractAsyncContextManager[Play]
) -> BaseExceptionGroup[Exception] | None:
    """Play; return the errors that ended it early, or None."""
    ended = None
    try:
        async with ready as play:
            await _run(folder, event, ledger, play)
    except* Exception as group:
        ended = group
    return ended


async def _run(folder: Folder, event: Event, ledger: Ledger, play: Play) -> None:
    """Play and show the progress; errors come out in an exception group."""
    sender, receiver = trio.open_memory_channel[Result](100)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_watch, receiver, folder, event, ledger)
        await play(sender)


async def _watch(
    receiver: trio.MemoryReceiveChannel[Result], folder: Folder, event: Event, ledger: Ledger
) -> None:
    """Show each result, and reveal each board's seed after its last game."""
    public = set(folders.published_seeds(folder.seeds))
    with Progress(event, ledger) as progress:
        async for result in receiver:
            if ledger.left[result.board] == 0 and result.board not in public:
                await trio.to_thread.run_sync(folders.reveal_one, folder, event, result.board)
                public.add(result.board)
            progress.update(result)


def _publish(folder: Folder, event: Event, ledger: Ledger) -> None:
    folders.reveal(folder, event, finished_sittings(ledger.left))
    for path, lines in files_now(folder, event, ResultStore(read_ledger(folder.ledger))).items():
        folders.write_atomic(path, lines)


def _tell(folder: Folder, in_json: bool) -> None:
    if in_json:
        sys.stdout.buffer.write(folder.results.read_bytes())
        return
    Progress.final(folder)
