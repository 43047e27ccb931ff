"""Policies for the other seats of a single agent's environment: rungs of the ladder by name."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import to_builtins

from arena.training.policy import Policy, Question
from protocol.codec import encode_line
from protocol.errors import unknown_name
from protocol.ruleset import Ruleset


def _first(_question: Question) -> int:
    return 0


def _random(question: Question) -> int:
    line, options = encode_line(question.ask).decode().rstrip("\n"), question.ask.options
    return _choice("random_bot")(line, options)


def _greedy(question: Question) -> int:
    return _choice("greedy")(to_builtins(question.ask))


def _suit(question: Question) -> int:
    return _choice("suit")(to_builtins(question.ask))


def _counting(question: Question) -> int:
    return _choice("counting")(to_builtins(question.ask), _plain(question.game.rules))


LADDER: Mapping[str, Policy] = {
    "first": _first,
    "random": _random,
    "greedy": _greedy,
    "suit": _suit,
    "counting": _counting,
}
"""Sample bots that choose within this process what they would choose at a table, weakest first."""


def find_rival(rival: str | Policy) -> Policy:
    """Return a sample bot's policy by its name; a policy stays as it is.

    Raises UserError for a name that is not in `LADDER`.
    """
    if not isinstance(rival, str):
        return rival
    if rival not in LADDER:
        raise unknown_name("rival", rival, LADDER)
    return LADDER[rival]


@cache
def _choice(module: str) -> Callable[..., int]:
    """Return the function with which a sample bot chooses."""
    choose: Callable[..., int] = import_module(f"sample_bots.{module}").choose
    return choose


@cache
def _plain(rules: Ruleset) -> Any:
    """Return a ruleset as a bot decodes it."""
    return to_builtins(rules)
