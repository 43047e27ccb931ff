"""Which sandbox levels an event was played at, and on which workers, from its game logs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from arena.sealed import lines_like
from protocol.codec import DamagedRecordError, decode_record, unsealed
from protocol.records import Result, Sitting
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.ledger import past_sittings
from tournaments.schedule import sittings

_Level = tuple[str, tuple[str, ...]]
TOLD = (b'{"type":"sitting",', b'{"type":"result",')
"""How the lines begin that say who played where; a log has hundreds of others."""


class Kept(Struct, frozen=True):
    """How the bots of some sittings were kept."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that it did not keep, in sentences."""
    sittings: int
    """Sittings that were played so."""
    workers: tuple[str, ...] = ()
    """The workers on which that was, by name; none where it was the event's own machine."""


def sandboxes(folder: Folder, event: Event, games: Mapping[str, Result]) -> tuple[Kept, ...]:
    """The levels of the sittings to which these games belong, the most frequent first."""
    many, workers = Counter[_Level](), dict[_Level, set[str]]()
    for plan in (*past_sittings(folder, event), *sittings(event, games)):
        if any(game.name in games for game in plan.games):
            levels: set[_Level] = set()
            for game, place in places(folder.log(plan.name)):
                if game in games:
                    level = place.sandbox, place.missing
                    levels.add(level)
                    workers.setdefault(level, set()).update([place.worker] if place.worker else [])
            many.update(levels)
    order = sorted(many, key=lambda level: (-many[level], level))
    return tuple(Kept(*level, many[level], tuple(sorted(workers[level]))) for level in order)


def places(path: Path) -> Iterator[tuple[str, Sitting]]:
    """Each game of a log that has a result, and the line that says where it was played.

    Lines that cannot be read are left out.
    """
    sitting: Sitting | None = None
    for line in lines_like(path, TOLD):
        with suppress(DamagedRecordError):
            record = decode_record(unsealed(line))
            if isinstance(record, Sitting):
                sitting = record
            elif isinstance(record, Result) and sitting:
                yield record.game, sitting
