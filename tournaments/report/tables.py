"""The tables of an event as rows of text: made once, shown in the terminal and in the report."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from tournaments.rating.anchor import Anchor
from tournaments.rating.core import Bound
from tournaments.rating.live_elo import LiveRating
from tournaments.rating.ratings import Clean, Pool, Rating
from tournaments.report.timing import Times

COLUMNS = ("#", "bot", "Elo", "±", "games", "score", "margin", "±", "fouls")
CLEAN = ("Elo without fouls", "±")
PARTNERS_SHOWN = 15
"""The number of pairs of partners at each end of the table."""
PROVISIONAL = "Provisional, game by game; the ratings with their intervals come at the end."
"""The note under the live ticker."""
TITLES: dict[Bound, str] = {
    ">": "above the core",
    "": "the core",
    "<": "below the core",
    "?": "not placed",
}
"""Titles of the groups of a table."""
OUTSIDE = (
    "The bots of the core took points off each other, directly or through others. Who lost nothing "
    "to the core stands above it, who took nothing off it below; no result says by how much. `>` "
    "and `<` are 95 % bounds, and change nobody's rating: were the bot weaker than that (`>`) or "
    "stronger (`<`), such a sweep had a chance under 5 %."
)
"""The reason why some entrants stand apart."""
SWEPT = (
    "No two bots took points off each other, also not through others, so nobody has a rating: {} "
    "is set to {} Elo, and `>` and `<` are 95 % bounds: were the bot weaker than that (`>`) or "
    "stronger (`<`), such a sweep had a chance under 5 %."
)
"""The reason why all entrants stand apart."""
NAMED = 5
"""The largest number of names that a sentence lists."""
PRIOR = (
    "Prior: Jeffreys', which is Firth's correction: as if each rating had one more draw, spread "
    "over its games by how much each tells. It takes off what maximum likelihood adds to a lead on "
    "average: of two bots 1.6 Elo at 76 % of 300 games, 11 Elo at 95 %, 36 Elo at 56 wins of 60. "
    "`boneyard rate --prior 0` leaves it out, as Ordo does."
)
"""The meaning of the prior and its effect."""
INTERVALS = (
    "± is half of the 95 % interval of the lead over {}, clustered by board. In simulated "
    "events, also with 1,000 Elo from the best to the worst and 5 to 25 boards, 94 to 97 % of such "
    "intervals held the truth (`python -m tests.bench.coverage`)."
)
"""The meaning of ±, its reference, and its accuracy."""
WITHOUT_FOULS = (
    "Elo without fouls rates the games in which nobody fouled. It is no measure of strength for a "
    "bot that fouls when it is behind: its lost games are then left out. Compare it only where "
    "fouls are accidents."
)
"""The caution about ratings without fouls."""
OTHER_SCALE = (
    "Elo without fouls is shown only for bots whose games without a foul put them on the scale of "
    "the Elo beside it."
)
"""The reason why some have no rating without fouls if there is an anchor."""
RANKS = (
    "Ranks allow for all pairs being compared at once, so they are more cautious than the tables "
    "below."
)
"""The meaning of ranks if other tables stand below them."""
Rows = list[tuple[str, ...]]


def table(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows, best first, also without fouls where `fit_both` rated that.

    If there are bots outside the core, a row marks where each group begins.
    """
    beside = has_clean(pool)
    head = (*COLUMNS, *(CLEAN if beside else ()))
    rows: Rows = []
    for group in groups(pool):
        if group.title:
            rows.append(("", f"— {group.title} —", *[""] * (len(head) - 2)))
        rows += [
            (*_row(place, rating), *(_clean(rating.clean) if beside else ()))
            for place, rating in group.placed
        ]
    return head, rows


class Group(NamedTuple):
    """Entrants that stand in the same relation to the core."""

    title: str
    """The group's title; empty if everybody is in the core."""
    placed: list[tuple[int, Rating]]
    """Their places in the table, and their ratings."""


def groups(pool: Pool) -> list[Group]:
    """Cut the table of a pool where the core begins and ends."""
    placed = list(enumerate(pool.entrants, 1))
    by_bound = groupby(placed, lambda one: one[1].bound)
    parts = [Group(TITLES[bound], list(some)) for bound, some in by_bound]
    return parts if len(parts) > 1 else [Group("", placed)]


