"""The knockout: its bracket, which follows from the results, and its next matches. Pure.

The bots are listed by seed: in the first round the best seed meets the last, and it can meet the
second seed only in the final. Unless the number of units is a power of two, the best seeds have a
bye. A tied match continues on more boards; if it is still tied, the better seed advances.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from protocol.records import Result
from tournaments.plan.event import Event, Unit
from tournaments.plan.formats import Knockout
from tournaments.plan.seats import rotations
from tournaments.schedule.match_points import tables


class Match(NamedTuple):
    """Two units of which one advances."""

    units: tuple[Unit, ...]
    """The better seed, then the other; in a bye only one."""
    halves: tuple[int, ...]
    """Half points of each from their games so far; empty before the first."""
    more: tuple[int, ...]
    """Half points of each from the boards after a tie; empty without any."""
    winner: Unit | None
    """The unit that advances; None while it is not known."""


Bracket = list[list[Match]]
"""The matches of each round; the winners of neighbours meet in the next round."""


def bracket(event: Event, form: Knockout, results: Collection[Result]) -> Bracket:
    """Return the bracket as far as the results decide it."""
    alive: list[Unit | None] = [_at(event.units, seed) for seed in _seeds(len(event.units))]
    known: Bracket = []
    while len(alive) > 1:
        played = _Played(event, form, len(known) + 1, results)
        known.append([played.match(*pair) for pair in zip(alive[::2], alive[1::2], strict=True)])
        if any(match.winner is None for match in known[-1]):
            break
        alive = [match.winner for match in known[-1]]
    return known


def _at(units: Sequence[Unit], seed: int) -> Unit | None:
    return units[seed] if seed < len(units) else None


def _seeds(units: int) -> list[int]:
    """Return the seeds from the top of the bracket to its bottom."""
    order = [0]
    while len(order) < units:
        order = [one for seed in order for one in (seed, 2 * len(order) - 1 - seed)]
    return order


class _Played:
    """The games of a round."""

    def __init__(
        self, event: Event, form: Knockout, number: int, results: Collection[Result]
    ) -> None:
        main, more = self._boards = boards_of(event, form, number)
        self._seed = {unit: seed for seed, unit in enumerate(event.units)}
        self._main = tables(event, (one for one in results if one.board in main))
        self._more = tables(event, (one for one in results if one.board in more))

    def match(self, one: Unit | None, other: Unit | None) -> Match:
        units = tuple(sorted((unit for unit in (one, other) if unit), key=self._seed.__getitem__))
        if len(units) == 1:
            return Match(units, (), (), units[0])
        first, second = (
            tuple(came_to[frozenset(units)][unit] for unit in units)
            if frozenset(units) in came_to
            else ()
            for came_to in (self._main, self._more)
        )
        return Match(units, first, second, self._winner(units, first, second))

    def _winner(
        self, units: tuple[Unit, ...], first: tuple[int, ...], second: tuple[int, ...]
    ) -> Unit | None:
        main, more = self._boards
        tied = sum(first[:1]) == sum(first[1:])
        if not _whole(units, first, main) or (tied and not _whole(units, second, more)):
            return None
        return units[sum(first[1:] + second[1:]) > sum(first[:1] + second[:1])]


def _whole(units: tuple[Unit, ...], halves: tuple[int, ...], boards: range) -> bool:
    """Tell whether all games of a match on these boards are played: its leader may still lose."""
    seats = tuple(one for facing in zip(*units, strict=True) for one in facing)
    # In each game each seat wins a half point from the seat beside it or loses one to it.
    return sum(halves) == len(boards) * len(rotations(seats)) * len(seats)


def boards_of(event: Event, form: Knockout, number: int) -> tuple[range, range]:
    """Return a round's boards, and the boards on which its tied matches continue."""
    start = 1 + (number - 1) * (event.boards + form.tie_boards)
    middle = start + event.boards
    return range(start, middle), range(middle, middle + form.tie_boards)


def next_matches(
    event: Event, form: Knockout, results: Collection[Result]
) -> tuple[list[list[tuple[Unit, ...]]], range]:
    """Return the matches to play after these results, and their boards."""
    known = bracket(event, form, results)
    open_ones = [match for match in known[-1] if match.winner is None]
    main, more = boards_of(event, form, len(known))
    days = [[match.units for match in open_ones]] if open_ones else []
    return days, more if any(match.halves for match in open_ones) else main


def matches_after(event: Event, form: Knockout, board: int) -> int:
    """Return the number of matches in the rounds after this board's round."""
    number = (board - 1) // (event.boards + form.tie_boards) + 1
    return (1 << ((len(event.units) - 1).bit_length() - number)) - 1
