"""The ladder's upper rungs against the engine: rounds, lists and points."""

import importlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.engine import values, view
from arena.engine.state import Game, Round
from arena.rules.variants import VARIANTS, derive, find_variant
from protocol.messages import Bid, Choose, Clock, Drew, Option
from protocol.ruleset import Tile, target
from tests.support.fast_run import NAMED_TABLES, slow_except
from tests.support.rulesets import CROWDS, crowd_rules

ROUNDS = 6
RULESETS = {name: find_variant(name) for name in VARIANTS} | {
    f"partners-{formula}": derive(
        find_variant("draw-partners"), formula, {"points_out": formula, "points_blocked": formula}
    )
    for formula in ("others", "everybody", "difference", "one", "nothing")
}
"""The named games, and what none of them has: every way to count for partners."""
TABLES = [*NAMED_TABLES, *((name, 4) for name in RULESETS if name not in VARIANTS)]
AT_ONCE: dict[str, Any] = {"draw_limit": "two_at_once"}
RULESETS |= {
    "at-once": derive(find_variant("dutch"), "at-once", AT_ONCE),
    "at-once-able": derive(find_variant("draw"), "at-once-able", AT_ONCE),
}
TABLES += [("at-once", 2), ("at-once", 4), ("at-once-able", 3)]
RULESETS |= {f"{name}-{seats}": crowd_rules(name, differs) for name, seats, differs in CROWDS}
TABLES += [
    (f"{name}-{seats}", seats) for name, seats, differs in CROWDS if differs["highest_pip"] < 15
]

FOLDER = Path(importlib.import_module("sample_bots").__path__[0])
needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="ismcts needs cc")


def opening_state(name: str, seats: int, seed: int) -> Game:
    """Return a game at the first move of its first round."""
    game = values.new_game(RULESETS[name], seats)
    while values.needs_deal(game):
        game = values.begin(game, values.chance_decides(game, bytes([seed]) * 32))
    return game


def choices(dice: random.Random, options: Sequence[Option]) -> Option:
    """Return any option, a draw less often, and no bid: the simulator leaves bids out."""
    if isinstance(options[0], Bid):
        return options[0]
    return dice.choice([*options[:3], *options])


def play_round(name: str, seats: int, seed: int) -> Iterator[tuple[Game, Option]]:
    """Yield a random round: each state with what is chosen in it, the forced choices too."""
    game, dice = opening_state(name, seats, seed), random.Random(seed)
    while game.playing.over is None:
        option = choices(dice, values.legal(game))
        yield game, option
        game = values.act(game, option)
    yield game, option


def stock(start: Round, end: Round) -> list[Tile]:
    """Return the boneyard in the order in which it was drawn in this round, the next tile last."""
    new = end.events[len(start.events) :]
    drawn_tiles = [event.tile for event in new if isinstance(event, Drew) and event.tile]
    left = [tile for row in end.stock for tile in row]
    return [*drawn_tiles, *left][::-1]


def round_points(start: Game, end: Game) -> list[int]:
    """Return the points of the round for each seat: the difference of its scores."""
    return [score - before for score, before in zip(end.scores, start.scores, strict=True)]


def is_known(game: Game) -> bool:
    """Tell whether the simulators know this question: not a bid, not a tile that must be led."""
    bound = game.playing.phase.must_lead is not None and not game.playing.line
    return game.playing.phase.name in ("play", "call") and not bound


def option_fields(option: Option) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(option)
    return fields


@pytest.fixture(scope="module")
def ismcts(tmp_path_factory: pytest.TempPathFactory) -> str:
    built = tmp_path_factory.mktemp("build") / "ismcts"
    words = [
        "-O1",
        "-std=gnu11",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover",
        "-o",
        str(built),
    ]
    subprocess.run(["cc", *words, "ismcts.c", "-lm"], cwd=FOLDER, check=True)
    return str(built)


