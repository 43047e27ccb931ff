"""The sections of a report that follow from ratings alone, from standings to partners. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from arena.document.blocks import (
    UNKNOWN_CELL,
    Cell,
    Column,
    DocumentBlock,
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
from tournaments.rating.tables import (
    Anchor,
    Bound,
    Gain,
    LiveRating,
    Pool,
    Rating,
    is_luck_out,
    without_luck,
)
from tournaments.report.charts import forest_of, link_to_games, scaling_chart
from tournaments.report.scaling import Scaling, scalings

READING = (
    "A bot 100 Elo above another scores about 64 % against it; a draw is half a win.",
    "± is half of a 95 % interval; `>` or `<` bounds the rating of a bot that was always ahead of "
    "the rated bots, or always behind.",
    "Ranks in brackets are those that the results leave open.",
    "Ranks compare bots directly, so two intervals may overlap and the order still be sure.",
    "The margin is the lead in points at the end of a game.",
    "A foul loses the game: an illegal, late or unreadable (`malformed`) answer, or a crash "
    "(`gone`).",
)
"""Sentences that explain the standings to somebody who sees them for the first time."""
COST = "As the bots themselves stated it; nobody checked it."
LONE_GAMES = 10
"""Games from which on a rating by a single won or lost one is told."""
PARTNERS_SHOWN = 15
"""The number of pairs of partners at each end of the table."""
SYNERGY = (
    "Synergy: win % beyond what the ratings expect; `·`: it cannot be told from the strength of "
    "the two."
)
"""The note under the table of partners."""
PROVISIONAL = "Provisional, game by game; the ratings with their intervals come at the end."
"""The note under the live ticker."""
COST_TITLES = (
    "cents", "cents a game", "tokens in", "tokens out", "model's %", "no option %", "failed %",
    "retries", "Elo a dollar",
)  # fmt: skip
"""Titles of the columns about costs."""
TITLES: dict[Bound, str] = {
    ">": "lower bounds",
    "": "ratings",
    "<": "upper bounds",
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
    pool = without_luck(pool)
    blocks: list[DocumentBlock] = [
        standings_table(pool, won_lost, forest=forest),
        *paragraphs(rating_notes(pool, anchor), "faint"),
        *(Paragraph(sentence, "faint", media=Media.FILES) for sentence in duplicate_gain(pool)),
    ]
    return Section("Standings", blocks, id="standings", titled=Media.FILES)


def standings_table(
    pool: Pool, won_lost: Mapping[str, str] = MappingProxyType({}), *, forest: bool = True
) -> Table:
    """Return the table, best first, also by clean games where `fit_both` rated that.

    If there are bots outside the core, each of the groups has a title. A page also has the results
    of each bot (`won_lost`), and draws the intervals (`forest`).
    """
    clean = any(rating.clean for rating in pool.entrants)
    intervals = forest_of([*map(elo_of, pool.entrants)])
    axis = Figure(macro="chart", value=intervals.axis)
    spread = Column("95 % interval of the Elo", "word", media=Media.HTML, axis=axis)
    columns = [Column("#", "rank"), Column("bot", "name"), Column("Elo", detail="±")]
    columns += [spread] if forest else []
    columns += [Column("won – drawn – lost", media=Media.HTML)] if won_lost else []
    columns += [*map(Column, ("games", "win %")), Column("margin", detail="±"), Column("fouls")]
    columns += [Column("Elo in clean games", detail="±", spare=True)] if clean else []

    def row(place: int, rating: Rating) -> list[Cell]:
        interval = Cell("", figure=Figure(macro="chart", value=intervals.rows[place - 1]))
        best, worst = rating.ranks
        rank = f"{place}" if best == worst else f"{place} ({best}–{worst})"
        # A bot that stopped may have chosen the moment of its rank.
        return [
            Cell("stopped" if rating.cost and rating.cost.stopped else rank),
            Cell(rating.name, href=link_to_games(rating.name)),
            elo_of(rating).cell(),
            *([interval] if forest else []),
            *([Cell(won_lost[rating.name])] if won_lost else []),
            *map(Cell, (f"{rating.games}", f"{100 * rating.win_share:.1f}")),
            Estimate(rating.margin, rating.margin_half_width).cell(1),
            Cell(f"{rating.fouls}", href="#fouls" if rating.fouls else ""),
            *(
                [elo_of(rating.clean).cell() if rating.clean else Cell(UNKNOWN_CELL)]
                if clean
                else []
            ),
        ]

    placed = [(rating.bound, row(place, rating)) for place, rating in enumerate(pool.entrants, 1)]
    groups = [
        RowGroup(TITLES[bound], [row for _, row in members])
        for bound, members in groupby(placed, lambda pair: pair[0])
    ]
    if len(groups) == 1:
        groups = [RowGroup("", groups[0].rows)]
    return Table("Standings", columns, groups)


def cost_sections(pool: Pool) -> list[Section]:
    """Return the section about what answers cost, if a bot stated any cost."""
    stated = [(rating, rating.cost) for rating in pool.entrants if rating.cost]
    if not stated:
        return []
    columns = [Column("bot", "name"), Column("Elo", detail="±"), *map(Column, COST_TITLES)]
    rows = [
        (
            Cell(rating.name, href=link_to_games(rating.name)),
            elo_of(rating).cell(),
            *(f"{cost.cents:.2f}", _price(cost.cents_a_game)),
            *(f"{cost.tokens_in}", f"{cost.tokens_out}"),
            *(_percent(cost.model_share), _percent(cost.illegal_share)),
            *(_percent(cost.failed_share), f"{cost.retries}"),
            UNKNOWN_CELL if cost.elo_a_dollar is None else f"{cost.elo_a_dollar:.1f}",
        )
        for rating, cost in stated
    ]
    table = to_table("Cost of answers", columns, rows)
    return [Section("Cost", [table, Paragraph(COST, "faint")], id="cost")]


def _percent(share: float | None) -> str:
    return UNKNOWN_CELL if share is None else f"{100 * share:.1f}"


def _price(cents: float) -> str:
    """Write a price to a hundredth of a cent, and a smaller one to three digits."""
    return f"{cents:.2f}" if cents >= 1 else f"{cents:.3g}"


def luck_sections(pool: Pool) -> list[Section]:
    """Return the section with luck taken out, if luck is known."""
    rated = [(rating, rating.corrected) for rating in pool.entrants if rating.corrected]
    if not rated:
        return []
    titles = ("Elo", "luck taken out", "margin", "luck taken out")
    columns = [Column("bot", "name"), *(Column(title, detail="±") for title in titles)]
    rows = [
        (
            Cell(rating.name, href=link_to_games(rating.name)),
            elo_of(rating).cell(),
            Estimate(corrected.elo, corrected.half_width).cell(),
            Estimate(rating.margin, rating.margin_half_width).cell(1),
            Estimate(corrected.margin, corrected.margin_half_width).cell(1),
        )
        for rating, corrected in rated
    ]
    blocks: list[DocumentBlock] = [
        *paragraphs(luck_notes(pool)),
        to_table("Elo and margin with luck taken out", columns, rows),
    ]
    title = "Ratings with luck in, and with luck taken out"
    return [Section(title, blocks, id="luck", folded=is_luck_out(pool))]


def live_table(ticks: Mapping[str, LiveRating]) -> Table:
    """Return the table of the live ticker, best first."""
    best = sorted(ticks.items(), key=lambda entry: (-entry[1].elo, entry[0]))
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
    pairs = list(pool.partners)
    if len(pairs) > 2 * PARTNERS_SHOWN:
        pairs[PARTNERS_SHOWN:-PARTNERS_SHOWN] = []
    rows: list[Sequence[str | Cell]] = [
        (
            *(Cell(name, href=link_to_games(name)) for name in two.names),
            *(f"{two.games}", f"{100 * two.win_share:.1f}"),
            Estimate(
                two.synergy and 100 * two.synergy, two.half_width and 100 * two.half_width
            ).cell(1),
        )
        for two in pairs
    ]
    columns = [Column("partner", "name"), Column("partner", "name")]
    columns += [*map(Column, ("games", "win %")), Column("synergy", detail="±")]
    return to_table("Partners", columns, rows)


def partner_sections(pool: Pool) -> list[Section]:
    """Return the section about partners, if there are any."""
    if not pool.partners:
        return []
    blocks: list[DocumentBlock] = [partner_table(pool), Paragraph(SYNERGY, "faint")]
    if (pairs := len(pool.partners)) > 2 * PARTNERS_SHOWN:
        note = f"The {PARTNERS_SHOWN} best and worst of {pairs} pairs are shown."
        blocks.append(Paragraph(note, "faint", media=Media.FILES))
    return [Section("Partners", blocks, id="partners", titled=Media.FILES)]


# --- sentences about this pool; those about every rating are on the page of ratings ---


def rating_notes(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return the sentences about the ratings of a pool; `anchor`: the one that the event wants."""
    return [
        *(["Elo, margin and order are with luck taken out."] if is_luck_out(pool) else []),
        *placing(pool),
        *lone_games(pool),
        *unanchored(pool, anchor),
        *foul_warnings(pool),
        *seat_advantages(pool),
    ]


