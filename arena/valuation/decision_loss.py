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
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena import engine
from arena.analysis.timeline import AskedQuestion, Timeline, opponents
from arena.engine import values
from arena.engine.state import Game
from arena.valuation.endgames import exact_leads, is_open
from arena.valuation.playouts import Player, play_out_keenly
from arena.valuation.states import States
from arena.valuation.worlds.hidden_tiles import seed_of
from arena.valuation.worlds.questions import FEW, question_worlds
from protocol.messages import Bid, Call, Draw, Drew, GoOn, Option, Pass, Play, PlayTwo
from protocol.records import ChoiceRecord

WORLDS = 64
"""The worlds in which each option is tried."""
PARTS = 8
"""The parts of the worlds: each measures the option that the others think best."""
NEXT_CHOICE = 1 / 6
"""The worth of choosing again after a draw by choice, for each pip of the highest number.

The keen player loses as much by its next choice, against the best one; after a play it is the other
seat that errs next, in the same way.
"""
FEW_TILES = 3
"""The tiles in the shortest hand from which on a block game is in its endgame."""

Phase = Literal["lead", "early", "draws", "endgame"]
"""Before the first tile; before the first draw; after it; after the last tile that can be drawn."""
Kind = Literal["play", "draw_although_able", "draw", "pass", "call", "bid", "other"]
"""The kind of a choice; of a blocked round and an auction, that of the question."""
Leads = NDArray[np.float64]
"""The lead gained, a row for each option and a column for each world."""
Gains = NDArray[np.int32]
"""Points gained: by option, world and seat."""


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
    phase: Phase
    """The phase of the round."""
    kind: Kind
    """The kind of the decision."""
    choice: int
    """The chosen option, counted from 0."""
    best: int
    """The option with the highest value; the chosen one, if none is higher."""
    options: tuple[OptionWorth, ...]
    """The value of each option."""
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


def _phase(game: Game) -> Phase:
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
    solved = [exact_leads(question.game) for question in asked]
    unsolved = [question for question, leads in zip(asked, solved, strict=True) if leads is None]
    played = _played_leads(unsolved, question_worlds(unsolved, many, slow), by)
    for question, leads in zip(asked, solved, strict=True):
        if leads is None:
            yield TriedOptions(next(played), is_open(question.game), exact=False)
        else:
            yield TriedOptions(np.array(leads, float)[:, None], certain=True, exact=True)


def _played_leads(
    asked: Sequence[AskedQuestion], found: Sequence[States | list[Game]], by: Player
) -> Iterator[Leads]:
    """Yield for each question the lead of each option in each of its worlds, by playouts."""
    fast = [
        (question, states)
        for question, states in zip(asked, found, strict=True)
        if isinstance(states, States)
    ]
    gains = _gains(fast, by)
    for question, one in zip(asked, found, strict=True):
        gained = next(gains) if isinstance(one, States) else _gains_of_games(question, one, by)
        others = opponents(question.game.rules, question.game.seats, question.seat)
        led = gained[:, :, question.seat] - gained[:, :, others].mean(axis=2)
        yield led + _next_choices(question)[:, None]


def _next_choices(question: AskedQuestion) -> NDArray[np.float64]:
    """Return for each option what it is worth that the seat then chooses again at once."""
    game, options = question.game, question.options
    able = isinstance(options[0], Play | PlayTwo) and not game.settings.draw_ends_turn
    several = len(options) > 2 or game.playing.drawable > 1
    worth = NEXT_CHOICE * game.rules.deal.highest_pip * (able and several)
    return np.array([worth * isinstance(option, Draw) for option in options])


def _gains(asked: Sequence[tuple[AskedQuestion, States]], by: Player) -> Iterator[Gains]:
    """Yield for each question what each option gains each seat in each world; play all at once."""
    if not asked:
        return
    options = list(dict.fromkeys(one for question, _ in asked for one in question.options))
    number = {option: at for at, option in enumerate(options)}
    start = States.joined([states for _, states in asked])
    rows, which, begin = list[NDArray[np.intp]](), list[NDArray[np.intp]](), 0
    for question, states in asked:
        for option in question.options:
            rows.append(np.arange(begin, begin + len(states)))
            which.append(np.full(len(states), number[option]))
        begin += len(states)
    before = np.concatenate(rows)
    ends = start.taken(before).after_each(options, np.concatenate(which))
    gained = ends.scores + by(ends) - start.scores[before]
    begin = 0
    for question, states in asked:
        shape = len(question.options), len(states), gained.shape[1]
        yield gained[begin : begin + math.prod(shape[:2])].reshape(shape)
        begin += math.prod(shape[:2])


def _gains_of_games(question: AskedQuestion, worlds: Sequence[Game], by: Player) -> Gains:
    """Return what each option gains each seat; what is then dealt is dealt anew in each world."""
    gained = []
    for option in question.options:
        ends = [values.act_unchecked(world, option) for world in worlds]
        for number, game in enumerate(ends):
            seed = sha256(seed_of(worlds[0]) + number.to_bytes(4, "big")).digest()
            while game.playing.over is None and engine.needs_deal(game):
                engine.begin(game, engine.chance_decides(game, seed))
        states = States.of(ends)
        gained.append(states.scores + by(states) - [world.scores for world in worlds])
    return np.stack(gained)


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


def _best(leads: Leads, choice: int) -> int:
    """Return the option with the highest mean, of equal ones the chosen or the first."""
    means = leads.mean(axis=1)
    return choice if means[choice] == means.max() else int(means.argmax())
