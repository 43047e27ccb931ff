"""Whose deals were public before somebody met them: the boards of an event, and who came late."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from arena.logs.checksummed import DamagedFileError, grep_prefix
from arena.logs.gamelog import sitting_lines
from protocol.codec import DamagedRecordError, decode_record, decode_result, unsealed
from protocol.records import GameRecord, Result
from tournaments.plan.event import Entrant
from tournaments.storage.folder import Folder, published_seeds

Span = tuple[int, int]
"""Boards from the first to the last."""


class Before(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of history.jsonl: a plan that another one took the place of."""

    boards: int
    """Boards that were committed to: the first so many lines of commitments.jsonl."""
    sha256: str
    """SHA-256 of those lines, in hex: what the report showed then."""
    public: tuple[Span, ...]
    """Boards whose deals were public when the next plan came: the first and the last of each row
    of them. A game's log shows them from its first deal on, long before the seed does."""
    entrants: dict[str, str]
    """Who had played until then, retired or not, and the fingerprint of each."""


class Latecomer(Struct, frozen=True):
    """An entrant that came when deals which it has met since were public."""

    entrant: str
    """What it is called in the tables."""
    boards: int
    """Boards whose deals were public when it came."""
    games: int
    """Games that it played."""
    public: int
    """How many of them were on those boards."""


def public_boards(folder: Folder) -> set[int]:
    """The boards of which a log shows deals, or whose seed is published.

    What is damaged is left out: it is told elsewhere.
    """
    public = set(_in_ledger(folder))
    with suppress(DamagedFileError):
        public |= published_seeds(folder.seeds).keys()
    for path in folder.logs():
        planned = {board for sitting in sitting_lines(path) for board in sitting.boards}
        if not planned <= public:
            for line in grep_prefix(path, (b'{"type":"game",',)):
                with suppress(DamagedRecordError):
                    record = decode_record(unsealed(line))
                    public |= {record.board} if isinstance(record, GameRecord) else set()
    return public


def _in_ledger(folder: Folder) -> Iterator[int]:
    for line in grep_prefix(folder.ledger, (b'{"type":"result",',)):
        with suppress(DamagedRecordError):
            yield decode_result(unsealed(line)).board


def spans(boards: Iterable[int]) -> tuple[Span, ...]:
    """The same boards as rows of them, in order."""
    found: list[Span] = []
    for board in sorted(set(boards)):
        if found and found[-1][1] == board - 1:
            found[-1] = found[-1][0], board
        else:
            found.append((board, board))
    return tuple(found)


def among(board: int, rows: Iterable[Span]) -> bool:
    """Whether a board is in one of the rows."""
    return any(first <= board <= last for first, last in rows)


def count(rows: Iterable[Span]) -> int:
    """How many boards the rows have."""
    return sum(last - first + 1 for first, last in rows)


def latecomers(
    history: Sequence[Before], entrants: Iterable[Entrant], results: Iterable[Result]
) -> tuple[Latecomer, ...]:
    """Who came when deals were public that they have met since, in the order of the plan."""
    met = {one.name: found for one in entrants if (found := _public_to(one, history))}
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


def _public_to(entrant: Entrant, history: Sequence[Before]) -> tuple[Span, ...]:
    """The boards whose deals were public when an entrant came with these files."""
    public: tuple[Span, ...] = ()
    for before in history:
        if before.entrants.get(entrant.name) == entrant.fingerprint:
            break
        public = before.public
    return public


def describe_latecomers(late: Sequence[Latecomer]) -> str:
    """Say of each who came late how much of its play that was; empty if nobody did."""
    if not late:
        return ""
    each = ", ".join(f"{one.entrant} ({one.public} of its {one.games} games)" for one in late)
    return (
        f"Deals were public before these bots came, and who wrote them could have known them: "
        f"{each}."
    )
