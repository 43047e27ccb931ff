"""Sums of a review, and its files: the loss of each bot by its choices, with intervals.

Decisions of one board are not independent: the same deals come back in every rotation. So the
intervals treat whole boards as independent, as those of the ratings do.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from types import MappingProxyType
from typing import TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from arena.document.blocks import (
    UNKNOWN_CELL,
    Cell,
    Column,
    DocumentBlock,
    Media,
    Paragraph,
    Section,
    Table,
    table,
)
from arena.files import DamagedFileError, read_file
from arena.logs.catalog import replay_address
from arena.rules.english import join_words
from arena.valuation.terms import MORE, ChoiceKind, RoundPhase
from protocol.codec import DamagedRecordError, decode_json, indented_json
from tournaments.event.folder import Folder
from tournaments.event.luck import DecisionLoss, ReviewTerms, SeatLosses
from tournaments.rating.statistics import Error, Estimate
from tournaments.report.charts import link_to_games

PHASES: tuple[str, ...] = get_args(RoundPhase)
"""The parts of a round, in order."""
CHOICE_KINDS: tuple[str, ...] = get_args(ChoiceKind)
"""The kinds of choices."""
DEAR_DECISIONS_NAMED = 10
"""The most decisions that are named one by one."""


class MeanLoss(Struct, frozen=True):
    """A mean with its 95 % interval."""

    mean: float
    half_width: float | None
    """Half the width of the interval; null with a single board."""

    @property
    def estimate(self) -> Estimate:
        """The mean as it is written."""
        return Estimate(self.mean, self.half_width)


class PartSums(Struct, frozen=True):
    """The decisions of one phase or kind."""

    decisions: int
    """Decisions between several options."""
    best: float
    """Share of them in which the chosen option was the best."""
    loss: MeanLoss
    """Loss a decision, in points."""
    round_loss: MeanLoss
    """Loss a round, in points: the parts add up to that of all decisions."""
    percent_loss: MeanLoss
    """Loss a decision, in percent of the game."""


class DearDecision(Struct, frozen=True):
    """A decision that cost much."""

    game: str
    seat: int
    entrant: str
    number: int
    """The question's number among those to this seat in the game, from 1."""
    at: int
    """Its moment in the replay, from 0."""
    round: int
    phase: str
    kind: str
    chosen: str
    better: str
    gap: float
    """The value of the best option less that of the chosen one, in points: it is for single
    decisions, a loss for means."""
    error: float
    """The standard error of the gap, in points."""
    percent_gap: float
    """The gap in percent of the game; near the target it may be below 0."""


class EntrantReview(Struct, frozen=True, kw_only=True):
    """The review of one entrant."""

    entrant: str
    games: int
    boards: int
    rounds: int
    total: PartSums
    """All its decisions between several options."""
    phases: dict[str, PartSums]
    """Its decisions by the part of the round."""
    kinds: dict[str, PartSums]
    """Its decisions by the kind of the choice."""
    dearest: tuple[DearDecision, ...]
    """The decisions that cost the most for certain (gap less error), by their gap; one that the
    bot took alike in several games of a board stands there once."""


class ReviewSummary(Struct, frozen=True, kw_only=True):
    """The content of review.json."""

    terms: ReviewTerms
    """The way in which decisions are valued."""
    seats: int
    """Reviewed seats: lines of review.jsonl after the first."""
    games: int
    """Games of which at least one seat was reviewed."""
    entrants: tuple[EntrantReview, ...]


class _Part:
    """Sums of decisions."""

    def __init__(self) -> None:
        self.decisions = self.best = 0
        self.loss = self.percent_loss = 0.0

    def add(self, decision: DecisionLoss) -> None:
        self.decisions += 1
        self.best += decision.choice == decision.best
        self.loss += decision.loss
        self.percent_loss += decision.percent_loss


WHOLE_REVIEW = ("", "")
"""The part that has all decisions."""


