"""Plays the same rounds with the engine and with its reference, and compares every state."""

import random
from typing import Any

import msgspec

from arena import engine
from arena.engine.state import Game
from protocol.ruleset import Ruleset
from tests.engine_reference import game as reference
from tests.engine_reference.state import Game as ReferenceGame


def snapshot(game: Game | ReferenceGame) -> tuple[Any, ...]:
    """Return a game as a value: every tile's place, every count, every event."""
    whole = (game.rules, game.seats, game.target, game.scores, game.pot, game.points, game.over)
    state = game.round
    if state is None:
        return whole
    tiles = (state.hands, state.stock, state.drawable, state.line)
    turn = (state.number, state.leader, state.turn, state.drawn, state.passes, state.over)
    ends = (state.out, state.winner)
    return (*whole, *tiles, *turn, *ends, state.events, *msgspec.structs.astuple(state.aside))


def compare(rules: Ruleset, seats: int, seed: bytes, luck: random.Random, rounds: int) -> int:
    """Play a game at random with both engines, this many rounds at most; return how many."""
    value, game = reference.new_game(rules, seats), engine.new_game(rules, seats)
    while not value.over and not (
        value.round and value.round.over and value.round.number == rounds
    ):
        options = reference.legal(value)
        assert engine.legal(game) == options
        assert engine.needs_deal(game) == reference.needs_deal(value)
        if options:
            option = luck.choice(options)
            value = reference.act_unchecked(value, option)
            engine.act_unchecked(game, option)
        else:
            dealt, now = reference.chance_decides(value, seed), engine.chance_decides(game, seed)
            assert msgspec.structs.astuple(dealt) == msgspec.structs.astuple(now)
            value = reference.begin(value, dealt)
            engine.begin(game, now)
        assert snapshot(value) == snapshot(game)
    assert engine.places(game) == reference.places(value)
    assert engine.pips(game) == reference.pips(value)
    return game.playing.number


def _is_finished(game: ReferenceGame, rounds: int) -> bool:
    state = game.round
    return state is not None and state.over is not None and state.number >= rounds