def placing(pool: Pool) -> list[str]:
    """Return sentences that explain the bounds and the meaning of 0 Elo."""
    bounds = {one.bound for one in pool.entrants} - {""}
    core = [one.name for one in pool.entrants if not one.bound]
    swept = bool(bounds) and len(core) == 1
    said = [OUTSIDE] if bounds and not swept else []
    if swept:
        said.append(SWEPT.format(core[0], f"{pool.anchor.elo:+g}" if pool.anchor else "0"))
    if "?" in bounds:
        said.append("`?`: no results, also of others, say whether it is better than the core.")
    weak = sorted(set(core) - set(pool.level))
    if pool.anchor and not swept:
        name, elo = pool.anchor.name, pool.anchor.elo
        said.append(f"{name} is set to {elo:+g} Elo, and ± is of the lead over it.")
    elif weak:
        said.append(
            f"0 Elo is the mean of the core without {join_names(weak)}: a single board connects "
            f"{'it' if len(weak) == 1 else 'them'} with the others."
        )
    elif bounds and len(core) > 1:
        said.append("0 Elo is the mean of the core.")
    return said


def intervals(pool: Pool) -> str:
    """Say what ± is in this table, and how far it can be trusted."""
    return INTERVALS.format(pool.anchor.name if pool.anchor else "0 Elo")


