"""Decisions of a seat in a logged game: the value of each option, and the loss of the choice.

The value of an option is the mean lead that the seat gains to the round's end in worlds that it
could not tell from the real one (`worlds.py`), played on by the keen player in every seat; all
options are tried in the same worlds. Where the seat knows every tile and few are left, the value
is exact (`endgames.py`).

The option that looks best among noisy values is overvalued in the very worlds that made it look so.
Measured in other worlds (cross-fitting: in each eighth, the option that looks best in the other
seven) it is undervalued, as fewer worlds often find the second best. Where all gaps are equally
likely both errors are a quarter of the noise's variance: a loss is the mean of both measures, and
may by chance be below 0. It is meant for means; for a single decision the gap
between two values tells more, and decisions that look dear get theirs from more worlds.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.text import OptionValue
from arena.analysis.timeline import AskedQuestion, Timeline, opponents
from arena.engine import values
from arena.engine.state import Game
from arena.valuation.batch import RoundBatch
from arena.valuation.endgames import exact_gains
from arena.valuation.policy import KEEN, play_out
from arena.valuation.terms import (
    MORE,
    USUAL_WORLDS,
    ChoiceKind,
    Policy,
    ReviewedDecision,
    RoundPhase,
)
from arena.valuation.win_chance import FULL_SHARE, Law, share_of_scores
from arena.valuation.worlds import MAX_CHAIN_WORLDS, Worlds, question_worlds
from protocol.messages import Bid, Call, Draw, Drew, GoOn, Option, Pass, Play, PlayTwo

WORLD_PARTS = 8
"""The parts of the worlds: each measures the option that looks best in the others."""
NEXT_CHOICE = 1 / 6
"""The points that the choice after a draw by choice is worth, for each pip of the highest number.

