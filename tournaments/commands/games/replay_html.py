"""The command `replay --html`: pages for a browser, of one game or of all games of an event."""

import re
from pathlib import Path
from typing import NamedTuple

from arena.analysis.find import find_game, find_seat, list_games, logs
from arena.logs.catalog import PAGES
from arena.ui import replay_files
from arena.ui.console import print_line
from arena.ui.emblems import emblem_numbers
from arena.ui.progress import track, working
from arena.ui.replay_page import pack_game, replay_page
from protocol.errors import UserError
from tournaments.storage.folder import Folder, load_event
from tournaments.verification.log_check import usable_cores
from tournaments.verification.processes import map_batches


def write_pages(
    where: Path, game: str | None, seat: str | None, out: Path | None, review: bool | None = None
) -> None:
    """Write the page of a game, or the pages of an event; list the games if several match.

    `review`: also review the games; None reviews one game, but not all games of an event.

    Raises UserError, DamagedLogError.
    """
    if game is None and where.is_dir():
        _make_all(where, seat, out, reviewed=review is True)
        return
    folder = where if where.is_dir() else where.absolute().parent.parent
    found = find_game(where, game)
    if found.game is None:
        for line in list_games(found):
            print_line(line)
        return
    viewer = None if seat is None else find_seat(found.game, seat)
    if viewer is not None and review:
        raise UserError("A review shows more than a seat knew: leave out --review or --seat.")
    name = found.game.game.game
    with working("Page and review"):
        packed = pack_game(found.game, viewer, reviewed=review is not False)
    emblems = emblem_numbers(_entrants(folder), found.game.sitting.seats)
    path = out or _page_path(name, viewer)
    replay_files.write(path, replay_page(name, [packed], emblems=emblems))
    print_line(f"{path}")


def _entrants(place: Path) -> list[str]:
    """Return the entrants of the event in a folder; none if it holds no event. Raises UserError."""
    folder = Folder(place)
    return [one.name for one in load_event(folder).entrants] if folder.event.exists() else []


def _page_path(game: str, seat: int | None) -> Path:
    """Return the file of a game's page in the current folder."""
    own = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", game, flags=re.ASCII)
    return Path(f"{name[:200]}{own}.html")


def _make_all(folder: Path, seat: str | None, out: Path | None, *, reviewed: bool) -> None:
    """Write the pages of all games of an event into its folder."""
    if seat is not None or out:
        raise UserError("--seat and --out go with one game: name it after the folder.")
    found = logs(folder)
    if not found:
        raise UserError(f"{folder} holds no game.")
    event = found[0].parent.parent
    pages = event / PAGES
    entrants = tuple(_entrants(event))
    tasks = [PagesTask(log, pages, entrants, reviewed) for log in found]
    # A review takes ten times as long as its page.
    count = min(len(tasks), usable_cores()) if reviewed else 1
    done = (
        map(make_pages, tasks)
        if count < 2
        else map_batches(make_pages, ([task] for task in tasks), count)
    )
    made = sum(track(done, "Pages of logs made", len(tasks)))
    print_line(f"{pages}: {made} new pages.")


class PagesTask(NamedTuple):
    """A game log whose pages are wanted."""

    log: Path
    folder: Path
    entrants: tuple[str, ...]
    """The event's entrants, in whose order they have their emblems."""
    reviewed: bool
    """True if the games are reviewed."""


def make_pages(task: PagesTask) -> int:
    """Write the pages of a log where needed; return their number.

    Raises DamagedFileError, OSError.
    """
    return replay_files.make_game_pages(
        [task.log], task.folder, task.entrants, reviewed=task.reviewed
    )
