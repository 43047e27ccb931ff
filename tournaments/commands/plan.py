"""The command `plan`: plays a few boards in a temporary folder, or reads a finished event."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec.structs import replace

from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from arena.sandbox.temporary import temporary_folder
from arena.ui.console import print_json, print_line, print_note
from arena.ui.progress import working
from protocol.errors import UserError
from protocol.records import Result
from tournaments.forecast.forecast import Forecast, Trial, forecast, trial_of
from tournaments.forecast.power import separations
from tournaments.forecast.text import forecast_text, separation_text
from tournaments.plan.event import Event, files_of
from tournaments.plan.from_options import EventOptions, build_event, read_plan
from tournaments.rating.ratings import fit
from tournaments.report.event_text import done, uneven
from tournaments.report.log_facts import log_facts
from tournaments.runner.exit import MACHINE, STOPPED, RunStoppedError, root_cause
from tournaments.runner.lanes import Lanes
from tournaments.runner.runner import Runner, check_greetings
from tournaments.schedule.schedule import count_all_games
from tournaments.storage import folder as folders
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import Ledger, results_of
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.open_event import open_event
from tournaments.storage.result_store import ResultStore
from tournaments.verification.event_luck import luck_on_all_cores

GAMES = 4000
"""The largest number of games of a calibration; the clock normally ends it sooner."""
BOARDS = 1000
"""The largest number of boards of a calibration."""
INCOMPARABLE = (
    "No two neighbours in the standings took points off each other in both directions, directly "
    "or through others, so the number of boards that would separate them is unknown."
)
BOARDS_A_SITTING = 5
"""Boards of a sitting: few, so that whole boards are played before the time is over."""


class PlanOptions(NamedTuple):
    """Command-line options of an estimate."""

    event: EventOptions
    """The event, or as its only bot the folder of an event that was played."""
    separate: tuple[str, str] | None
    """Two entrants of a folder's event; None: all neighbours in its table."""
    seconds: float
    """Longest trial of the bots, in s."""
    jobs: int | None
    """Sittings side by side; None: as many as the bots' CPU time allows."""
    as_json: bool
    """True if the estimate is printed as JSON."""


def estimate(options: PlanOptions) -> int:
    """Print what is known about an event before or after it is played; return the exit code.

    Raises UserError, DamagedFileError.
    """
    path = Path(options.event.what[0])
    if options.separate or (len(options.event.what) == 1 and path.is_dir()):
        return _estimate_boards(path, options.separate, options.as_json)
    return _estimate_event(options)


def _estimate_event(options: PlanOptions) -> int:
    """Print an event's estimated duration and precision; return the exit code."""
    in_json = options.as_json
    try:
        with working("Calibrating"):
            found = forecast_for(options.event, options.jobs, options.seconds)
    except (*MACHINE, RunStoppedError) as error:
        print_note(f"The calibration stopped: {error}")
        return STOPPED
    if in_json:
        print_json(found)
    for line in () if in_json else forecast_text(found):
        print_line(line)
    return 0


def _estimate_boards(path: Path, pair: tuple[str, str] | None, in_json: bool) -> int:
    """Print how many boards would separate a folder's entrants; return the exit code."""
    folder = Folder(path)
    event = folders.load_event(folder)
    results = ResultStore(results_of(folder.ledger, event), LuckStore(folder, event))
    if not results:
        raise UserError(f"{path} has no results yet: nothing is known about its entrants.")
    rated = event.format.rated(event, results.first())
    ratings = fit(rated, partners=event.rules.deal.partners)
    found = separations(ratings, len({result.board for result in results.values()}), pair)
    for notice in _unfinished(event, results):
        print_note(notice)
    if not found:
        print_note(INCOMPARABLE)
    if in_json:
        print_json(found)
    for line in () if in_json else map(separation_text, found):
        print_line(line)
    return 0


def forecast_for(options: EventOptions, jobs: int | None, seconds: float) -> Forecast:
    """Play for at most `seconds` with the event's bots; return the forecast.

    The deals are not the event's, and nothing that was played is kept. Without `jobs` as many
    sittings play side by side as a run would let.
    Raises UserError, StoppedError, OSError.
    """
    with temporary_folder("plan", shared=True) as path:
        folder = Folder(path)
        plan = read_plan(options, predictable=False)
        if plan.format.HAS_COPIES:
            raise UserError(
                "A tune's games follow from its results, so they are not estimated beforehand: "
                "`boneyard tune` says how long it takes while it runs."
            )
        event = build_event(plan, folder.build).event
        trial = _trial(folder, _short(event), Lanes(jobs), seconds)
        return forecast(event, trial.jobs, trial)


def _short(event: Event) -> Event:
    """Return the event with as many boards as a calibration may play."""
    each = count_all_games(event, {}) // event.boards
    boards = max(1, min(BOARDS, GAMES // each))
    # No bot may play set deals before the event, and to draw by a filter may take long.
    return replace(
        event,
        boards=boards,
        boards_a_sitting=BOARDS_A_SITTING,
        deals_set=False,
        deals_with=(),
    )


def _trial(folder: Folder, event: Event, lanes: Lanes, seconds: float) -> Trial:
    open_event(folder, event, None)
    ledger = Ledger(folder, event, luck_on_all_cores)
    sandbox = choose_level(event.sandbox, event.limits, folder.path, files_of(event.entrants))
    ends: dict[str, float] = {}
    began, over = trio.run(_play, folder, event, ledger, sandbox, lanes, seconds, ends)
    settled = lanes.changed_at
    if settled >= max(ends.values(), default=began):
        # Nothing was measured since then, and most of what was played before it.
        settled = began
    used = log_facts(folder).times.entrants
    played = sum(one.games for one in used) / event.seats
    return trial_of(
        event,
        ResultStore((ledger.results[game] for game in ends), ledger.results.luck).first(),
        ends={game: end - began for game, end in ends.items()},
        jobs=lanes.width,
        seconds=over - began,
        settled_s=max(0.0, settled - began),
        sittings=len(folder.logs()),
        questions=sum(one.questions for one in used) / played if played else None,
        think_s={
            one.name: one.mean_ms * one.questions / one.games / 1000 for one in used if one.games
        },
    )


async def _play(
    folder: Folder,
    event: Event,
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
    ended, ready = None, None
    began = time.monotonic()
    try:
        with trio.move_on_after(seconds):
            start_ms = event.clock.start_ms
            complaint = await check_greetings(event.entrants, start_ms, sandbox, say=print_note)
            if complaint is not None:
                raise UserError(complaint)
            ready = time.monotonic()
            await _run(folder, event, ledger, sandbox, lanes, ends)
    except* Exception as group:
        ended = root_cause(group)
    if ended is not None:
        raise ended
    return ready or began, time.monotonic()


async def _run(
    folder: Folder,
    event: Event,
    ledger: Ledger,
    sandbox: Sandbox,
    lanes: Lanes,
    ends: dict[str, float],
) -> None:
    """Play the whole event; errors come out in an exception group."""
    sender, receiver = trio.open_memory_channel[Result](100)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_note, receiver, ends)
        await Runner(folder, event, ledger, sandbox, sender).play(lanes)


async def _note(receiver: trio.MemoryReceiveChannel[Result], ends: dict[str, float]) -> None:
    async for result in receiver:
        ends[result.game] = time.monotonic()


def _unfinished(event: Event, results: ResultStore) -> Iterator[str]:
    """Yield a note if the event is not finished."""
    of = count_all_games(event, results)
    if len(results) < of:
        yield f"The event is unfinished: {done(event, len(results), of)}"
        yield from filter(None, [uneven(event, results.first(), of)])