class _Bot:
    """Sums of one bot, by board."""

    def __init__(self, name: str) -> None:
        self.name, self.games = name, set[str]()
        self.rounds: defaultdict[int, int] = defaultdict(int)
        self.parts: defaultdict[tuple[str, str], defaultdict[int, _Part]] = defaultdict(
            lambda: defaultdict(_Part)
        )
        self.dearest: list[DearDecision] = []

    def add(self, seat: SeatLosses) -> None:
        self.games.add(seat.game)
        self.rounds[seat.board] += seat.rounds
        for loss in seat.decisions:
            for key in (WHOLE_REVIEW, ("phase", loss.phase), ("kind", loss.kind)):
                self.parts[key][seat.board].add(loss)
        place = seat.game, seat.seat, seat.entrant
        self.dearest += [
            DearDecision(
                *(*place, loss.number, loss.at, loss.round, loss.phase, loss.kind),
                *(loss.chosen, loss.better, _fine(loss.gap), loss.error, loss.percent_gap),
            )
            for loss in seat.decisions
            if loss.gap > 0
        ]
        by_position: dict[object, DearDecision] = {}
        self.dearest.sort(key=lambda row: (row.error - row.gap, row.game, row.seat, row.number))
        for decision in self.dearest:
            by_position.setdefault(_position(decision), decision)
        self.dearest = [*by_position.values()][:DEAR_DECISIONS_NAMED]

    def review(self) -> EntrantReview:
        sums = {
            title: {
                name: self._sums((title, name)) for name in names if (title, name) in self.parts
            }
            for title, names in (("phase", PHASES), ("kind", CHOICE_KINDS))
        }
        return EntrantReview(
            entrant=self.name,
            games=len(self.games),
            boards=len(self.rounds),
            rounds=sum(self.rounds.values()),
            total=self._sums(WHOLE_REVIEW),
            phases=sums["phase"],
            kinds=sums["kind"],
            dearest=tuple(sorted(self.dearest, key=lambda decision: -decision.gap)),
        )

    def _sums(self, key: tuple[str, str]) -> PartSums:
        by_board = self.parts[key]
        parts = [by_board[board] for board in self.rounds]
        losses = [part.loss for part in parts]
        decisions = [part.decisions for part in parts]
        total = sum(decisions)
        return PartSums(
            decisions=total,
            best=_fine(sum(part.best for part in parts) / total) if total else 1.0,
            loss=ratio(losses, decisions),
            round_loss=ratio(losses, [*self.rounds.values()]),
            percent_loss=ratio([part.percent_loss for part in parts], decisions),
        )


def _position(decision: DearDecision) -> tuple[object, ...]:
    """Return what decisions share that a bot took alike in several games of a board."""
    board = decision.game.partition(".")[0]
    return board, decision.round, decision.chosen, decision.better, decision.gap, decision.error


D = TypeVar("D", DearDecision, DecisionLoss)


def pick_dearest(decisions: Iterable[D], most: int = DEAR_DECISIONS_NAMED) -> list[D]:
    """Return the decisions that cost the most for certain, by their gap."""
    # Of two gaps the one that may be chance counts less.
    certain = sorted(decisions, key=lambda decision: decision.error - decision.gap)[:most]
    return sorted(certain, key=lambda decision: -decision.gap)


def summarize_review(
    terms: ReviewTerms,
    seats: Iterable[SeatLosses],
    first_board_of: Mapping[int, int] = MappingProxyType({}),
) -> ReviewSummary:
    """Sum up reviewed seats.

    `first_board_of`: for each board that repeats a deal the first board that has it.
    """
    bots: dict[str, _Bot] = {}
    games: set[str] = set()
    count = 0
    for seat in seats:
        count += 1
        games.add(seat.game)
        board = first_board_of.get(seat.board, seat.board)
        bots.setdefault(seat.entrant, _Bot(seat.entrant)).add(replace(seat, board=board))
    reviews = [bot.review() for bot in bots.values()]
    return ReviewSummary(
        terms=terms,
        seats=count,
        games=len(games),
        entrants=tuple(sorted(reviews, key=lambda r: (r.total.loss.mean, r.entrant))),
    )


def ratio(values: Sequence[float], counts: Sequence[int]) -> MeanLoss:
    """Return a mean by boards, of which each has a sum of values and a count of them.

    The standard error is that of a ratio of sums over independent boards.
    """
    boards, total = len(counts), sum(counts)
    if not total:
        return MeanLoss(0.0, None)
    mean = sum(values) / total
    misfit = sum((value - mean * count) ** 2 for value, count in zip(values, counts, strict=True))
    if boards < 2:
        return MeanLoss(_fine(mean), None)
    size = sqrt(boards / (boards - 1) * misfit) / total
    return MeanLoss(_fine(mean), _fine(Error(size, boards - 1).half_width()))


