"""Review the games of an event, take their luck out, and write its report again."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from arena.files import replace_files
from arena.processes import map_tasks
from arena.ui.console import print_note, working
from arena.valuation.terms import USUAL_WORLDS
from protocol.errors import UserError, unknown_name
from protocol.records import Result
from tournaments.event.book import Book, refuse_losses
from tournaments.event.folder import Folder, lock_for_writing
from tournaments.event.luck import ReviewLog, ReviewTerms, open_review, read_seats
from tournaments.report.report import decisions_csv, write_report
from tournaments.report.review import ReviewSummary, summarize_review, summary_json
from tournaments.study.valuation import ReviewTask, review_part


def rewrite_report(book: Book, *, luck: bool = False) -> tuple[Path, ...]:
    """Write the report's files, perhaps after the luck that luck.jsonl lacks; return their paths.

    Raises UserError; DamagedFileError is one. Raises OSError.
    """
    with lock_for_writing(book.folder):
        refuse_losses(book)
        if luck:
            _write_luck(book)
        return write_report(book)


def _write_luck(book: Book) -> None:
    from arena.valuation.batch import mask_tables  # It needs numpy.
    from tournaments.study.valuation import write_luck

    mask_tables(book.event.rules, book.event.seats)  # It refuses rules without values.
    with working("Luck of games", lines=True) as tell:
        for reason in write_luck(book, tell):
            print_note(reason)


FAULTS_SHOWN = 10
"""Reasons that are told one by one."""


class WrittenReview(NamedTuple):
    """A review that is written."""

    summary: ReviewSummary
    seats: int
    faults: list[str]


def warn_of_faults(faults: Sequence[str]) -> None:
    """Print the first reasons why games could not be reviewed."""
    for sentence in faults[:FAULTS_SHOWN]:
        print_note(sentence)
    if len(faults) > FAULTS_SHOWN:
        print_note(f"and {len(faults) - FAULTS_SHOWN} more")


def write_review(folder: Folder, bot: str | None = None, deals: int | None = None) -> WrittenReview:
    """Review the games that are not reviewed yet, and write the files and the report again.

    `bot`: only its decisions. `deals`: those of the hidden tiles over which an option is valued.
    Raises UserError; DamagedFileError is one.
    """
    from arena.valuation.batch import mask_tables  # It needs numpy.

    book = Book(folder)
    event = book.event
    mask_tables(event.rules, event.seats)  # It refuses rules without values.
    names = [entrant.name for entrant in event.entrants]
    if bot and bot not in names:
        raise unknown_name("bot", bot, names)
    # The review tells hidden tiles: that of a board that is still played must wait.
    over = {name: result for name, result in book.results.items() if result.board in book.public}
    if not over:
        raise UserError(f"{folder.path} has no finished board. Run the event first.")
    with open_review(folder, ReviewTerms(event.name, USUAL_WORLDS), deals) as log:
        faults = _review(book, _wanted(over, bot, log), log)
        summary = summarize_review(log.terms, read_seats(folder), event.first_board_of)
        lines = decisions_csv(folder, summary.seats)
        replace_files({folder.review: summary_json(summary), folder.review_csv: lines})
    try:
        rewrite_report(Book(folder, event))
    except UserError as error:
        # While the event runs, the run does so at its end.
        print_note(f"The report stays as it is: {error}")
    return WrittenReview(summary, sum(len(result.seats) for result in over.values()), faults)


def _wanted(
    results: Mapping[str, Result], bot: str | None, log: ReviewLog
) -> dict[str, tuple[int, ...]]:
    """Return the games that are left to review, each with its seats."""
    wanted = {
        name: tuple(
            seat
            for seat, entrant in enumerate(result.seats)
            if bot in (None, entrant) and (name, seat) not in log.done
        )
        for name, result in results.items()
    }
    return {name: seats for name, seats in wanted.items() if seats}


def _review(book: Book, wanted: Mapping[str, tuple[int, ...]], log: ReviewLog) -> list[str]:
    """Review games and write them down as they come; return why some were not, in sentences."""
    logs = book.index(lambda plan, _: book.folder.log(plan.name))
    tasks = [ReviewTask(logs[game], game, seats, log.terms) for game, seats in wanted.items()]
    faults: dict[str, None] = {}
    done, total = 0, sum(map(len, wanted.values()))
    dearest = 0.0, ""
    with working("Seats reviewed", lines=True, note=lambda: dearest[1]) as tell:
        for reviewed in map_tasks(review_part, tasks):
            for seat in reviewed.seats:
                log.add(seat)
                title = f"Dearest so far: {seat.entrant} in {seat.game}"
                for loss in seat.decisions:
                    # By what it cost for certain, as the review orders them.
                    words = f"{title} {loss.number}, {loss.gap:.1f} points"
                    dearest = max(dearest, (loss.gap - loss.error, words))
            done += len(reviewed.seats)
            faults |= dict.fromkeys(reviewed.faults)
            tell(done, total)
    return [*faults]
