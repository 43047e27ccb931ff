"""The game logs of a folder: which there are, which has a game, which are full and packed."""

from contextlib import suppress
from pathlib import Path

from arena import packed
from arena.gamelog import OVER
from arena.sealed import last_line

ENDING = ".jsonl"
"""How the names of game logs end."""
FROM = "from-"
"""How they begin; then come the sitting's first board and its seats, with dots between them."""
WORTH = 2**15
"""Bytes from which on a full log is packed; what is smaller can be read as it lies."""


def logs(folder: Path) -> list[Path]:
    """The game logs in a folder, packed or not, by name."""
    return packed.listed(folder, ENDING)


def log_of(folder: Path, game: str) -> Path | None:
    """The log in a folder that has a game, found by their names alone: no log is opened.

    A game is called by its board and its seats, a log by its first board and its seats, and those
    of the same seats follow each other. None: no log is called so; whether the game is in the one
    that is, is not known yet.
    """
    board, _, seats = game.partition(".")
    found: tuple[int, Path] | None = None
    for path in logs(folder) if board.isdecimal() else ():
        first, _, who = path.name.removeprefix(FROM).removesuffix(ENDING).partition(".")
        if who == seats and first.isdecimal() and (found or (0,))[0] < int(first) <= int(board):
            found = int(first), path
    return found[1] if found else None


def pack_full(path: Path) -> None:
    """Pack a log that goes to its sitting's end, if it is worth it.

    Raises OSError, and then it lies there as it was.
    """
    if path.exists() and path.stat().st_size >= WORTH:
        last, torn = last_line(path)
        if last.startswith(OVER) and not torn:
            packed.pack(path)


def tidy(folder: Path) -> None:
    """Do for a folder's logs what kills kept from being done.

    Raises OSError when something cannot be removed.
    """
    packed.tidy(folder)
    for path in logs(folder):
        with suppress(OSError):
            pack_full(path)