def _fine(value: float) -> float:
    return round(value, 6)


def read_summary(folder: Folder) -> ReviewSummary | None:
    """Return the sums of an event's review; None if there is none. Raises DamagedFileError."""
    if not folder.review.exists():
        return None
    try:
        return decode_json(read_file(folder.review), ReviewSummary)
    except DamagedRecordError as error:
        raise DamagedFileError(
            f"{folder.review}: {error}. Remove the file: `boneyard explain --review` makes it again"
        ) from error


def summary_json(summary: ReviewSummary) -> Iterator[bytes]:
    """Yield the content of review.json."""
    yield indented_json(summary)
    yield b"\n"


PHASE_WORDS = {
    "lead": "with the lead",
    "early": "before the first draw",
    "draws": "after the first draw",
    "endgame": "in the endgame",
}
"""The parts of a round in a sentence."""
PART_HEADS = {"draw_although_able": "draw by choice", "draws": "after draws"}
"""Heads of columns that are not the kind or the phase itself."""
TERMS = (
    "Points lost by choices. Game %: the chance to win that a decision cost; best %: answers with "
    "the highest value:"
)
"""The meaning of the columns of losses."""
MOST_BOTS_NAMED = 4
"""Bots that a sentence names."""


def review_section(summary: ReviewSummary, played: int) -> Section:
    """Return the section of an event's report; `played` is the number of seats of all games."""
    blocks: list[DocumentBlock] = [*review_blocks(summary, played)]
    several = [r for r in summary.entrants if r.dearest] if len(summary.entrants) > 1 else []
    for review in several:
        dear = [dearest_table(review.dearest, f"Dearest decisions of {review.entrant}")]
        blocks.append(Section(f"Dearest of {review.entrant}", dear, media=Media.HTML, folded=True))
    blocks.append(Paragraph(explanation(summary), "faint"))
    return Section("Decisions", blocks, id="decisions", media=Media.FILES)


def review_blocks(
    summary: ReviewSummary, played: int, reader: str | None = None
) -> Iterator[DocumentBlock]:
    """Yield the sums of a review and its dearest decisions; `reader`: the reader's bot."""
    if not summary.entrants:
        yield Paragraph("No decision between several options was reviewed.")
        return
    yield Paragraph(" ".join(loss_sentences(summary, reader)))
    if summary.seats < played:
        yield Paragraph(
            f"Reviewed: {summary.seats:,} of {played:,} seats. `report --review` adds the others.",
            "faint",
        )
    yield Paragraph(TERMS)
    yield loss_table(summary.entrants)
    yield from _part_tables(summary.entrants)
    if dear := dearest(summary):
        yield Paragraph("The decisions that cost the most:")
        yield dearest_table(dear, "Dearest decisions")


def dearest(summary: ReviewSummary) -> list[DearDecision]:
    """Return the dearest decisions of all bots."""
    decisions = [decision for review in summary.entrants for decision in review.dearest]
    return pick_dearest(decisions)


# --- sentences ---


def loss_sentences(summary: ReviewSummary, reader: str | None = None) -> Iterator[str]:
    """Yield a sentence or two about the bots' losses, the reader's own bot first."""
    first, *others = sorted(summary.entrants, key=lambda review: review.entrant != reader)
    rest = others[: MOST_BOTS_NAMED - 1]
    loss = first.total.loss.estimate.text(2, "")
    least = ", the least" if all(_is_apart(first, other) for other in others) and others else ""
    yield (
        f"{first.entrant} lost {loss} points a decision by its choices"
        f"{_mostly(first)}{least}; {100 * first.total.best:.0f} % of its answers have the highest "
        "value (not all of a perfect player's would: values err)."
    )
    if rest:
        each = [f"{review.entrant} lost {_points(review)}{_mostly(review)}" for review in rest]
        more = f", and {len(others) - len(rest)} more lost more" if len(others) > len(rest) else ""
        yield f"{join_words(each)}{more}."


