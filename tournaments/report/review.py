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
from arena.files import DamagedFileError, read_file
from arena.logs.catalog import replay_address
from arena.rules.english import join_words
from arena.valuation.terms import MORE, Kind, RoundPhase
from protocol.codec import DamagedRecordError, decode_json, indented_json
from tournaments.event.folder import Folder
from tournaments.event.luck import DecisionLoss, ReviewTerms, SeatLosses
from tournaments.rating.statistics import Error, Estimate
from tournaments.report.charts import link_to_games

PHASES: tuple[str, ...] = get_args(RoundPhase)
"""The parts of a round, in order."""
KINDS: tuple[str, ...] = get_args(Kind)
"""The kinds of choices."""
DEAREST = 10
"""Decisions that are named one by one."""


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

    def add(self, one: DecisionLoss) -> None:
        self.decisions += 1
        self.best += one.choice == one.best
        self.loss += one.loss
        self.percent_loss += one.percent_loss


ALL = ("", "")
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
        for one in seat.decisions:
            for key in (ALL, ("phase", one.phase), ("kind", one.kind)):
                self.parts[key][seat.board].add(one)
        where = seat.game, seat.seat, seat.entrant
        self.dearest += [
            DearDecision(
                *(*where, one.number, one.at, one.round, one.phase, one.kind),
                *(one.chosen, one.better, _fine(one.gap), one.error, one.percent_gap),
            )
            for one in seat.decisions
            if one.gap > 0
        ]
        once: dict[object, DearDecision] = {}
        self.dearest.sort(key=lambda one: (one.error - one.gap, one.game, one.seat, one.number))
        for named in self.dearest:
            once.setdefault(_position(named), named)
        self.dearest = [*once.values()][:DEAREST]

    def review(self) -> EntrantReview:
        named = {
            title: {
                name: self._sums((title, name)) for name in names if (title, name) in self.parts
            }
            for title, names in (("phase", PHASES), ("kind", KINDS))
        }
        return EntrantReview(
            entrant=self.name,
            games=len(self.games),
            boards=len(self.rounds),
            rounds=sum(self.rounds.values()),
            total=self._sums(ALL),
            phases=named["phase"],
            kinds=named["kind"],
            dearest=tuple(sorted(self.dearest, key=lambda one: -one.gap)),
        )

    def _sums(self, key: tuple[str, str]) -> PartSums:
        by_board = self.parts[key]
        parts = [by_board[board] for board in self.rounds]
        losses = [part.loss for part in parts]
        decisions = [part.decisions for part in parts]
        many = sum(decisions)
        return PartSums(
            decisions=many,
            best=_fine(sum(part.best for part in parts) / many) if many else 1.0,
            loss=ratio(losses, decisions),
            round_loss=ratio(losses, [*self.rounds.values()]),
            percent_loss=ratio([part.percent_loss for part in parts], decisions),
        )


def _position(one: DearDecision) -> tuple[object, ...]:
    """Return what decisions share that a bot took alike in several games of a board."""
    board = one.game.partition(".")[0]
    return board, one.round, one.chosen, one.better, one.gap, one.error


D = TypeVar("D", DearDecision, DecisionLoss)


def pick_dearest(found: Iterable[D], most: int = DEAREST) -> list[D]:
    """Return the decisions that cost the most for certain, by their gap."""
    # Of two gaps the one that may be chance counts less.
    certain = sorted(found, key=lambda one: one.error - one.gap)[:most]
    return sorted(certain, key=lambda one: -one.gap)


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
    many = 0
    for seat in seats:
        many += 1
        games.add(seat.game)
        board = first_board_of.get(seat.board, seat.board)
        bots.setdefault(seat.entrant, _Bot(seat.entrant)).add(replace(seat, board=board))
    told = [one.review() for one in bots.values()]
    return ReviewSummary(
        terms=terms,
        seats=many,
        games=len(games),
        entrants=tuple(sorted(told, key=lambda one: (one.total.loss.mean, one.entrant))),
    )


def ratio(values: Sequence[float], counts: Sequence[int]) -> MeanLoss:
    """Return a mean by boards, of which each has a sum of values and a count of them.

    The standard error is that of a ratio of sums over independent boards.
    """
    boards, many = len(counts), sum(counts)
    if not many:
        return MeanLoss(0.0, None)
    mean = sum(values) / many
    misfit = sum((value - mean * count) ** 2 for value, count in zip(values, counts, strict=True))
    if boards < 2:
        return MeanLoss(_fine(mean), None)
    size = sqrt(boards / (boards - 1) * misfit) / many
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


def review_section(summary: ReviewSummary, played: int) -> Section:
    """Return the section of an event's report; `played` is the number of seats of all games."""
    blocks: list[Block] = [*review_blocks(summary, played)]
    several = [one for one in summary.entrants if one.dearest] if len(summary.entrants) > 1 else []
    for one in several:
        dear = [dearest_table(one.dearest, f"Dearest decisions of {one.entrant}")]
        blocks.append(Section(f"Dearest of {one.entrant}", dear, media=Media.HTML, folded=True))
    blocks.append(Paragraph(explanation(summary), "faint"))
    return Section("Decisions", blocks, id="decisions", media=Media.FILES)


