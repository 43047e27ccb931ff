"""Games of the sample bots in this process, without pipes, clock or files: thousands are quick."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

import sample_bots
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from protocol.messages import Choose, Clock
from protocol.records import GameRecord
from protocol.ruleset import Ruleset
from tests.support.tables import sitting

Question = Mapping[str, Any]
"""A question as a bot reads it."""
Bot = Callable[[Question, Mapping[str, Any]], int]
"""A bot: the index of its option, given the question and the rules of the game."""
CLOCK = Clock()
FEW_WORLDS = 3
"""Worlds of `montecarlo` here: it is about as strong as with twice as many, and slow already."""


def sample(name: str, weights: Mapping[str, float] | None = None) -> ModuleType:
    """Import a sample bot, once for each call, with other weights where they are given."""
    path = Path(sample_bots.__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"quick_{name}", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if weights is not None:
        vars(module)["WEIGHTS"].update(weights)
    return module


def without_rules(name: str, weights: Mapping[str, float] | None = None) -> Bot:
    """Return a sample bot that looks at the question only."""
    choose = sample(name, weights).choose
    return lambda question, _: choose(question)


def careless(bot: Bot, errs: float) -> Bot:
    """Return a bot that takes any option in this part of its questions, by a hash of them."""

    def choose(question: Question, rules: Mapping[str, Any]) -> int:
        words = sha256(repr((question["hand"], question["events"])).encode()).digest()
        if words[0] < 256 * errs:
            return int.from_bytes(words[1:5], "big") % len(question["options"])
        return bot(question, rules)

    return choose


def bots() -> dict[str, Bot]:
    """Return the bots by name: those of the samples, and others made of them."""
    counting, montecarlo = sample("counting"), sample("montecarlo")
    greedy, suit = without_rules("greedy"), without_rules("suit")
    watchful = sample("counting", {"stuck": 10, "pips": 0.1, "fits": 0.6}).choose
    return {
        "greedy": greedy,
        "suit": suit,
        "suit-twin": without_rules("suit", {"pips": 0.09, "suit": 0.6}),
        "counting": counting.choose,
        "montecarlo": lambda question, rules: montecarlo.choose(question, rules, FEW_WORLDS),
        "careless-greedy": careless(greedy, 0.2),
        "careless-suit": careless(suit, 0.1),
        "open": without_rules("suit", {"pips": 0.03, "double": 1.0, "fits": 1.2, "safe": 0.5}),
        "open-twin": without_rules("suit", {"pips": 0.04, "double": 1.2, "fits": 1.2, "safe": 0.5}),
        "heavy": without_rules(
            "suit", {"pips": 0.12, "double": 1.6, "fits": 0.7, "safe": 3, "kinds": 0.1, "suit": 0.3}
        ),
        "watchful": watchful,
        "careless-watchful": careless(watchful, 0.15),
        "blocking": sample(
            "counting", {"stuck": 30, "pips": 0.05, "double": 1.6, "fits": 0.2}
        ).choose,
    }


def play_quickly(
    rules: Ruleset, names: Sequence[str], players: Mapping[str, Bot], event: str, board: int,
    rotation: int = 0,
) -> LoggedGame:  # fmt: skip
    """Play one game of a board and return its log."""
    seats = (*names[rotation:], *names[:rotation])
    plain = msgspec.to_builtins(rules)
    setup = GameSetup(f"{board}.{rotation}", rotation + 1, board, seats, rules, CLOCK)
    referee = Referee(setup, board_seed(b"quick", event, board))
    while question := referee.awaiting:
        for seat, line in referee.take_outgoing():
            if seat == question.seat:
                last = line
        asked = msgspec.json.decode(last)
        chosen = players[seats[question.seat]](asked, plain)
        referee.receive(question.seat, b"", 0.0, message=Choose(id=question.id, choice=chosen))
    begun, *records = referee.take_records()
    assert isinstance(begun, GameRecord)
    record = sitting(seats, (board,), rules, CLOCK, event=event)
    return LoggedGame(record, begun, tuple(records), referee.result)
