"""The part of a report that needs every result: crosstable, likelihoods, margins. Pure."""

from collections.abc import Sequence

from arena.document.blocks import UNKNOWN, Block, Cell, Figure, Matrix, Media, Paragraph, Section
from tournaments.rating.anchor import Anchor
from tournaments.rating.statistics import Floats
from tournaments.rating.tables import Pool
from tournaments.rating.tally import Tally
from tournaments.report.html import charts
from tournaments.report.html.crosstable import Encounter, encounters
from tournaments.report.standings import partner_sections, standings_section

MATRIX = 64
"""The largest number of entrants with a histogram, and in a page's table of all against all."""
MARGINS = (
    "Lead in points at the end of a game. All histograms share one scale from left to right, whose "
    "outermost bars hold everything beyond; each is as tall as its tallest bar. Games that a foul "
    "ended are left out."
)
"""The meaning of the histograms."""
SURE = 0.975
"""The probability from which a cell is shaded: the limit of a 95 % interval."""
SELF = Cell(UNKNOWN, tone="self")


def compared_sections(pool: Pool, anchor: Anchor | None, tally: Tally) -> list[Section]:
    """Return all sections about a pool."""
    names = [one.name for one in pool.entrants]
    return [
        standings_section(pool, anchor),
        _crosstable(pool, tally, names),
        _likelihoods(pool, names),
        *partner_sections(pool),
        _margins(tally, names),
    ]


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
        Paragraph("Score of the row against the column."),
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
    key = "In percent, from all results together. Shaded from 97.5 %."
    blocks: list[Block] = [
        Paragraph("Probability that the row is stronger than the column."),
        Paragraph(key, media=Media.HTML),
        Matrix("Who is better", names, rows, "%", most=MATRIX, source="crosstable.csv"),
    ]
    return Section("Who is better", blocks, id="better", media=Media.FILES)


def _likelihood(likely: float) -> Cell:
    if SURE >= likely >= 1 - SURE:
        return Cell(f"{100 * likely:.1f}")
    return Cell(f"{100 * likely:.1f}", tone="ahead" if likely > SURE else "behind")


def _margins(tally: Tally, names: list[str]) -> Section:
    spread = margins(tally, names[:MATRIX])
    if not spread:
        blocks: list[Block] = [Paragraph("A foul ended every game.")]
    else:
        blocks = [Paragraph(MARGINS), Figure(macro="histograms", value=charts.histograms(spread))]
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
