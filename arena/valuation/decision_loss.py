"""Decisions of a seat in a logged game: the value of each option, and the loss of the choice.

The value of an option is the mean lead that the seat gains to the round's end in worlds that it
could not tell from the real one (`worlds/`), played on by the keen player in every seat; all
options are tried in the same worlds. Where the seat knows every tile and few are left, the value
is exact (`endgames.py`).

The option that looks best among noisy values is overvalued in the very worlds that made it look so.
Measured in other worlds (cross-fitting: in each eighth, the option that looks best in the other
seven) it is undervalued, as fewer worlds often find the second best. Where all gaps are equally
likely both errors are a quarter of the noise's variance: a loss is the mean of both measures, and
may by chance be below 0. It is meant for means; of one decision the gap between two values, which
those that look dear get from more worlds, tells more.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.analysis.answer_text import OptionValue
from arena.analysis.timeline import AskedQuestion, Timeline, opponents
from arena.engine import values
from arena.engine.state import Game
from arena.valuation import WORLDS
from arena.valuation.batch import RoundBatch
from arena.valuation.endgames import exact_leads, is_open
from arena.valuation.playouts import play_out
from arena.valuation.policy import KEEN, Policy
from arena.valuation.worlds.questions import FEW, Worlds, question_worlds
from protocol.messages import Bid, Call, Draw, Drew, GoOn, Option, Pass, Play, PlayTwo

PARTS = 8
"""The parts of the worlds: each measures the option that looks best in the others."""
NEXT_CHOICE = 1 / 6
"""The worth of choosing again after a draw by choice, for each pip of the highest number.

The keen player loses as much by its next choice, against the best one; after a play it is the other
seat that errs next, in the same way.
"""
LOOK_DEAR = 15
"""The decisions of a seat in a game that are tried again: half as many more as are named."""
MORE = 3
"""The worlds of that second try, as a multiple of those of the first."""
Z = NormalDist().inv_cdf(0.975)
"""Standard errors in half of a 95 % interval."""
FEW_TILES = 3
"""The tiles in the shortest hand from which on a block game is in its endgame."""

RoundPhase = Literal["lead", "early", "draws", "endgame"]
"""Before the first tile; before the first draw; after it; after the last tile that can be drawn."""
Kind = Literal["play", "draw_although_able", "draw", "pass", "call", "bid", "other"]
"""The kind of a choice; of a blocked round and an auction, that of the question."""
Leads = NDArray[np.float64]
"""The lead gained, a row for each option and a column for each world."""


class OptionWorth(Struct, frozen=True):
    """The value of an option."""

    lead: float
    """Points that the seat's side gains beyond the average of the others, to the round's end."""
    error: float
    """The standard error of `lead`; 0 if it is exact."""


class ReviewedDecision(Struct, frozen=True):
    """A decision of a seat, and what it cost."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number in the game, from 1."""
    phase: RoundPhase
    kind: Kind
    choice: int
    """The chosen option, counted from 0."""
    best: int
    """The option with the highest value; the chosen one, if none is higher."""
    options: tuple[OptionWorth, ...]
    loss: float
    """Points that the choice cost, for means; by chance it may be below 0."""
    error: float
    """The standard error of `gap`; 0 if it is exact."""
    exact: bool
    """True if the values are those of perfect play with all tiles known."""

    @property
    def gap(self) -> float:
        """The value of the best option less that of the chosen one, in points."""
        return self.options[self.best].lead - self.options[self.choice].lead


def review_seat(timeline: Timeline, seat: int, worlds: int = WORLDS) -> Iterator[ReviewedDecision]:
    """Yield each decision of a seat: each answer to a question that offered several options.

    `worlds`: in how many each option is tried.
    """
    asked = [
        question
        for question in timeline.questions(seat)
        if len(question.options) > 1 and question.choice is not None
    ]
    tried = list(try_options(asked, worlds))
    more = _dear_again(asked, tried, worlds)
    for at, (question, first) in enumerate(zip(asked, tried, strict=True)):
        choice, sure = question.choice or 0, more.get(at, first)
        best, _, error = measured_gap(sure, choice)
        yield ReviewedDecision(
            number=question.number,
            round=question.game.playing.number,
            phase=_phase(question.game),
            kind=_kind(question.options, question.options[choice]),
            choice=choice,
            best=best,
            options=option_worths(sure),
            loss=measured_loss(first, choice),
            error=error,
            exact=first.exact,
        )


