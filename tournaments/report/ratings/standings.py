"""The part of a report about a pool of entrants: standings, crosstable, partners, margins. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import sqrt
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Cell,
    Column,
    Figure,
    Matrix,
    Media,
    Paragraph,
    RowGroup,
    Section,
    Table,
    paragraphs,
)
from arena.document.blocks import table as to_table
from arena.rules.english import join_words
from tournaments.rating.estimate import Estimate, elo_of
from tournaments.rating.game_result import LiveRating
from tournaments.rating.statistics import Floats, by_cluster, t_quantile
from tournaments.rating.tables import Anchor, Bound, Pool, Rating
from tournaments.rating.tally import Tally, meetings, won_lost
from tournaments.report.html import link_to_games
from tournaments.report.html.charts import Histogram, forest_of, histograms

READING = "How to read these numbers: `boneyard help ratings`."
COST = "As the bots themselves stated it; nobody checked it."
NAMED = 5
"""The largest number of names that a sentence lists."""
LONE_GAMES = 10
"""Games from which on a rating by a single won or lost one is told."""
PARTNERS_SHOWN = 15
"""The number of pairs of partners at each end of the table."""
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
    beside, drawn = (
        any(one.clean for one in pool.entrants),
        forest_of([*map(elo_of, pool.entrants)]),
    )
    axis = Figure(macro="chart", value=drawn.axis)
    spread = Column("95 % interval of the Elo", "word", media=Media.HTML, axis=axis)
    columns = [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        *([spread] if forest else []),
        *([Column("won – drawn – lost", media=Media.HTML)] if won_lost else []),
        *map(Column, ("games", "win %")),
        Column("margin", detail="±"),
        Column("fouls"),
        *([Column("Elo without fouls", detail="±", spare=True)] if beside else []),
    ]

    def row(place: int, one: Rating) -> list[Cell]:
        interval = Cell("", figure=Figure(macro="chart", value=drawn.rows[place - 1]))
        best, worst = one.ranks
        sure = best == worst or one.boards < FEWEST_FOR_RANKS
        rank = f"{place}" if sure else f"{place} ({best}–{worst})"
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
    clean = ["Elo without fouls misleads if a bot fouls when it is losing."]
    return [
        *placing(pool),
        *lone_games(pool),
        *unanchored(pool, anchor),
        *(clean if any(one.clean for one in pool.entrants) else []),
        *seat_advantages(pool),
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
    weak = sorted(set(core) - set(pool.level))
    if swept:
        zero = f"{pool.anchor.elo:+g}" if pool.anchor else "0"
        said.append(f"No two bots took points off each other: {core[0]} is set to {zero} Elo.")
    elif pool.anchor:
        name, elo = pool.anchor.name, pool.anchor.elo
        said.append(f"{name} is set to {elo:+g} Elo; ± refers to the lead over it.")
    elif weak:
        few = [*weak[:NAMED], *([f"{len(weak) - NAMED} more"] if len(weak) > NAMED else [])]
        verb, they = ("does", "it") if len(weak) == 1 else ("do", "they")
        said.append(
            f"0 Elo is the average bot; {join_words(few)} {verb} not count, because {they} took "
            "points on one board only."
        )
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
    """Return one sentence for each seat whose advantage exceeds its error."""
    return [
        f"Seat {seat.seat} is worth {worth.text()} Elo over the last seat."
        for seat in pool.seats
        if not (worth := Estimate(seat.elo, seat.half_width)).low <= 0 <= worth.high
    ]


def duplicate_gain(pool: Pool) -> list[str]:
    """Return a sentence on the games that replaying boards has saved, if that is known."""
    if pool.boards_save is None:
        return []
    return [
        "Replaying each board in every rotation makes a game worth "
        f"{pool.boards_save:.2f} independent games."
    ]


def luck_notes(pool: Pool) -> list[str]:
    """Return sentences on what a game tells once luck is taken out, where that is measured."""
    gains = {"wins": pool.gain_wins, "margins": pool.gain_margin}
    more = {of: one for of, one in gains.items() if one and one.low > 1}
    unsure = {of: one for of, one in gains.items() if one and one.low <= 1}
    said = []
    if more:
        worth = join_words(
            [
                f"about {of} as {one.value:.1f} games ({one.low:.1f}–{one.high:.1f})"
                for of, one in more.items()
            ]
        )
        said.append(f"With luck taken out, a game here tells as much {worth} with luck in.")
    if unsure:
        each = (f"× {one.value:.1f}, {one.low:.1f}–{one.high:.1f}" for one in unsure.values())
        worths = "; ".join(each)
        said.append(f"Taking luck out did not sharpen {' or '.join(unsure)} ({worths}).")
    rated = [one.corrected for one in pool.entrants if one.corrected and not one.bound]
    if len(rated) > 1 and any(one.elo is None for one in rated):
        said.append("`·`: with luck taken out, the results are too one-sided for a rating.")
    return said


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
