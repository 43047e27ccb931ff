"""The part of a report that compares the entrants of a pool with each other. Pure."""

from collections.abc import Iterator, Sequence
from math import inf, sqrt
from typing import Literal, NamedTuple

import numpy as np

from arena.document.blocks import UNKNOWN, Block, Cell, Figure, Matrix, Media, Paragraph, Section
from arena.document.html import minus
from tournaments.rating.estimate import elo_of
from tournaments.rating.regression import Floats, by_cluster
from tournaments.rating.statistics import t_quantile
from tournaments.rating.tables import Anchor, Pool, Rating
from tournaments.rating.tally import Tally, meetings, won_lost
from tournaments.report.html import charts
from tournaments.report.ratings.standings import (
    cost_sections,
    luck_sections,
    partner_sections,
    standings_section,
)

HALF = 0.5
TAIL = 0.025
"""The probability on either side of a 95 % interval."""


class Encounter(NamedTuple):
    """The result of an entrant against another."""

    games: int
    """Their pairs: at three seats or more a game has several."""
    share: float
    """Share of the points that it took, a tie ½."""
    low: float | None
    """The lower end of the share's 95 % interval; boards are independent."""
    high: float | None
    """The upper end; None: there is one board, or the error is unknown."""

    @property
    def decided(self) -> Literal["", "ahead", "behind"]:
        """Tell which side of one half the interval lies on; empty if it contains one half."""
        if self.low is not None and self.low > HALF:
            return "ahead"
        return "behind" if self.high is not None and self.high < HALF else ""


def encounters(tally: Tally, names: Sequence[str]) -> list[list[Encounter | None]]:
    """Return the encounters of each name with each, in their order; None: they never met.

    All names must be the tally's.
    """
    met, size = meetings(tally), len(tally.names)
    others = met.pair // size != met.pair % size  # A bot that partners itself may meet itself.
    codes, pair = np.unique(met.pair[others], return_inverse=True)
    _, board = np.unique(met.board[others], return_inverse=True)
    by_pair = by_cluster(pair, board, met.half[others], len(codes))
    columns = (by_pair.size, by_pair.clusters, by_pair.mean / 2, by_pair.clustered / 4)
    rows = zip(codes.tolist(), *(column.tolist() for column in columns), strict=True)
    found = {code: _encounter(int(n), int(boards), *rest) for code, n, boards, *rest in rows}
    order = [tally.names.index(name) for name in names]
    return [[found.get(i * size + j) for j in order] for i in order]


def _encounter(games: int, boards: int, share: float, spread: float) -> Encounter:
    """Return the cluster mean and its interval by Student's t.

    A clean sweep has no spread; then boards are taken for tosses of a coin (Clopper and Pearson).
    """
    if share in (0.0, 1.0):
        end = TAIL ** (1 / boards)
        return Encounter(games, share, end * share, 1 - end * (1 - share))
    if boards < 2 or spread == 0:
        return Encounter(games, share, None, None)
    error = sqrt(boards / (boards - 1) * spread) / games
    width = error * t_quantile(1 - TAIL, boards - 1)
    return Encounter(games, share, max(0.0, share - width), min(1.0, share + width))


BINS = 21
"""Bars of a histogram; the middle one is about 0."""
REGULAR = 99
"""Percentage of all margins that lie between the outermost bars."""
MATRIX = 64
"""The largest number of entrants with a histogram, and in a page's table of all against all."""
SURE = 0.975
"""The probability from which a cell is shaded: the limit of a 95 % interval."""
SELF = Cell(UNKNOWN, tone="self")


class Pairing(NamedTuple):
    """A cell of all against all: what the row's entrant did against the column's."""

    win: Cell
    chance: Cell
    games: int


class PairingMatrix(NamedTuple):
    """All against all, of which a page shows one number at a time."""

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[Pairing | None]]
    """The cells; None on the diagonal."""
    left_out: int
    """Entrants for which there is no room."""


class Histogram(NamedTuple):
    """The distribution of an entrant's margins."""

    chart: charts.Chart
    said: str