In playouts the keen player makes that choice, and loses so much against the best one; after a play
it is the other seat that errs next, in the same way.
"""
LOOK_DEAR = 25
"""The most decisions of a seat in a game that are tried again; 15 found fewer planted blunders."""
REVIEW_DECIMALS = 3
"""Decimals of a point and of a percent that a review keeps."""
Z = NormalDist().inv_cdf(0.975)
"""Standard errors in half of a 95 % interval."""
FEW_TILES = 3
"""The tiles in the shortest hand from which on a block game is in its endgame."""

WorldValues = NDArray[np.float64]
"""Gains of a seat, a row for each option and a column for each world."""


def review_seat(
    timeline: Timeline, seat: int, worlds: int = USUAL_WORLDS
) -> Iterator[ReviewedDecision]:
    """Yield each decision of a seat: each answer to a question that offered several options.

    `worlds`: in how many each option is tried.
    """
    questions = [
        question
        for question in timeline.questions(seat)
        if len(question.options) > 1 and question.choice is not None
    ]
    tried = list(try_options(questions, worlds))
    more = _dear_again(questions, tried, worlds)
    for index, (question, first) in enumerate(zip(questions, tried, strict=True)):
        choice, last = question.choice or 0, more.get(index, first)
        best, _, error = measured_gap(last, choice)
        yield ReviewedDecision(
            number=question.number,
            round=question.game.playing.number,
            phase=_phase(question.game),
            kind=_kind(question.options, question.options[choice]),
            choice=choice,
            best=best,
            values=tuple(last.leads.mean(axis=1).round(REVIEW_DECIMALS).tolist()),
            errors=tuple(world_errors(last.leads).round(REVIEW_DECIMALS).tolist()),
            loss=round(measured_loss(first.leads, choice), REVIEW_DECIMALS),
            error=round(error, REVIEW_DECIMALS),
            percent_loss=round(measured_loss(first.percents, choice), REVIEW_DECIMALS),
            percent_gap=round(
                float((last.percents[best] - last.percents[choice]).mean()), REVIEW_DECIMALS
            ),
            exact=first.exact,
        )


def _phase(game: Game) -> RoundPhase:
    state = game.playing
    if not state.layout:
        return "lead"
    if state.drawable:
        return "draws" if any(isinstance(event, Drew) for event in state.history) else "early"
    if game.settings.draw_limit or min(state.sizes) <= FEW_TILES:
        return "endgame"
    return "early"


def _kind(options: Sequence[Option], option: Option) -> ChoiceKind:
    match option:
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

    leads: WorldValues
    """The lead that each gains in each world."""
    percents: WorldValues
    """The percent of the game that the seat may expect by the scores after the round."""
    exact: bool
    """True if both seats then play perfectly; else the reference player plays on."""


def try_options(
    questions: Sequence[AskedQuestion], count: int, slow: int = MAX_CHAIN_WORLDS
) -> Iterator[TriedOptions]:
    """Yield for each question what its options gain in `count` worlds, the same for all of them.

    `slow`: the most worlds where each of them takes a while to be found. The questions are of one
    ruleset and number of seats.
    """
    solved = exact_gains([question.game for question in questions])
    unsolved = [question for question, gain in zip(questions, solved, strict=True) if gain is None]
    played = _played_gains(unsolved, question_worlds(unsolved, count, slow))
    all_gains = [next(played) if gain is None else gain.T[:, None] for gain in solved]
    each = zip(questions, solved, all_gains, _percents(questions, all_gains), strict=True)
    for question, exact, gains, percents in each:
        leads = _leads(question, gains, exact=exact is not None)
        yield TriedOptions(leads, percents, exact is not None)


def _leads(question: AskedQuestion, gains: NDArray[np.integer], *, exact: bool) -> WorldValues:
    """Return the lead of the seat by each option in each world, by what each seat gains."""
    others = opponents(question.game.rules, question.game.seats, question.seat)
    leads: WorldValues = gains[..., question.seat] - gains[..., others].mean(axis=-1)
    return leads if exact else leads + _next_choices(question)[:, None]


def _percents(
    questions: Sequence[AskedQuestion], gains: Sequence[NDArray[np.integer]]
) -> Iterator[WorldValues]:
    """Yield for each question the percent of the game that the seat may expect, by the gains."""
    if not questions:
        return
    law = Law(questions[0].game.rules, questions[0].game.seats)
    scores = [gain + question.game.scores for question, gain in zip(questions, gains, strict=True)]
    sizes = [gain[..., 0].size for gain in gains]
    shares = share_of_scores(
        law,
        np.concatenate([part.reshape(-1, law.seats) for part in scores]),
        np.repeat([question.game.playing.number for question in questions], sizes),
    )
    parts = np.split(shares / (FULL_SHARE // 100), np.cumsum(sizes)[:-1])
    for question, gain, part in zip(questions, gains, parts, strict=True):
        yield part[:, question.seat].reshape(gain.shape[:-1])


def _dear_again(
    questions: Sequence[AskedQuestion], tried: Sequence[TriedOptions], worlds: int
) -> dict[int, TriedOptions]:
    """Return the options of the decisions that look dearest, tried in more worlds, mostly others.

    Losses do not use them: those that chance made dear would fall, and none would rise. Where a
    turn plays two tiles worlds take too long.
    """
    gaps = {
        index: measured_gap(options, question.choice or 0)[1]
        for index, (question, options) in enumerate(zip(questions, tried, strict=True))
        if options.leads.shape[1] == worlds and not question.game.settings.two_tiles
    }
    dear = sorted(gaps, key=lambda index: -gaps[index])[:LOOK_DEAR]
    retries = try_options([questions[index] for index in dear], MORE * worlds)
    return dict(zip(dear, retries, strict=True))


def _played_gains(
    questions: Sequence[AskedQuestion],
    worlds: Iterable[Worlds],
    policies: Sequence[Policy] = (KEEN,),
) -> Iterator[NDArray[np.int32]]:
    """Yield for each question what each seat gains by each option in each world, by playouts."""
    gained = dict[int, Any]()
    for part in worlds:
        end = _after_options([questions[index] for index in part.questions], part)
        scores = end.scores + play_out(end, [*policies] * end.tables.seats)
        before, begin = part.rounds.scores.reshape(len(part.questions), part.each, -1), 0
        for index, start in zip(part.questions, before, strict=True):
            tried = len(questions[index].options) * part.each
            gained[index] = scores[begin : begin + tried].reshape(-1, *start.shape) - start
            begin += tried
    yield from (gained[index] for index in range(len(questions)))


def _after_options(questions: Sequence[AskedQuestion], worlds: Worlds) -> RoundBatch:
    """Return the rounds after each option of each question, in each of its worlds."""
    if worlds.games:
        options = product(questions[0].options, worlds.games)
        games = [values.act_unchecked(game, option) for option, game in options]
        return RoundBatch.from_games(games)
    each = worlds.each
    all_options = [*dict.fromkeys(option for question in questions for option in question.options)]
    number = {option: index for index, option in enumerate(all_options)}
    numbers = [number[option] for question in questions for option in question.options]
    sizes = [len(question.options) for question in questions]
    first = np.repeat(np.arange(len(questions)) * each, sizes)
    end = worlds.rounds.select((first[:, None] + np.arange(each)).ravel())
    end.take(all_options, np.repeat(numbers, each))
    return end


def _next_choices(question: AskedQuestion) -> NDArray[np.float64]:
    """Return for each option what it is worth that the seat then chooses again at once."""
    game, options = question.game, question.options
    able = isinstance(options[0], Play | PlayTwo) and not game.settings.draw_ends_turn
    several = len(options) > 2 or game.playing.drawable > 1
    worth = NEXT_CHOICE * game.rules.deal.highest_pip * (able and several)
    return np.array([worth * isinstance(option, Draw) for option in options])


def standard_error(array: NDArray[np.floating]) -> Any:
    """Return the standard error of the mean over worlds, of each row; from one it is infinite."""
    size = array.shape[-1]
    return (array.std(axis=-1, ddof=1) if size > 1 else array[..., 0] + math.inf) / math.sqrt(size)


def world_errors(values: NDArray[np.floating]) -> Any:
    """Return the standard errors of means over worlds; 0 if the seat knows the only one."""
    return np.zeros(values.shape[:-1]) if values.shape[-1] == 1 else standard_error(values)


def measured_gap(tried: TriedOptions, choice: int) -> tuple[int, float, float]:
    """Return the best option, and its value less that of the chosen one, with its standard error.

    Of equal ones the best is the chosen or the first.
    """
    best = int(_best(tried.leads.mean(axis=1), choice))
    gaps = tried.leads[best] - tried.leads[choice]
    return best, float(gaps.mean()), float(world_errors(gaps))


def measured_loss(values: WorldValues, choice: int) -> float:
    """Return the loss of the chosen option, by leads or shares; it is meant for means."""
    means, count = values.mean(axis=1), values.shape[1]
    gap = means.max() - means[choice]
    if count == 1:
        return float(gap)
    size = -(-count // WORLD_PARTS)
    parts = np.zeros((len(values), size * WORLD_PARTS))
    parts[:, :count] = values
    parts = parts.reshape(len(values), size, WORLD_PARTS).sum(axis=1)
    left = count - np.bincount(np.arange(count) % WORLD_PARTS, minlength=WORLD_PARTS)
    elsewhere = _best((parts.sum(axis=1, keepdims=True) - parts) / left, choice)
    crossed = (parts[elsewhere, np.arange(WORLD_PARTS)] - parts[choice]).sum() / count
    return float(gap + crossed) / 2


def option_values(question: AskedQuestion, compared: int, count: int) -> tuple[OptionValue, ...]:
    """Return the value of every option of a question, in order, against the `compared` option.

    `count`: other deals to try, at least 2. The same question always gets the same deals.
    """
    (tried,) = try_options([question], count, slow=count)
    columns = tried.leads, tried.leads - tried.leads[compared], tried.percents
    each = [part for array in columns for part in (array.mean(axis=1), Z * world_errors(array))]
    return tuple(OptionValue(*(*row, tried.exact)) for row in np.stack(each, axis=1).tolist())


def _best(means: NDArray[np.floating], choice: int) -> Any:
    """Return the option (a row) with the highest mean, of equal ones the chosen or the first."""
    return np.where(means[choice] == means.max(axis=0), choice, means.argmax(axis=0))
