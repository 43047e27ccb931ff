"""The schedule: sittings in stages, each of which follows from the results before it.

Pure and deterministic. A board belongs to one stage.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations
from typing import TypeVar

from msgspec import UNSET, Struct

from arena.analysis.alternative_deals import draw_opening
from arena.engine.shuffle import RandomWords, randbelow
from arena.logs.catalog import MAX_CIRCULAR_ORDERS, SITTING_PREFIX
from arena.match.referee import GameSetup
from arena.rules.english import count_in_digits
from arena.sandbox.command import Command, Confinement
from arena.sealed.module import SEALED, host_name, is_module
from protocol import __version__
from protocol.messages import Clock
from protocol.records import LOG_FORMAT, FoulPolicy, Result, Sitting, UsageSum
from protocol.ruleset import rotations
from tournaments.formats.base import Pairings, SomeResults, Unit, UnitMeeting, luck_of
from tournaments.formats.entrant import Values
from tournaments.formats.tables import zigzags
from tournaments.plan.event import Event
from tournaments.rating.tables import own_fouls, sum_usage

# Circular orders of a table: who sits beside whom, on which side. Pure.


CircularOrder = tuple[int, ...]


ALL_WAYS = 4
"""Most seats at which a table sits in every circular order."""


def circular_orders(size: int) -> tuple[CircularOrder, ...]:
    """Return circular orders that seat each two as often one way round as the other.

    Over all of them, A is as often on B's left as on B's right, for each two seats; over the first
    half, unless there are eight seats, each two are neighbours equally often. Up to four seats
    these are all circular orders; for more seats, as few as are needed.
    """
    if size <= ALL_WAYS:
        return tuple((0, *others) for others in permutations(range(1, size)))
    if size == len(EIGHT[0]):
        return EIGHT
    one_way = tuple(_walecki(size))
    return one_way + tuple((0, *reversed(others)) for _, *others in one_way)


EIGHT = (
    (0, 1, 4, 5, 7, 2, 3, 6),
    (0, 3, 1, 6, 7, 5, 2, 4),
    (0, 4, 1, 7, 3, 2, 6, 5),
    (0, 6, 2, 1, 3, 5, 4, 7),
    (0, 5, 1, 2, 7, 6, 4, 3),
    (0, 2, 5, 3, 7, 4, 6, 1),
    (0, 7, 1, 5, 6, 3, 4, 2),
)
"""Circular orders in which everybody has everybody once on the left; found by search (Tillson)."""


def _walecki(size: int) -> Iterator[CircularOrder]:
    """Yield Hamiltonian cycles through 0 that have every pair once, or twice for an even size."""
    ring = size - 1
    for others in zigzags(ring, ring // 2 if size % 2 else ring):
        yield 0, *(1 + other for other in others)


# Numbers by which a sitting's bots know its games, and which fix the order of play. Pure.


GAME_NUMBERS = 2000
"""Largest number of a game: with it the ids of questions fit into 32 bits, one of which is the
sign."""


def numbers(
    names: str, boards: Iterable[int], seed: Callable[[int], bytes | None]
) -> dict[int, int]:
    """Assign numbers to a sitting's games, by board, up to the first board with an unknown seed.

    `names`: the names of the entrants in its seats, with dots between them; `boards`: in the order
    of the plan. A number follows from the board's seed and the game's name, so it differs in every
    rotation and at every table, and nobody can know it before the board is over.
    """
    number_of: dict[int, int] = {}
    used_numbers: set[int] = set()
    for board in islice(boards, GAME_NUMBERS):
        board_seed = seed(board)
        if board_seed is None:
            break
        number_of[board] = next(
            n for n in _drawn(board_seed, f"{board}.{names}") if n not in used_numbers
        )
        used_numbers.add(number_of[board])
    return number_of


def _drawn(seed: bytes, game: str) -> Iterator[int]:
    stream = RandomWords(seed, 0, f"number {game}")
    while True:
        yield 1 + randbelow(stream, GAME_NUMBERS)


# --- the schedule ---


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
    numbers, see `numbers`."""
    names: str
    """Names of the entrants in the seats, with dots between them."""
    values: tuple[Values, ...] = ()
    """In a tune, the values of the parameters of the bot in each seat."""

    @property
    def games(self) -> tuple[PlannedGame, ...]:
        """Games in ledger order; built anew each time, because an event may have a million."""
        return tuple(map(self._game, range(1, len(self.boards) + 1)))

    @property
    def game_names(self) -> list[str]:
        """Names of the games in ledger order."""
        return [f"{board}.{self.names}" for board in self.boards]

    def game_on(self, board: int) -> PlannedGame | None:
        """Return the game on a board; None if the sitting does not play the board."""
        return self._game(self.boards.index(board) + 1) if board in self.boards else None

    def _game(self, place: int) -> PlannedGame:
        board = self.boards[place - 1]
        return PlannedGame(f"{board}.{self.names}", place, board)