def foul_warnings(pool: Pool) -> list[str]:
    """Return sentences about the numbers that leave games out, if there are any."""
    sentences = []
    has_clean = any(rating.clean for rating in pool.entrants)
    if any(rating.fouls for rating in pool.entrants):
        clean = " and Elo in clean games" if has_clean else ""
        leaves, misleads = ("leave", "mislead") if clean else ("leaves", "misleads")
        sentences.append(
            f"Margin{clean} {leaves} out what ended by a foul, and {misleads} if a bot fouls when "
            "it is losing."
        )
    if has_clean and any(rating.cost for rating in pool.entrants):
        sentences.append(
            "Clean games also leave out those in which a bot says that it chose for its model, "
            "which misleads if a bot says so when it is losing."
        )
    return sentences


def placing(pool: Pool) -> list[str]:
    """Return sentences that explain the bounds and the meaning of 0 Elo."""
    core = [rating.name for rating in pool.entrants if not rating.bound]
    first = next((rating for rating in pool.entrants if rating.bound in ("<", ">")), None)
    swept, sentences = bool(first) and len(core) == 1, []
    if first and first.elo is not None:
        side = "below" if first.bound == "<" else "above"
        bound = f"`{first.bound}{first.elo:+.0f}` means with 95 % confidence {side}"
        sentences.append(f"{bound} {first.elo:+.0f}; such a bound changes no other rating.")
    if swept:
        zero = f"{pool.anchor.elo:+g}" if pool.anchor else "0"
        sentences.append(
            f"Of any two bots that met, one was always ahead: {core[0]} is set to {zero} Elo."
        )
    elif pool.anchor:
        name, elo = pool.anchor.name, pool.anchor.elo
        sentences.append(f"{name} is set to {elo:+g} Elo; ± refers to the lead over it.")
    elif len(core) > 1 and any(rating.bound for rating in pool.entrants):
        sentences.append("0 Elo is the average of the rated bots.")
    return sentences


