"""The Swiss system: the pairings of the next round, and the standings after any round. Pure.

Units that are close in the standings and have met least meet: at two sides paired by `matching.py`,
at more by search. A table gives each unit a point for each other unit there that it beat, over all
games of the round together, and half a point for a tie. A unit left over has a bye, which counts as
much as beating everybody; nobody has a second bye before all have had one.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from protocol.records import Result
from tournaments.plan.event import Event, Unit
from tournaments.plan.formats import Swiss
from tournaments.schedule import matching
from tournaments.schedule.match_points import Halves, tables

TRIES = 20_000
"""Tables of three or more that are tried in search of a round without a rematch."""


class Standing(NamedTuple):
    """A line of the standings."""

    unit: Unit
    """The unit."""
    points: int
    """Half points from the tables and byes."""
    buchholz: int
    """Half points of all units that it met."""
    halves: int
    """Half points from the games."""
    rounds: tuple[tuple[int, tuple[Unit, ...]], ...]
    """Half points and opponents of each round; no opponents in a bye."""

    @property
    def order(self) -> tuple[int, int, int]:
        """Sort key of the standings; more is better."""
        return self.points, self.buchholz, self.halves


Round = dict[frozenset[Unit], Halves]


def play_round(event: Event, board: int) -> int:
    """Return the round of a board, from 1."""
    return (board - 1) // event.boards + 1


def rounds(event: Event, results: Collection[Result]) -> list[Round]:
    """Return the half points at the tables of each round."""
    found: list[Round] = []
    for number, played in groupby(results, key=lambda result: play_round(event, result.board)):
        found += [{} for _ in range(len(found), number)]
        for table, halves in tables(event, played).items():
            found[number - 1].setdefault(table, Counter()).update(halves)
    return found


def standings(event: Event, results: Collection[Result]) -> list[Standing]:
    """Return the standings, best first; units that are level in everything stay in plan order."""
    played = rounds(event, results)
    by_round = {unit: [_part(event, unit, one) for one in played] for unit in event.units}
    points = {unit: sum(got for got, _ in parts) for unit, parts in by_round.items()}
    halves: Halves = Counter()
    for one in played:
        for table in one.values():
            halves.update(table)
    lines = [
        Standing(
            unit,
            points[unit],
            sum(points[other] for _, others in parts for other in others),
            halves[unit],
            tuple(parts),
        )
        for unit, parts in by_round.items()
    ]
    return sorted(lines, key=lambda line: line.order, reverse=True)


def _part(event: Event, unit: Unit, played: Round) -> tuple[int, tuple[Unit, ...]]:
    """Return a unit's half points and opponents in a round."""
    for table, halves in played.items():
        if unit in table:
            others = tuple(one for one in event.units if one in table and one != unit)
            own = halves[unit]
            return sum(1 + (own > halves[one]) - (own < halves[one]) for one in others), others
    return 2 * (event.units_a_table - 1), ()


def rematches(table: Sequence[Standing]) -> int:
    """Count the rematches over all rounds."""
    met = Counter(
        pair for line in table for _, others in line.rounds for pair in _pairs(line.unit, others)
    )
    return sum(many // 2 - 1 for many in met.values())  # Each of the two units lists it.


def next_round(
    event: Event, form: Swiss, results: Collection[Result]
) -> tuple[list[list[tuple[Unit, ...]]], range]:
    """Return the tables and boards of the round after these results; no tables after the last."""
    number = max((play_round(event, result.board) for result in results), default=0) + 1
    boards = range((number - 1) * event.boards + 1, number * event.boards + 1)
    if number > form.rounds:
        return [], boards
    table = standings(event, results)
    left_over = _byes(event, table)
    order = [line.unit for line in table if line.unit not in left_over]
    if number == 1:
        order = _folded(order, event.units_a_table)
    met = Counter(
        pair for line in table for _, others in line.rounds for pair in _pairs(line.unit, others)
    )
    return [_tables(order, event.units_a_table, met)], boards


def _pairs(unit: Unit, others: Sequence[Unit]) -> Iterator[frozenset[Unit]]:
    return (frozenset((unit, other)) for other in others)


def _byes(event: Event, table: Sequence[Standing]) -> list[Unit]:
    """Return the units that get a bye: the last among those that have had fewest."""
    many = len(table) % event.units_a_table

    def had(line: Standing) -> int:
        return sum(not others for _, others in line.rounds)

    from_below = list(reversed(table))
    return [line.unit for line in sorted(from_below, key=had)[:many]]


def _folded(order: Sequence[Unit], size: int) -> list[Unit]:
    """Reorder the first round: the first of each part of the field meet, not neighbours."""
    part = len(order) // size
    return [order[place + part * turn] for place in range(part) for turn in range(size)]


def _tables(
    order: Sequence[Unit], size: int, met: Counter[frozenset[Unit]]
) -> list[tuple[Unit, ...]]:
    """Return tables from the top down: without a rematch if possible, else with the fewest."""
    if size == 2:
        return matching.pairs(order, met)
    return _fresh(tuple(order), size, met) or list(_least(list(order), size, met))


def _fresh(
    order: tuple[Unit, ...], size: int, met: Counter[frozenset[Unit]]
) -> list[tuple[Unit, ...]] | None:
    """Search for tables without a rematch; None if there are none, or the search is too long."""
    found: list[tuple[Unit, ...]] = []
    tried = [(order, combinations(order[1:], size - 1))]
    for _ in range(TRIES):
        rest, others = tried[-1]
        if (some := next(others, None)) is None:
            tried.pop()
            if not tried:
                return None
            found.pop()
            continue
        table = (rest[0], *some)
        if any(met[frozenset(pair)] for pair in combinations(table, 2)):
            continue
        found.append(table)
        if len(rest) == size:
            return found
        below = tuple(unit for unit in rest if unit not in table)
        tried.append((below, combinations(below[1:], size - 1)))
    return None


def _least(
    order: list[Unit], size: int, met: Counter[frozenset[Unit]]
) -> Iterator[tuple[Unit, ...]]:
    """Yield tables; each is filled by the next best unit that met those at it least."""
    while order:
        table = [order.pop(0)]
        while len(table) < size:
            table.append(min(order, key=lambda unit: sum(met[p] for p in _pairs(unit, table))))
            order.remove(table[-1])
        yield tuple(table)
