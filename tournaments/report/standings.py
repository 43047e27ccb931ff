"""The sections of a report that follow from ratings alone, from standings to partners. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Cell,
    Column,
    Figure,
    Media,
    Paragraph,
    RowGroup,
    Section,
    Table,
    paragraphs,
)
from arena.document.blocks import table as to_table
from arena.rules.english import count_in_digits, join_words
from tournaments.plan.event import Event
from tournaments.rating.statistics import WRONG, Error, Estimate, degrees_of_freedom, elo_of
from tournaments.rating.tables import Anchor, Bound, Gain, LiveRating, Pool, Rating, is_luck_out
from tournaments.report.charts import forest_of, link_to_games, scaling_chart
from tournaments.report.scaling import Scaling, scalings

READING = "How to read these numbers: `boneyard help ratings`."
COST = "As the bots themselves stated it; nobody checked it."
NAMED = 5
"""The largest number of names that a sentence lists."""
LONE_GAMES = 10
"""Games from which on a rating by a single won or lost one is told."""
PARTNERS_SHOWN = 15
"""The number of pairs of partners at each end of the table."""
PROVISIONAL = "Provisional, game by game; the ratings with their intervals come at the end."
"""The note under the live ticker."""
COSTS = (
    "cents", "cents a game", "tokens in", "tokens out", "model's %", "no option %", "failed %",
    "retries", "Elo a dollar",
)  # fmt: skip
"""Titles of the columns about costs."""
TITLES: dict[Bound, str] = {
    ">": "above the core",
    "": "the core",
    "<": "below the core",
    "?": "not placed",
}
"""Titles of the groups of a table."""


def pool_sections(pool: Pool, anchor: Anchor | None) -> list[Section]:
    """Return the sections that follow from the ratings alone."""
    return [
        standings_section(pool, anchor),
        *cost_sections(pool),
        *luck_sections(pool),
        *partner_sections(pool),
    ]


def standings_section(
    pool: Pool,
    anchor: Anchor | None,
    won_lost: Mapping[str, str] = MappingProxyType({}),
    *,
    forest: bool = True,
) -> Section:
    """Return the standings and what explains them; for the other arguments see the table."""
    blocks: list[Block] = [
        standings_table(pool, won_lost, forest=forest),
        *paragraphs(rating_notes(pool, anchor), "faint"),
        *(Paragraph(one, "faint", media=Media.FILES) for one in duplicate_gain(pool)),
        Paragraph(READING, "faint", media=Media.FILES),
    ]
    return Section("Standings", blocks, id="standings", titled=Media.FILES)


def standings_table(
    pool: Pool, won_lost: Mapping[str, str] = MappingProxyType({}), *, forest: bool = True
) -> Table:
    """Return the table, best first, also without fouls where `fit_both` rated that.

    If there are bots outside the core, each of the groups has a title. A page also has the results
    of each bot (`won_lost`), and draws the intervals (`forest`).
    """
    beside = any(one.clean for one in pool.entrants)
    drawn = forest_of([*map(elo_of, pool.entrants)])
    axis = Figure(macro="chart", value=drawn.axis)
    spread = Column("95 % interval of the Elo", "word", media=Media.HTML, axis=axis)
    columns = [Column("#", "rank"), Column("bot", "name"), Column("Elo", detail="±")]
    columns += [spread] if forest else []
    columns += [Column("won – drawn – lost", media=Media.HTML)] if won_lost else []
    columns += [*map(Column, ("games", "win %")), Column("margin", detail="±"), Column("fouls")]
    columns += [Column("Elo without fouls", detail="±", spare=True)] if beside else []

    def row(place: int, one: Rating) -> list[Cell]:
        interval = Cell("", figure=Figure(macro="chart", value=drawn.rows[place - 1]))
        best, worst = one.ranks
        rank = f"{place}" if best == worst else f"{place} ({best}–{worst})"
        # A bot that stopped may have chosen the moment of its rank.
        return [
            Cell("stopped" if one.cost and one.cost.stopped else rank),
            Cell(one.name, href=link_to_games(one.name)),
            elo_of(one).cell(),
            *([interval] if forest else []),
            *([Cell(won_lost[one.name])] if won_lost else []),
            *map(Cell, (f"{one.games}", f"{100 * one.win_share:.1f}")),
            Estimate(one.margin, one.margin_half_width).cell(1),
            Cell(f"{one.fouls}", href="#fouls" if one.fouls else ""),
            *([elo_of(one.clean).cell() if one.clean else Cell(UNKNOWN)] if beside else []),
        ]

    placed = [(one.bound, row(place, one)) for place, one in enumerate(pool.entrants, 1)]
    groups = [
        RowGroup(TITLES[bound], [row for _, row in some])
        for bound, some in groupby(placed, lambda one: one[0])
    ]
    if len(groups) == 1:
        groups = [RowGroup("", groups[0].rows)]
    return Table("Standings", columns, groups)


def cost_sections(pool: Pool) -> list[Section]:
    """Return the section about what answers cost, if a bot stated any cost."""
    stated = [(one, one.cost) for one in pool.entrants if one.cost]
    if not stated:
        return []
    columns = [Column("bot", "name"), Column("Elo", detail="±"), *map(Column, COSTS)]
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            elo_of(one).cell(),
            *(f"{cost.cents:.2f}", _price(cost.cents_a_game)),
            *(f"{cost.tokens_in}", f"{cost.tokens_out}"),
            *(_percent(cost.model_share), _percent(cost.illegal_share)),
            *(_percent(cost.failed_share), f"{cost.retries}"),
            UNKNOWN if cost.elo_a_dollar is None else f"{cost.elo_a_dollar:.1f}",
        )
        for one, cost in stated
    ]
    table = to_table("Cost of answers", columns, rows)
    return [Section("Cost", [table, Paragraph(COST, "faint")], id="cost")]


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:.1f}"


def _price(cents: float) -> str:
    """Write a price to a hundredth of a cent, and a smaller one to three digits."""
    return f"{cents:.2f}" if cents >= 1 else f"{cents:.3g}"


def luck_sections(pool: Pool) -> list[Section]:
    """Return the section with luck taken out, if luck is known."""
    rated = [(one, one.corrected) for one in pool.entrants if one.corrected]
    if not rated:
        return []
    titles = ("Elo", "luck taken out", "margin", "luck taken out")
    columns = [Column("bot", "name"), *(Column(title, detail="±") for title in titles)]
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            elo_of(one).cell(),
            Estimate(corrected.elo, corrected.half_width).cell(),
            Estimate(one.margin, one.margin_half_width).cell(1),
            Estimate(corrected.margin, corrected.margin_half_width).cell(1),
        )
        for one, corrected in rated
    ]
    blocks: list[Block] = [
        *paragraphs(luck_notes(pool)),
        to_table("Elo and margin with luck taken out", columns, rows),
    ]
    return [Section("With luck taken out", blocks, id="luck")]


def live_table(ticks: Mapping[str, LiveRating]) -> Table:
    """Return the table of the live ticker, best first."""
    best = sorted(ticks.items(), key=lambda one: (-one[1].elo, one[0]))
    columns = [Column("#", "rank"), Column("bot", "name")]
    columns += map(Column, ("Elo so far", "games", "win %", "fouls"))
    rows = [
        (
            *(f"{place}", name, f"{tick.elo:+.0f}", f"{tick.games}"),
            *(f"{100 * tick.wins / tick.games:.1f}", f"{tick.fouls or ''}"),
        )
        for place, (name, tick) in enumerate(best, 1)
    ]
    return to_table("Standings", columns, rows)


def partner_table(pool: Pool) -> Table:
    """Return the strength of each pair and its unexplained part; of a long list both ends."""
    listed = list(pool.partners)
    if len(listed) > 2 * PARTNERS_SHOWN:
        listed[PARTNERS_SHOWN:-PARTNERS_SHOWN] = []
    rows: list[Sequence[str | Cell]] = [
        (
            *(Cell(name, href=link_to_games(name)) for name in two.names),
            *(f"{two.games}", f"{100 * two.win_share:.1f}"),
            Estimate(
                two.synergy and 100 * two.synergy, two.half_width and 100 * two.half_width
            ).cell(1),
        )
        for two in listed
    ]
    columns = [Column("partner", "name"), Column("partner", "name")]
    columns += [*map(Column, ("games", "win %")), Column("synergy", detail="±")]
    return to_table("Partners", columns, rows)


def partner_sections(pool: Pool) -> list[Section]:
    """Return the section about partners, if there are any."""
    if not pool.partners:
        return []
    blocks: list[Block] = [partner_table(pool)]
    if (pairs := len(pool.partners)) > 2 * PARTNERS_SHOWN:
        shown = f"The {PARTNERS_SHOWN} best and worst of {pairs} pairs are shown."
        blocks.append(Paragraph(shown, "faint", media=Media.FILES))
    return [Section("Partners", blocks, id="partners", titled=Media.FILES)]


# --- sentences about this pool; those about every rating are on the page of ratings ---


def rating_notes(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return the sentences about the ratings of a pool; `anchor`: the one that the event wants."""
    return [
        *(["Order and ranks are with luck taken out."] if is_luck_out(pool) else []),
        *placing(pool),
        *lone_games(pool),
        *unanchored(pool, anchor),
        *foul_warnings(pool),
        *seat_advantages(pool),
    ]