def _phase(game: Game) -> RoundPhase:
    state = game.playing
    if not state.layout:
        return "lead"
    if state.drawable:
        return "draws" if any(isinstance(one, Drew) for one in state.history) else "early"
    if game.settings.draw_limit or min(state.sizes) <= FEW_TILES:
        return "endgame"
    return "early"


def _kind(options: Sequence[Option], chosen: Option) -> Kind:
    match chosen:
        case Play() | PlayTwo():
            return "play"
        case Draw():
            able = isinstance(options[0], Play | PlayTwo)
            return "draw_although_able" if able else "draw"
        case Pass():
            return "pass"
        case Call() | GoOn():
            return "call"
        case Bid():
            return "bid"
        case _:
            return "other"


# --- values ---


class TriedOptions(NamedTuple):
    """The options of a question, tried in worlds."""

    leads: Leads
    """The gain of each in each world."""
    certain: bool
    """True if there is no other world: the seat knows every tile."""
    exact: bool
    """True if both seats then play perfectly; else the reference player plays on."""


def try_options(
    asked: Sequence[AskedQuestion], many: int, slow: int = FEW
) -> Iterator[TriedOptions]:
    """Yield for each question what its options gain in so many worlds, the same for all of them.

    `slow`: the most worlds where each of them takes a while to be found. The questions are of one
    ruleset and number of seats.
    """
    solved = exact_leads([question.game for question in asked])
    unsolved = [question for question, leads in zip(asked, solved, strict=True) if leads is None]
    played = _played_leads(unsolved, [*question_worlds(unsolved, many, slow)])
    for question, leads in zip(asked, solved, strict=True):
        if leads is None:
            yield TriedOptions(next(played), is_open(question.game), exact=False)
        else:
            yield TriedOptions(np.array(leads, float)[:, None], certain=True, exact=True)


def _dear_again(
    asked: Sequence[AskedQuestion], tried: Sequence[TriedOptions], worlds: int
) -> dict[int, TriedOptions]:
    """Return the options of the decisions that look dearest, tried in more and other worlds.

    Losses do not use them: those that chance made dear would fall, and none would rise. Where a
    turn plays two tiles worlds take too long.
    """
    gaps = {
        at: measured_gap(one, question.choice or 0)[1]
        for at, (question, one) in enumerate(zip(asked, tried, strict=True))
        if one.leads.shape[1] == worlds and not question.game.settings.two_tiles
    }
    dear = sorted(gaps, key=lambda at: -gaps[at])[:LOOK_DEAR]
    again = try_options([asked[at] for at in dear], MORE * worlds)
    return dict(zip(dear, again, strict=True))


def _played_leads(
    asked: Sequence[AskedQuestion], found: Sequence[Worlds], policies: Sequence[Policy] = (KEEN,)
) -> Iterator[Leads]:
    """Yield for each question the lead of each option in each of its worlds, by playouts."""
    if not found:
        return
    ends = [_after_options([asked[at] for at in one.questions], one) for one in found]
    end, gained, begin = RoundBatch.joined(ends), dict[int, Any](), 0
    scores = end.scores + play_out(end, [*policies] * end.tables.seats)
    for one in found:
        before = one.rounds.scores.reshape(len(one.questions), one.each, -1)
        for at, start in zip(one.questions, before, strict=True):
            tried = len(asked[at].options) * one.each
            gained[at] = scores[begin : begin + tried].reshape(-1, *start.shape) - start
            begin += tried
    for at, question in enumerate(asked):
        others = opponents(question.game.rules, question.game.seats, question.seat)
        led = gained[at][:, :, question.seat] - gained[at][:, :, others].mean(axis=2)
        yield led + _next_choices(question)[:, None]