Stage = tuple[PlannedSitting, ...]
"""Sittings that can be played side by side, in the order of the ledger."""


def stages(
    event: Event, results: Mapping[str, Result], games: Iterable[str] | None = None
) -> Iterator[Stage]:
    """Yield the stages that can be known, in order; of the last one, results may be missing.

    Results may come in while this runs: it computes each stage only when asked for it. `games`:
    names of games or of logs; if no stage depends on results, only their tables are planned, for of
    a thousand bots most pairs have not met.
    """
    before = _Finished(event, results)
    met = None if games is None or not event.format.IS_STATIC else _met(event, games)
    for tables in event.format.stages(event, before):
        stage = tuple(plan for pairings in tables for plan in _sittings(event, pairings, met))
        yield stage
        # Of a large event it would take long to see whether all is played.
        if event.format.IS_STATIC or not all_played(stage, results):
            return
        before.stages.append(stage)


class _Finished(Iterable[Result]):
    """The results of finished stages, looked up on demand."""

    def __init__(self, event: Event, results: Mapping[str, Result]) -> None:
        self.stages: list[Stage] = []
        self.luck = luck_of(results)
        self._results = results
        self._event = event

    def __iter__(self) -> Iterator[Result]:
        past = withdrawn_results(self._event, self._results)
        return chain(past, *map(self._stage_results, self.stages))

    def latest(self) -> SomeResults:
        return SomeResults(self._stage_results(self.stages[-1]), self.luck)

    def _stage_results(self, stage: Stage) -> Iterator[Result]:
        return (self._results[game.name] for plan in stage for game in plan.games)


def count_games(stage: Stage) -> int:
    """Count the games of a stage."""
    return sum(len(plan.boards) for plan in stage)


def all_played(stage: Stage, results: Mapping[str, Result]) -> bool:
    """Tell whether every game of a stage has a result."""
    return all(game in results for plan in stage for game in plan.game_names)


def sittings(
    event: Event, results: Mapping[str, Result], games: Iterable[str] | None = None
) -> Iterator[PlannedSitting]:
    """Yield the sittings of all stages that can be known; `games`: see `stages`."""
    for stage in stages(event, results, games):
        yield from stage


def _met(event: Event, games: Iterable[str]) -> set[frozenset[Unit | None]]:
    """Return the units at the tables of these games or logs, by the names of these."""
    unit_of = {event.entrants[entrant].name: unit for unit in event.units for entrant in unit}
    tables = {game.partition(".")[2] for game in games}
    return {frozenset(map(unit_of.get, table.split("."))) for table in tables}


def _playing_days(event: Event, pairings: Pairings) -> Iterable[Sequence[UnitMeeting]]:
    """Return the tables that are played: none of an entrant that has withdrawn."""
    if not event.retired:
        return pairings.days
    has_left = event.has_withdrawn
    return ([table for table in day if not any(map(has_left, table))] for day in pairings.days)


