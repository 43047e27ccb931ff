"""Which sandbox levels an event was played at, from the first line of its game logs."""

from collections import Counter
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from arena.gamelog import read_records
from arena.sealed import DamagedFileError
from protocol.records import Sitting
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.schedule import sittings


class Kept(Struct, frozen=True):
    """How the bots of some sittings were kept."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that it did not keep, in sentences."""
    sittings: int
    """Sittings that were played so."""


def sandboxes(folder: Folder, event: Event, games: Container[str]) -> tuple[Kept, ...]:
    """The levels of the sittings to which these games belong, the most frequent first."""
    logs = (
        folder.log(plan.name)
        for plan in sittings(event)
        if any(game.name in games for game in plan.games)
    )
    levels = Counter(level for path in logs for level in _level(path))
    return tuple(
        Kept(level, missing, many) for (level, missing), many in sorted(levels.items(), key=_order)
    )


def _order(counted: tuple[tuple[str, tuple[str, ...]], int]) -> tuple[int, str, tuple[str, ...]]:
    (level, missing), many = counted
    return -many, level, missing


def _level(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Nothing when the log does not say so any more: `verify` tells of that."""
    with suppress(DamagedFileError, StopIteration):
        first = next(read_records(path)).record
        if isinstance(first, Sitting):
            yield first.sandbox, first.missing