def _after_options(asked: Sequence[AskedQuestion], found: Worlds) -> RoundBatch:
    """Return the rounds after each option of each question, in each of its worlds."""
    if found.games:
        options = product(asked[0].options, found.games)
        return RoundBatch.of([values.act_unchecked(game, option) for option, game in options])
    each = found.each
    every = list(dict.fromkeys(option for question in asked for option in question.options))
    number = {option: at for at, option in enumerate(every)}
    which = [number[option] for question in asked for option in question.options]
    first = np.repeat(np.arange(len(asked)) * each, [len(question.options) for question in asked])
    # The keen player does not ask which of its tiles came first.
    names = found.rounds.names - {"order"}
    end = found.rounds.select((first[:, None] + np.arange(each)).ravel(), names)
    end.take(every, np.repeat(which, each))
    return end


def _next_choices(question: AskedQuestion) -> NDArray[np.float64]:
    """Return for each option what it is worth that the seat then chooses again at once."""
    game, options = question.game, question.options
    able = isinstance(options[0], Play | PlayTwo) and not game.settings.draw_ends_turn
    several = len(options) > 2 or game.playing.drawable > 1
    worth = NEXT_CHOICE * game.rules.deal.highest_pip * (able and several)
    return np.array([worth * isinstance(option, Draw) for option in options])


def standard_error(found: NDArray[np.floating]) -> Any:
    """Return the standard error of the mean over worlds, of each row; from one it is infinite."""
    many = found.shape[-1]
    return (found.std(axis=-1, ddof=1) if many > 1 else found[..., 0] + math.inf) / math.sqrt(many)


def measured_gap(tried: TriedOptions, choice: int) -> tuple[int, float, float]:
    """Return the best option, and its value less that of the chosen one, with its standard error.

    Of equal ones the best is the chosen or the first.
    """
    best = int(_best(tried.leads.mean(axis=1), choice))
    gaps = tried.leads[best] - tried.leads[choice]
    return best, float(gaps.mean()), 0.0 if tried.certain else float(standard_error(gaps))


def measured_loss(tried: TriedOptions, choice: int) -> float:
    """Return the loss of the chosen option; it is meant for means."""
    leads, (_, gap, _) = tried.leads, measured_gap(tried, choice)
    if (many := leads.shape[1]) == 1:
        return gap
    size = -(-many // PARTS)
    parts = np.zeros((len(leads), size * PARTS))
    parts[:, :many] = leads
    parts = parts.reshape(len(leads), size, PARTS).sum(axis=1)
    left = many - np.bincount(np.arange(many) % PARTS, minlength=PARTS)
    elsewhere = _best((parts.sum(axis=1, keepdims=True) - parts) / left, choice)
    crossed = (parts[elsewhere, np.arange(PARTS)] - parts[choice]).sum() / many
    return float(gap + crossed) / 2


def option_worths(tried: TriedOptions) -> tuple[OptionWorth, ...]:
    """Return the value of each option."""
    leads = tried.leads.mean(axis=1).tolist()
    errors = [0.0] * len(leads) if tried.certain else standard_error(tried.leads).tolist()
    return tuple(map(OptionWorth, leads, errors))


def option_values(question: AskedQuestion, compared: int, many: int) -> tuple[OptionValue, ...]:
    """Return the value of every option of a question, in order, against the `compared` option.

    `many`: other deals to try, at least 2. The same question always gets the same deals.
    """
    (tried,) = try_options([question], many, slow=many)
    return tuple(
        OptionValue(
            lead=float(own.mean()),
            half_width=_half_width(tried, own),
            beyond=float(beyond.mean()),
            beyond_half_width=_half_width(tried, beyond),
            exact=tried.exact,
        )
        for own, beyond in zip(tried.leads, tried.leads - tried.leads[compared], strict=True)
    )


def _half_width(tried: TriedOptions, found: NDArray[np.floating]) -> float:
    return 0.0 if tried.certain else Z * float(standard_error(found))


def _best(means: NDArray[np.floating], choice: int) -> Any:
    """Return the option (a row) with the highest mean, of equal ones the chosen or the first."""
    return np.where(means[choice] == means.max(axis=0), choice, means.argmax(axis=0))
