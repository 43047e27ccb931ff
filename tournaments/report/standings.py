"""The part of a report about a pool of entrants: standings, crosstable, partners, margins. Pure."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Bullets,
    Cell,
    Column,
    Figure,
    Group,
    Item,
    Matrix,
    Media,
    Paragraph,
    Section,
    Table,
    paragraphs,
)
from arena.document.blocks import table as to_table
from tournaments.rating.anchor import Anchor
from tournaments.rating.core import Bound
from tournaments.rating.live_elo import LiveRating
from tournaments.rating.ratings import Clean, Pool, Rating
from tournaments.rating.statistics import Floats
from tournaments.rating.tally import Tally
from tournaments.report import rating_notes as notes
from tournaments.report.html import charts
from tournaments.report.html.crosstable import Encounter, encounters
from tournaments.report.html.game_list import link_to_games

MATRIX = 64
"""The largest number of entrants with a histogram, and in a page's table of all against all."""
PROVISIONAL = "Provisional, game by game; the ratings with their intervals come at the end."
"""The note under the live ticker."""
TITLES: dict[Bound, str] = {
    ">": "above the core",
    "": "the core",
    "<": "below the core",
    "?": "not placed",
}
"""Titles of the groups of a table."""
MARGINS = (
    "By how many points each was ahead or behind at the end of a game: all from left to right on "
    "one scale, whose outermost bars hold everything beyond, each as tall as its tallest bar. "
    "Games that a foul ended are left out."
)
"""The meaning of the histograms."""
SURE = 0.975
"""The probability from which a cell is shaded: the limit of a 95 % interval."""
SELF = Cell(UNKNOWN, tone="self")


def pool_sections(pool: Pool, anchor: Anchor | None, tally: Tally | None = None) -> list[Section]:
    """Return the sections about a pool; those that need every result only with their tally."""
    names = [one.name for one in pool.entrants]
    found = [_standings(pool, anchor)]
    if tally:
        found += [_crosstable(pool, tally, names), _likelihoods(pool, names)]
    if pool.partners:
        found.append(_partners(pool))
    if tally:
        found.append(_margins(tally, names))
    return found


def _standings(pool: Pool, anchor: Anchor | None) -> Section:
    said = (
        *notes.placing(pool),
        *notes.unanchored(pool, anchor),
        *notes.without_fouls(pool, anchor),
    )
    blocks: list[Block] = [
        standings_table(pool),
        Paragraph(
            f"{notes.intervals(pool)}\n"
            f"In brackets: the ranks that the results leave open. {notes.RANKS}\n"
            "The margin leaves out games that a foul ended.",
            "faint",
            media=Media.FILES,
        ),
        *paragraphs(said, "faint"),
        Paragraph(notes.PRIOR, "faint", media=Media.FILES),
        Bullets(
            [
                *map(Item, notes.seat_advantages(pool)),
                *(Item(line, media=Media.FILES) for line in notes.duplicate_gain(pool)),
            ],
            "faint",
        ),
    ]
    return Section("Standings", blocks, id="standings", titled=Media.FILES)


def standings_table(pool: Pool) -> Table:
    """Return the table, best first, also without fouls where `fit_both` rated that.

    If there are bots outside the core, each of the groups has a title.
    """
    beside, forest = notes.has_clean(pool), charts.forest(pool)
    axis = Figure(macro="forest_axis", value=forest)
    columns = [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        Column("95 % interval of the Elo", "word", media=Media.HTML, axis=axis),
        *map(Column, ("games", "score")),
        Column("margin", detail="±"),
        Column("fouls"),
        *([Column("Elo without fouls", detail="±", spare=True)] if beside else []),
    ]
    placed = [
        (one.bound, _row(place, one, (forest, forest.rows[place - 1]), beside))
        for place, one in enumerate(pool.entrants, 1)
    ]
    groups = [
        Group(TITLES[bound], [row for _, row in some])
        for bound, some in groupby(placed, lambda one: one[0])
    ]
    if len(groups) == 1:
        groups = [Group("", groups[0].rows)]
    return Table("Standings", columns, groups)


def _row(place: int, rating: Rating, drawn: object, beside: bool) -> list[Cell]:
    best, worst = rating.ranks
    return [
        Cell(f"{place}" if best == worst else f"{place} ({best}–{worst})"),
        Cell(rating.name, href=link_to_games(rating.name)),
        _elo(rating),
        Cell("", figure=Figure(macro="forest", value=drawn)),
        Cell(f"{rating.games}"),
        Cell(f"{rating.score:.1%}"),
        Cell(
            UNKNOWN if rating.margin is None else f"{rating.margin:+.1f}",
            "" if rating.margin_half_width is None else f"{rating.margin_half_width:.1f}",
        ),
        Cell(f"{rating.fouls}", href="#fouls" if rating.fouls else ""),
        *([_elo(rating.clean) if rating.clean else Cell(UNKNOWN)] if beside else []),
    ]


def _elo(one: Rating | Clean) -> Cell:
    """Write a rating as +12, a bound as >+120, anything else as ?."""
    text = one.bound if one.elo is None else f"{one.bound}{one.elo:+.0f}"
    return Cell(text, "" if one.half_width is None else f"{one.half_width:.0f}")


