"""The schedule: sittings in stages, each of which follows from the results before it.

Pure and deterministic. A board belongs to one stage.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar, assert_never

from msgspec import Struct

from arena.logs.catalog import SITTING_PREFIX
from protocol.records import Result
from tournaments.plan.event import Event, Unit
from tournaments.plan.formats import Gauntlet, Knockout, Ladder, RoundRobin, Static, Swiss, Versus
from tournaments.plan.seats import circular_orders, rotations
from tournaments.rating.sprt import Outcome, is_decided, outcomes
from tournaments.schedule import knockout, swiss
from tournaments.schedule.pairings import gauntlet, round_robin

R = TypeVar("R", bound=Iterable[Result])
Meeting = tuple[Unit, ...]
"""The units at a table."""


class PlannedGame(Struct, frozen=True):
    """A game of the schedule."""

    name: str
    """Name in the event: the board, and the entrant in each seat."""
    place: int
    """Place in the sitting's plan, from 1; bots know the game by another number."""
    board: int
    """Number of the board."""


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
    if isinstance(event.format, Versus):
        yield from _versus(event, event.format, results)
        return
    before = _Played(results)
    while stage := _next_stage(event, event.format, before):
        yield stage
        if isinstance(event.format, Static) or not all_played(stage, results):
            return
        before.stages.append(stage)


class _Played(Collection[Result]):
    """The results of finished stages, looked up on demand."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        self.stages: list[Stage] = []
        self._results = results

    def __iter__(self) -> Iterator[Result]:
        names = (game.name for stage in self.stages for plan in stage for game in plan.games)
        return (self._results[name] for name in names)

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


def _next_stage(event: Event, form: Static | Swiss | Knockout, before: Collection[Result]) -> Stage:
    """Return the stage after the finished ones with these results; empty if the event is over."""
    match form:
        case RoundRobin() | Gauntlet() | Ladder():
            return () if before else _static_stage(event, static(event, form))
        case Swiss():
            return _stage(event, *swiss.next_round(event, form, before))
        case Knockout():
            return _stage(event, *knockout.next_matches(event, form, before))
        case _:
            assert_never(form)


def _static_stage(event: Event, days: Sequence[Sequence[Meeting]]) -> Stage:
    """Return tables of the entrants that were there first, then those with latecomers."""
    boards = sorted({event.boards_of(table) for day in days for table in day}, key=_start)
    return tuple(
        plan
        for own in boards
        for plan in _stage(
            event, [[table for table in day if event.boards_of(table) == own] for day in days], own
        )
    )


def _start(boards: range) -> int:
    return boards.start


def static(event: Event, form: Static) -> list[list[Meeting]]:
    """Return the tables, in days, of a format whose schedule does not depend on results."""
    units, size = event.units, event.units_a_table
    challengers = event.challengers
    field = [place for place in range(len(units)) if place not in challengers]
    days = []
    if not isinstance(form, Gauntlet):
        days += [
            tuple(tuple(field[place] for place in table) for table in day)
            for day in round_robin(len(field), size)
        ]
    if challengers:
        days += gauntlet(challengers, field, size)
    return [[tuple(units[place] for place in table) for table in day] for day in days]


def _versus(event: Event, form: Versus, results: Mapping[str, Result]) -> Iterator[Stage]:
    """Yield blocks of boards until the answer is known; the test looks at each board once."""
    one, other = event.units
    block = event.boards_a_sitting * len(_seatings(event, (one, other)))
    tried: list[Outcome] = []
    own = event.boards_of((one, other))
    for first in own[::block]:
        boards = range(first, min(first + block, own.stop))
        stage = _stage(event, [[(one, other)]], boards)
        yield stage
        if not all_played(stage, results):
            return
        played = [results[game.name] for plan in stage for game in plan.games]
        name = event.entrants[one[0]].name
        tried += outcomes(form.sprt, played, name, lost_by=event.target, since=first)
        if is_decided(form.sprt, tried):
            return


def _stage(event: Event, days: Sequence[Sequence[Meeting]], boards: range) -> Stage:
    """Return sittings block by block, and within a block day by day: any prefix is balanced."""
    seatings = {table: _seatings(event, table) for day in days for table in day}
    orders = min(map(len, seatings.values()), default=1)
    return tuple(
        planned(event, turned, block)
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


def planned(event: Event, seats: tuple[int, ...], boards: Sequence[int]) -> PlannedSitting:
    """Return the sitting of these entrants on these boards."""
    who = ".".join(event.entrants[entrant].name for entrant in seats)
    return PlannedSitting(f"{SITTING_PREFIX}{boards[0]}.{who}", seats, tuple(boards), who)


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


def active_results(event: Event, results: R) -> R | list[Result]:
    """Return the games of active entrants only: they alone decide the pairings."""
    old = event.retired
    return [one for one in results if old.isdisjoint(one.seats)] if old else results


def past_order(result: Result) -> tuple[int, tuple[str, ...]]:
    """Return the sort key of a retired version's game."""
    return result.board, result.seats


def games(event: Event, results: Mapping[str, Result]) -> int:
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
    board = stage[0].boards[0]
    match event.format:
        case RoundRobin() | Gauntlet() | Ladder():
            return 0
        case Swiss(rounds=rounds):
            left = rounds - swiss.play_round(event, board)
            return left * count_games(stage)
        case Knockout() as form:
            return knockout.matches_after(event, form, board) * event.boards * event.seats
        case Versus():
            last = max(plan.boards[-1] for plan in stage)
            left = event.boards_of(event.units).stop - 1 - last
            return left * len(rotations(stage[0].seats))
        case form:
            assert_never(form)
