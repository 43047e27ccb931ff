"""The command `export`: writes the decisions of games as a table for programs that learn."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import asdict

from arena.logs.catalog import FOLDER
from arena.ui.console import print_json, print_line
from arena.ui.progress import working
from protocol.errors import UserError
from tournaments.dataset.example import Wish
from tournaments.dataset.export import Export, Format, export_decisions


def write_decisions(
    sources: tuple[Path, ...],
    *,
    out: Path | None,
    format: Format | None,
    bots: Sequence[str],
    luck: bool,
    review: bool,
    as_json: bool,
    **_: object,
) -> None:
    """Write the decisions of these events, logs or folders of logs, and print the files' names.

    Options of a problem set have no effect. Raises UserError.
    """
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
