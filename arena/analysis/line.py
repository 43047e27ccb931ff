"""The ends of a round's line, and what draws and passes tell of hands, as everybody saw."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from protocol.messages import Annulled, Event, Played, TurnedUp


def with_ends(events: Iterable[Event]) -> Iterator[tuple[Event, tuple[int, ...]]]:
    """Yield each event of a round with the ends of the line before it; none before a tile."""
    ends: tuple[int, ...] = ()
    for event in events:
        yield event, ends
        if isinstance(event, Played) and event.end != "lead":
            left = event.end == "left"
            ends = (event.tile[0], ends[1]) if left else (ends[0], event.tile[1])
        elif isinstance(event, Played | TurnedUp):
            ends = event.tile
        elif isinstance(event, Annulled):
            ends = ()


class PassesAndDraws(NamedTuple):
    """Numbers at the ends, as bits, at which each seat passed, unless it drew since, or drew.

    A method's `at` is a seat, or in arrays of rounds side by side the seats and the rounds.
    """

    passed: Any
    drew: Any

    def add_draw(self, at: Any, ends: Any) -> None:
        """Note that a seat drew: the new tile may fit where the seat passed."""
        self.drew[at] |= ends
        self.passed[at] = 0

    def add_pass(self, at: Any, ends: Any) -> None:
        """Note that a seat passed."""
        self.passed[at] |= ends
