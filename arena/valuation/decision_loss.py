"""Decisions of a seat in a logged game: the value of each option, and the loss of the choice.

The value of an option is the mean lead that the seat gains to the round's end in worlds that it
could not tell from the real one (`worlds/`), played on by the keen player in every seat; all
options are tried in the same worlds. Where the seat knows every tile and few are left, the value
is exact (`endgames.py`).

The option that looks best among noisy values is overvalued in the very worlds that made it look so.
So each eighth of the worlds measures the option that the other seven think best (cross-fitting): a
loss is not inflated by noise, and may even be a little below 0 by chance. It is meant for means:
the gap between the values of two options has less noise, and tells better what was dear.
"""

import math
from collections.abc import Iterator, Sequence
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
from arena.valuation.endgames import exact_leads_of, is_open
from arena.valuation.playouts import Player, play_out_keenly
from arena.valuation.worlds.questions import FEW, question_worlds
from protocol.messages import Bid, Call, Draw, Drew, GoOn, Option, Pass, Play, PlayTwo
from protocol.records import ChoiceRecord

PARTS = 8
"""The parts of the worlds: each measures the option that the others think best."""
NEXT_CHOICE = 1 / 6
"""The worth of choosing again after a draw by choice, for each pip of the highest number.

The keen player loses as much by its next choice, against the best one; after a play it is the other
seat that errs next, in the same way.
"""
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
    """Points that the choice cost against the best option; by chance it may be below 0."""
    error: float
    """The standard error of `loss`; 0 if it is exact."""
    exact: bool
    """True if the values are those of perfect play with all tiles known."""


def review_seat(
    timeline: Timeline, seat: int, worlds: int = WORLDS, by: Player = play_out_keenly
) -> Iterator[ReviewedDecision]:
    """Yield each decision of a seat: each answer to a question that offered several options.

    `worlds`: in how many each option is tried; `by`: who plays on.
    """
    asked = [
        question
        for question in timeline.questions(seat)
        if len(question.options) > 1 and isinstance(question.answer, ChoiceRecord)
    ]
    for question, tried in zip(asked, try_options(asked, worlds, by), strict=True):
        assert isinstance(question.answer, ChoiceRecord)
        choice, option = question.answer.choice, question.options[question.answer.choice]
        best, loss, error = measured_loss(tried, choice)
        yield ReviewedDecision(
            number=question.number,
            round=question.game.playing.number,
            phase=_phase(question.game),
            kind=_kind(question.options, option),
            choice=choice,
            best=best,
            options=option_worths(tried),
            loss=loss,
            error=error,
            exact=tried.exact,
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
    asked: Sequence[AskedQuestion], many: int, by: Player = play_out_keenly, slow: int = FEW
) -> Iterator[TriedOptions]:
    """Yield for each question what its options gain in so many worlds, the same for all of them.

    `slow`: the most worlds where each of them takes a while to be found. The questions are of one
    ruleset and number of seats.
    """
    solved = exact_leads_of([question.game for question in asked])
    unsolved = [question for question, leads in zip(asked, solved, strict=True) if leads is None]
    played = _played_leads(unsolved, question_worlds(unsolved, many, slow), by)
    for question, leads in zip(asked, solved, strict=True):
        if leads is None:
            yield TriedOptions(next(played), is_open(question.game), exact=False)
        else:
            yield TriedOptions(np.array(leads, float)[:, None], certain=True, exact=True)


def _played_leads(
    asked: Sequence[AskedQuestion], found: Sequence[RoundBatch | list[Game]], by: Player
) -> Iterator[Leads]:
    """Yield for each question the lead of each option in each of its worlds, by playouts."""
    if not asked:
        return
    starts, ends = zip(*map(_tried, asked, found), strict=True)
    end = RoundBatch.joined(ends)
    scores, begin = end.scores + by(end), 0
    for question, start in zip(asked, starts, strict=True):
        many = len(question.options) * len(start)
        gained = scores[begin : begin + many].reshape(-1, *start.shape) - start
        begin += many
        others = opponents(question.game.rules, question.game.seats, question.seat)
        led = gained[:, :, question.seat] - gained[:, :, others].mean(axis=2)
        yield led + _next_choices(question)[:, None]


def _tried(question: AskedQuestion, found: RoundBatch | list[Game]) -> tuple[Any, RoundBatch]:
    """Return the scores in each world, and the rounds after each option in each world."""
    if isinstance(found, RoundBatch):
        options = np.repeat(np.arange(len(question.options)), len(found))
        end = found.select(np.tile(np.arange(len(found)), len(question.options)))
        end.take(question.options, options)
        return found.scores, end
    tried = [values.act_unchecked(game, one) for one in question.options for game in found]
    return np.array([game.scores for game in found]), RoundBatch.of(tried)


def _next_choices(question: AskedQuestion) -> NDArray[np.float64]:
    """Return for each option what it is worth that the seat then chooses again at once."""
    game, options = question.game, question.options
    able = isinstance(options[0], Play | PlayTwo) and not game.settings.draw_ends_turn
    several = len(options) > 2 or game.playing.drawable > 1
    worth = NEXT_CHOICE * game.rules.deal.highest_pip * (able and several)
    return np.array([worth * isinstance(option, Draw) for option in options])


def standard_error(found: NDArray[np.floating]) -> float:
    """Return the standard error of a mean over worlds; from one alone it is infinite."""
    many = len(found)
    return float(found.std(ddof=1)) / math.sqrt(many) if many > 1 else math.inf


def measured_loss(tried: TriedOptions, choice: int) -> tuple[int, float, float]:
    """Return the best option, and the loss of the chosen one with its standard error.

    Each part of the worlds measures the option that looks best in the others.
    """
    leads = tried.leads
    best, many = _best(leads, choice), leads.shape[1]
    if many == 1:
        error = 0.0 if tried.certain else math.inf
        return best, float(leads[best, 0] - leads[choice, 0]), error
    part = np.arange(many) % PARTS
    losses = np.empty(many)
    for here in (part == one for one in range(min(PARTS, many))):
        losses[here] = leads[_best(leads[:, ~here], choice), here] - leads[choice, here]
    return best, float(losses.mean()), standard_error(losses)


def option_worths(tried: TriedOptions) -> tuple[OptionWorth, ...]:
    """Return the value of each option."""
    return tuple(
        OptionWorth(float(row.mean()), 0.0 if tried.certain else standard_error(row))
        for row in tried.leads
    )


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
    return 0.0 if tried.certain else Z * standard_error(found)


def _best(leads: Leads, choice: int) -> int:
    """Return the option with the highest mean, of equal ones the chosen or the first."""
    means = leads.mean(axis=1)
    return choice if means[choice] == means.max() else int(means.argmax())
