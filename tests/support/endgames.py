"""Endgames of two seats whose perfect plays are known.

Two seats, the boneyard used up: then each seat can work out the other's hand, and the round is a
game of open tiles that a plain search solves. Positions come from rounds that counting plays
against itself; only those are kept in which some option is worse than another. Each bot is asked
in a process of its own, with the events of the round, as in a game.
"""

import importlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any, NamedTuple

import msgspec

from arena.engine import values, view
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Bye, Clock, Hello, Option
from protocol.ruleset import Ruleset, derive

MOST_TILES = 11
"""Tiles in both hands from which on a position is solved."""
MOST_MS = 60_000
"""What a bot is told that it may think about a question."""
RULES: dict[str, Ruleset] = {
    "draw": derive(find_variant("draw"), "draw", {"reserve": 0}),
    "dutch": derive(find_variant("dutch"), "dutch", {"reserve": 0}),
    "double-draw": find_variant("double-draw"),
    "puerto-rico": find_variant("puerto-rico"),
}
"""Games in which the boneyard can be used up."""


class Position(NamedTuple):
    """A question whose answer is known."""

    rules: Ruleset
    """The game's rules."""
    lines: tuple[bytes, bytes]
    """`game` and `ask` as the bot reads them."""
    worth: tuple[int, ...]
    """For each option: the points it brings if all play perfectly, less the other seat's."""


def value(game: Game) -> int:
    """Points of seat 0 less those of seat 1 when both play the round perfectly from here."""
    if game.playing.over is not None:
        return game.points[0] - game.points[1]
    worths = (value(values.act_unchecked(game, option)) for option in values.legal(game))
    return max(worths) if game.playing.turn == 0 else min(worths)


def worths(game: Game) -> tuple[int, ...]:
    """Return what each option is worth for the seat to move."""
    sign = 1 if game.playing.turn == 0 else -1
    return tuple(sign * value(values.act_unchecked(game, option)) for option in values.legal(game))


def question(game: Game, options: tuple[Option, ...]) -> tuple[bytes, bytes]:
    """Return what the seat to move is sent: the game, and the question."""
    seat = game.playing.turn
    told = msgspec.json.encode(view.starting_events(game, 1, seat, Clock(move_ms=MOST_MS)))
    return told, view.LineWriter(game, 1).question(seat, options, 1, MOST_MS)[:-1]


def solvable(game: Game) -> bool:
    """Tell whether each seat can know all tiles, and few are left."""
    state = game.playing
    few = sum(map(len, state.hands)) <= MOST_TILES
    return few and bool(state.line) and not any(state.stock)


def positions(rules: Ruleset, seed: bytes) -> Iterator[Position]:
    """Yield the endgames of one round that counting plays against itself."""
    counting: Any = importlib.import_module("sample_bots.counting")
    plain = msgspec.to_builtins(rules)
    game = values.new_game(rules, 2)
    game = values.begin(game, values.chance_decides(game, seed))
    while game.playing.over is None:
        options, choice = values.legal(game), 0
        if len(options) > 1:
            lines = question(game, options)
            choice = counting.choose(json.loads(lines[1]), plain)
            if solvable(game):
                worth = worths(game)
                if len(set(worth)) > 1:
                    yield Position(rules, lines, worth)
        game = values.act_unchecked(game, options[choice])


def collected(rules: Ruleset, many: int) -> list[Position]:
    """So many positions of a game, always the same ones."""
    seeds = (number.to_bytes(32, "big") for number in count())
    found = (position for seed in seeds for position in positions(rules, seed))
    return list(islice(found, many))


def answers(command: Sequence[str], folder: str, asked: Sequence[Position]) -> list[int]:
    """Return what a bot answers to each position."""
    hello, bye = msgspec.json.encode(Hello(protocol=1, referee="bench")), msgspec.json.encode(Bye())
    lines = [hello, *(line for each in asked for line in each.lines), bye]
    done = subprocess.run(
        command, cwd=folder, input=b"\n".join(lines) + b"\n", capture_output=True, check=True
    )
    return [json.loads(line)["choice"] for line in done.stdout.splitlines()[1:]]
