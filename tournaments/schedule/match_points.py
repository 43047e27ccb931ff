"""Half points from games between units. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from protocol.records import Result
from protocol.ruleset import count_sides, side_of
from tournaments.plan.event import Event, Unit

Halves = Counter[Unit]
"""Half points of each unit: two for each opponent that it finished ahead of, one for a tie."""


def tables(event: Event, results: Iterable[Result]) -> dict[frozenset[Unit], Halves]:
    """Return the half points that each table of units made, over all these games."""
    unit_of = {event.entrants[one].name: unit for unit in event.units for one in unit}
    met: defaultdict[frozenset[Unit], Halves] = defaultdict(Counter)
    for result in results:
        table = frozenset(unit_of[name] for name in result.seats)
        # List a unit without a point too.
        met[table].update(dict.fromkeys(table, 0))
        for seat, halves in _seats(event, result):
            met[table][unit_of[result.seats[seat]]] += halves
    return dict(met)


def _seats(event: Event, result: Result) -> Iterator[tuple[int, int]]:
    """Yield each seat with its half points against the other sides."""
    partners = event.rules.deal.partners
    sides = range(count_sides(partners, len(result.seats)))
    for seat, place in enumerate(result.places):
        own = side_of(partners, seat)
        others = [result.places[side] for side in sides if side != own]
        yield seat, sum(1 + (place < other) - (place > other) for other in others)
