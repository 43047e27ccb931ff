"""The command `report`: writes an event's report again."""

from pathlib import Path

from msgspec.structs import replace

from arena.document.blocks import Section
from arena.files import read_file, write_atomic, write_files
from arena.ui.console import print_json, print_line, print_note
from arena.ui.progress import working
from protocol.codec import decode_json
from tournaments.plan.event import Event, as_json
from tournaments.rating.anchor import NONE, anchored
from tournaments.report.missing_data import has_enough_logs
from tournaments.report.ratings.standings import luck_sections
from tournaments.report.report import files_now
from tournaments.report.results_file import Results
from tournaments.storage.folder import Folder, load_event, lock_for_writing
from tournaments.storage.result_store import ResultStore

NOTHING_DRAWN = (
    "No tile is drawn in {}: there is no luck of the draw to take out. The rotations of each board "
    "give each bot every hand."
)
"""The answer where there is no luck of the draw."""


def write_report(path: Path, anchor: str | None, *, luck: bool, review: bool, in_json: bool) -> int:
    """Write the report's files again from the plan and the ledger; return the exit code.

    An anchor (NAME=ELO) becomes part of the plan, and "none" takes it out. `luck`, `review`: first
    compute the luck, and review the decisions, of each game that luck.jsonl or review.jsonl lacks.
    Raises UserError, also if the new report would hold less than the old one; DamagedFileError is
    one.
    """
    folder = Folder(path)
    event = load_event(folder)
    faults = list[str]()
    if review:
        from tournaments.commands.review import print_faults, write_review

        faults = write_review(folder).faults
        print_faults(faults)
    if anchor is not None:
        event = replace(event, anchor=None if anchor == NONE else anchored(anchor))
        with lock_for_writing(folder):
            write_atomic(folder.event, [as_json(event)])
    files = rewrite_report(folder, event, luck=luck)
    if in_json:
        print_json({"written": [f"{file}" for file in files]})
    for file in () if in_json else files:
        print_line(file)
    return 1 if faults else 0


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
