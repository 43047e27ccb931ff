"""Policies for the other seats of a single agent's environment: rungs of the ladder by name."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import to_builtins

from arena.training.policy import Policy, Question
from protocol.codec import encode_line
from protocol.errors import unknown_name
from protocol.ruleset import Ruleset
from sample_bots import counting, greedy, random_bot, suit


def _random(question: Question) -> int:
    line = encode_line(question.ask).decode().rstrip("\n")
    return int(random_bot.choose(line, question.ask.options))


def _counting(question: Question) -> int:
    return int(counting.choose(to_builtins(question.ask), _plain(question.game.rules)))


LADDER: Mapping[str, Policy] = {
    "first": lambda _: 0,
    "random": _random,
    "greedy": lambda question: int(greedy.choose(to_builtins(question.ask))),
    "suit": lambda question: int(suit.choose(to_builtins(question.ask))),
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
def _plain(rules: Ruleset) -> Any:
    """Return a ruleset as a bot decodes it."""
    return to_builtins(rules)
