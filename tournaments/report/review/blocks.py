"""The review of an event's decisions as blocks of a report. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Cell,
    Column,
    Media,
    Paragraph,
    Section,
    Table,
    table,
)
from arena.rules.english import join_words
from tournaments.report.html.game_list import link_to_games
from tournaments.report.review.sums import (
    DEAREST,
    KINDS,
    PHASES,
    DearDecision,
    EntrantReview,
    Estimate,
    PartSums,
    ReviewSummary,
    certain_loss,
)

WHERE = {
    "lead": "with the lead",
    "early": "before the first draw",
    "draws": "after the first draw",
    "endgame": "in the endgame",
}
"""The parts of a round in a sentence."""
KIND_HEADS = {"draw_although_able": "draw by choice"}
"""Heads of columns that are not the kind itself."""
MOST_NAMED = 4
"""Bots that a sentence names."""
PLAYERS = {
    "plain": "the plain player, who plays the heaviest tile",
    "keen": "the keen player, who also looks at what will fit next",
}
"""Players in words."""


def review_section(summary: ReviewSummary, played: int, replays: Mapping[str, str]) -> Section:
    """Return the section of an event's report; `played` is the number of seats of all games."""
    blocks: list[Block] = [*review_blocks(summary, played, replays)]
    several = [one for one in summary.entrants if one.dearest] if len(summary.entrants) > 1 else []
    for one in several:
        dear = [dearest_table(one.dearest, replays, f"Dearest decisions of {one.entrant}")]
        blocks.append(Section(f"Dearest of {one.entrant}", dear, media=Media.HTML, folded=True))
    explained: list[Block] = [Paragraph(text, "faint") for text in explanation(summary)]
    blocks.append(Section("How to read the review", explained, titled=Media.HTML, folded=True))
    return Section("Decisions", blocks, id="decisions", media=Media.FILES)


def review_blocks(
    summary: ReviewSummary,
    played: int,
    replays: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Block]:
    """Yield the sums of a review and its dearest decisions."""
    if not summary.entrants:
        yield Paragraph("No decision between several options was reviewed.")
        return
    yield Paragraph(" ".join(loss_sentences(summary)))
    if summary.seats < played:
        yield Paragraph(
            f"Reviewed: {summary.seats:,} of {played:,} seats. `report --review` adds the others.",
            "faint",
        )
    yield loss_table(summary.entrants)
    yield from _part_tables(summary.entrants)
    dear = dearest(summary)
    if dear:
        title = Paragraph("The decisions that cost the most:")
        yield title
        yield dearest_table(dear, replays, "Dearest decisions")


def dearest(summary: ReviewSummary) -> list[DearDecision]:
    """Return the dearest decisions of all bots."""
    found = [one for bot in summary.entrants for one in bot.dearest]
    certain = sorted(found, key=lambda one: -certain_loss(one.gap, one.error))[:DEAREST]
    return sorted(certain, key=lambda one: -one.loss)


# --- sentences ---


def loss_sentences(summary: ReviewSummary) -> Iterator[str]:
    """Yield a sentence or two about the bots' losses."""
    first, *others = summary.entrants
    named = others[: MOST_NAMED - 1]
    width = first.total.round_loss.half_width
    within = "" if width is None else f" ± {width:.1f}"
    least = ", the least" if others and _apart(first, others[0]) else ""
    yield (
        f"{first.entrant} lost {_points(first.total)}{within} points a round by its choices"
        f"{_mostly(first)}{least}; {100 * first.total.best:.0f} % of its answers were the best."
    )
    if named:
        each = [f"{one.entrant} lost {_points(one.total)}{_mostly(one)}" for one in named]
        more = f", and {len(others) - len(named)} more lost more" * (len(others) > len(named))
        yield f"{join_words(each)}{more}."


def _apart(less: EntrantReview, more: EntrantReview) -> bool:
    """Tell whether the intervals of two losses a round do not touch."""
    low, high = less.total.round_loss, more.total.round_loss
    if low.half_width is None or high.half_width is None:
        return False
    return low.mean + low.half_width < high.mean - high.half_width


def _mostly(one: EntrantReview) -> str:
    """Say in which part of the round a bot lost the most, if it lost anything for certain."""
    total = one.total.round_loss
    if total.mean <= (total.half_width or 0) or len(one.phases) < 2:
        return ""
    name = max(one.phases, key=lambda phase: one.phases[phase].round_loss.mean)
    return f" ({_points(one.phases[name])} {WHERE[name]})"


def _points(sums: PartSums) -> str:
    return _number(sums.round_loss.mean, 1)