def lone_games(pool: Pool) -> list[str]:
    """Return a sentence for each rating that stands on a single game, won or lost."""
    sentences = []
    core = [i for i, rating in enumerate(pool.entrants) if rating.bound == ""]
    for i in () if pool.is_large else core:
        met = [pool.crosstable[i][j] for j in core]
        games, wins = sum(cell.games for cell in met), sum(cell.wins for cell in met)
        if games >= LONE_GAMES and min(wins, games - wins) <= 1:
            amount = "One" if min(wins, games - wins) == 1 else "Half a"
            kind = "win" if wins <= 1 else "loss"
            name = pool.entrants[i].name
            sentences.append(
                f"{amount} {kind} in {games} games is all that {name}'s rating rests on."
            )
    return sentences


def unanchored(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return a sentence if the anchor does not hold in this pool."""
    if anchor is None or pool.anchor is not None:
        return []
    if any(rating.name == anchor.name for rating in pool.entrants):
        return [f"{anchor.name} cannot be the anchor, because it is not rated."]
    zero = "." if any(rating.bound for rating in pool.entrants) else ": 0 Elo is their average."
    return [f"No games connect these bots with {anchor.name}{zero}"]


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
    tells = "Replaying each board in every rotation makes a game tell as much as"
    save = pool.boards_save
    if save is None:
        return []
    return [f"{tells} {save.value:.2f} ({save.low:.2f}–{save.high:.2f}) games on separate deals."]


def luck_notes(pool: Pool) -> list[str]:
    """Return sentences on what a game tells once luck is taken out, where that is measured."""
    gains = {"wins": pool.gain_wins, "margins": pool.gain_margin}
    unclear = {kind: gain for kind, gain in gains.items() if gain and gain.low <= 1 <= gain.high}
    clear = {kind: gain for kind, gain in gains.items() if gain and kind not in unclear}
    sentences = []
    if clear:
        each = (
            f"{kind} as {gain.value:.1f} games ({gain.low:.1f}–{gain.high:.1f})"
            for kind, gain in clear.items()
        )
        worth = join_words([f"about {clause}" for clause in each])
        sentences.append(f"With luck taken out, a game here tells as much {worth} with luck in.")
    if unclear:
        sentences.append(
            "There are not enough boards to say whether a game without luck tells more about "
            f"{' or '.join(unclear)} ({_factors(unclear.values())})."
        )
    rated = [rating.corrected for rating in pool.entrants if rating.corrected and not rating.bound]
    if len(rated) > 1 and any(rating.elo is None for rating in rated):
        sentences.append("`·`: with luck taken out, the results are too one-sided for a rating.")
    return sentences


def _factors(gains: Iterable[Gain]) -> str:
    return "; ".join(f"× {gain.value:.1f}, {gain.low:.1f}–{gain.high:.1f}" for gain in gains)


def scaling_sections(event: Event, pools: Sequence[Pool]) -> list[Section]:
    """Return the section about bots at several clocks, if there are any."""
    blocks: list[DocumentBlock] = []
    for pool in pools:
        if curves := scalings(event, pool):
            names = [curve.entrant for curve in curves]
            blocks.append(Figure(macro="scaling", value=(scaling_chart(curves, pool), names)))
            blocks += [block for curve in curves for block in _scaling_blocks(curve)]
    return [Section("Elo against time", blocks, id="scaling")] if blocks else []


def _scaling_blocks(scaling: Scaling) -> Iterator[DocumentBlock]:
    yield Paragraph(doubling_text(scaling))
    columns = [Column("bot", "name"), Column("a question")]
    columns += [Column("Elo", detail="±"), Column("gain", detail="±"), Column("fouls")]
    rows = [
        (
            Cell(point.name, href=link_to_games(point.name)),
            point.time,
            elo_of(point).cell(),
            Estimate(point.gain, point.gain_half_width).cell(),
            Cell(f"{point.fouls}", href="#fouls" if point.fouls else ""),
        )
        for point in scaling.points
    ]
    yield to_table(f"Elo of {scaling.entrant} against time", columns, rows)


def doubling_text(scaling: Scaling) -> str:
    """Return in a sentence or two what more time is worth to a bot."""
    late = [
        f"{row.name} {count_in_digits(row.fouls, 'game')}" for row in scaling.points if row.fouls
    ]
    fouled = f" Lost by fouls: {join_words(late)}." if late else ""
    if scaling.doubling is None or scaling.doubling_half_width is None:
        sentence = f"The results do not say what more time is worth to {scaling.entrant}."
        return sentence + fouled
    first, *_, last = (point for point in scaling.points if not point.bound)
    worth = f"{Estimate(scaling.doubling, scaling.doubling_half_width).text()} Elo"
    is_certain = abs(scaling.doubling) > scaling.doubling_half_width
    return (
        f"From {first.time} to {last.time} a doubling of the time is "
        f"worth {worth} to {scaling.entrant} on average (95 %)"
        f"{'' if is_certain else ', so it may be worth nothing'}.{fouled}"
    )
