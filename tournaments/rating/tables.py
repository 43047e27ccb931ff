"""Values of rated results: one game's result, and the tables of pools as results.json has them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import isfinite, isnan
from typing import Literal, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.errors import UserError
from protocol.records import FoulClass, Result, SeatFoul, UsageSum
from protocol.ruleset import count_sides

# One game's result: half points, margins, fouls, and the live ticker. Pure, without numpy.


def half_points(places: Sequence[int], side: int) -> int:
    """Return the half points of a side: two for each side that it beat, one for a tie."""
    return sum(1 + (place > places[side]) - (place < places[side]) for place in places) - 1


@lru_cache(10_000)
def share_of_pairs(places: tuple[int, ...], side: int) -> float:
    """Return the share of a side's pairs with the other sides that it won, a tie ½."""
    return half_points(places, side) / 2 / (len(places) - 1)


def margins_of(result: Result, sides: int) -> list[float] | list[None]:
    """Return each side's score less the mean of the other sides', for each member of it.

    All are None if a foul ended the game.
    """
    if result.why == "foul":
        return [None] * sides
    scores, total = result.scores, sum(result.scores)
    others = (sides - 1) * (len(scores) // sides)
    return [(sides * sum(scores[side::sides]) - total) / others for side in range(sides)]


def own_fouls(result: Result) -> Iterator[int]:
    """Yield the seats that fouled in a game; a seat that had forfeited it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """Yield the fouls of a game, without forfeits for fouls in earlier games."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


def is_clean(result: Result) -> bool:
    """Return whether nobody fouled, and no bot says that it chose because its model did not."""
    replaced = result.usage is not UNSET and any(usage.fallbacks for usage in result.usage)
    return not result.fouls and not replaced


class FoulCount(Struct, frozen=True):
    """The fouls of one class that one entrant committed."""

    entrant: str
    foul: FoulClass
    games: int
    game: str
    """The last of these games in the order of the schedule."""
    seat: int
    """The entrant's seat in that game."""


def count_fouls(results: Iterable[Result], *, forfeits: bool) -> tuple[FoulCount, ...]:
    """Count the fouls of each entrant and class, sorted by them.

    `forfeits`: also the games that were lost before they began.
    """
    counts: dict[tuple[str, FoulClass], FoulCount] = {}
    for result in results:
        for foul in result.fouls if forfeits else fouls_committed(result):
            key = result.seats[foul.seat], foul.foul
            before = counts[key].games if key in counts else 0
            counts[key] = FoulCount(*key, before + 1, result.game, foul.seat)
    return tuple(counts[key] for key in sorted(counts))


K = 8.0
"""Most Elo that a game can move an entrant."""


class LiveRating(Struct, frozen=True):
    """The provisional rating of an entrant."""

    elo: float = 0.0
    games: int = 0
    wins: float = 0.0
    """Share of its pairs that the entrant won, summed over its games."""
    fouls: int = 0


NEW_RATING = LiveRating()
"""The rating of an entrant that has not played yet."""


def update(
    before: Mapping[str, LiveRating], result: Result, partners: bool
) -> dict[str, LiveRating]:
    """Return the new ratings of the entrants that a game moves: cheap and provisional.

    Each game moves its entrants by K times the share of pairs that they won less the share that
    their ratings predict; the rating of partners is their mean. The last games count most and
    the order matters (by some 30 Elo), so nothing but the screen of a running event may show it;
    the tables come from all results at once (ratings.py).
    """
    sides = count_sides(partners, len(result.seats))
    teams = [result.seats[side::sides] for side in range(sides)]
    elos = [sum(before.get(name, NEW_RATING).elo for name in team) / len(team) for team in teams]
    fouls = Counter(result.seats[seat] for seat in own_fouls(result))
    after: dict[str, LiveRating] = {}
    for side, team in enumerate(teams):
        share = share_of_pairs(result.places[:sides], side)
        gain = K * (share - _expected(elos, side))
        for name in team:
            old = after.get(name) or before.get(name, NEW_RATING)
            after[name] = LiveRating(old.elo + gain, old.games + 1, old.wins + share, old.fouls)
    for name, count in fouls.items():
        after[name] = replace(after[name], fouls=after[name].fouls + count)
    return after


def _expected(elos: Sequence[float], side: int) -> float:
    others = [*elos[:side], *elos[side + 1 :]]
    # Far beyond any rating, the power would overflow.
    leads = [min(max(elos[side] - elo, -4000.0), 4000.0) for elo in others]
    return sum(1 / (1 + 10 ** (-lead / 400)) for lead in leads) / len(leads)


# Values of rated results: the tables of pools with their entrants, as results.json has them.


PRIOR = 1.0
"""Default power of Jeffreys' prior: virtual draws for each rating."""
LUCK_PARTS = 1024
"""Parts of a point, or of a share of the pairs, in which luck is counted: sums of whole parts are
exact in any order."""
FEWEST_BOARDS = 4
"""Boards below which games count as independent: two or three boards that happen to be alike, or
not, would give errors from 7 to 1,800 Elo in one table."""
MOST_COMPARED = 200
"""Entrants of a pool up to which its matrices are stored: those of a thousand take 50 MB."""
Bound = Literal["", ">", "<", "?"]
"""'': rated; '>': only a lower bound, '<': only an upper bound, '?': no bound."""


FARTHEST_ANCHOR = 1e6
"""The highest Elo that an entrant may be anchored at."""
NO_ANCHOR = "none"
"""Word that takes an anchor out of an event's plan."""


class Anchor(Struct, frozen=True, forbid_unknown_fields=True):
    """An entrant whose rating the user fixes beforehand."""

    name: str
    elo: float

    def __post_init__(self) -> None:
        """Refuse a rating that is not a number within the bounds. Raises ValueError."""
        if not isfinite(self.elo) or abs(self.elo) > FARTHEST_ANCHOR:
            raise ValueError(
                f"an anchor's rating is within {FARTHEST_ANCHOR:,.0f} Elo, not {self.elo:g}"
            )


def parse_anchor(text: str | None) -> Anchor | None:
    """Read NAME=ELO from the command line; None stays None. Raises UserError."""
    if text is None:
        return None
    name, _, elo = text.rpartition("=")
    with suppress(ValueError):
        if name:
            return Anchor(name, float(elo))
    raise UserError(f"An anchor is a name and its Elo, as in greedy=1500, not {text!r}.")


class Correction(NamedTuple):
    """The luck to take out of a game: of each seat, weighted, in whole parts (1 / `LUCK_PARTS`)."""

    points: tuple[int, ...]
    """Luck in points: by how much it raised the seat's score."""
    share: tuple[int, ...]
    """Luck in the share of its side's pairs that the seat won."""


Corrections = Mapping[str, Correction]
"""The luck to take out of each game, by its name."""


class Partners(Struct, frozen=True, kw_only=True):
    """Two entrants that were partners on one side."""

    names: tuple[str, str]
    """Their names, sorted."""
    games: int
    win_share: float
    """Share of wins in those games, 0 to 1; a draw is half a win."""
    synergy: float | None
    """That share minus the share that their ratings predict; None if the results cannot tell."""
    half_width: float | None
    """Half width of the 95 % interval of `synergy`, clustered by board; None also with a single
    board."""


class Rating(Struct, frozen=True, kw_only=True):
    """An entrant's line in the table of its pool."""

    name: str
    elo: float | None
    """Elo over the pool's level, or on the anchor's scale, to 6 decimals; outside the core a 95 %
    bound, None if there is none."""
    half_width: float | None
    """Half width of the 95 % interval of `elo`, in Elo; None outside the core."""
    bound: Bound
    """Empty in the core; '>' if `elo` is only a lower bound (it lost nothing to the core), '<' if
    only an upper one, '?' if the results do not place it."""
    ranks: tuple[int, int]
    """Best and worst rank in the pool that the results leave open (each two at 95 %)."""
    games: int
    boards: int
    win_share: float
    """Share of wins in its pairs, 0 to 1; a draw is half a win."""
    margin: float | None
    """Mean over its games of its points minus the mean of its opponents' points, without games that
    a foul ended; None if that leaves no game."""
    margin_half_width: float | None
    """Half width of the 95 % interval of `margin`, in points; None with fewer than four boards."""
    fouls: int
    clean: "Clean | None" = None
    """Rating by its clean games; None: it has none, all are clean, or these games put it on another
    scale than `elo`, because only one of the two has the anchor."""
    corrected: "Corrected | None" = None
    """Rating and margin with luck taken out; None if luck was not computed."""
    cost: "Cost | None" = None
    """The cost of its answers; None if it stated none."""

    @property
    def with_luck_out(self) -> "Rating":
        """The same with luck taken out of Elo and margin, where that is known."""
        rating, sharp = self, self.corrected
        if sharp and sharp.elo is not None:
            rating = replace(rating, elo=sharp.elo, half_width=sharp.half_width)
        if sharp and sharp.margin is not None:
            width = sharp.margin_half_width
            rating = replace(rating, margin=sharp.margin, margin_half_width=width)
        return rating

    @property
    def compared_elo(self) -> float | None:
        """Elo by which it is compared with others: with luck taken out, where that is known."""
        return self.with_luck_out.elo


class Cost(Struct, frozen=True, kw_only=True):
    """The cost of an entrant's answers in all its games, as the bot itself stated it."""

    tokens_in: int
    tokens_out: int
    retries: int
    model_share: float | None
    """Share of the choices asked of a model that were the model's, to 6 decimals; None if the bot
    does not state it."""
    failed_share: float | None
    """Share of the requests that failed, to 6 decimals."""
    illegal_share: float | None
    """Share of the requests whose answer named no option."""
    cents: float
    """The price, in US cents, to 6 decimals."""
    cents_a_game: float
    """The price of one of its games, in US cents, which is that of a hundred in dollars."""
    elo_a_dollar: float | None
    """Elo over the lowest rating in the core, for each dollar that a hundred games cost, to 6
    decimals; None outside the core, or without a price."""
    stopped: bool = False
    """True if it has games left that `limits.cents` keeps it from playing: as it states its costs
    itself, it may have chosen the moment of this rating."""


def sum_usage(results: Iterable[Result]) -> dict[str, UsageSum]:
    """Return the cost of each entrant that stated any, by name; the order changes nothing."""
    sums: dict[str, UsageSum] = {}
    for result in results:
        add_usage(sums, result)
    return sums


def add_usage(sums: dict[str, UsageSum], result: Result) -> None:
    """Add the cost of a game to the sums of its entrants."""
    if result.usage is not UNSET:
        for name, usage in zip(result.seats, result.usage, strict=True):
            if usage != UsageSum():
                sums[name] = sums.get(name, UsageSum()).plus(usage)


class Clean(Struct, frozen=True, kw_only=True):
    """An entrant's rating from its clean games, as `is_clean` says."""

    elo: float | None
    """Elo over the level of the entrants with whom such games connect it, as in `Rating`."""
    half_width: float | None
    bound: Bound
    """As in `Rating`."""
    games: int


class Corrected(Struct, frozen=True, kw_only=True):
    """An entrant's rating and margin with the luck of the tiles taken out."""

    elo: float | None
    """Elo over the same level as the plain one; None outside the core, in a core of one, or if the
    results with luck taken out are too one-sided for a rating."""
    half_width: float | None
    margin: float | None
    """As the plain margin, with the luck in points taken out."""
    margin_half_width: float | None


class Gain(Struct, frozen=True):
    """The games with luck in them that tell as much as one game with luck taken out: a ratio of
    variances, clustered by board, with its 95 % interval."""

    value: float
    low: float
    high: float


class SeatAdvantage(Struct, frozen=True, kw_only=True):
    """Advantage of sitting in a seat; with partners, of being its side."""

    seat: int
    """The seat (with partners, the side), never the last."""
    elo: float
    """Elo over the last seat."""
    half_width: float


class Meeting(Struct, frozen=True):
    """A cell of the crosstable."""

    games: int
    """Pairs of the row's entrant with the column's."""
    wins: float
    """Wins of the row's entrant in them; a draw is half a win."""


class Pool(Struct, frozen=True, kw_only=True):
    """Entrants linked by games: those above the core, the core, those below it, then those that
    the results do not place; best first. All matrices are in the order of `entrants`; those of
    a pool that `is_large` are empty in a file."""

    entrants: tuple[Rating, ...]
    games: int
    boards: int
    seats: tuple[SeatAdvantage, ...]
    """Advantage of each seat but the last; empty if seats never changed enough to tell."""
    level: tuple[str, ...]
    """Entrants whose mean is the level, sorted: the core, or the anchor alone."""
    anchor: Anchor | None
    """The entrant whose rating is fixed beforehand, if it is in the core."""
    errors: tuple[Sequence[float | None], ...]
    """Standard error of row's minus column's rating, in Elo; None if they cannot be compared. Where
    luck is known, it is taken out of errors, likelihoods, ranks and the order of the table."""
    los: tuple[Sequence[float], ...]
    """Likelihood that the row's entrant is better than the column's; ½ on the diagonal."""
    crosstable: tuple[tuple[Meeting, ...], ...]
    """Games and points of each entrant against each."""
    boards_save: Gain | None
    """Variance of the same games on separate deals over that on these boards; None if unknown."""
    boards_save_margin: Gain | None
    partners: tuple[Partners, ...] = ()
    """With partners: every two that played together, the greatest synergy first."""
    gain_wins: Gain | None = None
    """The games with luck in that tell as much about wins as one without; None if unknown."""
    gain_margin: Gain | None = None

    def error(self, first: int, other: int) -> float | None:
        """Return the standard error of the difference of two entrants, by their places, in Elo.

        None if they cannot be compared, or if no matrix is stored.
        """
        error = self.errors[first][other] if self.errors else None
        return None if error is None or isnan(error) else error

    @property
    def is_large(self) -> bool:
        """True if its matrices are not stored, and no sentence may depend on them."""
        return len(self.entrants) > MOST_COMPARED

    @property
    def stored(self) -> "Pool":
        """The same, without its matrices if it is large."""
        return replace(self, errors=(), los=(), crosstable=()) if self.is_large else self


def is_luck_out(pool: Pool) -> bool:
    """Tell whether luck is taken out where the entrants of a pool are compared."""
    return any(rating.corrected and rating.corrected.elo is not None for rating in pool.entrants)


def without_luck(pool: Pool) -> Pool:
    """Return a pool whose Elo and margins have luck taken out where its ranks have."""
    is_out = is_luck_out(pool)
    return replace(pool, entrants=tuple(r.with_luck_out if is_out else r for r in pool.entrants))


class Ratings(Struct, frozen=True):
    """Ratings of all entrants, from the results of a ledger."""

    pools: tuple[Pool, ...]
    """Largest pool first; ratings of different pools cannot be compared."""

    @property
    def stored(self) -> "Ratings":
        """The same, without the matrices of large pools."""
        return Ratings(tuple(pool.stored for pool in self.pools))