def _sittings(
    event: Event, pairings: Pairings, met: Collection[frozenset[Unit | None]] | None
) -> Iterator[PlannedSitting]:
    """Return sittings block by block, and within a block day by day: any prefix is balanced.

    `met`: only those of these units; None: all.
    """
    boards, values = pairings.boards, pairings.values
    days = [
        [table for table in day if met is None or frozenset(table) in met]
        for day in _playing_days(event, pairings)
    ]
    by_entrant = {entrant: unit_values for unit, unit_values in values.items() for entrant in unit}
    seatings = {table: _rotated(event, table) for day in days for table in day}
    orders = min(map(len, seatings.values()), default=1)
    return (
        planned(event, turned, block, by_entrant)
        for order, block in _blocks(event, orders, boards)
        for day in days
        for turn in range(event.seats)
        for table in day
        for turns in seatings[table][order]
        for turned in turns[turn : turn + 1]
    )


def _rotated(event: Event, table: UnitMeeting) -> list[list[tuple[tuple[int, ...], ...]]]:
    """Return the rotations of each of a table's seatings, in each circular order."""
    return [[rotations(seats) for seats in order] for order in _seatings(event, table)]


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


def _seatings(event: Event, table: UnitMeeting) -> tuple[tuple[tuple[int, ...], ...], ...]:
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
    members = sorted((entrant for unit in table for entrant in unit), key=name)
    if not event.rules.deal.partners:
        return tuple((tuple(members[n] for n in order),) for order in circular_orders(len(members)))
    # Every two sit together once as partners: otherwise the results could not tell them apart.
    a, b, c, d = members
    return ((a, b, c, d), (a, c, b, d), (a, b, d, c)), ((a, d, c, b), (a, d, b, c), (a, c, d, b))


def planned(
    event: Event,
    seats: tuple[int, ...],
    boards: Sequence[int],
    values: Mapping[int, Values] | None = None,
) -> PlannedSitting:
    """Return the sitting of these entrants on these boards, with these values of parameters."""
    names = ".".join(event.entrants[entrant].name for entrant in seats)
    seat_values = tuple(values.get(entrant, {}) for entrant in seats) if values else ()
    name = f"{SITTING_PREFIX}{boards[0]}.{names}"
    return PlannedSitting(name, seats, tuple(boards), names, seat_values)