def foul_warnings(pool: Pool) -> list[str]:
    """Return a sentence about the numbers that leave out games with fouls, if there are any."""
    if not any(one.fouls for one in pool.entrants):
        return []
    clean = " and Elo without fouls" if any(one.clean for one in pool.entrants) else ""
    leaves, misleads = ("leave", "mislead") if clean else ("leaves", "misleads")
    return [
        f"Margin{clean} {leaves} out what ended by a foul, and {misleads} if a bot fouls when it "
        "is losing."
    ]


def placing(pool: Pool) -> list[str]:
    """Return sentences that explain the bounds and the meaning of 0 Elo."""
    core = [one.name for one in pool.entrants if not one.bound]
    first = next((one for one in pool.entrants if one.bound in ("<", ">")), None)
    swept, said = bool(first) and len(core) == 1, []
    if first and first.elo is not None:
        side = "below" if first.bound == "<" else "above"
        bound = f"`{first.bound}{first.elo:+.0f}` means with 95 % confidence {side}"
        said.append(f"{bound} {first.elo:+.0f}; such a bound changes no other rating.")
    if swept:
        zero = f"{pool.anchor.elo:+g}" if pool.anchor else "0"
        said.append(f"No two bots took points off each other: {core[0]} is set to {zero} Elo.")
    elif pool.anchor:
        name, elo = pool.anchor.name, pool.anchor.elo
        said.append(f"{name} is set to {elo:+g} Elo; ± refers to the lead over it.")
    elif len(core) > 1 and any(one.bound for one in pool.entrants):
        said.append("0 Elo is the average bot of the core.")
    return said


