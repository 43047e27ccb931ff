"""Results as columns of integers: entrants, boards and points; split into pools. Pure."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from protocol.records import Result
from tournaments.rating import regression
from tournaments.rating.regression import Bools, Floats, Ints, sums, wide
from tournaments.rating.tables import LUCK_PARTS, Correction, Corrections, own_fouls

NUMBER_BOUND = 2**27
"""Bound below which boards, scores and places must be, so that their sums fit."""


RESULTS_AT_ONCE = 1000
GAME_PARTS = 720_720
"""Parts of a game: the least number that 1 to 14 divide, so that most shares are exact."""


class LuckColumns(NamedTuple):
    """The luck in a tally, in whole parts; games without a correction have none."""

    half: Ints
    """The share of the first side less that of the second, over members, by pair of sides."""
    lead: Ints
    """The points of the first side less those of the second, over members."""
    over: Ints
    """For each appearance of an entrant: sides x own points - all points."""


class Tally(NamedTuple):
    """Results as integers, so that every sum is exact in any order."""

    names: tuple[str, ...]
    """Names of the entrants, sorted; elsewhere an entrant is its place in this tuple."""
    fouls: tuple[int, ...]
    """Number of fouls of each entrant; games forfeited beforehand do not count."""
    sides: int
    """Sides of a game: its seats, or two with partners."""
    board: Ints
    """The board of each pair of sides."""
    seat: Ints
    """The two sides' numbers."""
    left: Ints
    """The members of the first side, ascending."""
    right: Ints
    """The members of the second side, ascending."""
    half: Ints
    """Half points of the first side."""
    lead: Ints
    """The first side's score less the second's, summed over members."""
    is_whole: Bools
    """True if no foul ended the game: then the lead counts."""
    played: Ints
    """For each appearance of an entrant: entrant, board, sides x own score - all scores, and 1 if
    that counts."""
    luck: LuckColumns | None = None
    """The luck that is taken out of points and margins; None: nothing is."""
    weight: Ints | None = None
    """For each pair of sides: its weight, of `GAME_PARTS`; None: no board repeats a deal."""
    appearance_weight: Ints | None = None
    """For each appearance of an entrant: its weight likewise."""

    @property
    def has_partners(self) -> bool:
        """True if a side has two members."""
        return bool(self.left.shape[1] == 2)

    @property
    def pairs_a_point(self) -> float:
        """Points of a pair for each whole part of `luck.half`.

        The luck of two sides is divided so that a side's luck over its pairs is that in its share.
        """
        return float((self.sides - 1) / (self.sides * self.left.shape[1] * LUCK_PARTS))

    def leads(self) -> Ints:
        """Return the lead of each pair in whole parts of a point, with the luck taken out."""
        lead = wide(self.lead) * LUCK_PARTS
        return lead if self.luck is None else lead - self.luck.lead

    def overs(self) -> Ints:
        """Return each appearance's sides x own score - all scores in parts, the luck taken out."""
        over = wide(self.played[:, 2]) * LUCK_PARTS
        return over if self.luck is None else over - self.luck.over


