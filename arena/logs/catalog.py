"""The game logs of a folder: which there are, which has a game, which are full and packed."""

from contextlib import suppress
from pathlib import Path

from arena.logs import compression as packed
from arena.logs.checksummed import last_line, lines_like
from arena.logs.gamelog import OVER

FOLDER = "games"
"""The folder of an event, or of a person, in which they lie."""
ENDING = ".jsonl"
"""How the names of game logs end."""
FROM = "from-"
"""How they begin; then come the sitting's first board and its seats, with dots between them."""
ORDERS = 10
"""The most circular orders, those of six seats: so many sittings may take turns with boards."""
WORTH = 2**15
"""Bytes from which on a full log is packed; what is smaller can be read as it lies."""
OWN = (b'{"type":"sitting",', b'{"type":"deal",')
"""How lines begin that nothing but a log has: neither a ledger nor what a bot is told."""


def logs(folder: Path) -> list[Path]:
    """The game logs in a folder, packed or not, by name."""
    return packed.listed(folder, ENDING)


def is_log(path: Path) -> bool:
    """Whether a file is a game log, however damaged: by where it lies, or by some line of it.

    Raises OSError.
    """
    name, packs = path.name.removesuffix(packed.ENDING), path.name.endswith(packed.ENDING)
    here = packs or path.resolve().parent.name == FOLDER
    return (here and name.endswith(ENDING)) or any(True for _ in lines_like(path, OWN))


def logs_of(folder: Path, game: str) -> list[Path]:
    """The few logs in a folder that may have a game, by their names alone, the likeliest first.

    A game is called by its board and its seats, a log by its first board and its seats. Those of
    the same seats follow each other, unless two circular orders seat them alike. No log is opened.
    """
    board, _, seats = game.partition(".")
    found: list[tuple[int, Path]] = []
    for path in logs(folder) if board.isdecimal() else ():
        first, _, who = path.name.removeprefix(FROM).removesuffix(ENDING).partition(".")
        if who == seats and first.isdecimal() and int(first) <= int(board):
            found.append((int(first), path))
    return [path for _, path in sorted(found, reverse=True)[:ORDERS]]


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
