"""The live ticker: Elo game by game, cheap and provisional. Pure.

Each game moves its entrants by K times what they made of it beyond what their ratings let expect,
a side of partners counting as the mean of its members. The last games count most and the order
matters (by some 30 Elo), so nothing but the screen of a running event may show it; the tables come
from all results at once (ratings.py).
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from protocol.records import Result
from protocol.ruleset import count_sides
from tournaments.rating.fouls import own_fouls
from tournaments.rating.tables import share_of_pairs

K = 8.0
"""Most Elo that a game can move an entrant."""


class LiveRating(Struct, frozen=True):
    """The provisional rating of an entrant."""

    elo: float = 0.0
    """Elo; every entrant begins with 0."""
    games: int = 0
    """Games played."""
    wins: float = 0.0
    """Share of its pairs that the entrant won, summed over its games."""
    fouls: int = 0
    """Fouls committed."""


NEW = LiveRating()
"""The rating of an entrant that has not played yet."""


def update(
    before: Mapping[str, LiveRating], result: Result, partners: bool
) -> dict[str, LiveRating]:
    """Return the new ratings of the entrants that a game moves."""
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
    others = [elo for other, elo in enumerate(elos) if other != side]
    # Far beyond any rating, the power would overflow.
    leads = [min(max(elos[side] - elo, -4000.0), 4000.0) for elo in others]
    return sum(1 / (1 + 10 ** (-lead / 400)) for lead in leads) / len(leads)
