"""Play what an event's folder lacks, with its progress, and publish seeds and reports there."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import trio

from arena.machine import raise_file_limit
from arena.program import cancelled_by_signals
from arena.sandbox.process import Sandbox
from arena.ui.console import print_note
from protocol.records import Result
from tournaments.event.book import Book, Ledger, finished_boards
from tournaments.event.folder import note_unseen, reveal, reveal_more
from tournaments.play.lanes import Lanes, fit_jobs
from tournaments.play.runner import FoulWatch, Runner
from tournaments.play.sittings import with_waiting
from tournaments.report.results_file import current_results

if TYPE_CHECKING:
    from tournaments.site.progress import Progress


EARLIER_GAMES = 1000
"""Games of an earlier run in which a bot's first ones are looked for."""
UNSEEN_RESULTS = 100
"""Most results that wait for a slow disk to reveal earlier boards, before games wait too."""
PlayGames = Callable[[trio.MemorySendChannel[Result]], Awaitable[None]]
"""A function that plays what a ledger misses, sends each result into the channel and closes it."""


class Ending(NamedTuple):
    """The end of playing before the plan was done; both are empty if it was done."""

    errors: BaseExceptionGroup[Exception] | None
    interrupted: bool


async def play_to_end(
    ledger: Ledger,
    ready: AbstractAsyncContextManager[PlayGames],
    *,
    stop_at_fouls: bool = False,
) -> Ending:
    """Play until the plan is done, an error comes, or a signal asks the program to end.

    `stop_at_fouls`: a bot that fouls in each of its first games is such an error.
    """
    errors: BaseExceptionGroup[Exception] | None = None
    watch = FoulWatch(ledger.book, stops=stop_at_fouls)
    note_unseen(ledger.book.folder, may_have=True)
    with cancelled_by_signals() as scope:
        try:
            async with ready as play:
                await _run(ledger, play, watch)
        except* Exception as group:
            errors = group
    return Ending(errors, scope.cancelled_caught)


@asynccontextmanager
async def play_here(
    ledger: Ledger,
    jobs: int | None,
    prepare: Callable[[], Awaitable[Sandbox]],
    *,
    stderr_boards: int = 0,
) -> AsyncIterator[PlayGames]:
    """Yield the function that plays in this process, in the sandbox of `prepare`.

    Raises OSError, and what `prepare` raises.
    """
    fitting = fit_jobs(jobs, ledger.book.event.seats, files := raise_file_limit())
    if fitting != jobs:
        print_note(f"Only {fitting} sittings side by side: a process may open {files} files here.")
    lanes, sandbox = Lanes(fitting), await prepare()

    async def play(finished: trio.MemorySendChannel[Result]) -> None:
        runner = Runner(ledger, sandbox, finished, stderr_boards=stderr_boards)
        await runner.play(lanes)

    yield play


async def _run(ledger: Ledger, play: PlayGames, watch: FoulWatch) -> None:
    """Play and show the progress; errors come out in an exception group."""
    for result in islice(ledger.results.first(), EARLIER_GAMES):
        if not watch.fouls:
            break
        await watch.add(result)
    sender, receiver = trio.open_memory_channel[Result](UNSEEN_RESULTS)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_watch, receiver, ledger, watch)
        await play(sender)


async def _watch(
    receiver: trio.MemoryReceiveChannel[Result],
    ledger: Ledger,
    watch: FoulWatch,
) -> None:
    """Show each result, and reveal each board's seed after its last game.

    A thread reveals all boards that are over by then: while it plays, a referee resumes this task
    180 to 390 times a second (measured), and on many cores more games end.
    """
    book = ledger.book
    public, seed_of = set(book.public), book.seed_of
    # In a thread: to import it takes longer than a move, and games have begun.
    with (await trio.to_thread.run_sync(load_display))(ledger, watch.fouls) as progress:
        async for arrival in receiver:
            results = with_waiting(arrival, receiver)
            over = {result.board for result in results if not ledger.left[result.board]} - public
            if over:
                # In a thread: no game waits for a slow disk.
                await trio.to_thread.run_sync(reveal_more, book.folder, seed_of, over)
                public |= over
            for result in results:
                await watch.add(result)
                progress.update(result)


def load_display() -> "type[Progress]":
    """Import the display, with rich."""
    from tournaments.site.progress import Progress

    return Progress


def publish_reports(ledger: Ledger) -> None:
    """Reveal the seeds of finished boards and write the reports, if a game counts.

    Raises UserError, OSError.
    """
    book = ledger.book
    reveal(book.folder, book.seed_of, finished_boards(ledger.left))
    # In the order of the ledger, which is that of the schedule: a run's is that of arrival.
    if not current_results(book) and (results := ledger.written_results()):
        from tournaments.report.report import write_report  # Numpy and Jinja2 take 0.2 s.

        write_report(Book(book.folder, book.event, results))
    note_unseen(book.folder, may_have=ledger.has_waiting)