def ledger_order(event: Event, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the names of games in ledger order: those of retired entrants, then the stages.

    Results may come in while this runs, as with `stages`, but not those of retired entrants.
    """
    yield from retired_games(event, results)
    for plan in sittings(event, results):
        yield from plan.game_names


def retired_games(event: Event, results: Mapping[str, Result]) -> list[str]:
    """Return the games in which a retired entrant sat; they count as long as they exist."""
    old = event.retired
    played = results.values() if old else ()
    pairs = [(past_order(r), r.game) for r in played if old.intersection(r.seats)]
    return [game for _, game in sorted(pairs)]


def withdrawn_results(event: Event, results: Mapping[str, Result]) -> Iterator[Result]:
    """Yield the results of games in which an entrant sat that has withdrawn."""
    withdrawn = event.withdrawn
    for result in results.values() if withdrawn else ():
        if not withdrawn.isdisjoint(result.seats):
            yield result


def past_order(result: Result) -> tuple[int, tuple[str, ...]]:
    """Return the sort key of a retired entrant's game."""
    return result.board, result.seats


def count_all_games(event: Event, results: Mapping[str, Result]) -> int:
    """Count the event's games: those of known stages, and an estimate of those still to come.

    For a Swiss it is exact, but for a round in which a bot withdraws; for versus an upper bound;
    tied matches of a knockout add more.
    """
    count = len(retired_games(event, results))
    if event.format.IS_STATIC:
        return count + sum(
            len(pairings.boards) * _count_board_games(event, day)
            for tables in event.format.stages(event, _Finished(event, results))
            for pairings in tables
            for day in _playing_days(event, pairings)
        )
    last: Stage = ()
    over = True
    for stage in stages(event, results):
        count += count_games(stage)
        over = all_played(stage, results)
        last = stage
    return count if over else count + count_coming_games(event, last)


def _count_board_games(event: Event, day: Sequence[UnitMeeting]) -> int:
    """Count the games of a day's tables on one board, without a plan of each."""
    # Only two of one team may be the same bot: all other tables have equally many rotations.
    counted = day if event.teams else day[:1]
    games = sum(len(turns) for table in counted for turns in _rotated(event, table)[0])
    return games if event.teams else games * len(day)


def count_coming_games(event: Event, stage: Stage) -> int:
    """Estimate the number of games in the stages after this one; see `count_all_games`."""
    last = max(plan.boards[-1] for plan in stage)
    return event.format.count_later_games(event, last, count_games(stage))


# Seats of a planned sitting: the setup of its games, and the first record of its log. Pure.


def seat_names(event: Event, plan: PlannedSitting) -> tuple[str, ...]:
    """Return the name of the entrant in each seat."""
    return tuple(event.entrants[entrant].name for entrant in plan.seats)


def seat_clocks(event: Event, plan: PlannedSitting) -> tuple[Clock, ...]:
    """Return the clock of each seat; nothing if all have the event's."""
    clocks = tuple(map(event.clock_of, plan.seats))
    has_own_clock = any(event.entrants[entrant].clock for entrant in plan.seats)
    return clocks if has_own_clock or any(clock != event.clock for clock in clocks) else ()


def seating(
    event: Event,
    plan: PlannedSitting,
    game: PlannedGame,
    number: int,
    results: Mapping[str, Result],
    seed: bytes,
) -> GameSetup:
    """Return the setup of a game for its referee; bots know the game by this number.

    `results`: the results of its sitting so far, by game. `seed`: its board's.
    """
    return GameSetup(
        game=game.name,
        number=number,
        board=game.board,
        seats=seat_names(event, plan),
        rules=event.rules,
        clock=event.clock,
        fouls=event.fouls,
        forfeited=forfeited(event.fouls, plan, results),
        clocks=seat_clocks(event, plan),
        opening=draw_opening(event.position, seed) if event.position else None,
    )


def sitting(
    event: Event,
    plan: PlannedSitting,
    confinement: Confinement,
    machine: str,
    worker: str | None = None,
) -> Sitting:
    """Return the first record of a sitting's log: its plan, sandbox and machine."""
    sealed = [is_module(event.entrants[entrant].command.argv) for entrant in plan.seats]
    return Sitting(
        format=LOG_FORMAT,
        boneyard=__version__,
        event=event.name,
        seats=seat_names(event, plan),
        boards=tuple(game.board for game in plan.games),
        rules=event.rules,
        clock=event.clock,
        fouls=event.fouls,
        # Sealed bots are confined, whatever confines the processes that host them.
        sandbox=SEALED if all(sealed) else confinement.state,
        missing=() if all(sealed) else confinement.missing,
        machine=machine,
        worker=worker,
        clocks=seat_clocks(event, plan) or UNSET,
        values=plan.values or UNSET,
        position=event.position or UNSET,
        host=host_name() if any(sealed) else UNSET,
    )


def with_values(
    event: Event, values: Sequence[Values], commands: Sequence[Command]
) -> list[Command]:
    """Return the commands of a sitting's bots with the values of their parameters, if any."""
    pairs = zip(commands, values or [{}] * len(commands), strict=True)
    return [event.format.set_values(command, v) if v else command for command, v in pairs]


def has_dependent_games(event: Event) -> bool:
    """Tell whether a sitting's games depend on earlier ones: a foul can cost the whole sitting."""
    return event.fouls.lose == "sitting"


def forfeited(
    policy: FoulPolicy, plan: PlannedSitting, results: Mapping[str, Result]
) -> tuple[int, ...]:
    """Return the seats that forfeit the sitting's next game by their fouls in earlier games.

    `results`: the results so far, by game.
    """
    if policy.lose == "game":
        return ()
    fouls = [0] * len(plan.seats)
    for before in plan.games:
        for foul in own_fouls(results[before.name]) if before.name in results else ():
            fouls[foul] += 1
    return tuple(seat for seat, count in enumerate(fouls) if count >= policy.after)


# Entrants that have spent what an event allows them, and the games that they leave. Pure.


def spent_out(event: Event, sums: Mapping[str, UsageSum]) -> frozenset[str]:
    """Return the entrants whose answers have cost all that `limits.cents` allows, by these sums."""
    most = event.limits.cents
    if most is None:
        return frozenset()
    return frozenset(name for name, usage in sums.items() if usage.cents >= most)


def stopped_entrants(event: Event, results: Iterable[Result], *, is_over: bool) -> frozenset[str]:
    """Return the entrants that leave games unplayed because they spent all that they may."""
    if is_over or event.limits.cents is None:
        return frozenset()
    return spent_out(event, sum_usage(results)) - event.retired


def has_one_of(game: str, names: Collection[str]) -> bool:
    """Tell whether one of the entrants sits in a game, by the game's name."""
    return any(f".{name}." in f"{game}." for name in names)


def describe_spent_out(event: Event, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a sentence for each entrant that plays no more because of what it has spent."""
    if event.limits.cents is None:
        return
    sums = sum_usage(results.values())
    stopped = sorted(spent_out(event, sums) - event.retired)
    left = dict.fromkeys(stopped, 0)
    for plan in sittings(event, results) if stopped else ():
        missing = sum(game not in results for game in plan.game_names)
        for name in stopped:
            left[name] += missing * has_one_of(f".{plan.names}", (name,))
    for name, games in left.items():
        if games:
            yield (
                f"{name} has spent {sums[name].cents:.2f} of {event.limits.cents:g} cents "
                f"(limits.cents): {count_in_digits(games, 'game')} of it are not played. It states "
                "its costs itself, so it could choose this moment: nobody has won yet. Raise the "
                "limit and run the same command again to play the rest."
            )


# Map a game's name to its sitting, without a list of all games. Pure.


T = TypeVar("T")


class GameIndex(Mapping[str, T]):
    """A mapping of each game's name to a value, which is computed on demand."""

    def __init__(
        self, plans: Iterable[PlannedSitting], value_of: Callable[[PlannedSitting, PlannedGame], T]
    ) -> None:
        """Index these sittings; `value_of` returns the value for a sitting and one of its games."""
        self._value_of = value_of
        self._plans: dict[str, list[PlannedSitting]] = {}
        for plan in plans:
            self._plans.setdefault(plan.names, []).append(plan)
        for group in self._plans.values():
            group.sort(key=_first)
        self._latest: PlannedSitting | None = None

    def __getitem__(self, game: str) -> T:
        """Return the value of a game; KeyError if the event has no such game."""
        word, _, names = game.partition(".")
        board = int(word) if word.isdecimal() else 0
        plan = self._latest
        # A ledger has game after game of one sitting.
        if not plan or plan.names != names or board not in plan.boards:
            plan = self._latest = self._sitting(names, board)
        planned = plan.game_on(board) if plan else None
        if plan and planned and planned.name == game:
            return self._value_of(plan, planned)
        raise KeyError(game)

    def _sitting(self, names: str, board: int) -> PlannedSitting | None:
        plans = self._plans.get(names, [])
        # Sittings of the same seats follow each other, unless two circular orders seat them alike.
        before = bisect_right(plans, board, key=_first)
        near = reversed(plans[max(0, before - MAX_CIRCULAR_ORDERS) : before])
        return next((plan for plan in near if board in plan.boards), None)

    def __iter__(self) -> Iterator[str]:
        return (
            game for group in self._plans.values() for plan in group for game in plan.game_names
        )

    def __len__(self) -> int:
        return sum(len(plan.boards) for group in self._plans.values() for plan in group)


def _first(plan: PlannedSitting) -> int:
    return plan.boards[0]
