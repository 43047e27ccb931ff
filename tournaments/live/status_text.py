"""The command `show`: an event's progress, printed once or repeatedly."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from arena.ui.console import print_json, print_line
from protocol.codec import encode_json
from tournaments.forecast.text import duration
from tournaments.live.status import Status, read_status
from tournaments.rating.fouls import FoulCount
from tournaments.report import tables as standings
from tournaments.report import terminal_tables as shown
from tournaments.storage import public_deals as public
from tournaments.storage.folder import Folder

LOOK_EVERY_S = 2.0
"""The shortest time between two looks of `--watch`, in s."""
REST = 5.0
"""The pause after a look, as a multiple of its duration: bots need the CPU."""
OTHER_LINES = 6
"""Lines of the terminal that the tables leave free."""


def show(path: Path, in_json: bool) -> int:
    """Print an event's progress; return the exit code.

    Raises UserError.
    """
    folder = Folder(path)
    seen = read_status(folder)
    if in_json:
        print_json(seen)
        return 0
    console = shown.console()
    for part in parts(folder, seen, console.width):
        console.print(part)
    return 0


def watch(path: Path, in_json: bool) -> int:
    """Print progress repeatedly until nothing is left to play or Ctrl-C; return the exit code.

    A pipe gets a line, or with JSON an object on one line, whenever more was played.
    Raises UserError.
    """
    folder, console = Folder(path), shown.console()
    try:
        if console.is_terminal and not in_json:
            _live(folder, console)
            return show(path, in_json)
        _lines(folder, in_json)
    except KeyboardInterrupt:
        pass
    return 0


def _live(folder: Folder, console: Console) -> None:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for seen in _looks(folder):
            room = max(2, console.height - OTHER_LINES)
            live.update(Group(*parts(folder, seen, console.width, room)), refresh=True)


def _lines(folder: Folder, in_json: bool) -> None:
    before = -1
    for seen in _looks(folder):
        if seen.played != before:
            before = seen.played
            print_line(encode_json(seen).decode() if in_json else progress(seen))


def _looks(folder: Folder) -> Iterator[Status]:
    """Yield the progress at intervals until nothing is left to play."""
    while True:
        began = time.monotonic()
        seen = read_status(folder)
        yield seen
        if seen.complete:
            return
        time.sleep(max(LOOK_EVERY_S, REST * (time.monotonic() - began)))


def parts(
    folder: Folder, seen: Status, width: int, room: int | None = None
) -> Iterator[RenderableType]:
    """Yield the parts of the display for a width and, on a small terminal, a height."""
    yield Text(f"{seen.name}: {seen.about}", "bold")
    fouls = _fouls(seen.fouls)
    if room is not None:
        fouls = (fouls[0], standings.cut(fouls[1], max(2, room // 3)))
        room -= len(fouls[1]) + 2 if fouls[1] else 0
    for pool in seen.ratings.pools:
        yield shown.standing(pool, width, room)
        if room is None:
            lines = (*standings.placing(pool), *standings.seat_advantages(pool))
            yield from (Text(line, "dim") for line in lines)
    asked = [seen.question, seen.won]
    asked += [seen.uneven, public.describe_latecomers(seen.latecomers)] if room is None else []
    yield from (Text(line, "bold") for line in asked if line)
    if fouls[1]:
        yield Text()
        yield shown.table(*fouls, names=3)
        yield Text(_example(folder, seen.fouls[0]), "dim")
    yield Text(progress(seen), "bold" if seen.complete else "bold cyan")


def _fouls(found: Sequence[FoulCount]) -> tuple[tuple[str, ...], standings.Rows]:
    """Return head and rows: the entrant, its foul, and a game that shows the evidence."""
    rows: standings.Rows = [
        (one.entrant, one.foul, one.game, f"{one.games}", f"{one.seat}") for one in found
    ]
    return ("fouls of", "class", "the last in", "games", "seat"), rows


def _example(folder: Folder, foul: FoulCount) -> str:
    where = folder.path
    return f"Why: boneyard explain {where} {foul.game} --seat {foul.seat}"


def progress(seen: Status) -> str:
    """Return progress and remaining time in one line."""
    done = f"{seen.played} of {seen.planned} games"
    if seen.complete:
        return f"{done}: it is over."
    if seen.running is False:
        return f"{done}: nobody is playing it now; `boneyard run` goes on with it."
    if seen.left_s is None:
        return f"{done}; too early to tell how long it will take."
    return f"{done}, {duration(seen.left_s / 60)} left."
