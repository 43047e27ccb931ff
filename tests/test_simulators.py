"""The sample bots' own simulators against the engine: the same rounds, the same lists and points."""

import importlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest

from arena.engine import game as engine
from arena.engine.state import Game, Round
from arena.variants import VARIANTS, named
from protocol.messages import Bid, Drew, Option
from protocol.rules import tables

ROUNDS = 12
"""Random rounds of each game at each table."""
TABLES = [(name, seats) for name in VARIANTS for seats in tables(named(name))]

montecarlo: Any = importlib.import_module("sample_bots.montecarlo")


def begun(name: str, seats: int, seed: int) -> Game:
    """A game at the first move of its first round."""
    game = engine.new_game(named(name), seats)
    while engine.needs_deal(game):
        game = engine.begin(game, engine.chance_decides(game, bytes([seed]) * 32))
    return game


def imagined(game: Game) -> Any:
    """The same round in the bot's simulator, the boneyard still empty."""
    state = game.playing
    rules = montecarlo.Game(msgspec.to_builtins(game.rules), game.seats)
    hands = [rules.mask(hand) for hand in state.hands]
    return montecarlo.Sim(rules, hands, [], [list(tile) for tile in state.line], state.turn)


def choices(dice: random.Random, options: Sequence[Option]) -> Option:
    """Any option, a draw less often; nobody bids, for the simulator leaves bids out."""
    if isinstance(options[0], Bid):
        return options[0]
    return dice.choice([*options[:3], *options])


def played(name: str, seats: int, seed: int) -> Iterator[tuple[Game, Option]]:
    """A random round: each state with what is chosen in it, the forced choices too."""
    game, dice = begun(name, seats, seed), random.Random(seed)
    while game.playing.over is None:
        option = choices(dice, engine.legal(game))
        yield game, option
        game = engine.act(game, option)
    yield game, option


def stock(rules: Any, start: Round, end: Round) -> list[int]:
    """The boneyard in the order in which it was drawn in this round, the next tile last."""
    drawn = [event.tile for event in end.events[len(start.events) :] if isinstance(event, Drew)]
    left = [tile for row in end.stock for tile in row]
    bits: list[int] = [rules.bit[tile] for tile in [*drawn, *left]]
    return bits[::-1]


def listed(sim: Any, moves: list[Any]) -> list[Any]:
    """Moves in one order; with equal ends it is the same which tile of a pair is the left one."""
    if sim.ends and sim.ends[0] == sim.ends[1]:
        moves = [(move[0], *sorted(move[1:])) if move[0] == "two" else move for move in moves]
    return sorted(moves, key=str)


def as_written(option: Option) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(option)
    return written


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_montecarlo_plays_rounds_as_the_engine_does(name: str, seats: int) -> None:
    for seed in range(ROUNDS):
        steps = list(played(name, seats, seed))
        start, end = steps[0][0], steps[-1][0]
        sim = imagined(start)
        sim.pot = start.pot
        sim.stock = stock(sim.game, start.playing, end.playing)
        for game, option in steps[:-1]:
            if isinstance(option, Bid):
                continue
            assert sim.turn == game.playing.turn
            if game.playing.line or game.playing.aside.must_lead is None:
                moves = [
                    montecarlo.as_move(as_written(each), sim.game) for each in engine.legal(game)
                ]
                assert listed(sim, sim.moves()) == listed(sim, moves)
            sim.do(montecarlo.as_move(as_written(option), sim.game))
        assert sim.over
        paid = [one - other for one, other in zip(end.scores, start.scores, strict=True)]
        assert sim.points(1) == paid
