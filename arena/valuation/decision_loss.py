"""Decisions of a seat in a logged game: the value of each option, and the loss of the choice.

The value of an option is the mean lead that the seat gains to the round's end in worlds that it
could not tell from the real one (`worlds/`), played on by the plain player in every seat; all
options are tried in the same worlds. Where the seat knows every tile and few are left, the value
is exact (`endgames.py`).

The option that looks best among noisy values is overvalued in the very worlds that made it look so.
So each half of the worlds measures the option that the other half thinks best: a loss is not
inflated by noise, and may even be a little below 0 by chance.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.analysis.decisions import opponents
from arena.engine import game as engine
from arena.engine import values
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.valuation.endgames import exact_leads
from arena.valuation.playouts import play_out
from arena.valuation.states import States
from arena.valuation.worlds.hidden_tiles import seed_of
from arena.valuation.worlds.questions import AskedQuestion, asked_questions, question_worlds
from protocol.messages import Bid, Call, Draw, Drew, GoOn, Option, Pass, Play, PlayTwo
from protocol.records import ChoiceRecord

WORLDS = 64
"""The worlds in which each option is tried."""
FEW_TILES = 3
"""The tiles in the shortest hand from which on a block game is in its endgame."""

Player = Callable[[States], NDArray[np.int32]]
"""A reference player: plays states on in every seat, and tells each seat's gain, as `play_out`."""
Phase = Literal["lead", "early", "draws", "endgame"]
"""Before the first tile; before the first draw; after it; after the last tile that can be drawn."""
Kind = Literal["play", "draw_although_able", "draw", "pass", "call", "bid", "other"]
"""What was chosen; of a blocked round and an auction, what was asked."""
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
    id: int
    """The question's number on the bot's pipe."""
    record: int
    """The index of the answer in the log's records of the game."""
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
    logged: LoggedGame, seat: int, worlds: int = WORLDS, by: Player = play_out
) -> Iterator[ReviewedDecision]:
    """Yield each decision of a seat: each answer to a question that offered several options.

    `worlds`: in how many each option is tried; `by`: who plays on. Raises DamagedLogError.
    """
    asked = [
        question
        for question in asked_questions(logged, seat)
        if len(question.options) > 1 and isinstance(question.answer, ChoiceRecord)
    ]
    for question, (leads, exact) in zip(asked, option_leads(asked, worlds, by), strict=True):
        assert isinstance(question.answer, ChoiceRecord)
        choice, option = question.answer.choice, question.options[question.answer.choice]
        best, loss, error = measured_loss(leads, choice)
        yield ReviewedDecision(
            number=question.number,
            id=question.answer.id,
            record=question.record,
            round=question.game.playing.number,
            phase=_phase(question.game),
            kind=_kind(question.options, option),
            choice=choice,
            best=best,
            options=tuple(OptionWorth(float(row.mean()), standard_error(row)) for row in leads),
            loss=loss,
            error=error,
            exact=exact,
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


def option_leads(
    asked: Sequence[AskedQuestion], many: int, by: Player = play_out
) -> Iterator[tuple[Leads, bool]]:
    """Yield for each question the lead that each option gains in each world; true if it is exact.

    The questions are of one ruleset and number of seats.
    """
    ready: list[Leads | None] = [_exact(question) for question in asked]
    open_ones = [question for question, known in zip(asked, ready, strict=True) if known is None]
    played = _played_leads(open_ones, many, by)
    for known in ready:
        yield (next(played), False) if known is None else (known, True)


def _exact(question: AskedQuestion) -> Leads | None:
    """Return the leads of an endgame in its only world, if it is solved."""
    leads = exact_leads(question.game)
    return None if leads is None else np.array(leads, float)[:, None]


def _played_leads(asked: Sequence[AskedQuestion], many: int, by: Player) -> Iterator[Leads]:
    """Yield for each question the lead of each option in each world, found by playouts."""
    found = question_worlds(asked, many)
    before = [one if isinstance(one, States) else States.of(one) for one in found]
    ends = [
        _after(one, option)
        for question, one in zip(asked, found, strict=True)
        for option in question.options
    ]
    if not ends:
        return
    joined = States.joined(ends)
    cuts = np.cumsum([len(part) for part in ends])
    reached = iter(np.split(joined.scores + by(joined), cuts))
    for question, start in zip(asked, before, strict=True):
        gains = np.stack([next(reached) - start.scores for _ in question.options])
        others = opponents(question.game.rules, question.game.seats, question.seat)
        yield gains[:, :, question.seat] - gains[:, :, others].mean(axis=2)


def _after(found: States | list[Game], option: Option) -> States:
    """Return the worlds after an option; what must then be dealt is dealt anew in each."""
    if isinstance(found, States):
        return found.after(option)
    ends = []
    for number, world in enumerate(found):
        game = values.act_unchecked(world, option)
        seed = sha256(seed_of(world) + bytes([number])).digest()
        while game.playing.over is None and engine.needs_deal(game):
            engine.begin(game, engine.chance_decides(game, seed))
        ends.append(game)
    return States.of(ends)


def standard_error(values: NDArray[np.floating]) -> float:
    """Return the standard error of a mean over worlds; 0 for a single world, which is the only."""
    many = len(values)
    return float(values.std(ddof=1)) / math.sqrt(many) if many > 1 else 0.0


def measured_loss(leads: Leads, choice: int) -> tuple[int, float, float]:
    """Return the best option, and the loss of the chosen one with its standard error.

    Each half of the worlds measures the option that looks best in the other half.
    """
    best = _best(leads, choice)
    if leads.shape[1] == 1:
        return best, float(leads[best, 0] - leads[choice, 0]), 0.0
    halves = leads[:, ::2], leads[:, 1::2]
    losses = np.concatenate(
        [
            half[_best(other, choice)] - half[choice]
            for half, other in zip(halves, halves[::-1], strict=True)
        ]
    )
    return best, float(losses.mean()), standard_error(losses)


def _best(leads: Leads, choice: int) -> int:
    """Return the option with the highest mean, of equal ones the chosen or the first."""
    means = leads.mean(axis=1)
    return choice if means[choice] == means.max() else int(means.argmax())
