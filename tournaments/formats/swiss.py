"""The Swiss system: the pairings of the next round, and the standings after any round. Pure.

A table seats units that are close in the standings and have met least: at two sides a matching
pairs them, at more a search does. It gives each unit a point for each other unit there that it
beat, over all games of the round together, and half a point for a tie. A unit left over has a bye,
which counts as much as beating everybody; nobody has a second bye before all have had one. A unit
that withdraws in the middle of a table leaves a bye to the others, and scores nothing more.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import combinations, groupby
from math import inf
from typing import Annotated, ClassVar, NamedTuple

from msgspec import UNSET, Meta

from arena.document.blocks import (
    Cell,
    Column,
    DocumentBlock,
    Media,
    Paragraph,
    Section,
    Table,
    table,
)
from arena.rules.english import count_in_digits
from protocol.records import Result
from tournaments.formats.base import (
    Contest,
    DependentRounds,
    FinishedStages,
    Halves,
    LinkToGames,
    Pairings,
    Unit,
    UnitMeeting,
    half,
    is_complete,
    match_points,
)

# Pairs for a round of a Swiss: neighbours, without rematches if that is possible. Pure.
#
# The cost of a pair is the square of the distance of their places, so that neighbours meet; a pair
# that met before costs more than any round without one. The table is paired block by block from the
# top, because a matching of all takes time by the cube. In a block, the cheapest matching of pairs
# at most `NEAR_PLACES` places apart is taken if it pairs everybody, even if one with a pair farther
# apart would be cheaper; pairs at any distance are tried only if there is none. A block that cannot
# be paired without a rematch is joined with the next one, the last with those before; so the whole
# field is tried at last, and two meet again only if every round of these bots has a rematch.
#
# Ties of costs are broken by a hash of the places, so that of the pairs that are tried there is one
# cheapest matching, whatever algorithm finds it: a later version of networkx must come to the same
# rounds.


BLOCK_PLACES = 48
"""Places of a block, an even number; the last one has up to twice as many."""
NEAR_PLACES = 12
"""Places on either side that are tried first for each unit: trying all takes ten times as long."""
TIES = 32
"""Bits of a pair's hash, which breaks ties: all of them add up to less than 1 of cost."""

CACHE_SIZE = 512
"""Matchings of blocks that are remembered: those of some hundred rounds."""

Pairs = list[tuple[Unit, ...]]


