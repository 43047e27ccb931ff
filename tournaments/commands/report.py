"""The commands `report` and `explain --review` for an event: report and review it again."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.analysis.find import usual_folder
from arena.document.blocks import Paragraph, Section
from arena.document.terminal import open_console, renderables
from arena.files import read_file, write_atomic, write_files
from arena.logs.board_promises import published_seeds
from arena.ui.console import Pager, print_json, print_line, print_note, print_paged
from arena.ui.progress import working
from arena.valuation import WORLDS
from protocol.codec import decode_json
from protocol.errors import UserError, unknown_name
from protocol.records import Result
from tournaments.plan.bot_catalog import own_bot
from tournaments.plan.event import Event, as_json
from tournaments.rating.tables import NONE, anchored
from tournaments.report.exports import decisions_csv
from tournaments.report.missing_data import has_enough_logs
from tournaments.report.ratings.standings import luck_sections
from tournaments.report.report import files_now
from tournaments.report.results_file import Results
from tournaments.report.review.reviewer import (
    ReviewTask,
    reference_player,
    review_part,
)
from tournaments.report.review.sums import (
    ReviewSummary,
    dearest,
    review_blocks,
    summarize_review,
    summary_json,
)
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder, load_event, lock_for_writing
from tournaments.storage.ledger import load_results, past_sittings
from tournaments.storage.result_store import ResultStore
from tournaments.storage.review_log import ReviewLog, ReviewTerms, open_review, read_seats
from tournaments.verification.processes import map_tasks

NOTHING_DRAWN = (
    "No tile is drawn in {}: there is no luck of the draw to take out. The rotations of each board "
    "give each bot every hand."
)
"""The answer where there is no luck of the draw."""


def write_report(
    folder: Path | None,
    *,
    anchor: str | None,
    luck: bool,
    review: bool,
    browser: bool,
    in_json: bool,
) -> int:
    """Write the report's files again from the plan and the ledger; return the exit code.

    An anchor (NAME=ELO) becomes part of the plan, and "none" takes it out. `luck`, `review`: first
    compute the luck, and review the decisions, of each game that luck.jsonl or review.jsonl lacks.
    Raises UserError, also if the new report would hold less than the old one; DamagedFileError is
    one.
    """
    where = Folder(folder or usual_folder())
    event = load_event(where)
    faults = list[str]()
    if review:
        faults = write_review(where).faults
        warn_of_faults(faults)
    if anchor is not None:
        event = _set_anchor(where, event, anchor)
    files = rewrite_report(where, event, luck=luck)
    if in_json:
        print_json({"written": [f"{file}" for file in files]})
    for file in () if in_json else files:
        print_line(file)
    if browser:
        from arena.ui.open_browser import show_page

        show_page(where.page)
    return 1 if faults else 0


def _set_anchor(folder: Folder, event: Event, anchor: str) -> Event:
    event = replace(event, anchor=None if anchor == NONE else anchored(anchor))
    with lock_for_writing(folder):
        write_atomic(folder.event, [as_json(event)])
    return event


def rewrite_report(folder: Folder, event: Event, *, luck: bool = False) -> tuple[Path, ...]:
    """Write the report's files, perhaps after the luck that luck.jsonl lacks; return their paths.

    Raises UserError; DamagedFileError is one. Raises OSError.
    """
    with lock_for_writing(folder):
        results = has_enough_logs(folder, event)
        if luck:
            _compute_luck(folder, event, results)
        files = files_now(folder, event, results)
        write_files(files)
    return tuple(files)


def take_luck_out(folder: Folder) -> list[Section]:
    """Compute the luck of an event's games, and write its report again; return what is new in it.

    Raises UserError; DamagedFileError is one. Raises OSError.
    """
    rewrite_report(folder, load_event(folder), luck=True)
    ratings = decode_json(read_file(folder.results), Results).ratings
    return [section for pool in ratings.pools for section in luck_sections(pool)]


def _compute_luck(folder: Folder, event: Event, results: ResultStore) -> None:
    from arena.valuation.luck import has_draws
    from tournaments.verification.event_luck import compute_luck

    if not has_draws(event.rules, event.seats):
        print_note(NOTHING_DRAWN.format(event.rules.name))
        return
    with working("Luck of games", lines=True) as tell:
        for reason in compute_luck(folder, event, results, tell):
            print_note(reason)


INTERRUPTED = 130
INCOMPLETE = 1
"""Exit codes after an interrupt, and if some games could not be reviewed."""
FAULTS_SHOWN = 10
"""Reasons that are told one by one."""
SHORT = "How to read these numbers: `boneyard help events`."


class WrittenReview(NamedTuple):
    """A review that is written."""

    summary: ReviewSummary
    seats: int
    faults: list[str]


def review_event(
    where: Path,
    *,
    page: Pager,
    seat: str | None,
    deals: int | None,
    by: str | None,
    in_json: bool,
    **_: object,
) -> int:
    """Review the games that are not reviewed yet, and print the sums; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    try:
        review = write_review(Folder(where), seat, deals, by)
    except KeyboardInterrupt:
        words = ("boneyard", "explain", str(where), "--review", *(("--bot", seat) if seat else ()))
        print_note(f"Interrupted. `{shlex.join(words)}` goes on with the rest.")
        return INTERRUPTED
    warn_of_faults(review.faults)
    if in_json:
        print_json(review.summary)
    else:
        _print(review.summary, where, review.seats, page)
    return INCOMPLETE if review.faults else 0


def warn_of_faults(faults: Sequence[str]) -> None:
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
    results = load_results(folder, event)
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
        for reviewed in map_tasks(review_part, tasks):
            for seat in reviewed.seats:
                log.add(seat)
            done += len(reviewed.seats)
            faults |= dict.fromkeys(reviewed.faults)
            tell(done, of)
    return [*faults]


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
    console, own = open_console(), own_bot(load_event(Folder(where)))
    more = [SHORT]
    for dear in dearest(summary)[:1]:
        explain, seat = ("boneyard", "explain", str(where), dear.game), ("--seat", f"{dear.seat}")
        more.append(f"The decisions of a game: {shlex.join((*explain, '--review', *seat))}")
        more.append(f"One decision: {shlex.join((*explain, f'{dear.number}', *seat))}")
    blocks = [*review_blocks(summary, played, own=own), *(Paragraph(one, "faint") for one in more)]
    print_paged(renderables(blocks, console.width), console, page)
