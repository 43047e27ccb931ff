"""Rounds played at random, and the same rounds with what one seat cannot see dealt anew."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from msgspec.structs import replace

from arena.analysis.alternative_deals import (
    QUIET,
    PublicMove,
    RoundHistory,
    StopAt,
    alternative_deals,
    replay_round,
)
from arena.engine import values
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.match.referee import needs_answer
from protocol.messages import Clock, Option
from protocol.ruleset import Game as Limits
from protocol.ruleset import Ruleset

CHANGES = 8


class Asks(Protocol):
    """A rule that says which seats are asked."""

    def __call__(self, clock: Clock, options: tuple[Option, ...], *, fouled: bool) -> bool:
        """Tell whether a seat with these options is asked."""


def played(
    rules: Ruleset, seats: int, seed: bytes, rng: random.Random, fouler: int | None = None
) -> list[RoundHistory]:
    """Return a short game, played at random; one seat may foul at its first turn."""
    short = replace(rules, game=Limits(target=100_000, max_rounds=rng.randint(1, 2)))
    game, rounds = values.new_game(short, seats), list[RoundHistory]()
    while not game.over:
        deal, game = _round(game, seed, rng, fouler)
        rounds.append(deal)
    return rounds


def _round(
    game: Game, seed: bytes, rng: random.Random, fouler: int | None
) -> tuple[RoundHistory, Game]:
    """Return a round played at random, and the game after it."""
    start, deals, acts = game, list[Dealt](), list[PublicMove]()
    while True:
        if values.needs_deal(game):
            if deals and game.playing.over:
                return RoundHistory(start, tuple(deals), tuple(acts)), game
            deals.append(values.chance_decides(game, seed))
            game = values.begin(game, deals[-1])
            continue
        options, turn = values.legal(game), game.playing.turn
        option = options[0] if turn == fouler else rng.choice(options)
        if not isinstance(option, QUIET):
            acts.append(PublicMove(turn, option, turn == fouler))
        game = values.act(game, option)


def questions(
    deal: RoundHistory, seat: int, clock: Clock, asks: Asks = needs_answer
) -> Iterator[StopAt]:
    """Yield every moment of a round at which this seat is asked."""
    done = 0
    for game, choice, _ in replay_round(deal):
        if choice is None:
            return
        options = values.legal(game)
        if game.playing.turn == seat and asks(clock, options, fouled=False):
            yield StopAt(seat, done, game.playing.phase.name)
        done += not isinstance(options[choice], QUIET)


def resampled(
    deal: RoundHistory, seat: int, rng: random.Random, until: StopAt | None = None
) -> RoundHistory:
    """Return the same public round with the tiles that the seat cannot see dealt again."""
    return next(islice(alternative_deals(deal, seat, rng, until), CHANGES, None)).deal