def pairs(order: Sequence[Unit], met: Counter[frozenset[Unit]]) -> Pairs:
    """Pair the units of a round, an even number, the best one first."""
    done: list[tuple[Sequence[Unit], Pairs]] = []
    block: Sequence[Unit] = []
    for begin in range(0, max(1, len(order) // BLOCK_PLACES) * BLOCK_PLACES, BLOCK_PLACES):
        last = begin + 2 * BLOCK_PLACES > len(order)
        block = [*block, *order[begin : None if last else begin + BLOCK_PLACES]]
        if (matching := _fresh_pairs(block, met)) is not None:
            done.append((block, matching))
            block = []
    while block and done:
        block = [*done.pop()[0], *block]
        if (matching := _fresh_pairs(block, met)) is not None:
            done.append((block, matching))
            block = []
    if block:
        return _matched(block, met, len(block), can_repeat=True)
    return [pair for _, matching in done for pair in matching]


def _fresh_pairs(block: Sequence[Unit], met: Counter[frozenset[Unit]]) -> Pairs | None:
    """Pair units that never met, near ones if possible; None if not all can be paired."""
    for near in (NEAR_PLACES, len(block)):
        matching = _matched(block, met, near, can_repeat=False)
        if len(matching) * 2 == len(block):
            return matching
    return None


def _matched(
    block: Sequence[Unit], met: Counter[frozenset[Unit]], near: int, *, can_repeat: bool
) -> Pairs:
    """Return the best pairs at most `near` places apart; `can_repeat`: rematches too."""
    meetings = frozenset(
        (place, other, times)
        for place, unit in enumerate(block)
        for other in range(place + 1, min(place + near + 1, len(block)))
        if (times := met[frozenset((unit, block[other]))])
    )
    places = _cheapest_matching(len(block), near, meetings, can_repeat=can_repeat)
    return [(block[place], block[other]) for place, other in places]


# A schedule is gone through several times in each command, and this is most of its work.
@lru_cache(maxsize=CACHE_SIZE)
def _cheapest_matching(
    size: int, near: int, meetings: frozenset[tuple[int, int, int]], *, can_repeat: bool
) -> list[tuple[int, int]]:
    """Return the cheapest of the largest matchings of places, by who met how often."""
    from networkx import Graph, max_weight_matching  # It takes a third of a second to import.

    graph: Graph[int] = Graph()
    most = size**3  # More than all squares of a round.
    met = {(place, other): times for place, other, times in meetings}
    for place in range(size):
        for other in range(place + 1, min(place + near + 1, size)):
            times = met.get((place, other), 0)
            if not times or can_repeat:
                cost = times * most + (other - place) ** 2
                graph.add_edge(place, other, weight=-(cost << 2 * TIES) - _tie(place, other))
    return sorted(
        (min(pair), max(pair)) for pair in max_weight_matching(graph, maxcardinality=True)
    )


def _tie(place: int, other: int) -> int:
    return int.from_bytes(sha256(b"%d %d" % (place, other)).digest()[: TIES // 8], "big")


# --- the format ---


PAIRING_TRIES = 20_000
"""Tables of three or more that are tried in search of a round without a rematch."""


class Standing(NamedTuple):
    """A line of the standings."""

    unit: Unit
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


class Swiss(DependentRounds, frozen=True, tag="swiss"):
    """Rounds that pair entrants of similar scores that have met least often."""

    EACH: ClassVar[str] = " a round"

    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 5
    """Number of rounds; each has boards of its own."""

    def count_rounds(self, contest: Contest) -> int:
        """Return the number of rounds."""
        return self.rounds

    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield each round: tables of units that are close in the standings of those before."""
        for number in range(1, self.rounds + 1):
            first = 1 + (number - 1) * contest.boards
            results = [result for result in before if result.board < first]
            tables = _round(contest, standings(contest, results, number - 1))
            yield [Pairings([tables], range(first, first + contest.boards))]

    def count_later_games(self, contest: Contest, board: int, games: int) -> int:
        """Return the number of games in the rounds after this board's."""
        return (self.rounds - round_of(contest, board)) * games

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if isinstance(new.format, Swiss) and new.format.rounds < self.rounds:
            return f"it has {self.rounds} rounds and cannot have fewer (rounds)"
        return super().why_not_extended(old, new)

    def describe_boards(self, contest: Contest) -> str:
        """Describe the number of boards."""
        return f"{self.rounds} rounds of {count_in_digits(contest.boards, 'deal')}"

    def find_winner(
        self, contest: Contest, results: Sequence[Result], is_over: bool
    ) -> tuple[str, str] | None:
        """Return the winner, or all who share the first place, and the title; None before."""
        if not is_over:
            return None
        table = standings(contest, results, self.rounds)
        first = [contest.unit_name(line.unit) for line in table if line.order == table[0].order]
        title = "has won" if len(first) == 1 else "share the first place in"
        return " and ".join(first), f"{title} the Swiss of {self.rounds} rounds."

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the winner or who leads, and the result by the ratings."""
        if winner := self.find_winner(contest, results, is_over):
            return f"**{winner[0]}** {winner[1]} By the ratings: {ranks}"
        first = standings(contest, results)[0]
        return (
            f"**{contest.unit_name(first.unit)}** leads the Swiss, {len(first.rounds)} of "
            f"{self.rounds} rounds. By the ratings: {ranks}"
        )

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the table of the Swiss."""
        lines = standings(contest, results)
        note = (
            "Columns 1, 2 … are rounds: a point for each opponent beaten over the round, ½ for a "
            "tie; in brackets, the opponents' #. Buchholz: the total points of all opponents."
        )
        blocks: list[DocumentBlock] = [
            _table(contest, lines, link),
            Paragraph(note, "faint", media=Media.FILES),
            Paragraph(describe_rematches(lines), "faint", media=Media.FILES),
        ]
        yield Section("Swiss", blocks, id="swiss", titled=Media.FILES)


def _table(contest: Contest, lines: Sequence[Standing], link: LinkToGames) -> Table:
    place = {line.unit: f"{number}" for number, line in enumerate(lines, 1)}

    def games(*units: Unit) -> str:
        # The first member of each is enough, because partners sit together.
        return link(*(contest.entrants[unit[0]].name for unit in units))

    def met(unit: Unit, halves: int, others: Sequence[Unit]) -> Cell:
        opponents = ", ".join(place[opponent] for opponent in others) or ("bye" if halves else "–")
        return Cell(f"{half(halves)} ({opponents})", href=games(unit, *others) if others else "")

    rows: list[tuple[str | Cell, ...]] = [
        (
            place[line.unit],
            Cell(contest.unit_name(line.unit), href=games(line.unit)),
            *map(half, (line.points, line.buchholz, line.halves)),
            *(met(line.unit, halves, others) for halves, others in line.rounds),
        )
        for line in lines
    ]
    kind = "team" if contest.teams else "bot"
    columns = [Column("#", "rank"), Column(kind, "name")]
    columns += map(Column, ("points", "Buchholz", "game points"))
    columns += (Column(f"{number}", spare=True) for number, _ in enumerate(lines[0].rounds, 1))
    return table("Table of the Swiss", columns, rows)


def describe_rematches(lines: Sequence[Standing]) -> str:
    """Return a sentence about the rematches."""
    count = sum(met // 2 - 1 for met in _meetings(lines).values())
    if not count:
        return "No two met twice."
    rematch = count_in_digits(count, "rematch", "rematches")
    return f"{rematch}, each in a round that could not avoid it."


RoundHalves = dict[frozenset[Unit], Halves]
RoundPart = tuple[int, tuple[Unit, ...]]
"""A unit's half points in a round, and its opponents."""


def round_of(contest: Contest, board: int) -> int:
    """Return the round of a board, from 1."""
    return (board - 1) // contest.boards + 1


def rounds(contest: Contest, results: Collection[Result]) -> list[RoundHalves]:
    """Return the half points at the tables of each round."""
    halves_by_round: list[RoundHalves] = []
    for number, played in groupby(results, key=lambda result: round_of(contest, result.board)):
        halves_by_round += [{} for _ in range(len(halves_by_round), number)]
        for units, halves in match_points(contest, played).items():
            halves_by_round[number - 1].setdefault(units, Counter()).update(halves)
    return halves_by_round


def last_round(contest: Contest, unit: Unit) -> float:
    """Return the last round for which a unit was paired; infinite unless it has withdrawn."""
    ends = [contest.entrants[entrant].withdrawn_after for entrant in unit]
    return min((round_of(contest, board) for board in ends if board is not UNSET), default=inf)


def standings(contest: Contest, results: Collection[Result], count: int = 0) -> list[Standing]:
    """Return the standings, best first; units that are level in everything stay in plan order.

    `count`: rounds that are over; without it, those with results.
    """
    played = rounds(contest, results)
    played += [{} for _ in range(len(played), count)]
    parts_played = [_parts(contest, tables) for tables in played]
    bye, absent = (2 * (contest.units_a_table - 1), ()), (0, ())
    by_round = {
        unit: [
            parts.get(unit, bye if number < last_round(contest, unit) else absent)
            for number, parts in enumerate(parts_played, 1)
        ]
        for unit in contest.units
    }
    points = {unit: sum(score for score, _ in parts) for unit, parts in by_round.items()}
    halves: Halves = Counter()
    for tables in played:
        for table_halves in tables.values():
            halves.update(table_halves)
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


def _parts(contest: Contest, played: RoundHalves) -> dict[Unit, RoundPart]:
    """Return each unit's half points and opponents in a round; a unit with a bye has none."""
    places = {unit: place for place, unit in enumerate(contest.units)}
    parts: dict[Unit, RoundPart] = {}
    for units, halves in played.items():
        is_left = any(map(contest.has_withdrawn, units))
        if is_left and not is_complete(contest, units, halves.total(), contest.boards):
            continue
        in_order = sorted(units, key=places.__getitem__)
        for unit, score in ((unit, halves[unit]) for unit in in_order):
            others = tuple(other for other in in_order if other != unit)
            points = sum(1 + (score > halves[other]) - (score < halves[other]) for other in others)
            parts.setdefault(unit, (points, others))
    return parts


def _round(contest: Contest, table: Sequence[Standing]) -> list[UnitMeeting]:
    """Return the tables of the round after these standings, from the top down.

    They are without a rematch if possible, else with the fewest.
    """
    number = 1 + len(table[0].rounds)
    present = [line for line in table if number <= last_round(contest, line.unit)]
    left_over, size, met = _byes(contest, present), contest.units_a_table, _meetings(table)
    order = [line.unit for line in present if line.unit not in left_over]
    if number == 1:
        order = _folded(order, size)
    if size == 2:
        return pairs(order, met)
    return _fresh_tables(tuple(order), size, met) or list(_least(order, size, met))


def _meetings(table: Sequence[Standing]) -> Counter[frozenset[Unit]]:
    """Count how often every two units met, twice each: both of them list it."""
    return Counter(
        pair for line in table for _, others in line.rounds for pair in _pairs(line.unit, others)
    )


def _pairs(unit: Unit, others: Sequence[Unit]) -> Iterator[frozenset[Unit]]:
    return (frozenset((unit, other)) for other in others)


def _byes(contest: Contest, table: Sequence[Standing]) -> list[Unit]:
    """Return the units that get a bye: the last among those that have had fewest."""
    count = len(table) % contest.units_a_table

    def had(line: Standing) -> int:
        return sum(not others for _, others in line.rounds)

    from_below = list(reversed(table))
    return [line.unit for line in sorted(from_below, key=had)[:count]]


def _folded(order: Sequence[Unit], size: int) -> list[Unit]:
    """Reorder the first round: the first of each part of the field meet, not neighbours."""
    part = len(order) // size
    return [order[place + part * turn] for place in range(part) for turn in range(size)]


def _fresh_tables(
    order: tuple[Unit, ...], size: int, met: Counter[frozenset[Unit]]
) -> list[tuple[Unit, ...]] | None:
    """Search for tables without a rematch; None if there are none, or the search is too long."""
    tables: list[tuple[Unit, ...]] = []
    tried = [(order, combinations(order[1:], size - 1))]
    for _ in range(PAIRING_TRIES):
        rest, others = tried[-1]
        if (opponents := next(others, None)) is None:
            tried.pop()
            if not tried:
                return None
            tables.pop()
            continue
        table = (rest[0], *opponents)
        if any(met[frozenset(pair)] for pair in combinations(table, 2)):
            continue
        tables.append(table)
        if len(rest) == size:
            return tables
        remainder = tuple(unit for unit in rest if unit not in table)
        tried.append((remainder, combinations(remainder[1:], size - 1)))
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
