"""Values of the options of a question, by playing the round on under other hidden tiles. Pure.

The hidden tiles are dealt anew so that the asked seat could not tell (alternative_deals.py), each
such deal as likely as the next; inferences from the others' choices are not used. From there a
simple heuristic plays on in every seat, so a value says what an option is worth among heuristic
players, not what the bot would have made of it.
"""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from statistics import NormalDist

from msgspec import Struct

from arena.analysis.alternative_deals import (
    QUIET,
    DecisionPoint,
    PublicMove,
    RoundHistory,
    Sample,
    StopAt,
    alternative_deals,
)
from arena.analysis.decisions import Decision, opponents
from arena.analysis.replay import Step, deal_of, steps
from arena.engine import game as engine
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.logs.gamelog import LoggedGame
from protocol.messages import Option, Play
from protocol.records import ChoiceRecord, DealRecord, FoulRecord

BETWEEN = 100
"""Changes between two deals that are used, enough to make them nearly independent."""
Z = NormalDist().inv_cdf(0.975)
"""Standard errors in half of a 95 % interval."""


class OptionValue(Struct, frozen=True):
    """The value of an option, over all deals that were tried."""

    lead: float
    """Points that the seat's side gains beyond the average of the others, until the round's end."""
    half_width: float
    """Half of the 95 % interval of `lead`."""
    beyond: float
    """`lead` minus that of the compared option under the same deals."""
    beyond_half_width: float
    """Half of the 95 % interval of `beyond`."""


def option_values(
    games: Sequence[Game], compared: int, luck: random.Random
) -> tuple[OptionValue, ...]:
    """Return the value of every option of a question, in order, against the `compared` option.

    The games differ in what is hidden from the seat to move.
    """
    luck_of_each = [luck.randbytes(32) for _ in games]
    options = engine.legal(games[0])
    made = [
        [_played_on(game, option, seed) for option in options]
        for game, seed in zip(games, luck_of_each, strict=True)
    ]
    columns = list(zip(*made, strict=True))
    base = columns[compared]
    return tuple(
        OptionValue(
            *_interval(column),
            *_interval([one - other for one, other in zip(column, base, strict=True)]),
        )
        for column in columns
    )


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean, and half of its 95 % interval; infinite from one value alone."""
    many = len(values)
    mean = sum(values) / many
    if many < 2:
        return mean, math.inf
    variance = sum((value - mean) ** 2 for value in values) / (many - 1)
    return mean, Z * math.sqrt(variance / many)


def _played_on(before: Game, option: Option, seed: bytes) -> float:
    """Return a seat's gain in the rest of the round, with the heuristic in every seat."""
    seat, game = before.playing.turn, before.copy()
    engine.act_unchecked(game, option)
    while not game.over and not game.playing.over:
        if engine.needs_deal(game):
            engine.begin(game, engine.chance_decides(game, seed))
        else:
            engine.act_unchecked(game, heuristic_move(engine.legal(game)))
    gains = [now - was for now, was in zip(game.scores, before.scores, strict=True)]
    others = opponents(game.rules, game.seats, seat)
    return gains[seat] - sum(gains[other] for other in others) / len(others)


def heuristic_move(options: Sequence[Option]) -> Option:
    """Return the heuristic's choice: its heaviest tile, doubles first; else the first option."""
    plays = [option for option in options if isinstance(option, Play)]
    return max(plays, key=_weight) if plays else options[0]


def _weight(option: Play) -> tuple[bool, int]:
    high, low = option.tile
    return high == low, high + low


def sampled_deals(
    logged: LoggedGame, decision: Decision, many: int, luck: random.Random
) -> Iterator[Game]:
    """Yield the table at a question under `many` deals that the seat could not tell apart.

    Raises DamagedLogError.
    """
    deal, until = _so_far(logged, decision)
    chain = alternative_deals(deal, decision.question.seat, luck, until)
    sampled: Iterator[Sample] = islice(chain, BETWEEN - 1, many * BETWEEN, BETWEEN)
    return (world.game for world in sampled)


def _so_far(logged: LoggedGame, decision: Decision) -> tuple[RoundHistory, StopAt]:
    """Return the round up to the question, as everybody sees it."""
    start = game = engine.new_game(logged.sitting.rules, len(logged.sitting.seats))
    deals, acts = list[Dealt](), list[PublicMove]()
    fouled = set(logged.game.forfeited)
    for step in takewhile(lambda step: _before(step, decision), steps(logged)):
        record = step.record
        if isinstance(record, DealRecord):
            if game.round is None or game.playing.over:
                start, deals, acts = game, [], []
            deals.append(deal_of(record))
        elif isinstance(record, FoulRecord):
            fouled.add(record.seat)
        elif isinstance(record, ChoiceRecord | None):
            acts += _acts(game, record.choice if record else 0, fouled)
        game = step.game
    moment = DecisionPoint(len(acts), game.playing.aside.phase)
    return RoundHistory(start, tuple(deals), tuple(acts)), (decision.question.seat, moment)


def _before(step: Step, decision: Decision) -> bool:
    """Tell whether a step comes before the answer to the question; all do if it has none."""
    return decision.record is None or step.record is not decision.record


def _acts(game: Game, choice: int, fouled: set[int]) -> list[PublicMove]:
    """Return the public moves of a choice."""
    seat, option = game.playing.turn, engine.legal(game)[choice]
    return [] if isinstance(option, QUIET) else [PublicMove(seat, option, seat in fouled)]