def collect(
    results: Iterable[Result],
    partners: bool,
    corrections: Corrections | None = None,
) -> Tally:
    """Read results, once. ValueError if games cannot be rated, or not together.

    `corrections`: the luck to take out; None: nothing is.
    """
    boards, is_whole, seatings = array("i"), array("b"), array("q")
    seat_ids, scores, places = array("i"), array("i"), array("i")
    points, shares = array("q"), array("q")
    ids: dict[str, int] = {}
    fouls: Counter[str] = Counter()
    seats, coming = 0, iter(results)
    # Column by column: game by game takes twice as long.
    while few := [*islice(coming, RESULTS_AT_ONCE)]:
        seats = _checked(few, seats, partners)
        boards.extend([result.board for result in few])
        is_whole.extend([result.why != "foul" for result in few])
        seatings.extend([hash((result.board, result.seats)) for result in few])
        seat_ids.extend([ids.setdefault(name, len(ids)) for result in few for name in result.seats])
        scores.extend([score for result in few for score in result.scores])
        places.extend([place for result in few for place in result.places])
        for result in few:
            if result.fouls:
                fouls.update(result.seats[seat] for seat in own_fouls(result))
            if corrections is not None:
                luck = corrections.get(result.game) or Correction((0,) * seats, (0,) * seats)
                points.extend(luck.points)
                shares.extend(luck.share)
    names = tuple(sorted(ids))
    rank = np.zeros(len(names), np.int32)
    rank[[ids[name] for name in names]] = np.arange(len(names))
    members = 2 if partners else 1
    # Seat s is on side s modulo the number of sides.
    shape = len(boards), members, seats // members
    # Partners are a set: the seat within the side is not part of the model.
    players = np.sort(rank[np.asarray(seat_ids, np.int32)].reshape(shape), axis=1).swapaxes(1, 2)
    score = np.asarray(scores, np.int32).reshape(shape).sum(axis=1, dtype=np.int32)
    place = np.asarray(places, np.int32).reshape(shape)[:, 0, :]
    counts = tuple(fouls[name] for name in names)
    tables = np.asarray(boards, np.int32), np.asarray(is_whole, np.bool_)
    tally = _broken_up(names, counts, *tables, players, score, place)
    weight = _weights(seatings)
    if weight is not None:
        each = np.broadcast_to(weight[:, None, None], players.shape)[_appearances(players)]
        pairs = np.repeat(weight, len(tally.board) // len(weight))
        tally = tally._replace(weight=pairs, appearance_weight=each)
    if corrections is None:
        return tally
    by_side = (np.asarray(part, np.int64).reshape(shape).sum(axis=1) for part in (points, shares))
    return tally._replace(luck=_luck_columns(players, *by_side))


def _weights(seatings: "array[int]") -> Ints | None:
    """Return the weight of each game; None if no seating met a board twice.

    A table plays a board once in each seating. So games that agree in both repeat a deal: together
    they count as one game.
    """
    different, place, count = np.unique(
        np.asarray(seatings, np.int64), return_inverse=True, return_counts=True
    )
    if len(different) == len(seatings):
        return None
    return np.asarray(GAME_PARTS // count[place], np.int64)


def _checked(results: Sequence[Result], before: int, partners: bool) -> int:
    """Return the number of seats; refuse numbers that would not fit into the columns as sums.

    `before`: that of the games before, 0 without any.
    """
    shapes = {(len(r.seats), len(r.scores), len(r.places)) for r in results}
    numbers = {n for r in results for n in (r.board, *r.scores, *r.places)}
    is_safe = -NUMBER_BOUND < min(numbers) <= max(numbers) < NUMBER_BOUND
    if before and is_safe and shapes == {(before,) * 3}:
        return before
    for result in results:
        before = _seats_of(result, before, partners)
    return before


def _seats_of(result: Result, before: int, partners: bool) -> int:
    seats = len(result.seats)
    if seats < 2 or (partners and seats != 4):
        raise ValueError(f"cannot rate a game of {seats} seats{' with partners' * partners}")
    if before not in (0, seats):
        raise ValueError(f"the results mix games of {before} and of {seats} seats")
    if not seats == len(result.scores) == len(result.places):
        raise ValueError(f"game {result.game} has other numbers of seats, scores and places")
    numbers = (result.board, *result.scores, *result.places)
    if not -NUMBER_BOUND < min(numbers) <= max(numbers) < NUMBER_BOUND:
        raise ValueError(f"game {result.game} has a number that is beyond {NUMBER_BOUND}")
    return seats


def _broken_up(
    names: tuple[str, ...],
    fouls: tuple[int, ...],
    board: Ints,
    is_whole: Bools,
    players: Ints,
    score: Ints,
    place: Ints,
) -> Tally:
    """Split games into pairs and appearances; `players`: by game, side, member; others by side."""
    games, sides, members = players.shape
    a, b = np.triu_indices(sides, 1)
    columns = np.broadcast_arrays(
        players, board[:, None, None], _over(score)[:, :, None], is_whole[:, None, None]
    )
    played = np.stack(columns, axis=-1, dtype=np.int32)
    new = _appearances(players)
    return Tally(
        names=names,
        fouls=fouls,
        sides=sides,
        board=np.repeat(board, len(a)),
        seat=np.tile(np.stack((a, b), axis=1).astype(np.int8), (games, 1)),
        left=players[:, a].reshape(-1, members),
        right=players[:, b].reshape(-1, members),
        half=(1 + np.sign(place[:, b] - place[:, a])).ravel().astype(np.int8),
        lead=(score[:, a] - score[:, b]).ravel(),
        is_whole=np.repeat(is_whole, len(a)),
        played=played.reshape(-1, 4) if new.all() else played[new],
    )


def _luck_columns(players: Ints, points: Ints, share: Ints) -> LuckColumns:
    """Split the luck of games as their scores are; `points` and `share` are by game and side."""
    a, b = np.triu_indices(players.shape[1], 1)
    over = np.broadcast_to(_over(points)[:, :, None], players.shape)
    return LuckColumns(
        half=(share[:, a] - share[:, b]).ravel(),
        lead=(points[:, a] - points[:, b]).ravel(),
        over=over[_appearances(players)],
    )


def _over(score: Ints) -> Ints:
    return np.asarray(score.shape[1] * score - score.sum(axis=1, keepdims=True), score.dtype)


def _appearances(players: Ints) -> Bools:
    """Tell of each member whether it is new on its side: one that partners itself appears once."""
    return np.asarray(np.diff(players, prepend=-1) != 0, np.bool_)


class Meetings(NamedTuple):
    """Every two entrants on different sides of a game, once from the side of each."""

    pair: Ints
    """The entrant, times the number of entrants, plus the other."""
    board: Ints
    half: Ints

    def totals(self, size: int) -> tuple[Floats, Floats]:
        """Return how often each two of `size` entrants met, and the points of the first."""
        games = np.bincount(self.pair, minlength=size**2).astype(np.float64)
        halves = sums(self.pair, self.half, size**2)
        return games.reshape(size, size), halves.reshape(size, size) / 2


def meetings(tally: Tally) -> Meetings:
    """Return who met whom: what two entrants took off each other is a sum of these columns."""
    size, board = len(tally.names), wide(tally.board)
    columns = [
        (entrant * size + other, board, half)
        for left in wide(tally.left).T
        for right in wide(tally.right).T
        for entrant, other, half in ((left, right, tally.half), (right, left, 2 - tally.half))
    ]
    return Meetings(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def totals_by_deal(tally: Tally) -> tuple[Floats, Floats]:
    """Return what `Meetings.totals` does, all games that repeat a deal as one."""
    met, size = meetings(tally), len(tally.names)
    if tally.weight is None:
        return met.totals(size)
    weight = np.tile(tally.weight, len(met.pair) // max(1, len(tally.weight)))
    games, halves = (sums(met.pair, w, size**2) / GAME_PARTS for w in (weight, weight * met.half))
    return games.reshape(size, size), halves.reshape(size, size) / 2


def won_lost(tally: Tally) -> Ints:
    """Count what each entrant won, drew and lost; at three seats or more of its pairs."""
    counts = np.zeros((len(tally.names), 3), np.int64)
    for members, half in ((tally.left, tally.half), (tally.right, 2 - tally.half)):
        new = _appearances(members)
        np.add.at(counts, (members[new], 2 - np.broadcast_to(half[:, None], new.shape)[new]), 1)
    return counts


def by_pool(tally: Tally) -> list[Tally]:
    """Split a tally by sets of entrants linked by games; renumber entrants and boards."""
    linked = regression.reach(meetings(tally).totals(len(tally.names))[0] > 0)
    if tally.names and linked.all():
        return [_numbered(tally)]
    firsts = [i for i, row in enumerate(linked) if row.argmax() == i]
    return [_select(tally, np.flatnonzero(linked[i])) for i in firsts]


def _select(tally: Tally, pool: Ints) -> Tally:
    number = np.full(len(tally.names), -1, np.int32)
    number[pool] = np.arange(len(pool))
    mine, is_member = number[tally.left[:, 0]] >= 0, number[tally.played[:, 0]] >= 0
    entrant, *others = tally.played[is_member].T
    pairs = ("board", "seat", "half", "lead", "is_whole", *["weight"] * (tally.weight is not None))
    pool_tally = tally._replace(
        **{name: getattr(tally, name)[mine] for name in pairs},
        names=tuple(tally.names[i] for i in pool),
        fouls=tuple(tally.fouls[i] for i in pool),
        left=number[tally.left[mine]],
        right=number[tally.right[mine]],
        played=np.stack((number[entrant], *others), axis=1),
        appearance_weight=None
        if tally.appearance_weight is None
        else tally.appearance_weight[is_member],
        luck=tally.luck
        and LuckColumns(tally.luck.half[mine], tally.luck.lead[mine], tally.luck.over[is_member]),
    )
    return _numbered(pool_tally)


def _numbered(tally: Tally) -> Tally:
    boards = regression.distinct(tally.board)
    entrant, board, over, is_whole = tally.played.T
    numbers = np.searchsorted(boards, board).astype(np.int32)
    return tally._replace(
        board=np.searchsorted(boards, tally.board).astype(np.int32),
        played=np.stack((entrant, numbers, over, is_whole), axis=1),
    )
