"""Files of replays: each game's, when it is made again, and how it is written."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from arena.files import read_file, write_atomic
from arena.logs.catalog import REPLAY_ENDING
from arena.logs.compression import actual_path
from arena.logs.gamelog import DamagedLogError, LoggedGame, read_games
from arena.ui.html import generator
from arena.ui.replay_page import pack_game, replay_script
from arena.valuation import LuckTerms

TermsOf = Callable[[LoggedGame], LuckTerms]
"""A function that returns the terms of the luck of a game."""
REPORT = ("report.html", "Report")
"""The path of an event's report from its replay page, and the label of the link."""


def place_in_plan(logged: LoggedGame) -> int:
    """Return a game's place in its sitting's plan, from 1; games are played in another order.

    Raises DamagedLogError.
    """
    game, boards = logged.game, logged.sitting.boards
    if game.board not in boards:
        raise DamagedLogError(f"Game {game.game}: its sitting has no board {game.board}.")
    return 1 + boards.index(game.board)


def is_newer(path: Path, log: Path) -> bool:
    """Tell whether a replay is newer than the log, or other file, that it follows from."""
    return path.exists() and path.stat().st_mtime_ns > actual_path(log).stat().st_mtime_ns


def is_reviewed(path: Path) -> bool:
    """Tell whether a page, or a replay, has the review of its game."""
    return b'"reviewed":true' in read_file(path)


def is_current(path: Path, luck: Path, *, reviewed: bool) -> bool:
    """Tell whether this version made a replay, with a review or without as wished.

    No review is older than the file of the `luck`.
    """
    if not path.exists() or not read_file(path).startswith(f"// {generator()}\n".encode()):
        return False
    old = reviewed and luck.exists() and not is_newer(path, luck)
    return is_reviewed(path) == reviewed and not old


class ReplayTask(NamedTuple):
    """A log whose games get their replays."""

    log: Path
    folder: Path
    """The folder of the replays."""
    luck: Path
    terms_of: TermsOf
    reviewed: bool
    """True if all get reviews; else only those keep theirs that have them."""


def make_replays(task: ReplayTask) -> int:
    """Write the replays of a log's games, unless current and newer than it; return their number.

    Raises DamagedFileError, OSError.
    """
    made = 0
    for logged in valid_games(read_games(task.log)):
        path = task.folder / f"{logged.game.game}{REPLAY_ENDING}"
        review = task.reviewed or (path.exists() and is_reviewed(path))
        if not (is_newer(path, task.log) and is_current(path, task.luck, reviewed=review)):
            packed = pack_game(logged, terms=task.terms_of(logged) if review else None)
            write(path, replay_script(packed))
            made += 1
    return made


def valid_games(games: Iterable[LoggedGame]) -> list[LoggedGame]:
    """Return a log's games in planned order; drop a game that was cut off and then played again."""
    found: dict[int, LoggedGame] = {}
    for logged in games:
        if logged.result or place_in_plan(logged) not in found:
            found[place_in_plan(logged)] = logged
    return [found[at] for at in sorted(found)]


def write(path: Path, text: str) -> None:
    """Write a page or a replay atomically: a reader sees the old or the new. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, [text.encode()], sync=False)
