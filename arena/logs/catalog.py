"""The game logs of a folder, and the commitments and seeds of boards as an event publishes them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from arena.files import refuse_link, remove_partial_files
from arena.logs import checksummed
from arena.logs.checksummed import grep_prefix, read_plain
from arena.logs.gamelog import is_over
from protocol.codec import DamagedRecordError, decode_commitment, decode_reveal, line_start
from protocol.records import Commitment, DealRecord, Reveal, Sitting

# Commitments to boards, and the seeds that reveal their deals, as an event publishes them.


P = TypeVar("P", Commitment, Reveal)
SEEDS = "seeds.jsonl"
"""The file of an event's folder that reveals the seeds."""


def published_commitments(path: Path) -> dict[int, str]:
    """Read the commitments of a file, by board. Raises DamagedFileError."""
    return {promise.board: promise.sha256 for promise in _promises(path, decode_commitment)}


def published_seeds(path: Path) -> dict[int, bytes]:
    """Read the seeds that a file reveals, by board. Raises DamagedFileError."""
    return {reveal.board: bytes.fromhex(reveal.seed) for reveal in _promises(path, decode_reveal)}


def _promises(path: Path, decode: Callable[[bytes], P]) -> Iterator[P]:
    boards: set[int] = set()

    def decode_new(line: bytes) -> P:
        promise = decode(line)
        if promise.board in boards:
            raise DamagedRecordError(f"board {promise.board} was there before")
        boards.add(promise.board)
        return promise

    return read_plain(path, decode_new)


# The game logs of a folder: list them, find a game's log, compress the finished ones.


GAMES_FOLDER = "games"
"""The folder of game logs in an event's folder, or in the folder of a person's games."""
REPLAYS = "replays"
"""The folder of the replays, beside that of the logs."""
REPLAY_ENDING = ".js"
"""The ending of the name of a game's replay."""
REPLAY_PAGE = "replay.html"
"""The page beside these folders that replays the game that its address names."""
LOG_SUFFIX = ".jsonl"
"""The ending of a game log's name."""
SITTING_PREFIX = "from-"
"""The beginning of a game log's name; the sitting's first board and its seats follow, with dots."""
MAX_CIRCULAR_ORDERS = 10
"""The most circular orders, of a table of six: so many sittings may take boards in turn."""
MIN_PACK_BYTES = 2**15
"""The size in bytes from which a finished log is compressed; a smaller one stays plain text."""
LOG_PREFIXES = (line_start(Sitting), line_start(DealRecord))
"""Beginnings of lines that only a log has: neither a ledger nor a bot's pipe has them."""


def replay_address(game: str) -> str:
    """Return the address of a game's replay, relative to the folder of its event or site.

    Append `&at=12` for a moment of it, `&seat=1` for a seat's view.
    """
    return f"{REPLAY_PAGE}#game={quote(game)}"


def list_logs(folder: Path) -> list[Path]:
    """Return the game logs in a folder, compressed or not, sorted by name. Raises UserError."""
    return [folder / name for name in sorted(log_names(folder))]


def log_names(folder: Path) -> set[str]:
    """Return the names of the game logs in a folder. Raises UserError."""
    if folder.name == GAMES_FOLDER:  # Any other one was named by the user.
        refuse_link(folder)
    return checksummed.list_names(folder, LOG_SUFFIX)


def is_log(path: Path) -> bool:
    """Tell whether a file is a game log, however damaged: by its folder, or by a line in it.

    Raises OSError.
    """
    name, packs = (
        path.name.removesuffix(checksummed.ZSTD_SUFFIX),
        path.name.endswith(checksummed.ZSTD_SUFFIX),
    )
    by_name = packs or path.resolve().parent.name == GAMES_FOLDER
    return (by_name and name.endswith(LOG_SUFFIX)) or any(
        True for _ in grep_prefix(path, LOG_PREFIXES)
    )


class SittingLogs:
    """The game logs of a folder by their sittings, from names alone."""

    def __init__(self, folder: Path) -> None:
        self._logs: dict[str, list[tuple[int, Path]]] = {}
        for path in list_logs(folder):
            first, _, seats = (
                path.name.removeprefix(SITTING_PREFIX).removesuffix(LOG_SUFFIX).partition(".")
            )
            if first.isdecimal():
                self._logs.setdefault(seats, []).append((int(first), path))

    def of(self, game: str) -> list[Path]:
        """Return the few logs that may have a game, the likeliest first.

        A game's name has its board and its seats, a log's name its first board and its seats. Logs
        of the same seats follow each other, unless two circular orders seat them alike.
        """
        board, _, seats = game.partition(".")
        numbered_logs = self._logs.get(seats, ()) if board.isdecimal() else ()
        candidates = [(first, path) for first, path in numbered_logs if first <= int(board)]
        return [path for _, path in sorted(candidates, reverse=True)[:MAX_CIRCULAR_ORDERS]]


def compress_finished(path: Path) -> None:
    """Compress a log that has its sitting's end, if it is large enough.

    Raises OSError, and then the log is as it was.
    """
    if path.exists() and path.stat().st_size >= MIN_PACK_BYTES and is_over(path):
        checksummed.compress(path)


def remove_leftovers(folder: Path) -> None:
    """Finish for a folder's logs the work that a kill interrupted.

    Raises OSError if a file cannot be removed.
    """
    remove_partial_files(folder)
    for path in list_logs(folder):
        with suppress(OSError):
            compress_finished(path)
