"""The command `report`: writes an event's report again."""

from pathlib import Path

import click
from msgspec.structs import replace

from arena.analysis.find import usual_folder
from arena.files import write_atomic
from arena.ui.console import print_json, print_line
from tournaments.cli.arguments.options import BROWSER, FOLDER, command, flag
from tournaments.commands.report import rewrite_report, warn_of_faults, write_review
from tournaments.plan.event import Event, as_json
from tournaments.rating.tables import NONE, anchored
from tournaments.storage.folder import Folder, load_event, lock_for_writing


@command()
@FOLDER
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
    """Write an event's report again from its plan and ledger.

    report.md, results.json, games.csv, ratings.csv, crosstable.csv and results.pgn follow from
    event.json and ledger.jsonl; report.html and times.json also hold facts from the game logs.
    With --luck, luck.jsonl gets the luck of every game that it does not have, from its log; the
    report then shows ratings and margins with luck taken out beside the plain ones. `boneyard
    verify` says whether the files are right.

    \b
    Examples:
      boneyard report friday
      boneyard report friday --anchor greedy=1500
      boneyard report friday --anchor none
      boneyard report friday --luck --review
      boneyard report friday --browser
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
