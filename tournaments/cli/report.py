"""The commands `report` and `export`: an event's report again, and its decisions as a table."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click
from msgspec.structs import asdict, replace

from arena.analysis.find import logs, usual_folder
from arena.analysis.text import PERSON
from arena.files import write_atomic
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, track, working
from protocol.errors import UserError
from tournaments.cli.options import (
    BROWSER,
    FOLDER_ARGUMENT,
    LogPath,
    command,
    complete_entrants,
    complete_logs,
    flag,
    number,
)
from tournaments.event.book import Book
from tournaments.event.combine import check_no_same_logs
from tournaments.event.folder import Folder, default_file, lock_for_writing
from tournaments.plan.event import as_json
from tournaments.rating.tables import NO_ANCHOR, parse_anchor
from tournaments.study.decision_table import Wish
from tournaments.study.export import Export, ExportFormat, export_decisions
from tournaments.study.valuation import quiz_cards, review_log

# The command `report`: writes an event's report again.


@command()
@FOLDER_ARGUMENT
@click.option(
    "--anchor",
    metavar="NAME=ELO|none",
    help="Give a bot this rating, or none; it becomes part of the event's plan.",
)
@flag("--luck", "Also compute ratings with the luck of the tiles taken out.")
@flag("--review", "Also review the decisions that are not reviewed yet; see `boneyard explain`.")
@BROWSER
@flag("--json", "Print the names of the files as JSON.", "in_json")
def report(
    folder: Path | None, anchor: str | None, luck: bool, review: bool, browser: bool, in_json: bool
) -> int:
    """Write an event's report again from its plan and ledger, and show its result.

    report.md, results.json, games.csv, ratings.csv, crosstable.csv and results.pgn follow from
    event.json and ledger.jsonl; report.html and times.json also hold facts from the game logs.
    With --luck, luck.jsonl gets the luck of every game that it does not have, from its log; the
    report then shows ratings and margins with luck taken out, and the plain ones below. `boneyard
    verify` says whether the files are right.

    \b
    Examples:
      boneyard report friday
      boneyard report friday --anchor greedy=1500
      boneyard report friday --anchor none
      boneyard report friday --luck --review
      boneyard report friday --browser
    """
    # They need numpy, and `export` does not need them.
    from tournaments.commands.report import rewrite_report, warn_of_faults, write_review
    from tournaments.site.progress import Progress

    book = Book(Folder(folder or usual_folder()))
    faults = list[str]()
    if review:
        faults = write_review(book.folder).faults
        warn_of_faults(faults)
    if anchor is not None:
        book = _set_anchor(book, anchor)
    files = rewrite_report(book, luck=luck)
    if in_json:
        print_json({"written": [f"{file}" for file in files]})
    else:
        Progress.final(book.folder, book.results)
    if browser:
        from arena.ui.local_address import show_page

        show_page(book.folder.page)
    return 1 if faults else 0


def _set_anchor(book: Book, anchor: str) -> Book:
    """Write the anchor into the plan of the event; return the book of that plan."""
    event = replace(book.event, anchor=None if anchor == NO_ANCHOR else parse_anchor(anchor))
    with lock_for_writing(book.folder):
        write_atomic(book.folder.event, [as_json(event)])
    return Book(book.folder, event)


# The command `export`: writes the decisions of games as a table for programs that learn.


PROBLEMS = "With --problems"


@command()
@click.argument(
    "paths", metavar="[WHAT]...", nargs=-1, type=LogPath(), shell_complete=complete_logs
)
@flag(
    "--problems",
    "Write a problem set for `boneyard check --exam`, at most two problems from a game.",
    section=PROBLEMS,
)
@flag("--quiz", "Write the dearest decisions of --bot, or of you, as cards that Anki imports.")
@number("--endgames", "Endgames of the set.", 0, 1000, 200, section=PROBLEMS)
@number("--middle-games", "Middle games of the set.", 0, 1000, 100, section=PROBLEMS)
@number(
    "--deals",
    "Deals in which the options of a middle game are tried.",
    2,
    100_000,
    512,
    section=PROBLEMS,
)
@number("--seed", "Seed of the choice of games.", 0, None, 1, section=PROBLEMS)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, or its folder.  [default: decisions.parquet, problems.jsonl or quiz.txt "
    "in WHAT]",
)
@click.option(
    "--format",
    type=click.Choice(["parquet", "csv"]),
    help="Format of the file.  [default: by its name, else parquet]",
)
@click.option(
    "--bot",
    "bots",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_entrants,
    help="Only this bot's decisions; may be repeated.",
)
@flag("--luck", "Compute the luck of games that luck.jsonl lacks.")
@flag("--review", "Compute the losses that review.jsonl lacks.")
@flag("--json", "Print the names of the files as JSON.", "as_json")
def export(
    paths: tuple[Path, ...],
    problems: bool,
    quiz: bool,
    out: Path | None,
    format: ExportFormat | None,
    bots: tuple[str, ...],
    luck: bool,
    review: bool,
    as_json: bool,
    **of_problems: int,
) -> None:
    """Export every decision as a row of CSV or Parquet, or a problem set.

    WHAT are events' folders, logs, or folders of logs such as `boneyard play` writes; by default it
    is the event in the current directory, or else the one here that was run last. Parquet needs
    pyarrow: pip install '.[parquet]' in the clone.

    A row has the question as the training environment encodes it (a vector and a mask), the answer,
    its time and what came of the round and of the game. Vector, mask and options hold only what the
    seat knew when it was asked: its own hand and the open table, not the hands of others. Luck is
    computed with all tiles known, so it is a label and never an input. Games of different rules or
    numbers of seats go into separate files, because their vectors differ.
    `boneyard help training` explains the columns.

    \b
    Examples:
      boneyard export
      boneyard export demo --bot counting
      boneyard export demo --luck --review
      boneyard export demo --out demo.csv
      boneyard export friday saturday --out both.parquet
      boneyard export runs/league --problems --out problems.jsonl
      boneyard export boneyard-play --quiz
    """
    sources = paths or (usual_folder(),)
    if problems:
        from tournaments.cli.exam import make_set

        make_set(sources, out, **of_problems)
        return
    if quiz:
        _export_quiz(sources, out, bots)
        return
    kind = format or _format_of(out)
    name = f"decisions.{kind}"
    path = default_file(sources, name) if out is None else out / name if out.is_dir() else out
    wish = Wish(frozenset(bots), luck, review)
    with working("Games exported") as tell:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            files = export_decisions(Export(sources, path, kind, wish), tell)
        except OSError as error:
            place = error.filename or path
            raise UserError(f"The export stopped: {place}: {error.strerror}.") from error
    if as_json:
        print_json({"written": [{**asdict(file), "path": f"{file.path}"} for file in files]})
        return
    for file in files:
        print_line(
            f"{file.path}: {file.decisions:,} decisions, games: {file.games:,}, "
            f"{file.bytes / 1e6:,.2f} MB"
        )


def _export_quiz(sources: Sequence[Path], out: Path | None, bots: Sequence[str]) -> None:
    """Write the cards of the dearest decisions in all games of the bots. Raises UserError."""
    from arena.ui.position_pages import anki_cards

    check_no_same_logs(sources)
    paths = [*chain.from_iterable(map(logs, sources))]
    names = {*bots} or {PERSON}
    reviewed = (review_log(path, names) for path in track(paths, "Logs reviewed", len(paths)))
    cards = quiz_cards(chain.from_iterable(reviewed))
    if not cards:
        raise UserError("These games have no decision that cost clearly more than another.")
    file = default_file(sources, "quiz.txt") if out is None else out
    write_atomic(file, [anki_cards(cards).encode()])
    print_line(f"{file}: {count_in_digits(len(cards), 'card')}")


def _format_of(out: Path | None) -> ExportFormat:
    """Return the format that the name of a file means. Raises UserError if it means none."""
    if out is None or out.is_dir() or out.suffix == ".parquet":
        return "parquet"
    if out.suffix == ".csv":
        return "csv"
    raise UserError(f"{out} names no format. End it with .parquet or .csv, or add --format.")
