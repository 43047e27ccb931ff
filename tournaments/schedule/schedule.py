"""The schedule: sittings in stages, each of which follows from the results before it.

Pure and deterministic. A board belongs to one stage.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from arena.logs.catalog import SITTING_PREFIX
from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.formats.base import Meeting, Pairings, SomeResults, luck_of
from tournaments.plan.event import Event
from tournaments.schedule.circular_orders import circular_orders
from tournaments.tuning.parameters import Values


class PlannedGame(Struct, frozen=True):
    """A game of the schedule."""

    name: str
    """Name in the event: the board, and the entrant in each seat."""
    place: int
    """Place in the sitting's plan, from 1; bots know the game by another number."""
    board: int


class PlannedSitting(Struct, frozen=True):
    """The unit of work: fresh processes play one pairing in one rotation, board after board.

    Its processes meet each board once. Another rotation of the same boards is another sitting: a
    process that saw a deal from one seat must never see it from another.
    """

    name: str
    """Name in the event, and of its log; it stays the same if boards are added."""
    seats: tuple[int, ...]
    """The entrant (an index) in each seat."""
    boards: tuple[int, ...]
    """Boards of the games, in the order of the ledger; they are played in the order of their
    numbers, see `tournaments.schedule.game_numbers`."""
    who: str
    """Names of the entrants in the seats, with dots between them."""
    values: tuple[Values, ...] = ()
    """In a tune, the values of the parameters of the bot in each seat."""

    @property
    def games(self) -> tuple[PlannedGame, ...]:
        """Games in ledger order; built anew each time, because an event may have a million."""
        return tuple(map(self._game, range(1, len(self.boards) + 1)))

    def game_on(self, board: int) -> PlannedGame | None:
        """Return the game on a board; None if the sitting does not play the board."""
        return self._game(self.boards.index(board) + 1) if board in self.boards else None

    def _game(self, place: int) -> PlannedGame:
        board = self.boards[place - 1]
        return PlannedGame(f"{board}.{self.who}", place, board)


Stage = tuple[PlannedSitting, ...]
"""Sittings that can be played side by side, in the order of the ledger."""


def stages(event: Event, results: Mapping[str, Result]) -> Iterator[Stage]:
    """Yield the stages that can be known, in order; of the last one, results may be missing.

    Results may come in while this runs: it computes each stage only when asked for it.
    """
    before = _Finished(results)
    for tables in event.format.stages(event, before):
        stage = tuple(plan for pairings in tables for plan in _sittings(event, pairings))
        yield stage
        # Of a large event it would take long to see whether all is played.
        if event.format.IS_STATIC or not all_played(stage, results):
            return
        before.stages.append(stage)


class _Finished(Collection[Result]):
    """The results of finished stages, looked up on demand."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self.stages: list[Stage] = []
        self.luck = luck_of(results)
        self._results = results

    def __iter__(self) -> Iterator[Result]:
        return chain.from_iterable(map(self._of, self.stages))

    def latest(self) -> SomeResults:
        return SomeResults(self._of(self.stages[-1]), self.luck)

    def _of(self, stage: Stage) -> Iterator[Result]:
        return (self._results[game.name] for plan in stage for game in plan.games)

    def __len__(self) -> int:
        return sum(map(count_games, self.stages))

    def __contains__(self, result: object) -> bool:
        return any(one == result for one in self)


def count_games(stage: Stage) -> int:
    """Count the games of a stage."""
    return sum(len(plan.boards) for plan in stage)


def all_played(stage: Stage, results: Mapping[str, Result]) -> bool:
    """Tell whether every game of a stage has a result."""
    return all(game.name in results for plan in stage for game in plan.games)


def sittings(event: Event, results: Mapping[str, Result]) -> Iterator[PlannedSitting]:
    """Yield the sittings of all stages that can be known."""
    for stage in stages(event, results):
        yield from stage


def _sittings(event: Event, pairings: Pairings) -> Iterator[PlannedSitting]:
    """Return sittings block by block, and within a block day by day: any prefix is balanced."""
    days, boards, values = pairings
    by_entrant = {entrant: given for unit, given in values.items() for entrant in unit}
    seatings = {table: _seatings(event, table) for day in days for table in day}
    orders = min(map(len, seatings.values()), default=1)
    return (
        planned(event, turned, block, by_entrant)
        for order, block in _blocks(event, orders, boards)
        for day in days
        for turn in range(event.seats)
        for table in day
        for seats in seatings[table][order]
        for turned in rotations(seats)[turn : turn + 1]
    )


def _blocks(event: Event, orders: int, boards: range) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the boards of each sitting, and the number of its circular order.

    Successive boards belong to successive orders, so that a sitting has every sixth board at four
    seats, and every tenth at six.
    """
    span = orders * event.boards_a_sitting
    for first in range(boards.start, boards.stop, span):
        last = min(first + span, boards.stop)
        for order in range(min(orders, last - first)):
            yield order, tuple(range(first + order, last, orders))


