"""The command `replay --html`: pages for a browser, of one game or of all games of an event."""

import re
from collections.abc import Sequence
from pathlib import Path

from arena.analysis.find import find_game, find_seat, list_games, logs
from arena.logs.catalog import PAGES
from arena.logs.gamelog import LoggedGame
from arena.ui import replay_files
from arena.ui.console import print_line
from arena.ui.emblems import emblem_numbers
from arena.ui.progress import track
from arena.ui.replay_page import pack_game, replay_page
from protocol.errors import UserError
from tournaments.storage.folder import Folder, load_event


def write_pages(where: Path, game: str | None, seat: str | None, out: Path | None) -> None:
    """Write the page of a game, or the pages of an event; list the games if several match.

    Raises UserError, DamagedLogError.
    """
    if game is None and where.is_dir():
        _make_all(where, seat, out)
        return
    folder = where if where.is_dir() else where.absolute().parent.parent
    found = find_game(where, game)
    if found.game is None:
        for line in list_games(found):
            print_line(line)
        return
    viewer = None if seat is None else find_seat(found.game, seat)
    _make_one(found.game, viewer, out, _entrants(folder))


def _entrants(place: Path) -> list[str]:
    """Return the entrants of the event in a folder; none if it holds no event. Raises UserError."""
    folder = Folder(place)
    return [one.name for one in load_event(folder).entrants] if folder.event.exists() else []


def _make_one(
    logged: LoggedGame, seat: int | None, out: Path | None, entrants: Sequence[str]
) -> None:
    """Write the page of one game, for everybody or as one seat saw it."""
    own = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", logged.game.game, flags=re.ASCII)
    path = out or Path(f"{name[:200]}{own}.html")
    emblems = emblem_numbers(entrants, logged.sitting.seats)
    html = replay_page(logged.game.game, [pack_game(logged, seat)], emblems=emblems)
    replay_files.write(path, html)
    print_line(f"{path}")


def _make_all(folder: Path, seat: str | None, out: Path | None) -> None:
    """Write the pages of all games of an event into its folder."""
    if seat is not None or out:
        raise UserError("--seat and --out go with one game: name it after the folder.")
    found = logs(folder)
    if not found:
        raise UserError(f"{folder} holds no game.")
    event = found[0].parent.parent
    pages = event / PAGES
    made = replay_files.make_game_pages(
        track(found, "Pages of logs made", len(found)), pages, _entrants(event)
    )
    print_line(f"{pages}: {made} new pages.")