def lone_games(pool: Pool) -> list[str]:
    """Return a sentence for each rating that stands on a single game, won or lost."""
    said = []
    core = [i for i, one in enumerate(pool.entrants) if one.bound == ""]
    for i in core:
        met = [pool.crosstable[i][j] for j in core]
        games, wins = sum(one.games for one in met), sum(one.wins for one in met)
        if games >= LONE_GAMES and min(wins, games - wins) <= 1:
            kind = "won" if wins <= 1 else "lost"
            said.append(
                f"{pool.entrants[i].name} has a rating because of a single game {kind} of "
                f"{games}: without it there would be a bound."
            )
    return said


def unanchored(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return a sentence if the anchor does not hold in this pool."""
    if anchor is None or pool.anchor is not None:
        return []
    if any(one.name == anchor.name for one in pool.entrants):
        return [f"{anchor.name} cannot be the anchor, because it is not in the core."]
    return [f"No games connect these with {anchor.name}: 0 Elo is the average bot of their core."]


def seat_advantages(pool: Pool) -> list[str]:
    """Return a sentence for each seat with an advantage that is more than chance.

    All seats together have a chance of 5 % to be named where none has an advantage (Bonferroni).
    """
    df = degrees_of_freedom(pool.boards)
    wider, usual = (
        Error(1.0, df).half_width(wrong) for wrong in (WRONG / max(1, len(pool.seats)), WRONG)
    )
    return [
        f"Seat {seat.seat} is worth {Estimate(seat.elo, seat.half_width).text()} Elo over the last "
        "seat."
        for seat in pool.seats
        if abs(seat.elo) > wider / usual * seat.half_width
    ]


def duplicate_gain(pool: Pool) -> list[str]:
    """Return a sentence on the games that replaying boards has saved, if that is known."""
    worth = "Replaying each board in every rotation makes a game worth"
    save = pool.boards_save
    if save is None:
        return []
    return [f"{worth} {save.value:.2f} ({save.low:.2f}–{save.high:.2f}) independent games."]


def luck_notes(pool: Pool) -> list[str]:
    """Return sentences on what a game tells once luck is taken out, where that is measured."""
    gains = {"wins": pool.gain_wins, "margins": pool.gain_margin}
    more = {of: one for of, one in gains.items() if one and one.low > 1}
    unsure = {of: one for of, one in gains.items() if one and one.low <= 1 <= one.high}
    fewer = {of: one for of, one in gains.items() if one and one.high < 1}
    said = []
    if more:
        each = (
            f"{of} as {it.value:.1f} games ({it.low:.1f}–{it.high:.1f})" for of, it in more.items()
        )
        worth = join_words([f"about {one}" for one in each])
        said.append(f"With luck taken out, a game here tells as much {worth} with luck in.")
    if unsure:
        said.append(
            "There are not enough boards to say by how much taking luck out sharpens "
            f"{' or '.join(unsure)} ({_factors(unsure.values())})."
        )
    if fewer:
        blurred = f"{' and '.join(fewer)} ({_factors(fewer.values())})"
        said.append(f"Taking luck out did not sharpen {blurred}.")
    rated = [one.corrected for one in pool.entrants if one.corrected and not one.bound]
    if len(rated) > 1 and any(one.elo is None for one in rated):
        said.append("`·`: with luck taken out, the results are too one-sided for a rating.")
    return said


def _factors(gains: Iterable[Gain]) -> str:
    return "; ".join(f"× {gain.value:.1f}, {gain.low:.1f}–{gain.high:.1f}" for gain in gains)


def scaling_sections(event: Event, pools: Sequence[Pool]) -> list[Section]:
    """Return the section about bots at several clocks, if there are any."""
    blocks: list[Block] = []
    for pool in pools:
        if found := scalings(event, pool):
            names = [one.entrant for one in found]
            blocks.append(Figure(macro="scaling", value=(scaling_chart(found, pool), names)))
            blocks += [block for one in found for block in _told(one)]
    return [Section("Elo against time", blocks, id="scaling")] if blocks else []


def _told(scaling: Scaling) -> Iterator[Block]:
    yield Paragraph(doubling_text(scaling))
    columns = [Column("bot", "name"), Column("a question")]
    columns += [Column("Elo", detail="±"), Column("gain", detail="±"), Column("fouls")]
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            one.time,
            elo_of(one).cell(),
            Estimate(one.gain, one.gain_half_width).cell(),
            Cell(f"{one.fouls}", href="#fouls" if one.fouls else ""),
        )
        for one in scaling.points
    ]
    yield to_table(f"Elo of {scaling.entrant} against time", columns, rows)


def doubling_text(scaling: Scaling) -> str:
    """Return in a sentence or two what more time is worth to a bot."""
    late = [
        f"{one.name} {count_in_digits(one.fouls, 'game')}" for one in scaling.points if one.fouls
    ]
    fouled = f" Lost by fouls: {join_words(late)}." if late else ""
    if scaling.doubling is None or scaling.doubling_half_width is None:
        told = f"The results do not say what more time is worth to {scaling.entrant}."
        return told + fouled
    first, *_, last = (one for one in scaling.points if not one.bound)
    worth = f"{Estimate(scaling.doubling, scaling.doubling_half_width).text()} Elo"
    sure = abs(scaling.doubling) > scaling.doubling_half_width
    return (
        f"From {first.time} to {last.time} a doubling of the time is "
        f"worth {worth} to {scaling.entrant} on average (95 %)"
        f"{'' if sure else ', so it may be worth nothing'}.{fouled}"
    )
