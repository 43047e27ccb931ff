"""The game logs of a folder: which there are, which has a game, which are full and packed."""

from contextlib import suppress
from pathlib import Path

from arena.logs import compression as packed
from arena.logs.checksummed import grep_prefix, last_line
from arena.logs.gamelog import OVER

FOLDER = "games"
"""The folder of an event, or of a person, in which they lie."""
ENDING = ".jsonl"
"""How the names of game logs end."""
SITTING_PREFIX = "from-"
"""How they begin; then come the sitting's first board and its seats, with dots between them."""
ORDERS = 10
"""The most circular orders, those of six seats: so many sittings may take turns with boards."""
MIN_PACK_BYTES = 2**15
"""Bytes from which on a full log is packed; what is smaller can be read as it lies."""
LOG_PREFIXES = (b'{"type":"sitting",', b'{"type":"deal",')
"""How lines begin that nothing but a log has: neither a ledger nor what a bot is told."""


def list_logs(folder: Path) -> list[Path]:
    """The game logs in a folder, packed or not, by name."""
    return packed.list_files(folder, ENDING)


def is_log(path: Path) -> bool:
    """Whether a file is a game log, however damaged: by where it lies, or by some line of it.

    Raises OSError.
    """
    name, packs = path.name.removesuffix(packed.ENDING), path.name.endswith(packed.ENDING)
    here = packs or path.resolve().parent.name == FOLDER
    return (here and name.endswith(ENDING)) or any(True for _ in grep_prefix(path, LOG_PREFIXES))


def logs_of_sittings(folder: Path, game: str) -> list[Path]:
    """The few logs in a folder that may have a game, by their names alone, the likeliest first.

    A game is called by its board and its seats, a log by its first board and its seats. Those of
    the same seats follow each other, unless two circular orders seat them alike. No log is opened.
    """
    board, _, seats = game.partition(".")
    found: list[tuple[int, Path]] = []
    for path in list_logs(folder) if board.isdecimal() else ():
        first, _, who = path.name.removeprefix(SITTING_PREFIX).removesuffix(ENDING).partition(".")
        if who == seats and first.isdecimal() and int(first) <= int(board):
            found.append((int(first), path))
    return [path for _, path in sorted(found, reverse=True)[:ORDERS]]


def compress_finished(path: Path) -> None:
    """Pack a log that goes to its sitting's end, if it is worth it.

    Raises OSError, and then it lies there as it was.
    """
    if path.exists() and path.stat().st_size >= MIN_PACK_BYTES:
        last, torn = last_line(path)
        if last.startswith(OVER) and not torn:
            packed.compress(path)


def remove_leftovers(folder: Path) -> None:
    """Do for a folder's logs what kills kept from being done.

    Raises OSError when something cannot be removed.
    """
    packed.remove_leftovers(folder)
    for path in list_logs(folder):
        with suppress(OSError):
            compress_finished(path)
