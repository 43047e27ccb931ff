"""The command `explain --review` for an event: reviews its decisions on all cores."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.document.blocks import Paragraph
from arena.document.terminal import open_console, renderables
from arena.files import write_files
from arena.logs.board_promises import published_seeds
from arena.ui.console import Pager, print_json, print_note, print_paged
from arena.ui.progress import working
from protocol.errors import UserError, unknown_name
from protocol.records import Result
from tournaments.commands.report import rewrite_report
from tournaments.plan.event import Event
from tournaments.report.review.blocks import dearest, review_blocks
from tournaments.report.review.files import decisions_csv, summary_json
from tournaments.report.review.reviewer import (
    WORLDS,
    ReviewedGames,
    ReviewTask,
    reference_player,
    review_part,
)
from tournaments.report.review.sums import ReviewSummary, summarize_review
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import past_sittings, results_of
from tournaments.storage.result_store import ResultStore
from tournaments.storage.review_log import ReviewLog, ReviewTerms, open_review, read_seats
from tournaments.verification.log_check import usable_cores

INTERRUPTED = 130
INCOMPLETE = 1
"""Exit codes after an interrupt, and if some games could not be reviewed."""
FAULTS_SHOWN = 10
"""Reasons that are told one by one."""
SHORT = (
    "A choice's loss is the value of the best option less that of the chosen one, in points of "
    "lead by the round's end. ± is half a 95 % interval. The report says more."
)
"""The meaning of the numbers."""


class WrittenReview(NamedTuple):
    """A review that is written."""

    summary: ReviewSummary
    """Its sums."""
    seats: int
    """Seats of the games that could be reviewed."""
    faults: list[str]
    """Reasons why some were not, in sentences."""


def review_event(
    where: Path, page: Pager, bot: str | None, deals: int | None, by: str | None, *, in_json: bool
) -> int:
    """Review the games that are not reviewed yet, and print the sums; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    try:
        review = write_review(Folder(where), bot, deals, by)
    except KeyboardInterrupt:
        words = ("boneyard", "explain", str(where), "--review", *(("--bot", bot) if bot else ()))
        print_note(f"Interrupted. `{shlex.join(words)}` goes on with the rest.")
        return INTERRUPTED
    print_faults(review.faults)
    if in_json:
        print_json(review.summary)
    else:
        _print(review.summary, where, review.seats, page)
    return INCOMPLETE if review.faults else 0


def print_faults(faults: Sequence[str]) -> None:
    """Print the first reasons why games could not be reviewed."""
    for sentence in faults[:FAULTS_SHOWN]:
        print_note(sentence)
    if len(faults) > FAULTS_SHOWN:
        print_note(f"and {len(faults) - FAULTS_SHOWN} more")


def write_review(
    folder: Folder, bot: str | None = None, deals: int | None = None, by: str | None = None
) -> WrittenReview:
    """Review the games that are not reviewed yet, and write the files and the report again.

    `bot`: only its decisions. `deals`: those of the hidden tiles over which an option is valued.
    `by`: the player that plays rounds on. Raises UserError; DamagedFileError is one.
    """
    from arena.valuation.batch import mask_tables  # It needs numpy.

    event = load_event(folder)
    mask_tables(event.rules, event.seats)  # It refuses rules without values.
    names = [one.name for one in event.entrants]
    if bot and bot not in names:
        raise unknown_name("bot", bot, names)
    results = ResultStore(results_of(folder.ledger, event))
    public = published_seeds(folder.seeds)
    # The review tells hidden tiles: that of a board that is still played must wait.
    over = {name: one for name, one in results.items() if one.board in public}
    if not over:
        raise UserError(f"{folder.path} has no finished board. Run the event first.")
    player = by and reference_player(by)
    usual = ReviewTerms(event.name, WORLDS, reference_player(None))
    with open_review(folder, usual, deals, player) as log:
        faults = _review(folder, event, results, _wanted(over, bot, log), log)
        summary = summarize_review(log.terms, read_seats(folder))
        lines = decisions_csv(folder, summary.seats)
        write_files({folder.review: summary_json(summary), folder.review_csv: lines})
    try:
        rewrite_report(folder, event)
    except UserError as error:
        # While the event runs, the run does so at its end.
        print_note(f"The report stays as it is: {error}")
    return WrittenReview(summary, sum(len(one.seats) for one in over.values()), faults)


def _wanted(
    results: Mapping[str, Result], bot: str | None, log: ReviewLog
) -> dict[str, tuple[int, ...]]:
    """Return the games that are left to review, each with its seats."""
    wanted = {
        name: tuple(
            seat
            for seat, who in enumerate(one.seats)
            if bot in (None, who) and (name, seat) not in log.done
        )
        for name, one in results.items()
    }
    return {name: seats for name, seats in wanted.items() if seats}


def _review(
    folder: Folder,
    event: Event,
    results: ResultStore,
    wanted: Mapping[str, tuple[int, ...]],
    log: ReviewLog,
) -> list[str]:
    """Review games and write them down as they come; return why some were not, in sentences."""
    tasks = [*_tasks(folder, event, results, wanted, log)]
    faults: dict[str, None] = {}
    done, of = 0, sum(map(len, wanted.values()))
    with working("Seats reviewed", lines=True) as tell:
        for reviewed in _reviewed(tasks):
            for seat in reviewed.seats:
                log.add(seat)
            done += len(reviewed.seats)
            faults |= dict.fromkeys(reviewed.faults)
            tell(done, of)
    return [*faults]


def _reviewed(tasks: list[ReviewTask]) -> Iterator[ReviewedGames]:
    """Yield what each task gives, in order, from all cores."""
    count = min(len(tasks), usable_cores())
    if count < 2:
        yield from map(review_part, tasks)
        return
    from tournaments.verification.processes import map_batches  # It takes 20 ms.

    yield from map_batches(review_part, ([task] for task in tasks), count)


def _tasks(
    folder: Folder,
    event: Event,
    results: ResultStore,
    wanted: Mapping[str, tuple[int, ...]],
    log: ReviewLog,
) -> Iterator[ReviewTask]:
    """Yield the games, log by log.

    A kill loses what a process had of a game, 2 s of its time; to read its log takes 0.02 s.
    """
    plans = (*past_sittings(folder, event), *sittings(event, results))
    logs = GameIndex(plans, lambda plan, _: folder.log(plan.name))
    by_log: dict[Path, dict[str, tuple[int, ...]]] = {}
    for game, seats in wanted.items():
        by_log.setdefault(logs[game], {})[game] = seats
    for path, games in by_log.items():
        for game, seats in games.items():
            yield ReviewTask(path, {game: seats}, log.terms)


def _print(summary: ReviewSummary, where: Path, played: int, page: Pager) -> None:
    console = open_console()
    more = [SHORT]
    for dear in dearest(summary)[:1]:
        explain, seat = ("boneyard", "explain", str(where), dear.game), ("--seat", f"{dear.seat}")
        more.append(f"The decisions of a game: {shlex.join((*explain, '--review', *seat))}")
        more.append(f"One decision: {shlex.join((*explain, f'{dear.number}', *seat))}")
    blocks = [*review_blocks(summary, played), *(Paragraph(one, "faint") for one in more)]
    print_paged(renderables(blocks, console.width), console, page)