def unanchored(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return a sentence if the anchor does not hold in this pool."""
    if anchor is None or pool.anchor is not None:
        return []
    if any(one.name == anchor.name for one in pool.entrants):
        return [f"{anchor.name} has no rating that others could be over: it is not in the core."]
    return [f"No games connect these with {anchor.name}: 0 Elo is the mean of their core."]


def without_fouls(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Say how to read the ratings without fouls, or why there are none where somebody fouled."""
    said = [WITHOUT_FOULS] if has_clean(pool) else []
    fouled = any(one.fouls for one in pool.entrants)
    if anchor and fouled and any(one.clean is None for one in pool.entrants):
        said.append(OTHER_SCALE)
    return said


def join_names(names: Sequence[str]) -> str:
    """Join the first few names and count the rest."""
    few = [*names[:NAMED], *([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])]
    return f"{', '.join(few[:-1])} and {few[-1]}" if len(few) > 1 else few[0]


def has_clean(pool: Pool) -> bool:
    """Tell whether the pool also has ratings without fouls."""
    return any(rating.clean for rating in pool.entrants)


def _clean(clean: Clean | None) -> tuple[str, str]:
    return ("·", "") if clean is None else (elo(clean), half_width(clean))


def elo(one: Rating | Clean) -> str:
    """Format a rating as +12, a bound as >+120, anything else as ?."""
    return one.bound if one.elo is None else f"{one.bound}{one.elo:+.0f}"


def half_width(one: Rating | Clean) -> str:
    """Format the half-width of a rating's interval; empty for a bound."""
    return "" if one.half_width is None else f"{one.half_width:.0f}"


def _row(place: int, rating: Rating) -> tuple[str, ...]:
    best, worst = rating.ranks
    rank = f"{place}" if best == worst else f"{place} ({best}–{worst})"
    return (
        rank,
        rating.name,
        elo(rating),
        half_width(rating),
        f"{rating.games}",
        f"{rating.score:.1%}",
        "·" if rating.margin is None else f"{rating.margin:+.1f}",
        "" if rating.margin_half_width is None else f"{rating.margin_half_width:.1f}",
        f"{rating.fouls}",
    )


def provisional(ticks: Mapping[str, LiveRating], room: int) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows of the live ticker, best first, in at most so many lines."""
    best = sorted(ticks.items(), key=lambda one: (-one[1].elo, one[0]))
    rows: Rows = [
        (
            *(f"{place}", name, f"{tick.elo:+.0f}", f"{tick.games}"),
            *(f"{tick.points / tick.games:.1%}", f"{tick.fouls or ''}"),
        )
        for place, (name, tick) in enumerate(best, 1)
    ]
    return ("#", "bot", "Elo so far", "games", "score", "fouls"), cut(rows, room)


def cut(rows: Rows, room: int) -> Rows:
    """Return the rows, or the first ones and in the second column the number of the others."""
    if len(rows) <= room:
        return rows
    more = f"and {len(rows) - max(1, room) + 1} more"
    return [*rows[: max(1, room) - 1], ("", more, *[""] * (len(rows[0]) - 2))]


def crosstable(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows: the share of points that the row's entrant took off the column's."""
    names = [rating.name for rating in pool.entrants]
    rows = [
        (name, *(_share(cell.games, cell.score) for cell in cells))
        for name, cells in zip(names, pool.crosstable, strict=True)
    ]
    return ("", *names), rows


def _share(games: int, score: float) -> str:
    return f"{score / games:.0%}" if games else "·"


def likelihoods(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows: the probability that the row's entrant is the better one."""
    names = [rating.name for rating in pool.entrants]
    rows: Rows = [
        (name, *("·" if own == other else f"{likely:.1%}" for other, likely in enumerate(line)))
        for own, (name, line) in enumerate(zip(names, pool.los, strict=True))
    ]
    return ("", *names), rows


def partners(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows: the strength of each pair and its unexplained part.

    Of a long list only both ends are there.
    """
    listed = list(pool.partners)
    if len(listed) > 2 * PARTNERS_SHOWN:
        listed[PARTNERS_SHOWN:-PARTNERS_SHOWN] = []
    rows: Rows = [
        (
            *(two.names[0], two.names[1], f"{two.games}", f"{two.score:.1%}"),
            "·" if two.synergy is None else f"{100 * two.synergy:+.1f}",
            "" if two.half_width is None else f"{100 * two.half_width:.1f}",
        )
        for two in listed
    ]
    return ("partner", "partner", "games", "score", "synergy", "±"), rows


def partners_told(pool: Pool) -> list[str]:
    """Return sentences that explain the table of partners."""
    said = [
        "Synergy: percentage points of the score beyond what the ratings of the two, and of those "
        "against them, let expect; ± is half of its 95 % interval, clustered by board. One pair "
        "in twenty lies outside of it by chance."
    ]
    if any(two.synergy is None for two in pool.partners):
        said.append("`·`: these results cannot tell it from the strength of the two.")
    if len(pool.partners) > 2 * PARTNERS_SHOWN:
        said.append(f"The {PARTNERS_SHOWN} best and worst of {len(pool.partners)} pairs are shown.")
    return said


def seat_advantages(pool: Pool) -> list[str]:
    """Return one sentence for each seat with an estimated advantage."""
    return [
        f"Seat {seat.seat} is worth {seat.elo:+.0f} ± {seat.half_width:.0f} Elo over the last seat."
        for seat in pool.seats
    ]


def duplicate_gain(pool: Pool) -> list[str]:
    """Return a sentence on the games that replaying boards has saved, if that is known."""
    if pool.boards_save is None:
        return []
    return [
        f"A game here tells as much as {pool.boards_save:.2f} games on deals of their own would: "
        f"each board is played in every rotation."
    ]


def time_used(times: Times) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows: each entrant's time for a question."""
    rows: Rows = [
        (
            one.name,
            f"{one.questions}",
            f"{one.mean_ms:.1f}",
            f"{one.worst_ms:.1f}",
            f"{one.given_back_ms:.0f}",
            "·" if one.cpu_ms is None else f"{one.cpu_ms:.2f}",
        )
        for one in times.entrants
    ]
    return ("time", "questions", "mean ms", "worst ms", "given back ms", "CPU ms"), rows


def shares(times: Times) -> tuple[tuple[str, ...], Rows]:
    """Return head and rows: the games and levels of each worker."""
    rows: Rows = [(one.worker, f"{one.games}", ", ".join(one.sandbox)) for one in times.workers]
    return ("worker", "games", "sandbox"), rows


def lag(times: Times) -> list[str]:
    """Return sentences about the referee's lag; none if there was none."""
    if not times.worst_lag_ms:
        return []
    return [
        f"While bots were asked, the referee did not look for up to {times.worst_lag_ms:.0f} ms at "
        "a time. That moved their deadlines and was not charged: given back, summed up for each."
    ]


def markdown(head: Sequence[str], rows: Rows) -> list[str]:
    """Format a table as Markdown, the first two columns aligned left."""
    rule = ["---" if column < 2 else "---:" for column in range(len(head))]
    return [_line(head), _line(rule), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
