"""The review of a game on its replay page: chances, luck, and the options' values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from arena.analysis.frames import join_draws, places_in_replay
from arena.analysis.text import group_options
from arena.analysis.timeline import Moment, Timeline
from arena.logs.gamelog import LoggedGame
from arena.ui.scenes import Tiles, tiles
from arena.valuation import LuckTerms
from arena.valuation.reviewed_decision import ReviewedDecision
from protocol.messages import Drew, TurnedUp
from protocol.ruleset import count_sides, target
from protocol.tiles import high_first

if TYPE_CHECKING:  # numpy takes 100 ms: only reviewed pages load it.
    from arena.valuation.luck import DrawLuck

GRADES = (0.02, 0.05, 0.1)
"""Gaps from which a decision is an inaccuracy, a mistake and a blunder, as parts of the target.

In `draw` to 100 points a mistake costs 5, about a tile, and a blunder two tiles.
"""
GRADE_NAMES = ("", "inaccuracy", "mistake", "blunder")
SURE = 2
"""Standard errors that a gap must exceed to be called so: the rest may be noise of the worlds."""

Reviewed = Mapping[int, Sequence[ReviewedDecision]]  # By seat.


class MarkedDraw(Struct, frozen=True, array_like=True):
    """The luck of the tiles that a seat drew at one moment, or of a deal, which has no tiles."""

    at: int
    """The moment of the replay, from 0."""
    seat: int
    tiles: Tiles
    leads: tuple[float, ...]
    """The luck of each side in points of lead."""
    share: float
    """The luck of the seat's side in percent of the game."""


class MarkedDecision(Struct, frozen=True, array_like=True):
    """A decision, and what each option was worth to the seat that was asked."""

    at: int
    seat: int
    gap: float
    """The value of the best option less that of the chosen one, in points of lead."""
    error: float
    grade: int
    """The index of its name in GRADE_NAMES."""
    leads: tuple[float, ...]
    """The value of each option that the page shows, in points of lead."""
    errors: tuple[float, ...]
    """The standard errors of the values; empty if they are exact."""
    percent: float
    """The percent of the game that the best option has beyond the chosen one."""
    loss: float
    """The loss for sums of decisions, in points of lead: gaps are too large."""


class GameReview(Struct, frozen=True):
    """The review of a game."""

    chances: tuple[tuple[float, ...], ...]
    """At each moment the share of the other sides, in percent, that each side but the last can
    expect to end above: all sides' shares add up to half their number."""
    leads: tuple[tuple[float, ...], ...]
    """At each moment the lead that each side but the last can still expect in this round."""
    draws: tuple[MarkedDraw, ...]
    decisions: tuple[MarkedDecision, ...]
    grades: tuple[float, ...]


def review_game(timeline: Timeline, terms: LuckTerms, known: Reviewed | None = None) -> GameReview:
    """Review a game for those who may see all hands, or take over `known` decisions, by seat.

    `terms`: those of its luck. Raises UserError.

    No seat's own page may have any of it. Chances and luck need all hands; and the worlds behind
    the values of a seat's options are drawn from the real one on, so the values would tell it.
    """
    from arena.valuation.chances import replay_chances
    from arena.valuation.luck import luck_of_games

    logged, shown = timeline.logged, [*join_draws(timeline.moments, None)]
    seats = range(len(logged.sitting.seats))
    grades = tuple(part * target(logged.sitting.rules, len(seats)) for part in GRADES)
    expected = replay_chances(timeline)
    places = places_in_replay(shown)
    asked = [one for seat in seats for one in _decisions(timeline, places, seat, grades, known)]
    (luck,) = luck_of_games([timeline], terms)
    return GameReview(
        tuple(_rounded(100 * share for share in one.shares[:-1]) for one in expected),
        tuple(_rounded(one.leads[:-1]) for one in expected),
        tuple(_draws(logged, shown, luck.draws)),
        tuple(sorted(asked, key=lambda one: one.at)),
        grades,
    )


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(number, 1) for number in numbers)


def _draws(
    logged: LoggedGame, shown: Sequence[Sequence[Moment]], draws: Sequence["DrawLuck"]
) -> Iterator[MarkedDraw]:
    """Yield the luck of deals and draws, the draws of a seat at one moment together."""
    luck = {(one.round, one.tile): one for one in draws if one.tile}
    deals = {one.round: one for one in draws if not one.tile}
    for at, together in enumerate(shown):
        if deal := deals.pop(together[0].game.playing.number, None):
            yield from (_marked(logged, at, seat, [deal]) for seat, _ in enumerate(deal.share))
        came = [
            (one.game.playing.number, high_first(event.tile))
            for one in together
            for event in one.events
            if isinstance(event, Drew | TurnedUp) and event.tile
        ]
        drawn = sorted((luck[one] for one in came if one in luck), key=attrgetter("seat"))
        for seat, own in groupby(drawn, attrgetter("seat")):
            yield _marked(logged, at, seat, [*own])


def _marked(logged: LoggedGame, at: int, seat: int, draws: Sequence["DrawLuck"]) -> MarkedDraw:
    """Return the luck by these: a side's points less the mean of the other sides'."""
    sides = range(count_sides(logged.sitting.rules.deal.partners, len(logged.sitting.seats)))
    points = [sum(one.points[side] for one in draws) for side in sides]
    leads = (own - (sum(points) - own) / (len(points) - 1) for own in points)
    share = sum(one.share[seat] for one in draws)
    drawn = tiles([one.tile for one in draws if one.tile])
    return MarkedDraw(at, seat, drawn, tuple(round(one, 2) for one in leads), round(100 * share, 1))


def _decisions(
    timeline: Timeline,
    places: Mapping[int, int],
    seat: int,
    grades: Sequence[float],
    known: Reviewed | None,
) -> Iterator[MarkedDecision]:
    from arena.valuation.decision_loss import review_seat

    questions = timeline.questions(seat)
    for one in (known or {}).get(seat) or review_seat(timeline, seat):
        asked = questions[one.number - 1]
        # Of bids that the page joins it shows the best.
        rest = zip(one.values, one.errors, strict=True)
        joined = group_options(asked.options, one.choice)
        shown = [max(islice(rest, len(together))) for together, _ in joined]
        leads, errors = map(_rounded, zip(*shown, strict=True))
        gap, error, percent = _rounded((one.gap, one.error, one.percent_gap))
        about = places[asked.index], seat, gap, error, _grade(one, grades)
        yield MarkedDecision(*about, leads, () if one.exact else errors, percent, one.loss)


def _grade(one: ReviewedDecision, grades: Sequence[float]) -> int:
    sure = one.gap > SURE * one.error
    return sum(one.gap >= least for least in grades) if sure else 0
