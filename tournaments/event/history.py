"""Earlier plans of an extended event, and the boards whose deals a latecomer's author could know.

The report follows from the last plan alone, as if the event had been played at once, except for
the bots that joined when deals were public. Every commitment under an earlier plan stays checkable.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from arena.files import DamagedFileError
from arena.logs.catalog import published_seeds
from arena.logs.checksummed import grep_prefix, read_lines, read_plain
from arena.logs.gamelog import sitting_lines
from protocol.codec import (
    DamagedRecordError,
    decode_json,
    decode_record,
    decode_result,
    line_start,
    strip_checksum,
)
from protocol.records import GameRecord, Result
from tournaments.event.folder import Folder
from tournaments.formats.base import Entrant

BoardSpan = tuple[int, int]
"""The first and the last of consecutive boards."""


class Before(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of history.jsonl: a plan that a later one replaced."""

    boards: int
    """Boards with a commitment then: the number of lines in commitments.jsonl."""
    sha256: str
    """SHA-256 of those lines, in hex, as the report showed it then."""
    public: tuple[BoardSpan, ...]
    """Boards whose deals were public when the next plan came. A game's log shows them from its
    first deal on, long before the seed does."""
    entrants: dict[str, str]
    """The entrants until then, retired or not, with their fingerprints."""


class Latecomer(Struct, frozen=True):
    """An entrant that joined when deals were already public which it has met since."""

    entrant: str
    boards: int
    """Boards whose deals were public when it joined."""
    games: int
    public: int
    """Games among them on those boards."""


def public_boards(folder: Folder) -> set[int]:
    """Return the boards whose deals a log shows or whose seed is published.

    Skips damaged lines and files: other checks report them.
    """
    public = set[int]()
    for line in grep_prefix(folder.ledger, (line_start(Result),)):
        with suppress(DamagedRecordError):
            public.add(decode_result(strip_checksum(line)).board)
    with suppress(DamagedFileError):
        public |= published_seeds(folder.seeds).keys()
    for path in folder.logs():
        planned = {board for sitting in sitting_lines(path) for board in sitting.boards}
        if not planned <= public:
            for line in grep_prefix(path, (line_start(GameRecord),)):
                with suppress(DamagedRecordError):
                    record = decode_record(strip_checksum(line))
                    public |= {record.board} if isinstance(record, GameRecord) else set()
    return public


def board_spans(boards: Iterable[int]) -> tuple[BoardSpan, ...]:
    """Return the boards as spans, in order."""
    spans: list[BoardSpan] = []
    for board in sorted(set(boards)):
        if spans and spans[-1][1] == board - 1:
            spans[-1] = spans[-1][0], board
        else:
            spans.append((board, board))
    return tuple(spans)


def among(board: int, rows: Iterable[BoardSpan]) -> bool:
    """Tell whether a board is in one of the spans."""
    return any(first <= board <= last for first, last in rows)


def count(rows: Iterable[BoardSpan]) -> int:
    """Count the boards in the spans."""
    return sum(last - first + 1 for first, last in rows)


def latecomers(
    history: Sequence[Before], entrants: Iterable[Entrant], results: Iterable[Result]
) -> tuple[Latecomer, ...]:
    """Return the entrants that met deals which were public when they joined, in plan order."""
    met = {bot.name: spans for bot in entrants if (spans := _public_to(bot, history))}
    games, public = Counter[str](), Counter[str]()
    for result in results if met else ():
        for name in result.seats:
            if name in met:
                games[name] += 1
                public[name] += among(result.board, met[name])
    return tuple(
        Latecomer(name, count(rows), games[name], public[name])
        for name, rows in met.items()
        if public[name]
    )


def _public_to(entrant: Entrant, history: Sequence[Before]) -> tuple[BoardSpan, ...]:
    """Return the boards whose deals were public when an entrant joined with these files."""
    public: tuple[BoardSpan, ...] = ()
    for before in history:
        if before.entrants.get(entrant.name) == entrant.fingerprint:
            break
        public = before.public
    return public


def describe_latecomers(late: Sequence[Latecomer]) -> str:
    """Return a sentence on how much each latecomer played on public deals; empty without any."""
    if not late:
        return ""
    each = ", ".join(f"{row.entrant} ({row.public} of its {row.games} games)" for row in late)
    return (
        "Deals were public before these bots entered, and their authors could have known them: "
        f"{each}."
    )


def read_history(folder: Folder) -> Iterator[Before]:
    """Yield the earlier plans, the oldest first. Raises DamagedFileError."""
    return read_plain(folder.history, lambda line: decode_json(line, Before))


def sha256(folder: Folder, boards: int) -> str:
    """Return the SHA-256 of the commitments to the first boards, in hex."""
    lines = (line.data for line in islice(read_lines(folder.commitments), boards))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def broken_promises(folder: Folder) -> Iterator[str]:
    """Yield a sentence for each earlier plan whose commitments have changed since.

    Raises DamagedFileError.
    """
    for before in read_history(folder):
        if sha256(folder, before.boards) != before.sha256:
            yield (
                f"{folder.commitments}: the SHA-256 of its first {before.boards} lines is not the "
                f"one in {folder.history.name}"
            )