def _is_apart(less: EntrantReview, more: EntrantReview) -> bool:
    """Tell whether the intervals of two losses do not touch."""
    low, high = less.total.loss, more.total.loss
    if low.half_width is None or high.half_width is None:
        return False
    return low.estimate.high < high.estimate.low


def _mostly(review: EntrantReview) -> str:
    """Say in which part of the round a bot lost the most, if it lost anything for certain."""
    total = review.total.loss
    if total.mean <= (total.half_width or 0) or len(review.phases) < 2:
        return ""
    name = max(review.phases, key=lambda phase: review.phases[phase].round_loss.mean)
    return f" (most of it {PHASE_WORDS[name]})"


def _points(review: EntrantReview) -> str:
    return review.total.loss.estimate.cell(2, "").text


def explanation(summary: ReviewSummary) -> str:
    """Return how decisions are valued, and where more is to be found."""
    terms = summary.terms
    return (
        f"Values: means over {terms.worlds} deals of the hidden tiles, for decisions that look "
        f"dear over {MORE * terms.worlds} others; a simple bot (heavy tiles first) plays on. How "
        "to read them: `boneyard help events`. `boneyard explain . GAME --review` shows the "
        "decisions of a game, `review.csv` has all."
    )


# --- tables ---


def loss_table(reviews: Sequence[EntrantReview]) -> Table:
    """Return the losses of all bots, the least first."""
    columns = [Column("bot", "name"), Column("a decision", detail="±")]
    columns += [Column(title, detail="±") for title in ("a round", "game %")]
    columns += map(Column, ("best %", "decisions"))
    columns += [Column(title, spare=True) for title in ("rounds", "games")]
    rows: list[Sequence[str | Cell]] = [
        (
            Cell(review.entrant, href=link_to_games(review.entrant)),
            review.total.loss.estimate.cell(2, ""),
            review.total.round_loss.estimate.cell(1, ""),
            review.total.percent_loss.estimate.cell(2, ""),
            f"{100 * review.total.best:.1f}",
            *(f"{number:,}" for number in (review.total.decisions, review.rounds, review.games)),
        )
        for review in reviews
    ]
    return table("Points lost by choices", columns, rows)


def _part_tables(reviews: Sequence[EntrantReview]) -> Iterator[DocumentBlock]:
    for part_name, caption, all_names, parts in (
        ("part of the round", "part of the round", PHASES, [review.phases for review in reviews]),
        (
            "kind of the choice",
            "kind of choice",
            CHOICE_KINDS,
            [review.kinds for review in reviews],
        ),
    ):
        names = [name for name in all_names if any(name in sums for sums in parts)]
        if len(names) > 1 or all_names is PHASES:
            yield Paragraph(f"Points lost a round, by the {part_name}:")
            columns = [Column("bot", "name")]
            columns += [Column(PART_HEADS.get(name, name), detail="±") for name in names]
            rows: list[Sequence[str | Cell]] = [
                (review.entrant, *(_part(sums.get(name)) for name in names))
                for review, sums in zip(reviews, parts, strict=True)
            ]
            yield table(f"Loss by {caption}", columns, rows)


def _part(sums: PartSums | None) -> Cell:
    return sums.round_loss.estimate.cell(2, "") if sums else Cell(UNKNOWN_CELL)


def dearest_table(decisions: Sequence[DearDecision], caption: str) -> Table:
    """Return decisions with links to their moments in the replays."""
    columns = [Column("game", "name"), Column("points", detail="±"), Column("game %")]
    columns += [Column("choice", "word"), Column("better", "word"), Column("bot", "name")]
    columns += [
        Column("question"),
        Column("round", spare=True),
        Column("phase", "word", spare=True),
    ]
    rows = [
        (
            Cell(row.game, href=f"{replay_address(row.game)}&at={row.at}"),
            *(Estimate(row.gap, 2 * row.error or None).cell(1, ""), f"{row.percent_gap:.0f}"),
            *(row.chosen, row.better, row.entrant, f"{row.number}", f"{row.round}"),
            PART_HEADS.get(row.phase, row.phase),
        )
        for row in decisions
    ]
    return table(caption, columns, rows)