def live_table(ticks: Mapping[str, LiveRating]) -> Table:
    """Return the table of the live ticker, best first."""
    best = sorted(ticks.items(), key=lambda one: (-one[1].elo, one[0]))
    columns = [Column("#", "rank"), Column("bot", "name")]
    columns += map(Column, ("Elo so far", "games", "score", "fouls"))
    rows = [
        (
            *(f"{place}", name, f"{tick.elo:+.0f}", f"{tick.games}"),
            *(f"{tick.points / tick.games:.1%}", f"{tick.fouls or ''}"),
        )
        for place, (name, tick) in enumerate(best, 1)
    ]
    return to_table("Standings", columns, rows)


def _crosstable(pool: Pool, tally: Tally, names: list[str]) -> Section:
    met = encounters(tally, names[:MATRIX])
    rows = [
        [
            SELF if own == other else _encounter(cell.games, cell.score, _at(met, own, other))
            for other, cell in enumerate(cells)
        ]
        for own, cells in enumerate(pool.crosstable)
    ]
    blocks: list[Block] = [
        Paragraph("Points that the row took off the column."),
        Figure(macro="crosstable_key", value=None),
        Matrix("Crosstable", names, rows, unit="%", most=MATRIX, source="crosstable.csv"),
    ]
    return Section("Crosstable", blocks, id="crosstable", media=Media.FILES)


def _at(met: Sequence[Sequence[Encounter | None]], own: int, other: int) -> Encounter | None:
    return met[own][other] if max(own, other) < len(met) else None


def _encounter(games: int, score: float, met: Encounter | None) -> Cell:
    if not games:
        return Cell(UNKNOWN)
    interval = ""
    if met and met.low is not None and met.high is not None:
        interval = f"{100 * met.low:.0f}–{100 * met.high:.0f}"
    return Cell(f"{100 * (score / games):.0f}", interval, tone=met.decided if met else "")


def _likelihoods(pool: Pool, names: list[str]) -> Section:
    rows = [
        [SELF if own == other else _likelihood(likely) for other, likely in enumerate(line)]
        for own, line in enumerate(pool.los)
    ]
    key = "In percent, by all results together. Shaded from 97.5 % on."
    blocks: list[Block] = [
        Paragraph("How likely the row is better than the column."),
        Paragraph(key, media=Media.HTML),
        Matrix("Who is better", names, rows, "%", most=MATRIX, source="crosstable.csv"),
    ]
    return Section("Who is better", blocks, id="better", media=Media.FILES)


def _likelihood(likely: float) -> Cell:
    if SURE >= likely >= 1 - SURE:
        return Cell(f"{100 * likely:.1f}")
    return Cell(f"{100 * likely:.1f}", tone="ahead" if likely > SURE else "behind")


def partner_table(pool: Pool) -> Table:
    """Return the strength of each pair and its unexplained part; of a long list both ends."""
    listed = list(pool.partners)
    if len(listed) > 2 * notes.PARTNERS_SHOWN:
        listed[notes.PARTNERS_SHOWN : -notes.PARTNERS_SHOWN] = []
    rows: list[Sequence[str | Cell]] = [
        (
            *(Cell(name, href=link_to_games(name)) for name in two.names),
            *(f"{two.games}", f"{two.score:.1%}"),
            Cell(
                UNKNOWN if two.synergy is None else f"{100 * two.synergy:+.1f}",
                "" if two.half_width is None else f"{100 * two.half_width:.1f}",
            ),
        )
        for two in listed
    ]
    columns = [Column("partner", "name"), Column("partner", "name")]
    columns += [*map(Column, ("games", "score")), Column("synergy", detail="±")]
    return to_table("Partners", columns, rows)


def _partners(pool: Pool) -> Section:
    said = "\n".join(notes.partner_notes(pool))
    blocks: list[Block] = [partner_table(pool), Paragraph(said, "faint", media=Media.FILES)]
    return Section("Partners", blocks, id="partners", titled=Media.FILES)


def _margins(tally: Tally, names: list[str]) -> Section:
    spread = margins(tally, names[:MATRIX])
    if not spread:
        blocks: list[Block] = [Paragraph("A foul ended every game.")]
    else:
        blocks = [
            Paragraph(MARGINS),
            Figure(macro="histograms", value=charts.histograms(spread)),
        ]
    if spread and len(names) > MATRIX:
        left_out = len(names) - MATRIX
        blocks.append(
            Paragraph(f"{left_out} more entrants are left out: `games.csv` has everybody.")
        )
    return Section("Margins", blocks, id="margins", media=Media.HTML)


def margins(tally: Tally, names: Sequence[str]) -> dict[str, Floats]:
    """Return the margins of each entrant in games that no foul ended; omit those without any."""
    who, _, over, whole = tally.played.T
    # Kept as integers in the tally: sides x own sum - all sums, over (sides - 1) x members.
    scale = (tally.sides - 1) * tally.left.shape[1]
    found = {name: over[(who == tally.names.index(name)) & (whole > 0)] / scale for name in names}
    return {name: values for name, values in found.items() if len(values)}
