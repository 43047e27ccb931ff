"""At which sandbox levels an event was played, and on which workers, summed up. Pure."""

from collections import Counter
from collections.abc import Collection

from msgspec import Struct

from protocol.records import Sitting

_Level = tuple[str, tuple[str, ...]]


class SandboxSummary(Struct, frozen=True):
    """How the bots of some sittings were kept."""

    level: str
    """The sandbox level: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that it did not keep, in sentences."""
    sittings: int
    """Sittings that were played so, or in part,"""
    of: int
    """of so many that were played."""
    workers: tuple[str, ...] = ()
    """The workers on which that was, by name; none where it was the event's own machine."""


class Levels:
    """Sums up how one sitting after another was kept."""

    def __init__(self) -> None:
        self._sittings = Counter[_Level]()
        self._workers: dict[_Level, set[str]] = {}
        self._of = 0

    def add(self, parts: Collection[Sitting]) -> None:
        """A sitting that was played in these parts; one without any does not count."""
        for part in parts:
            workers = self._workers.setdefault(_level(part), set())
            workers.update([part.worker] if part.worker else [])
        self._sittings.update({_level(part) for part in parts})
        self._of += bool(parts)

    def kept(self) -> tuple[SandboxSummary, ...]:
        """The levels, the most frequent first."""
        order = sorted(self._sittings, key=lambda level: (-self._sittings[level], level))
        return tuple(
            SandboxSummary(
                *level, self._sittings[level], self._of, tuple(sorted(self._workers[level]))
            )
            for level in order
        )


def _level(part: Sitting) -> _Level:
    return part.sandbox, part.missing