def script(steps: Sequence[tuple[Game, Option]]) -> list[dict[str, Any]]:
    """Return the rules and a round as ismcts replays them."""
    start, end = steps[0][0].playing, steps[-1][0].playing
    game, line = steps[0][0], start.line
    rules: dict[str, Any] = msgspec.to_builtins(game.rules)
    return [
        {
            "type": "game",
            "seats": game.seats,
            "partners": game.rules.deal.partners,
            "rules": rules,
            "target": target(game.rules, game.seats),
        },
        {
            "type": "replay",
            "round": 1,
            "turn": start.turn,
            "pot": game.pot,
            "hands": start.hands,
            "stock": stock(start, end),
            "line": line,
            "ends": [line[0][0], line[-1][1]] if line else [],
            "moves": [
                option_fields(option) for _, option in steps[:-1] if not isinstance(option, Bid)
            ],
        },
    ]


# Slow: a C compiler and every named game.
@pytest.mark.slow
@needs_cc
def test_ismcts_plays_rounds_as_the_engine_does(ismcts: str) -> None:
    rounds = [list(play_round(*table, seed)) for table in TABLES for seed in range(ROUNDS)]
    lines = [json.dumps(line, separators=(",", ":")) for steps in rounds for line in script(steps)]
    process = subprocess.run(
        [ismcts, "--replay"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    for steps, line in zip(rounds, process.stdout.splitlines(), strict=True):
        replay, choice_steps = (
            json.loads(line),
            [step for step in steps[:-1] if not isinstance(step[1], Bid)],
        )
        assert replay["over"]
        assert replay["points"] == round_points(steps[0][0], steps[-1][0])
        for (game, _), (turn, moves) in zip(choice_steps, replay["moves"], strict=True):
            assert turn == game.playing.turn
            assert moves == len(values.legal(game)) or not is_known(game)


def question(game: Game, options: tuple[Option, ...]) -> tuple[bytes, bytes]:
    """Return the lines of the game and of the question, as the seat to move is sent them."""
    seat = game.playing.turn
    game_line = msgspec.json.encode(view.starting_events(game, 1, seat, Clock(move_ms=60_000)))
    return game_line, view.LineWriter(game, 1).question(seat, options, 1, 60_000)[:-1]


def questions(name: str, seats: int) -> Iterator[tuple[Game, bytes, bytes]]:
    """Yield a random round as the seats were asked, the forced choices too."""
    for game, _ in list(play_round(name, seats, 99))[:-1]:
        yield game, *question(game, values.legal(game))


def all_questions() -> list[tuple[Game, bytes, bytes]]:
    return [question for table in TABLES for question in questions(*table)]


# Slow: every rung can play every named game, in whatever order it is asked.
@pytest.fixture(
    params=slow_except(["suit"], ["greedy", "suit", "counting", "montecarlo", "ismcts"])
)
def rung(request: pytest.FixtureRequest) -> list[str]:
    """Return a bot that thinks as little as it can."""
    if request.param != "ismcts":
        little = ["--worlds", "1"] if request.param == "montecarlo" else []
        return [sys.executable, f"{request.param}.py", *little]
    if not shutil.which("cc"):
        pytest.skip("ismcts needs cc")
    return [request.getfixturevalue("ismcts"), "--simulations", "15"]


def answers_of(command: list[str], rows: Sequence[tuple[Game, bytes, bytes]]) -> list[Choose]:
    """Return the answers of a bot, in one process."""
    lines = b"".join(game_line + b"\n" + ask + b"\n" for _, game_line, ask in rows)
    process = subprocess.run(command, cwd=FOLDER, input=lines, capture_output=True, check=True)
    return [msgspec.json.decode(line, type=Choose) for line in process.stdout.splitlines()]


def test_every_rung_answers_every_question_of_every_named_game(rung: list[str]) -> None:
    rows = all_questions()
    answers = answers_of(rung, rows)
    for (game, _, _), answer in zip(rows, answers, strict=True):
        assert answer.choice < len(values.legal(game))
        if game.playing.phase.name in ("play", "call"):
            assert answer.note != "by thumb"
    assert answers_of(rung, rows[::-3]) == answers[::-3]  # nothing hangs on what was asked before
