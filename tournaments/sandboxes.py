"""Which sandbox levels an event was played at, from the first lines of its game logs."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from arena.gamelog import sitting_lines
from protocol.records import Result
from tournaments.event import Event
from tournaments.folder import Folder
from tournaments.ledger import past_sittings
from tournaments.schedule import sittings


class Kept(Struct, frozen=True):
    """How the bots of some sittings were kept."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that it did not keep, in sentences."""
    sittings: int
    """Sittings that were played so."""


def sandboxes(folder: Folder, event: Event, games: Mapping[str, Result]) -> tuple[Kept, ...]:
    """The levels of the sittings to which these games belong, the most frequent first."""
    logs = (
        folder.log(plan.name)
        for plan in (*past_sittings(folder, event), *sittings(event, games))
        if any(game.name in games for game in plan.games)
    )
    levels = Counter(
        level
        for path in logs
        for level in {(one.sandbox, one.missing) for one in sitting_lines(path)}
    )
    return tuple(
        Kept(level, missing, many) for (level, missing), many in sorted(levels.items(), key=_order)
    )


def _order(counted: tuple[tuple[str, tuple[str, ...]], int]) -> tuple[int, str, tuple[str, ...]]:
    (level, missing), many = counted
    return -many, level, missing
