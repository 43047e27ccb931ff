"""The commands that rate results: write an event's report again, rate ledgers together."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.document.blocks import Section
from arena.document.terminal import open_console, print_blocks
from arena.files import has_content, read_file, write_atomic, write_files
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, print_note
from arena.ui.progress import working
from protocol.codec import decode_json
from tournaments.commands.rate import RatedTable, RateOptions, rate_ledgers
from tournaments.plan.event import Event, as_json
from tournaments.rating.anchor import NONE, Anchor, anchored
from tournaments.report.missing_data import has_enough_logs
from tournaments.report.ratings.standings import luck_sections, pool_sections
from tournaments.report.report import files_now
from tournaments.report.results_file import Results
from tournaments.storage.folder import Folder, load_event, lock_for_writing
from tournaments.storage.result_store import ResultStore

STALE = 1
"""Exit code when a file differs from what the ledger gives."""


NOT_VERIFIED = (
    "Nothing was verified: results are taken as the ledgers have them, and bots of different "
    "events as the same where their event.json says so. `boneyard verify` replays an event's games."
)
"""The last notice of every rating of ledgers."""
NOTHING_DRAWN = (
    "No tile is drawn in {}: there is no luck of the draw to take out. The rotations of each board "
    "give each bot every hand."
)
"""The answer where there is no luck of the draw."""


def remake(path: Path, anchor: str | None, luck: bool, in_json: bool) -> int:
    """Write the report's files again from the plan and the ledger; return the exit code.

    An anchor (NAME=ELO) becomes part of the plan, and "none" takes it out. `luck`: first compute
    the luck of each game that luck.jsonl lacks. Raises UserError, also if the new report would hold
    less than the old one; DamagedFileError is one.
    """
    folder = Folder(path)
    event = load_event(folder)
    with lock_for_writing(folder):
        if anchor is not None:
            event = replace(event, anchor=None if anchor == NONE else anchored(anchor))
            write_atomic(folder.event, [as_json(event)])
        results = has_enough_logs(folder, event)
        if luck:
            _compute_luck(folder, event, results)
        files = files_now(folder, event, results)
        write_files(files)
    if in_json:
        print_json({"written": [f"{file}" for file in files]})
        return 0
    for file in files:
        print_line(file)
    return 0


def take_luck_out(folder: Folder) -> list[Section]:
    """Compute the luck of an event's games, and write its report again; return what is new in it.

    Raises UserError; DamagedFileError is one. Raises OSError.
    """
    event = load_event(folder)
    with lock_for_writing(folder):
        results = has_enough_logs(folder, event)
        if not results or not _compute_luck(folder, event, results):
            return []
        write_files(files_now(folder, event, results))
    ratings = decode_json(read_file(folder.results), Results).ratings
    return [section for pool in ratings.pools for section in luck_sections(pool)]


def _compute_luck(folder: Folder, event: Event, results: ResultStore) -> bool:
    """Compute the luck that luck.jsonl lacks, with progress; tell whether there is any luck."""
    from arena.valuation.luck import has_draws
    from tournaments.verification.event_luck import compute_luck

    if not has_draws(event.rules, event.seats):
        print_note(NOTHING_DRAWN.format(event.rules.name))
        return False
    with working("Luck of games", lines=True) as tell:
        for reason in compute_luck(folder, event, results, tell):
            print_note(reason)
    return True


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
    told = replace(told, notices=(*told.notices, NOT_VERIFIED))
    if in_json:
        print_json(told)
        return 0
    console = open_console()
    for table in told.tables:
        _print(console, table, asked.anchor)
    for notice in told.notices:
        print_note(notice)
    return 0


def _print(console: Console, table: RatedTable, anchor: Anchor | None) -> None:
    games = count_in_digits(table.games, "game")
    console.print(Text(f"{table.title}: {games} of {', '.join(table.ledgers)}", style="bold"))
    for pool in table.ratings.pools:
        print_blocks(console, pool_sections(pool, anchor))
    console.print()