class BotCard(NamedTuple):
    """The part of a page about one bot."""

    rating: Rating
    elo: Cell
    margins: Histogram | None
    """The ends of its games; None if a foul ended all of them."""


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
    texts = (" – ".join(map(str, row)) for row in won_lost(tally).tolist())
    results = dict(zip(tally.names, texts, strict=True))
    return [
        standings_section(pool, anchor, results, forest=forest),
        *cost_sections(pool),
        *luck_sections(pool),
        *_tables(names, cells, chances),
        _pairings(pool, names, cells, chances),
        *partner_sections(pool),
        _bots(pool, tally, names),
    ]


def _crosstable(pool: Pool, tally: Tally, names: list[str]) -> list[list[Cell]]:
    met = encounters(tally, names[:MATRIX])
    return [
        [
            SELF if own == other else _encounter_cell(cell.games, cell.wins, _at(met, own, other))
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
    # Several pools of one page need names of their own.
    caption = f"All against all, {names[0]} to {names[-1]}"
    shown = PairingMatrix(caption, names[:MATRIX], rows, len(names[MATRIX:]))
    figure = Figure(macro="pairings", value=shown)
    return Section("Pairings", [figure], id="pairings", media=Media.HTML)


def _bots(pool: Pool, tally: Tally, names: list[str]) -> Section:
    spread = margins(tally, names[:MATRIX])
    drawn = histograms(spread)
    best = pool.entrants[:MATRIX]
    cards = [BotCard(one, elo_of(one).cell(), drawn.get(one.name)) for one in best]
    blocks: list[Block] = [Figure(macro="bots", value=cards)]
    if len(names) > MATRIX:
        left_out = len(names) - MATRIX
        blocks.append(
            Paragraph(f"{left_out} more entrants are left out: `games.csv` has everybody.", "faint")
        )
    return Section("Bots", blocks, id="bots", media=Media.HTML)


def _at(met: Sequence[Sequence[Encounter | None]], own: int, other: int) -> Encounter | None:
    return met[own][other] if max(own, other) < len(met) else None


def _encounter_cell(games: int, score: float, met: Encounter | None) -> Cell:
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


def histograms(margins: dict[str, Floats]) -> dict[str, Histogram]:
    """Return the distribution of each entrant's margins, in points; none may be empty.

    All share one scale; each is as tall as its tallest bar.
    """
    if not margins:
        return {}
    everything = np.abs(np.concatenate(list(margins.values())))
    width = charts.nice(max(1.0, float(np.percentile(everything, REGULAR)) * 2 / (BINS - 2)))
    return {name: Histogram(_histogram(own, width), _said(own)) for name, own in margins.items()}


def _histogram(values: Floats, width: float) -> charts.Chart:
    """Draw the margins; the outermost bars hold everything beyond."""
    counts = bar_counts(values, width)
    far = width * BINS / 2
    marks: list[charts.Mark] = []
    for at, height in enumerate((counts / counts.max()).tolist()):
        left = at * width - far
        kind = "behind" if at < BINS // 2 else "ahead" if at > BINS // 2 else "level"
        if height:
            marks.append(charts.Bar(kind, (left + 0.06 * width, left + 0.94 * width), (0, height)))
    marks += [charts.Stroke("zero", (0, 0)), charts.Stroke("ground", charts.EDGES, (0, 0))]
    ends = [charts.write_tick(sign * (far - width)) for sign in (-1, 1)]
    feet = [(-inf, ends[0], "start"), (0, "0", "middle"), (inf, ends[1], "end")]
    return charts.Chart(
        "histogram", charts.Axes(charts.Axis(-far, far)), marks, feet=feet, height=75
    )


def bar_counts(values: Floats, width: float) -> Floats:
    """Count the margins of each bar."""
    middle = BINS // 2
    # Away from 0, so that a margin and its opposite are in opposite bars.
    place = np.sign(values) * np.ceil(np.abs(values) / width - 0.5)
    within = np.clip(place, -middle, middle) + middle
    return np.bincount(within.astype(np.int64), minlength=BINS).astype(np.float64)


def _said(values: Floats) -> str:
    low, middle, high = (f"{value:+.0f}" for value in np.percentile(values, (25, 50, 75)))
    if len(values) == 1:
        return minus(f"One game: {middle}.")
    return minus(f"{len(values)} games, half of them from {low} to {high}; median {middle}.")
