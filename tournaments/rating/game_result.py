"""One game's result: half points, margins, fouls, and the live ticker. Pure, without numpy."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from protocol.records import FoulClass, Result, SeatFoul
from protocol.ruleset import count_sides


def half_points(places: Sequence[int], side: int) -> int:
    """Return the half points of a side: two for each side that it beat, one for a tie."""
    return sum(1 + (place > places[side]) - (place < places[side]) for place in places) - 1


def share_of_pairs(places: Sequence[int], side: int) -> float:
    """Return the share of a side's pairs with the other sides that it won, a tie ½."""
    return half_points(places, side) / 2 / (len(places) - 1)


def margin_of(result: Result, side: int, sides: int) -> float | None:
    """Return a side's score less the mean of the other sides', for each member of it.

    Return None if a foul ended the game.
    """
    if result.why == "foul":
        return None
    own, total = sum(result.scores[side::sides]), sum(result.scores)
    return (sides * own - total) / ((sides - 1) * (len(result.scores) // sides))


def own_fouls(result: Result) -> Iterator[int]:
    """Yield the seats that fouled in a game; a seat that had forfeited it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """Yield the fouls of a game, without forfeits for fouls in earlier games."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


class FoulCount(Struct, frozen=True):
    """The fouls of one class that one entrant committed."""

    entrant: str
    foul: FoulClass
    games: int
    game: str
    """The last of them in the order of the schedule,"""
    seat: int
    """and the seat in it."""


def count_fouls(results: Iterable[Result], *, forfeits: bool) -> tuple[FoulCount, ...]:
    """Count the fouls of each entrant and class, sorted by them.

    `forfeits`: also the games that were lost before they began.
    """
    found: dict[tuple[str, FoulClass], FoulCount] = {}
    for result in results:
        for foul in result.fouls if forfeits else fouls_committed(result):
            key = result.seats[foul.seat], foul.foul
            before = found[key].games if key in found else 0
            found[key] = FoulCount(*key, before + 1, result.game, foul.seat)
    return tuple(found[key] for key in sorted(found))


K = 8.0
"""Most Elo that a game can move an entrant."""


class LiveRating(Struct, frozen=True):
    """The provisional rating of an entrant."""

    elo: float = 0.0
    games: int = 0
    wins: float = 0.0
    """Share of its pairs that the entrant won, summed over its games."""
    fouls: int = 0


NEW = LiveRating()
"""The rating of an entrant that has not played yet."""


def update(
    before: Mapping[str, LiveRating], result: Result, partners: bool
) -> dict[str, LiveRating]:
    """Return the new ratings of the entrants that a game moves: cheap and provisional.

    Each game moves its entrants by K times what they made of it beyond what their ratings let
    expect, a side of partners counting as the mean of its members. The last games count most and
    the order matters (by some 30 Elo), so nothing but the screen of a running event may show it;
    the tables come from all results at once (ratings.py).
    """
    sides = count_sides(partners, len(result.seats))
    teams = [result.seats[side::sides] for side in range(sides)]
    elos = [sum(before.get(name, NEW).elo for name in team) / len(team) for team in teams]
    fouls = Counter(result.seats[seat] for seat in own_fouls(result))
    after: dict[str, LiveRating] = {}
    for side, team in enumerate(teams):
        made = share_of_pairs(result.places[:sides], side)
        gain = K * (made - _expected(elos, side))
        for name in team:
            old = after.get(name) or before.get(name, NEW)
            after[name] = LiveRating(old.elo + gain, old.games + 1, old.wins + made, old.fouls)
    for name, many in fouls.items():
        after[name] = replace(after[name], fouls=after[name].fouls + many)
    return after


def _expected(elos: Sequence[float], side: int) -> float:
    others = [*elos[:side], *elos[side + 1 :]]
    # Far beyond any rating, the power would overflow.
    leads = [min(max(elos[side] - elo, -4000.0), 4000.0) for elo in others]
    return sum(1 / (1 + 10 ** (-lead / 400)) for lead in leads) / len(leads)
