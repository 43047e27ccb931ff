"""The command `run --plan`: plays a few boards in a temporary folder, and estimates the rest."""

import time

import trio
from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.files import describe_error, temporary_folder
from arena.machine import raise_file_limit
from arena.program import run_async
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_json, print_line, print_note, working
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.book import Book, Ledger, ResultStore
from tournaments.event.facts import log_facts
from tournaments.event.folder import Folder
from tournaments.event.grow import open_event, with_repeats
from tournaments.event.luck import on_all_cores
from tournaments.plan.event import Event
from tournaments.plan.forecast import Forecast, Trial, forecast, forecast_text, trial_of
from tournaments.plan.read_plan import EventPlan
from tournaments.plan.schedule import count_all_games
from tournaments.play.lanes import Lanes, fit_jobs
from tournaments.play.runner import Runner
from tournaments.play.sittings import (
    MACHINE_ERRORS,
    STOPPED,
    RunStoppedError,
    check_greetings,
    root_cause,
)

MAX_CALIBRATION_GAMES = 4000
"""The largest number of games of a calibration; the clock normally ends it sooner."""
MAX_CALIBRATION_BOARDS = 1000
"""The largest number of boards of a calibration."""
BOARDS_A_SITTING = 5
"""Boards of a sitting: few, so that whole boards are played before the time is over."""


def estimate(plan: EventPlan, jobs: int | None, seconds: float, in_json: bool) -> int:
    """Print an event's estimated duration and precision; return the exit code.

    Raises UserError, DamagedFileError.
    """
    try:
        with working("Calibrating"):
            forecast = forecast_for(plan, jobs, seconds)
    except (*MACHINE_ERRORS, RunStoppedError) as error:
        print_note(f"The calibration stopped: {describe_error(error)}.")
        return STOPPED
    if in_json:
        print_json(forecast)
    for line in () if in_json else forecast_text(forecast):
        print_line(line)
    return 0


def forecast_for(plan: EventPlan, jobs: int | None, seconds: float) -> Forecast:
    """Play for at most `seconds` with the event's bots; return the forecast.

    The deals are not the event's, and nothing that was played is kept. Without `jobs`, as many
    sittings play side by side as in a run of the event.
    Raises UserError, StoppedError, OSError.
    """
    if plan.config.format.HAS_COPIES:
        raise UserError(
            "A tune's games follow from its results, so they are not estimated beforehand: "
            "`boneyard run` says how long it takes while it runs."
        )
    if plan.config.withdrawn:
        raise UserError("--plan is for an event that has not begun: nobody can have withdrawn.")
    with temporary_folder("plan", shared=True) as path:
        folder = Folder(path)
        event = plan.build(folder.build)
        lanes = Lanes(fit_jobs(jobs, event.seats, raise_file_limit()))
        trial = _trial(Book(folder, _short(event)), lanes, seconds)
        deals = plan.deals.boards if plan.deals else ()
        # The event has no secret yet: empty bytes stand in for it where set deals leave a choice.
        seeds = {
            number: board.seed or board_seed(b"", event.name, number) + board.placed
            for number, board in enumerate(deals[: event.all_boards], 1)
        }
        return forecast(with_repeats(event, seeds), trial.jobs, trial)


def _short(event: Event) -> Event:
    """Return the event with as many boards as a calibration may play."""
    each = count_all_games(event, {}) // event.boards
    boards = max(1, min(MAX_CALIBRATION_BOARDS, MAX_CALIBRATION_GAMES // each))
    # No bot may play set deals before the event, and to draw by a filter may take long.
    return replace(
        event,
        boards=boards,
        boards_a_sitting=BOARDS_A_SITTING,
        deals_set=False,
        deals_with=(),
    )


def _trial(book: Book, lanes: Lanes, seconds: float) -> Trial:
    folder, event = book.folder, book.event
    open_event(folder, event, None)
    ledger = Ledger(book, on_all_cores)
    sandbox = choose_sandbox(event.sandbox_here, event.limits, folder.path)
    ends: dict[str, float] = {}
    began, over = run_async(_play, ledger, sandbox, lanes, seconds, ends)
    settled = lanes.changed_at
    if settled >= max(ends.values(), default=began):
        # No game ended after the number of sittings last changed: measure all of them.
        settled = began
    used = log_facts(folder).times.entrants
    played = sum(row.games for row in used) / event.seats
    return trial_of(
        event,
        ResultStore((ledger.results[game] for game in ends), ledger.results.luck).first(),
        ends={game: end - began for game, end in ends.items()},
        jobs=lanes.width,
        seconds=over - began,
        settled_s=max(0.0, settled - began),
        sittings=len(folder.logs()),
        questions=sum(row.questions for row in used) / played if played else None,
        think_s={
            row.name: row.mean_ms * row.questions / row.games / 1000 for row in used if row.games
        },
    )


async def _play(
    ledger: Ledger,
    sandbox: Sandbox,
    lanes: Lanes,
    seconds: float,
    ends: dict[str, float],
) -> tuple[float, float]:
    """Play until the time is over, noting when each game ended, in s of the monotonic clock.

    Return when the first bots could play, and when the time was over.
    Raises UserError, StoppedError, OSError.
    """

    async def note(receiver: trio.MemoryReceiveChannel[Result]) -> None:
        async for result in receiver:
            ends[result.game] = time.monotonic()

    error, ready = None, None
    began = time.monotonic()
    try:
        with trio.move_on_after(seconds):
            event = ledger.book.event
            start_ms = event.clock.start_ms
            await check_greetings(event.entrants, start_ms, sandbox, say=print_note)
            ready = time.monotonic()
            sender, receiver = trio.open_memory_channel[Result](100)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(note, receiver)
                await Runner(ledger, sandbox, sender).play(lanes)
    except* Exception as group:
        error = root_cause(group)
    if error is not None:
        raise error
    return ready or began, time.monotonic()