def _seatings(event: Event, table: Meeting) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return a table's seatings in each circular order; three for each if partners are mixed.

    They depend on the names, not on the places in the plan, so that a bot that joins the plan does
    not reseat the others.
    """
    if event.seats == 2:
        return ((sum(table, ()),),)

    def name(entrant: int) -> str:
        return event.entrants[entrant].name

    if event.teams:
        (a, c), (b, d) = sorted(
            (sorted(unit, key=name) for unit in table), key=lambda u: name(u[0])
        )
        return (((a, b, c, d),), ((a, d, c, b),))
    who = sorted((one for unit in table for one in unit), key=name)
    if not event.rules.deal.partners:
        return tuple((tuple(who[one] for one in order),) for order in circular_orders(len(who)))
    # Every two sit together once as partners: otherwise the results could not tell them apart.
    a, b, c, d = who
    return ((a, b, c, d), (a, c, b, d), (a, b, d, c)), ((a, d, c, b), (a, d, b, c), (a, c, d, b))


def planned(
    event: Event,
    seats: tuple[int, ...],
    boards: Sequence[int],
    values: Mapping[int, Values] | None = None,
) -> PlannedSitting:
    """Return the sitting of these entrants on these boards, with these values of parameters."""
    who = ".".join(event.entrants[entrant].name for entrant in seats)
    given = tuple(values.get(entrant, {}) for entrant in seats) if values else ()
    name = f"{SITTING_PREFIX}{boards[0]}.{who}"
    return PlannedSitting(name, seats, tuple(boards), who, given)


def ledger_order(event: Event, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the names of games in ledger order: those of retired versions, then the stages.

    Results may come in while this runs, as with `stages`, but not those of retired versions.
    """
    yield from retired_games(event, results)
    for plan in sittings(event, results):
        yield from (game.name for game in plan.games)


def retired_games(event: Event, results: Mapping[str, Result]) -> list[str]:
    """Return the games in which a retired version sat; they count as long as they exist."""
    old = event.retired
    played = results.values() if old else ()
    found = [(past_order(one), one.game) for one in played if old.intersection(one.seats)]
    return [game for _, game in sorted(found)]


def past_order(result: Result) -> tuple[int, tuple[str, ...]]:
    """Return the sort key of a retired version's game."""
    return result.board, result.seats


def count_all_games(event: Event, results: Mapping[str, Result]) -> int:
    """Count the event's games: those of known stages, and an estimate of those still to come.

    For a Swiss it is exact, for versus an upper bound; tied matches of a knockout add more.
    """
    count = len(retired_games(event, results))
    last: Stage = ()
    over = True
    for stage in stages(event, results):
        count += count_games(stage)
        over = all_played(stage, results)
        last = stage
    return count if over else count + count_coming_games(event, last)


def count_coming_games(event: Event, stage: Stage) -> int:
    """Estimate the number of games in the stages after this one; see `games`."""
    last = max(plan.boards[-1] for plan in stage)
    return event.format.count_later_games(event, last, count_games(stage))