def review_blocks(summary: ReviewSummary, played: int, own: str | None = None) -> Iterator[Block]:
    """Yield the sums of a review and its dearest decisions; `own`: the reader's bot."""
    if not summary.entrants:
        yield Paragraph("No decision between several options was reviewed.")
        return
    yield Paragraph(" ".join(loss_sentences(summary, own)))
    if summary.seats < played:
        yield Paragraph(
            f"Reviewed: {summary.seats:,} of {played:,} seats. `report --review` adds the others.",
            "faint",
        )
    yield loss_table(summary.entrants)
    yield from _part_tables(summary.entrants)
    if dear := dearest(summary):
        yield Paragraph("The decisions that cost the most:")
        yield dearest_table(dear, "Dearest decisions")


def dearest(summary: ReviewSummary) -> list[DearDecision]:
    """Return the dearest decisions of all bots."""
    found = [one for bot in summary.entrants for one in bot.dearest]
    return pick_dearest(found)


# --- sentences ---


def loss_sentences(summary: ReviewSummary, own: str | None = None) -> Iterator[str]:
    """Yield a sentence or two about the bots' losses, the reader's own bot first."""
    first, *others = sorted(summary.entrants, key=lambda one: one.entrant != own)
    named = others[: MOST_NAMED - 1]
    lost = first.total.loss.estimate.text(2, "")
    least = ", the least" if all(_apart(first, one) for one in others) and others else ""
    yield (
        f"{first.entrant} lost {lost} points a decision by its choices"
        f"{_mostly(first)}{least}; {100 * first.total.best:.0f} % of its answers have the highest "
        "value (a perfect player's would not all: values err)."
    )
    if named:
        each = [f"{one.entrant} lost {_points(one)}{_mostly(one)}" for one in named]
        more = f", and {len(others) - len(named)} more lost more" * (len(others) > len(named))
        yield f"{join_words(each)}{more}."


def _apart(less: EntrantReview, more: EntrantReview) -> bool:
    """Tell whether the intervals of two losses do not touch."""
    low, high = less.total.loss, more.total.loss
    if low.half_width is None or high.half_width is None:
        return False
    return low.estimate.high < high.estimate.low


def _mostly(one: EntrantReview) -> str:
    """Say in which part of the round a bot lost the most, if it lost anything for certain."""
    total = one.total.loss
    if total.mean <= (total.half_width or 0) or len(one.phases) < 2:
        return ""
    name = max(one.phases, key=lambda phase: one.phases[phase].round_loss.mean)
    return f" (most of it {WHERE[name]})"


def _points(one: EntrantReview) -> str:
    return one.total.loss.estimate.cell(2, "").text


def explanation(summary: ReviewSummary) -> str:
    """Return how decisions are valued, and where more is to be found."""
    terms = summary.terms
    return (
        f"Values: the mean over {terms.worlds} deals of the hidden tiles, or for decisions that "
        f"look dear over {MORE * terms.worlds} others, played on by a keen player. How to read "
        "them: `boneyard help events`. `boneyard explain . GAME --review` shows the decisions of a "
        "game, `review.csv` has all."
    )


# --- tables ---


def loss_table(bots: Sequence[EntrantReview]) -> Table:
    """Return the losses of all bots, the least first."""
    columns = [Column("bot", "name"), Column("a decision", detail="±")]
    columns += [Column(title, detail="±") for title in ("a round", "game %")]
    columns += map(Column, ("best %", "decisions"))
    columns += [Column(title, spare=True) for title in ("rounds", "games")]
    rows: list[Sequence[str | Cell]] = [
        (
            Cell(one.entrant, href=link_to_games(one.entrant)),
            one.total.loss.estimate.cell(2, ""),
            one.total.round_loss.estimate.cell(1, ""),
            one.total.percent_loss.estimate.cell(2, ""),
            f"{100 * one.total.best:.1f}",
            *(f"{number:,}" for number in (one.total.decisions, one.rounds, one.games)),
        )
        for one in bots
    ]
    return table("Points lost by choices", columns, rows)


def _part_tables(bots: Sequence[EntrantReview]) -> Iterator[Block]:
    for by, caption, all_names, parts in (
        ("part of the round", "part of the round", PHASES, [one.phases for one in bots]),
        ("kind of the choice", "kind of choice", KINDS, [one.kinds for one in bots]),
    ):
        names = [name for name in all_names if any(name in own for own in parts)]
        if len(names) > 1 or all_names is PHASES:
            yield Paragraph(f"Points lost a round, by the {by}:")
            columns = [Column("bot", "name")]
            columns += [Column(KIND_HEADS.get(name, name), detail="±") for name in names]
            rows: list[Sequence[str | Cell]] = [
                (one.entrant, *(_part(own.get(name)) for name in names))
                for one, own in zip(bots, parts, strict=True)
            ]
            yield table(f"Loss by {caption}", columns, rows)


def _part(sums: PartSums | None) -> Cell:
    return sums.round_loss.estimate.cell(2, "") if sums else Cell(UNKNOWN)


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
            Cell(one.game, href=f"{replay_address(one.game)}&at={one.at}"),
            *(Estimate(one.gap, 2 * one.error or None).cell(1, ""), f"{one.percent_gap:.0f}"),
            *(one.chosen, one.better, one.entrant, f"{one.number}", f"{one.round}", one.phase),
        )
        for one in decisions
    ]
    return table(caption, columns, rows)
