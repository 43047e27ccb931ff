"""The part of a report that needs every result: crosstable, likelihoods, margins. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from arena.document.blocks import UNKNOWN, Block, Cell, Figure, Matrix, Media, Paragraph, Section
from tournaments.rating.anchor import Anchor
from tournaments.rating.statistics import Floats
from tournaments.rating.tables import Pool, Rating
from tournaments.rating.tally import Tally
from tournaments.report.html import charts
from tournaments.report.html.charts import Histogram
from tournaments.report.html.crosstable import Encounter, encounters
from tournaments.report.ratings.standings import (
    cost_sections,
    luck_sections,
    partner_sections,
    standings_section,
    write_elo,
)

MATRIX = 64
"""The largest number of entrants with a histogram, and in a page's table of all against all."""
MARGINS = (
    "Lead in points at the end of a game. All histograms share one scale from left to right, whose "
    "outermost bars hold everything beyond; each is as tall as its tallest bar. Games that a foul "
    "ended are left out."
)
"""The meaning of the histograms."""
READING = (
    "Win %: the share of the points that the row's bot took from the column's, a draw being half a "
    "point, with its 95 % interval. Shaded where the interval excludes 50 %.",
    "Chance: the probability in percent that the row's bot is the stronger one, by the results of "
    "all games together. Shaded from 97.5 %.",
)
"""The meaning of the numbers of all against all."""
SURE = 0.975
"""The probability from which a cell is shaded: the limit of a 95 % interval."""
SELF = Cell(UNKNOWN, tone="self")


class Pairing(NamedTuple):
    """A cell of all against all: what the row's entrant did against the column's."""

    win: Cell
    """Its win %, with the 95 % interval."""
    chance: Cell
    """The probability that it is the stronger one, in percent."""
    games: int
    """Their games."""


class Pairings(NamedTuple):
    """All against all, of which a page shows one number at a time."""

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[Pairing | None]]
    """The cells; None on the diagonal."""
    left_out: int
    """Entrants for which there is no room."""


class BotCard(NamedTuple):
    """The part of a page about one bot."""

    rating: Rating
    elo: Cell
    margins: Histogram | None
    """The ends of its games; None if a foul ended all of them."""
    ends: tuple[str, str]
    """The ends of the axis that all these figures share."""


def compared_sections(
    pool: Pool, anchor: Anchor | None, tally: Tally, *, forest: bool
) -> list[Section]:
    """Return all sections about a pool; `forest`: whether the standings draw the intervals."""
    names = [one.name for one in pool.entrants]
    cells = _crosstable(pool, tally, names)
    chances = [
        [SELF if own == other else _likelihood(likely) for other, likely in enumerate(line)]
        for own, line in enumerate(pool.los)
    ]
    return [
        standings_section(pool, anchor, won_lost(tally), forest=forest),
        *cost_sections(pool),
        *luck_sections(pool),
        *_tables(names, cells, chances),
        _pairings(pool, names, cells, chances),
        *partner_sections(pool),
        _bots(pool, tally, names),
    ]


def won_lost(tally: Tally) -> dict[str, str]:
    """Return the results of each entrant: won, drawn, lost; at three seats or more of its pairs."""
    sides = ((tally.left, tally.half), (tally.right, 2 - tally.half))
    counts = np.zeros((len(tally.names), 3), np.int64)
    for members, half in sides:
        for at, member in enumerate(members.T):
            # A bot that is its own partner has played one game.
            new = np.full(len(member), True) if at == 0 else member != members[:, 0]
            np.add.at(counts, (member[new], 2 - half[new]), 1)
    texts = (" – ".join(map(str, row)) for row in counts.tolist())
    return dict(zip(tally.names, texts, strict=True))


def _crosstable(pool: Pool, tally: Tally, names: list[str]) -> list[list[Cell]]:
    met = encounters(tally, names[:MATRIX])
    return [
        [
            SELF if own == other else _encounter(cell.games, cell.wins, _at(met, own, other))
            for other, cell in enumerate(cells)
        ]
        for own, cells in enumerate(pool.crosstable)
    ]


def _tables(
    names: list[str], cells: list[list[Cell]], chances: list[list[Cell]]
) -> Iterator[Section]:
    """Yield the tables of all against all as text has them."""
    tables = (
        ("Crosstable", "Win % of the row against the column.", cells),
        ("Who is better", "Chance in % that the row is stronger than the column.", chances),
    )
    for title, about, rows in tables:
        blocks: list[Block] = [Paragraph(about), Matrix(title, names, rows)]
        yield Section(title, blocks, media=Media.MARKDOWN)


def _pairings(
    pool: Pool, names: list[str], cells: list[list[Cell]], chances: list[list[Cell]]
) -> Section:
    rows = [
        [
            None if own == other else Pairing(cells[own][other], chances[own][other], met.games)
            for other, met in enumerate(line[:MATRIX])
        ]
        for own, line in enumerate(pool.crosstable[:MATRIX])
    ]
    shown = Pairings("All against all", names[:MATRIX], rows, len(names[MATRIX:]))
    figure = Figure(macro="pairings", value=shown)
    notes = Section(
        "How to read the pairings", [Paragraph(text, "faint") for text in READING], folded=True
    )
    return Section("Pairings", [figure, notes], id="pairings", media=Media.HTML)


def _bots(pool: Pool, tally: Tally, names: list[str]) -> Section:
    spread = margins(tally, names[:MATRIX])
    drawn = charts.histograms(spread) if spread else charts.Histograms(("", ""), {})
    cards = [
        BotCard(one, write_elo(one), drawn.of.get(one.name), drawn.ends)
        for one in pool.entrants[:MATRIX]
    ]
    blocks: list[Block] = [Figure(macro="bots", value=cards)]
    if len(names) > MATRIX:
        left_out = len(names) - MATRIX
        blocks.append(
            Paragraph(f"{left_out} more entrants are left out: `games.csv` has everybody.", "faint")
        )
    blocks.append(Section("How to read the margins", [Paragraph(MARGINS, "faint")], folded=True))
    return Section("Bots", blocks, id="bots", media=Media.HTML)


def _at(met: Sequence[Sequence[Encounter | None]], own: int, other: int) -> Encounter | None:
    return met[own][other] if max(own, other) < len(met) else None


def _encounter(games: int, score: float, met: Encounter | None) -> Cell:
    if not games:
        return Cell(UNKNOWN)
    interval = ""
    if met and met.low is not None and met.high is not None:
        interval = f"{100 * met.low:.0f}–{100 * met.high:.0f}"
    return Cell(f"{100 * (score / games):.0f}", interval, tone=met.decided if met else "")


def _likelihood(likely: float) -> Cell:
    if SURE >= likely >= 1 - SURE:
        return Cell(f"{100 * likely:.1f}")
    return Cell(f"{100 * likely:.1f}", tone="ahead" if likely > SURE else "behind")


def margins(tally: Tally, names: Sequence[str]) -> dict[str, Floats]:
    """Return the margins of each entrant in games that no foul ended; omit those without any."""
    who, _, over, whole = tally.played.T
    # Kept as integers in the tally: sides x own sum - all sums, over (sides - 1) x members.
    scale = (tally.sides - 1) * tally.left.shape[1]
    found = {name: over[(who == tally.names.index(name)) & (whole > 0)] / scale for name in names}
    return {name: values for name, values in found.items() if len(values)}
