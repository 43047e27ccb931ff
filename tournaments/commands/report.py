"""The commands that rate results: write an event's report again, rate ledgers together."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.document.terminal import open_console, print_blocks
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, print_note
from arena.ui.progress import working
from tournaments.commands.rate import RatedTable, RateOptions, rate_ledgers
from tournaments.plan.event import as_json
from tournaments.rating.anchor import NONE, Anchor, anchored
from tournaments.rating.ratings import fit_both
from tournaments.report.missing_data import has_enough_logs
from tournaments.report.ratings.standings import pool_sections
from tournaments.report.report import files_now
from tournaments.storage.combine import results_of_versions
from tournaments.storage.folder import (
    Folder,
    has_content,
    load_event,
    lock_for_writing,
    write_atomic,
)

STALE = 1
"""Exit code when a file differs from what the ledger gives."""


def remake(path: Path, anchor: str | None, in_json: bool) -> int:
    """Write the report's files again from the plan and the ledger; return the exit code.

    An anchor (NAME=ELO) becomes part of the plan, and "none" takes it out. Raises UserError, also
    if the new report would hold less than the old one; DamagedFileError is one.
    """
    folder = Folder(path)
    event = load_event(folder)
    with lock_for_writing(folder):
        if anchor is not None:
            event = replace(event, anchor=None if anchor == NONE else anchored(anchor))
            write_atomic(folder.event, [as_json(event)])
        files = files_now(folder, event, has_enough_logs(folder, event))
        for file, lines in files.items():
            write_atomic(file, lines)
            if not in_json:
                print_line(file)
    if in_json:
        print_json({"written": [f"{file}" for file in files]})
    return 0


def check(path: Path, in_json: bool) -> int:
    """Name the report's files that differ from what the plan and the ledger give.

    Return the exit code. Raises UserError; DamagedFileError is one.
    """
    folder = Folder(path)
    event = load_event(folder)
    with working("Checking the report"):
        files = files_now(folder, event, has_enough_logs(folder, event))
        stale = [file for file, lines in files.items() if not has_content(file, lines)]
    if in_json:
        print_json({"stale": [f"{file}" for file in stale]})
        return STALE if stale else 0
    for file in stale:
        print_line(
            f"{file}: {'does not follow from the ledger' if file.exists() else 'is missing'}"
        )
    if stale:
        print_line(f"Write them again: boneyard report {path}")
        return STALE
    print_line("OK: every file follows from the ledger.")
    return 0


def rate(paths: Sequence[Path], asked: RateOptions, in_json: bool) -> int:
    """Rate ledgers together and print the tables; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    with working("Rating"):
        told = rate_ledgers(paths, asked)
    if in_json:
        print_json(told)
        return 0
    console = open_console()
    for table in told.tables:
        _print(console, table, asked.anchor)
    for notice in told.notices:
        print_note(notice)
    return 0


def show_versions(path: Path, in_json: bool) -> int:
    """Rate all versions of an event's bots together and print the table; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    folder = Folder(path)
    event = load_event(folder)
    with working("Rating"):
        results = results_of_versions(folder)
        ratings = fit_both(results, partners=event.rules.deal.partners)
    table = RatedTable(
        title=f"{event.rules.name}, {event.seats} seats, all versions",
        ledgers=(str(path),),
        games=len(results),
        ratings=ratings,
    )
    if in_json:
        print_json(table)
    else:
        _print(open_console(), table, None)
    return 0


def _print(console: Console, table: RatedTable, anchor: Anchor | None) -> None:
    games = count_in_digits(table.games, "game")
    console.print(Text(f"{table.title}: {games} of {', '.join(table.ledgers)}", style="bold"))
    for pool in table.ratings.pools:
        print_blocks(console, pool_sections(pool, anchor))
    console.print()