def _number(value: float, digits: int) -> str:
    """Write a number; a loss that rounds to 0 has no sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def explanation(summary: ReviewSummary) -> Iterator[str]:
    """Yield what the numbers mean."""
    terms = summary.terms
    yield (
        f"An option's value is the lead that it brings by the round's end, in points: the mean "
        f"over {terms.worlds} deals of the hidden tiles that the bot could not tell from the real "
        f"one, each played on by {PLAYERS.get(terms.by, terms.by)}. A choice's loss is the value "
        "of the best option less that of the chosen one; each eighth of the deals measures it "
        "against the option that the others find best, so that chance makes no loss; against a bot "
        "that chooses better than so few deals can tell, a loss is below 0. Only questions with "
        "several options count. Where all tiles are known and few are left, values are exact, and "
        "such a loss has no error."
    )
    yield (
        "± is half a 95 % interval: for means boards are independent, for a single loss deals. "
        "Values are those of a reference player: an option that only pays with a plan may be worth "
        "more than it says."
    )
    yield (
        "`review.json` has these sums, `review.csv` a line for each decision, `review.jsonl` all "
        "values. `boneyard explain . GAME --review` shows the decisions of a game, `boneyard "
        "explain . GAME QUESTION --seat BOT` shows one."
    )


# --- tables ---


def loss_table(bots: Sequence[EntrantReview]) -> Table:
    """Return the losses of all bots, the least first."""
    columns = [
        Column("bot", "name"),
        Column("a round", detail="±"),
        Column("a decision", detail="±"),
        Column("best %"),
        Column("decisions"),
        Column("rounds", spare=True),
        Column("games", spare=True),
    ]
    rows: list[Sequence[str | Cell]] = [
        (
            Cell(one.entrant, href=link_to_games(one.entrant)),
            _estimate(one.total.round_loss, 1),
            _estimate(one.total.loss, 2),
            f"{100 * one.total.best:.1f}",
            *(f"{number:,}" for number in (one.total.decisions, one.rounds, one.games)),
        )
        for one in bots
    ]
    return table("Points lost by choices", columns, rows)


def _part_tables(bots: Sequence[EntrantReview]) -> Iterator[Block]:
    phases = [name for name in PHASES if any(name in one.phases for one in bots)]
    kinds = [name for name in KINDS if any(name in one.kinds for one in bots)]
    yield Paragraph("Points lost a round, by the part of the round:")
    yield _part_table("Loss by part of the round", bots, phases, lambda one: one.phases)
    if len(kinds) > 1:
        yield Paragraph("Points lost a round, by the kind of the choice:")
        yield _part_table("Loss by kind of choice", bots, kinds, lambda one: one.kinds)


def _part_table(
    caption: str,
    bots: Sequence[EntrantReview],
    names: Iterable[str],
    parts: Callable[[EntrantReview], Mapping[str, PartSums]],
) -> Table:
    names = [*names]
    columns = [
        Column("bot", "name"),
        *(Column(KIND_HEADS.get(name, name), detail="±") for name in names),
    ]
    rows: list[Sequence[str | Cell]] = [
        (one.entrant, *(_part(parts(one).get(name)) for name in names)) for one in bots
    ]
    return table(caption, columns, rows)


def _part(sums: PartSums | None) -> Cell:
    return _estimate(sums.round_loss, 2) if sums else Cell(UNKNOWN)


def _estimate(one: Estimate, digits: int) -> Cell:
    detail = "" if one.half_width is None else f"{one.half_width:.{digits}f}"
    return Cell(_number(one.mean, digits), detail=detail)


def dearest_table(
    decisions: Sequence[DearDecision],
    replays: Mapping[str, str] = MappingProxyType({}),
    caption: str = "",
) -> Table:
    """Return decisions with links to their moments in the replays."""
    columns = [
        Column("game", "name"),
        Column("loss", detail="±"),
        Column("choice", "word"),
        Column("better", "word"),
        Column("bot", "name"),
        Column("question"),
        Column("round", spare=True),
        Column("phase", "word", spare=True),
    ]
    rows = [
        (
            Cell(one.game, href=_link(one, replays)),
            Cell(f"{one.loss:.1f}", detail=f"{2 * one.error:.1f}" if one.error else ""),
            *(one.chosen, one.better, one.entrant, f"{one.number}", f"{one.round}", one.phase),
        )
        for one in decisions
    ]
    return table(caption, columns, rows)


def _link(one: DearDecision, replays: Mapping[str, str]) -> str:
    address = replays.get(one.game)
    return f"{address}&at={one.at}" if address else ""
