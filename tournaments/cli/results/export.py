"""The command `export`: writes the decisions of games as a table for programs that learn."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import asdict

from arena.analysis.find import usual_folder
from arena.logs.catalog import FOLDER
from arena.ui.console import print_json, print_line
from arena.ui.progress import working
from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_entrants, complete_logs
from tournaments.cli.arguments.options import LogPath, command, flag, number
from tournaments.dataset.example import Wish
from tournaments.dataset.export import Export, Format, export_decisions

PROBLEMS = "With --problems"


@command()
@click.argument("what", nargs=-1, type=LogPath(), shell_complete=complete_logs)
@flag(
    "--problems",
    "Write a problem set for `boneyard check --exam`, at most two problems from a game.",
    section=PROBLEMS,
)
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
    help="File to write, or its folder.  [default: decisions.parquet or problems.jsonl in WHAT]",
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
    what: tuple[Path, ...],
    problems: bool,
    out: Path | None,
    format: Format | None,
    bots: tuple[str, ...],
    luck: bool,
    review: bool,
    as_json: bool,
    **of_problems: int,
) -> None:
    """Export every decision as a row of CSV or Parquet, or a problem set.

    WHAT are events' folders, logs, or folders of logs such as `boneyard play` writes; by default it
    is the event in the current directory, or else the one here that was run last. Parquet needs
    pyarrow: pip install 'boneyard-arena[parquet]'.

    A row has the question in the numbers of the training environment, the answer, its time and what
    came of the round and of the game. The vector, the mask and the options hold only what the seat
    knew when it was asked: its own hand and the open table, not the hands of others. Luck is
    computed with all tiles known, so it is a label and never an input. Games of
    different rules or numbers of seats come into a file each, because their vectors differ.
    `boneyard help training` explains the columns.

    \b
    Examples:
      boneyard export
      boneyard export demo --bot counting
      boneyard export demo --luck --review
      boneyard export demo --out demo.csv
      boneyard export friday saturday --out both.parquet
      boneyard export runs/league --problems --out problems.jsonl
    """
    sources = what or (usual_folder(),)
    if problems:
        from tournaments.cli.bots.exam import make_set

        make_set(sources, out, **of_problems)
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
            where = error.filename or path
            raise UserError(f"The export stopped: {where}: {error.strerror}.") from error
    if as_json:
        print_json({"written": [{**asdict(file), "path": f"{file.path}"} for file in files]})
        return
    for file in files:
        print_line(
            f"{file.path}: {file.decisions:,} decisions, games: {file.games:,}, "
            f"{file.bytes / 1e6:,.2f} MB"
        )


def _format_of(out: Path | None) -> Format:
    """Return the format that the name of a file means. Raises UserError if it means none."""
    if out is None or out.is_dir() or out.suffix == ".parquet":
        return "parquet"
    if out.suffix == ".csv":
        return "csv"
    raise UserError(f"{out} names no format. End it with .parquet or .csv, or add --format.")


def default_file(sources: Sequence[Path], name: str) -> Path:
    """Return the file to write: in the only folder that is exported, or else here."""
    own = sources[0] if len(sources) == 1 and sources[0].is_dir() else Path()
    return (own.parent if own.name == FOLDER else own) / name
