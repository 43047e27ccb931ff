"""Sums of a review: the loss of each bot by its choices, with intervals. Pure.

Decisions of one board are not independent: the same deals come back in every rotation. So the
intervals treat whole boards as independent, as those of the ratings do.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt

from msgspec import Struct

from tournaments.storage.review_log import DecisionLoss, ReviewTerms, SeatReview

PHASES = ("lead", "early", "draws", "endgame")
"""The parts of a round, in order."""
KINDS = ("play", "draw_although_able", "draw", "pass", "call", "bid", "other")
"""The kinds of choices."""
DEAREST = 10
"""Decisions that are named one by one."""


class Estimate(Struct, frozen=True):
    """A mean with its 95 % interval."""

    mean: float
    half_width: float | None
    """Half the width of the interval; null with a single board."""


class PartSums(Struct, frozen=True):
    """The decisions of one phase or kind."""

    decisions: int
    """Decisions between several options."""
    best: float
    """Share of them in which the chosen option was the best."""
    loss: Estimate
    """Loss a decision, in points."""
    round_loss: Estimate
    """Loss a round, in points: the parts add up to that of all decisions."""


class DearDecision(Struct, frozen=True):
    """A decision that cost much."""

    game: str
    """The game's name."""
    seat: int
    entrant: str
    """The entrant in this seat."""
    number: int
    """The question's number among those to this seat in the game, from 1."""
    at: int
    """Its moment in the replay, from 0."""
    round: int
    """The round's number, from 1."""
    phase: str
    """The part of the round."""
    kind: str
    """The kind of the choice."""
    chosen: str
    """The chosen option."""
    better: str
    """The best option."""
    loss: float
    """The cost of the choice, in points."""
    error: float
    """The standard error of the loss, in points."""
    gap: float
    """The value of the best option less that of the chosen one, in points: less sure than `loss` to
    be right in the mean, but of two decisions it tells better which one cost more."""


class EntrantReview(Struct, frozen=True, kw_only=True):
    """The review of one entrant."""

    entrant: str
    games: int
    """Games of it that were reviewed."""
    boards: int
    """The boards of these games."""
    rounds: int
    """The rounds of these games."""
    total: PartSums
    """All its decisions between several options."""
    phases: dict[str, PartSums]
    """Its decisions by the part of the round."""
    kinds: dict[str, PartSums]
    """Its decisions by the kind of the choice."""
    dearest: tuple[DearDecision, ...]
    """The decisions that cost the most for certain (gap less error), by their loss; one that the
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
    """The entrants, the least loss a round first."""


class _Part:
    """Sums of decisions."""

    def __init__(self) -> None:
        self.decisions = self.best = 0
        self.loss = 0.0

    def add(self, one: DecisionLoss) -> None:
        self.decisions += 1
        self.best += one.choice == one.best
        self.loss += one.loss


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

    def add(self, seat: SeatReview) -> None:
        self.games.add(seat.game)
        self.rounds[seat.board] += seat.rounds
        for one in seat.decisions:
            for key in (ALL, ("phase", one.phase), ("kind", one.kind)):
                self.parts[key][seat.board].add(one)
        dear = [_dear(seat, one) for one in seat.decisions if one.loss > 0]
        once: dict[object, DearDecision] = {}
        for named in sorted([*self.dearest, *dear], key=_certain):
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
            dearest=tuple(sorted(self.dearest, key=lambda one: -one.loss)),
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
        )


def _dear(seat: SeatReview, one: DecisionLoss) -> DearDecision:
    fields = (one.number, one.at, one.round, one.phase, one.kind, one.chosen, one.better)
    return DearDecision(seat.game, seat.seat, seat.entrant, *fields, one.loss, one.error, _gap(one))


def _gap(one: DecisionLoss) -> float:
    """Return what the best option is worth more; 0 in a line that somebody has changed."""
    named = {one.best, one.choice} <= {*range(len(one.values))}
    return _fine(one.values[one.best] - one.values[one.choice]) if named else 0.0


def _position(one: DearDecision) -> tuple[object, ...]:
    """Return what decisions share that a bot took alike in several games of a board."""
    board = one.game.partition(".")[0]
    return board, one.round, one.chosen, one.better, one.loss, one.error


def certain_loss(gap: float, error: float) -> float:
    """Return how dear a decision is: of two gaps the one that may be chance counts less."""
    return gap - error


def _certain(one: DearDecision) -> tuple[float, str, int, int]:
    """Return the sort key of the dearest decisions."""
    return (-certain_loss(one.gap, one.error), one.game, one.seat, one.number)


def summarize_review(terms: ReviewTerms, seats: Iterable[SeatReview]) -> ReviewSummary:
    """Sum up reviewed seats."""
    bots: dict[str, _Bot] = {}
    games: set[str] = set()
    many = 0
    for seat in seats:
        many += 1
        games.add(seat.game)
        bots.setdefault(seat.entrant, _Bot(seat.entrant)).add(seat)
    told = [one.review() for one in bots.values()]
    return ReviewSummary(
        terms=terms,
        seats=many,
        games=len(games),
        entrants=tuple(sorted(told, key=lambda one: (one.total.round_loss.mean, one.entrant))),
    )


def ratio(values: Sequence[float], counts: Sequence[int]) -> Estimate:
    """Estimate a mean by boards, of which each has a sum of values and a count of them.

    The standard error is that of a ratio of sums over independent boards.
    """
    from tournaments.rating.statistics import Error  # It needs numpy.

    boards, many = len(counts), sum(counts)
    if not many:
        return Estimate(0.0, None)
    mean = sum(values) / many
    misfit = sum((value - mean * count) ** 2 for value, count in zip(values, counts, strict=True))
    if boards < 2:
        return Estimate(_fine(mean), None)
    size = sqrt(boards / (boards - 1) * misfit) / many
    return Estimate(_fine(mean), _fine(Error(size, boards - 1).half_width()))


def _fine(value: float) -> float:
    return round(value, 6)
