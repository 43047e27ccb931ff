"""The named rulesets, each saying only how it differs from its base. Game names live here only."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from protocol.rules import Ruleset, varied
from protocol.usage import unknown


class Variant(NamedTuple):
    """A named game."""

    about: str
    """One line for a list."""
    sources: tuple[str, ...]
    """The clauses it comes from, as in rules.md."""
    base: str | None
    """The game it differs from; None for the one that is made of the defaults."""
    differs: Mapping[str, Any]
    """Its own choices."""


VARIANTS: dict[str, Variant] = {
    "draw": Variant(
        "Draw until you play, even when able; two tiles stay in the boneyard.",
        ("C deal", "C play", "C score", "C.8", "C.10", "C.22", "C.26"),
        None,
        {},
    ),
    "drawing-game": Variant(
        "The draw game, its first leader chosen at random.",
        ("B",),
        "draw",
        {"first": "random"},
    ),
    "dutch": Variant(
        "Play if you can, else draw one tile, else pass; 0-0 counts 13.",
        ("A", "C Dutch", "C.28"),
        "draw",
        {"first": "random", "draw_limit": 1, "draw_when_able": False, "double_blank": 13},
    ),
    "dutch-two": Variant(
        "The Dutch game, drawing up to two tiles.",
        ("A", "C Dutch", "C.28"),
        "dutch",
        {"draw_limit": 2},
    ),
    "block": Variant(
        "No drawing: play or pass; going out wins the others' pips.",
        ("C", "C.30", "C.31", "C.32", "C.34"),
        "draw",
        {
            "draw_limit": 0,
            "draw_when_able": False,
            "reserve": 0,
            "winner": "out",
            "points_out": "others",
        },
    ),
    "domino-pool": Variant(
        "Draw until you can play, and then you must; two dead tiles.",
        ("C.18", "C.23", "C.26"),
        "draw",
        {"draw_when_able": False},
    ),
}


@cache
def named(name: str) -> Ruleset:
    """The ruleset of a named game.

    Raises UserError with the nearest names.
    """
    if name not in VARIANTS:
        raise unknown("game", name, VARIANTS)
    variant = VARIANTS[name]
    base = named(variant.base) if variant.base else Ruleset(name=name)
    return varied(base, name, variant.differs)
