"""The part of a report about a pool of entrants: standings, crosstable, partners, margins. Pure."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Bullets,
    Cell,
    Column,
    Figure,
    Item,
    Media,
    Paragraph,
    RowGroup,
    Section,
    Table,
    paragraphs,
)
from arena.document.blocks import table as to_table
from tournaments.rating.anchor import Anchor
from tournaments.rating.live_elo import LiveRating
from tournaments.rating.tables import Bound, Clean, Pool, Rating
from tournaments.report.html.forest import place_intervals
from tournaments.report.html.game_list import link_to_games
from tournaments.report.ratings import rating_notes

FEWEST_FOR_RANKS = 10
"""Boards under which a table shows no ranks that the results leave open: nearly all are."""
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
    said = (
        *rating_notes.placing(pool),
        *rating_notes.lone_games(pool),
        *rating_notes.unanchored(pool, anchor),
        *rating_notes.without_fouls(pool, anchor),
    )
    explained: list[Block] = [
        Paragraph(
            f"{rating_notes.intervals(pool)}\n"
            f"In brackets: the ranks that the results leave open. {rating_notes.RANKS}\n"
            "The margin leaves out games that a foul ended.",
            "faint",
            media=Media.FILES,
        ),
        *paragraphs(said, "faint"),
        Paragraph(rating_notes.PRIOR, "faint", media=Media.FILES),
        Bullets(
            [
                *map(Item, rating_notes.seat_advantages(pool)),
                *(Item(line, media=Media.FILES) for line in rating_notes.duplicate_gain(pool)),
            ],
            "faint",
        ),
    ]
    blocks: list[Block] = [
        standings_table(pool, won_lost, forest=forest),
        Section("How to read the standings", explained, titled=Media.HTML, folded=True),
    ]
    return Section("Standings", blocks, id="standings", titled=Media.FILES)


def standings_table(
    pool: Pool, won_lost: Mapping[str, str] = MappingProxyType({}), *, forest: bool = True
) -> Table:
    """Return the table, best first, also without fouls where `fit_both` rated that.

    If there are bots outside the core, each of the groups has a title. A page also has the results
    of each bot (`won_lost`), and draws the intervals (`forest`).
    """
    beside, drawn = rating_notes.has_clean(pool), place_intervals(pool)
    axis = Figure(macro="forest_axis", value=drawn)
    columns = [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        *([_interval_column(axis)] if forest else []),
        *([Column("won – drawn – lost", media=Media.HTML)] if won_lost else []),
        *map(Column, ("games", "win %")),
        Column("margin", detail="±"),
        Column("fouls"),
        *([Column("Elo without fouls", detail="±", spare=True)] if beside else []),
    ]

    def row(place: int, one: Rating) -> list[Cell]:
        interval = Cell("", figure=Figure(macro="forest", value=(drawn, drawn.rows[place - 1])))
        return [
            *_placed(place, one),
            *([interval] if forest else []),
            *([Cell(won_lost[one.name])] if won_lost else []),
            *_played(one),
            *([write_elo(one.clean) if one.clean else Cell(UNKNOWN)] if beside else []),
        ]

    placed = [(one.bound, row(place, one)) for place, one in enumerate(pool.entrants, 1)]
    groups = [
        RowGroup(TITLES[bound], [row for _, row in some])
        for bound, some in groupby(placed, lambda one: one[0])
    ]
    if len(groups) == 1:
        groups = [RowGroup("", groups[0].rows)]
    return Table("Standings", columns, groups)


def _interval_column(axis: Figure) -> Column:
    return Column("95 % interval of the Elo", "word", media=Media.HTML, axis=axis)


def _placed(place: int, rating: Rating) -> list[Cell]:
    best, worst = rating.ranks
    sure = best == worst or rating.boards < FEWEST_FOR_RANKS
    rank = f"{place}" if sure else f"{place} ({best}–{worst})"
    if rating.cost and rating.cost.stopped:
        rank = "stopped"  # It may have chosen the moment of its rank.
    return [
        Cell(rank),
        Cell(rating.name, href=link_to_games(rating.name)),
        write_elo(rating),
    ]


def _played(rating: Rating) -> list[Cell]:
    return [
        Cell(f"{rating.games}"),
        Cell(f"{100 * rating.win_share:.1f}"),
        _number(rating.margin, rating.margin_half_width, 1),
        Cell(f"{rating.fouls}", href="#fouls" if rating.fouls else ""),
    ]


def write_elo(one: Rating | Clean) -> Cell:
    """Write a rating as +12, a bound as >+120, anything else as ?."""
    text = one.bound if one.elo is None else f"{one.bound}{one.elo:+.0f}"
    return Cell(text, "" if one.half_width is None else f"{one.half_width:.0f}")


def cost_sections(pool: Pool) -> list[Section]:
    """Return the section about what answers cost, if a bot stated any cost."""
    stated = [(one, one.cost) for one in pool.entrants if one.cost]
    if not stated:
        return []
    columns = [Column("bot", "name"), Column("Elo", detail="±"), *map(Column, COSTS)]
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            write_elo(one),
            *(f"{cost.cents:.2f}", _price(cost.cents_a_game)),
            *(f"{cost.tokens_in}", f"{cost.tokens_out}"),
            *(_percent(cost.model_share), _percent(cost.illegal_share)),
            *(_percent(cost.failed_share), f"{cost.retries}"),
            UNKNOWN if cost.elo_a_dollar is None else f"{cost.elo_a_dollar:.1f}",
        )
        for one, cost in stated
    ]
    table = to_table("Cost of answers", columns, rows)
    return [Section("Cost", [table, Paragraph(rating_notes.COST, "faint")], id="cost")]


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
            write_elo(one),
            _number(corrected.elo, corrected.half_width, 0),
            _number(one.margin, one.margin_half_width, 1),
            _number(corrected.margin, corrected.margin_half_width, 1),
        )
        for one, corrected in rated
    ]
    blocks: list[Block] = [
        *paragraphs(rating_notes.luck_notes(pool)),
        to_table("Elo and margin with luck taken out", columns, rows),
        Paragraph(rating_notes.LUCK, "faint", media=Media.FILES),
    ]
    return [Section("With luck taken out", blocks, id="luck")]


def _number(value: float | None, half_width: float | None, decimals: int) -> Cell:
    """Write a number with its sign and half its interval, or ·."""
    if value is None:
        return Cell(UNKNOWN)
    detail = "" if half_width is None else f"{half_width:.{decimals}f}"
    return Cell(f"{value:+.{decimals}f}", detail)


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
    if len(listed) > 2 * rating_notes.PARTNERS_SHOWN:
        listed[rating_notes.PARTNERS_SHOWN : -rating_notes.PARTNERS_SHOWN] = []
    rows: list[Sequence[str | Cell]] = [
        (
            *(Cell(name, href=link_to_games(name)) for name in two.names),
            *(f"{two.games}", f"{100 * two.win_share:.1f}"),
            Cell(
                UNKNOWN if two.synergy is None else f"{100 * two.synergy:+.1f}",
                "" if two.half_width is None else f"{100 * two.half_width:.1f}",
            ),
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
    said = "\n".join(rating_notes.partner_notes(pool))
    blocks: list[Block] = [partner_table(pool), Paragraph(said, "faint", media=Media.FILES)]
    return [Section("Partners", blocks, id="partners", titled=Media.FILES)]
