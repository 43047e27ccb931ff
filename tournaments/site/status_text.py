"""The command `show`: an event's progress, printed once or repeatedly."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from arena.document.blocks import Column, Section, Table, paragraphs, table
from arena.document.terminal import open_console, renderables
from arena.rules.english import duration
from arena.ui.console import print_json, print_line
from arena.ui.progress import working
from protocol.codec import encode_json
from tournaments.rating.game_result import FoulCount
from tournaments.report.ratings.standings import pool_sections, standings_table
from tournaments.site.status import Status, read_status, read_whole_status
from tournaments.storage import public_deals
from tournaments.storage.folder import Folder

LOOK_EVERY_S = 2.0
"""The shortest time between two looks of `--watch`, in s."""
REST = 5.0
"""The pause after a look, as a multiple of its duration: bots need the CPU."""
OTHER_LINES = 8
"""Lines of the terminal that the tables leave free."""


def print_status(path: Path, in_json: bool) -> int:
    """Print an event's progress; return the exit code. Raises UserError."""
    folder = Folder(path)
    with working("Reading the event"):
        seen, tables = read_whole_status(folder)
    if in_json:
        print_json(seen)
        return 0
    console = open_console()
    for part in parts(folder, seen, tables, console.width):
        console.print(part)
    return 0


def watch_status(path: Path, in_json: bool) -> int:
    """Print progress repeatedly until nothing is left to play or Ctrl-C; return the exit code.

    A pipe gets a line, or with JSON an object on one line, whenever more was played.
    Raises UserError.
    """
    folder, console = Folder(path), open_console()
    try:
        if console.is_terminal and not in_json:
            _live(folder, console)
            return print_status(path, in_json)
        _lines(folder, in_json)
    except KeyboardInterrupt:
        pass
    return 0


def _live(folder: Folder, console: Console) -> None:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for seen in _looks(folder):
            room = max(2, console.height - OTHER_LINES)
            live.update(Group(*parts(folder, seen, [], console.width, room)), refresh=True)


def _lines(folder: Folder, in_json: bool) -> None:
    before = -1
    for seen in _looks(folder):
        if seen.played != before:
            before = seen.played
            print_line(encode_json(seen).decode() if in_json else progress(seen))


def _looks(folder: Folder) -> Iterator[Status]:
    while True:
        began = time.monotonic()
        seen = read_status(folder)
        yield seen
        if seen.complete:
            return
        time.sleep(max(LOOK_EVERY_S, REST * (time.monotonic() - began)))


def parts(
    folder: Folder,
    seen: Status,
    tables: Sequence[Section],
    width: int,
    room: int | None = None,
) -> Iterator[RenderableType]:
    """Yield the parts of the display for a width and, on a small terminal, a height.

    `tables`: the tables of the event's format, which a small terminal leaves out.
    """
    yield Text(seen.name, "bold")
    yield Text(seen.about)
    yield from renderables(paragraphs(filter(None, [seen.lead]), "strong"), width)
    for one in tables:
        yield Text()
        yield from renderables([one], width)
    yield from [] if room else [Text()]
    fouls = [_fouls(seen.fouls)] if seen.fouls else []
    few = None if room is None else max(2, room // 3)
    if room is not None and few is not None and fouls:
        room -= min(few, len(seen.fouls)) + 2
    for pool in seen.ratings.pools:
        blocks = [standings_table(pool)] if room is not None else pool_sections(pool, seen.anchor)
        yield from renderables(blocks, width, room)
    asked = [] if seen.complete else [seen.question]
    if room is None:
        asked += [seen.uneven, seen.luck, public_deals.describe_latecomers(seen.latecomers)]
    yield from (Text(line, "bold") for line in asked if line)
    if fouls:
        yield Text()
        yield from renderables(fouls, width, few)
        foul = seen.fouls[0]
        example = f"boneyard explain {folder.path} {foul.game} --seat {foul.seat}"
        yield Text(f"Explain: {example}", "dim")
    yield Text(progress(seen), "bold" if seen.complete else "bold cyan")


def _fouls(found: Sequence[FoulCount]) -> Table:
    columns = [Column("fouls of", "name"), Column("class", "word"), Column("the last in", "name")]
    columns += map(Column, ("games", "seat"))
    rows = [(one.entrant, one.foul, one.game, f"{one.games}", f"{one.seat}") for one in found]
    return table("Fouls", columns, rows)


def progress(seen: Status) -> str:
    """Return progress and remaining time in one line."""
    done = f"{seen.played} of {seen.planned} games"
    if seen.complete:
        return f"finished: {done}"
    if seen.running is False:
        return f"{done}: stopped; the same command continues it."
    if seen.left_s is None:
        return f"{done}; too early to estimate the remaining time."
    return f"{done}, {duration(seen.left_s / 60)} left."
