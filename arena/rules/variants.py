"""Rulesets as differences from others, and the named games. Only this file names games."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_type_hints

import msgspec

from protocol.errors import UserError, unknown_name
from protocol.ruleset import Group, Ruleset
from protocol.validation import convert_or_explain

# Rulesets that differ from others in some choices.


@lru_cache(maxsize=1)
def choices() -> dict[str, str]:
    """Return the name of each choice and its group; a name is never in two groups."""
    return {
        choice.name: group.name
        for group in msgspec.structs.fields(Ruleset)
        if isinstance(group.type, type) and issubclass(group.type, Group)
        for choice in msgspec.structs.fields(group.type)
    }


def group_of(choice: str, besides: tuple[str, ...] = ()) -> str:
    """Return the group of a choice. Raises UserError; `besides`: words that may be meant too."""
    owners = choices()
    if members := [name for name, group in owners.items() if group == choice]:
        raise UserError(
            f"{choice} is a group of choices, not a choice. Set one of {', '.join(members)}."
        )
    if choice not in owners:
        raise unknown_name("choice of rules", choice, (*owners, *besides))
    return owners[choice]


def derive(base: Ruleset, name: str, differs: Mapping[str, Any]) -> Ruleset:
    """Return a ruleset that differs from its base in these choices.

    Raises UserError for an unknown choice or value, ImpossibleRulesError for a conflict.
    """
    plain: dict[str, Any] = msgspec.to_builtins(base)
    for choice, value in differs.items():
        group = group_of(choice)
        kinds = get_type_hints(type(getattr(base, group)), include_extras=True)
        convert_or_explain(value, kinds[choice], choice)
        plain[group][choice] = value
    return msgspec.convert({**plain, "name": name}, Ruleset)


# The named games.


class Variant(NamedTuple):
    """A named game."""

    about: str
    """The description: one line of a list."""
    sources: tuple[str, ...]
    """The clauses that it follows, as in rules.md."""
    base: str | None
    """The game from which it differs; None: it consists of the defaults."""
    differs: Mapping[str, Any]
    """The choices in which it differs."""


SIXTY_ONE_FOR_PARTNERS = {"two": 100, "three": 61, "four": 61, "partners": 61}
"""The targets of A and B: 61 in every game of three or four; C and E let partners play to 100."""

VARIANTS: dict[str, Variant] = {
    "draw": Variant(
        "Draw until you play, even when able; two tiles stay in the boneyard.",
        ("C deal", "C play", "C score", "C.8", "C.10", "C.22", "C.26"),
        None,
        {},
    ),
    "drawing-game": Variant(
        "The draw game; the first leader is chosen at random.",
        ("B", "C.10"),
        "draw",
        {"first": "random", "target": SIXTY_ONE_FOR_PARTNERS},
    ),
    "dutch": Variant(
        "Play if you can; if not, draw one tile, then play it or pass; the 0-0 counts 13.",
        ("A", "C Dutch", "C.10", "C.28"),
        "draw",
        {
            "first": "random",
            "draw_limit": 1,
            "draw_when_able": False,
            "double_blank": 13,
            "target": SIXTY_ONE_FOR_PARTNERS,
        },
    ),
    "dutch-two": Variant(
        "The Dutch game; a player who cannot play draws up to two tiles.",
        ("A", "C Dutch", "C.28"),
        "dutch",
        {"draw_limit": 2},
    ),
    "dutch-partners": Variant(
        "The Dutch game for two partnerships: seven tiles each and no boneyard.",
        ("A", "C Dutch", "C.36"),
        "dutch",
        {"partners": True, "hand": 7, "draw_limit": 0, "reserve": 0},
    ),
    "old-draw": Variant(
        "The old draw game: the lowest tile leads; after the lead draw as many tiles as you like.",
        ("D", "C.25"),
        "draw",
        {
            "first": "lowest",
            "leader_may_draw": False,
            "reserve": 0,
            "hand": {"two": 7, "three": 7, "four": 6},
            "winner": "out",
            "points_out": "others",
            "target": 100,
        },
    ),
    "old-draw-reserve": Variant(
        "The old draw game; two tiles stay in the boneyard.",
        ("D", "C.26"),
        "old-draw",
        {"reserve": 2},
    ),
    "double-draw": Variant(
        "Play two tiles a turn, one at each end, or draw one; any player may call a blocked round.",
        ("E",),
        "draw",
        {
            "hand": "eight_minus_seats",
            "starter": True,
            "first": "random",
            "tiles": 2,
            "draw_when_able": False,
            "leader_may_draw": False,
            "draw_ends_turn": True,
            "reserve": 0,
            "blocked": "call",
        },
    ),
    "block": Variant(
        "No drawing: play or pass; the player who goes out scores the others' pips.",
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
    "partnership": Variant(
        "Two against two, seven tiles each and no boneyard; the 6-6 leads the first round.",
        ("C", "C.13", "C.36"),
        "block",
        {
            "partners": True,
            "hand": 7,
            "direction": "counter_clockwise",
            "first": "double_six",
            "tile": "set_double",
            "points_blocked": "others",
        },
    ),
    "draw-partners": Variant(
        "The draw game, two against two: the side with fewer pips scores the difference.",
        ("C play", "C score", "C.36"),
        "draw",
        {"partners": True},
    ),
    "puerto-rico": Variant(
        "The highest double leads, then each winner; the winner scores the pips of all hands.",
        ("C Puerto Rico", "C.18", "C.23", "C.25", "C.33"),
        "draw",
        {
            "hand": {"two": 7, "three": 7},
            "direction": "counter_clockwise",
            "first": "highest_double",
            "later": "winner",
            "after_tie": "highest_double",
            "tile": "set_double",
            "draw_when_able": False,
            "reserve": 0,
            "winner": "out",
            "points_out": "everybody",
            "points_blocked": "everybody",
            "target": 200,
        },
    ),
    "puerto-rico-blocker": Variant(
        "Like puerto-rico, but the player who blocked the round wins a tie.",
        ("C Puerto Rico",),
        "puerto-rico",
        {"tie": "blocker", "after_tie": "as_later"},
    ),
    "puerto-rico-500": Variant(
        "To 500 points, with bonuses for the first four rounds, capicú and going out with 0-0.",
        ("C Puerto Rico",),
        "puerto-rico",
        {"target": 500, "bonus": [100, 75, 50, 25], "capicu": 100, "out_with_blank": 100},
    ),
    "austrian": Variant(
        "A double-eight set without its doubles; draw until you can play, then play.",
        ("C Austria",),
        "draw",
        {
            "highest_pip": 8,
            "doubles": False,
            "hand": {"two": 9, "three": 7},
            "draw_when_able": False,
            "reserve": 0,
            "target": 100,
        },
    ),
    "austrian-block": Variant(
        "The Austrian set for four players: eight tiles each and no drawing.",
        ("C Austria",),
        "austrian",
        {"hand": {"four": 8}, "draw_limit": 0},
    ),
    "arab-row": Variant(
        "The draw game with the boneyard in a row; everybody draws from the same end.",
        ("C Egypt",),
        "draw",
        {"order": "row"},
    ),
    "jordanian": Variant(
        "Five tiles of one number annul the deal; two dead ends end the round at once.",
        ("C.6", "C.20"),
        "draw",
        {"annul_suit": 5, "blocked": "at_once"},
    ),
    "south-american": Variant(
        "The draw game; each player is dealt eight tiles minus one for each player.",
        ("C.2",),
        "draw",
        {"hand": "eight_minus_seats"},
    ),
    "vietnamese": Variant(
        "One tile each; the players draw in turn until somebody has the 6-6 and leads it.",
        ("C.3", "C.13"),
        "draw",
        {
            "hand": 1,
            "first": "double_six",
            "later": "double_six",
            "missing": "draw_for_it",
            "tile": "set_double",
        },
    ),
    "ukrainian": Variant(
        "The draw game; the player with the highest double leads any tile.",
        ("C.12",),
        "draw",
        {"first": "highest_double", "later": "highest_double", "missing": "draw_for_it"},
    ),
    "six-six": Variant(
        "The 6-6 leads every round; if nobody holds it, the players draw until somebody has it.",
        ("C.13",),
        "draw",
        {
            "first": "double_six",
            "later": "double_six",
            "missing": "draw_for_it",
            "tile": "set_double",
        },
    ),
    "french": Variant(
        "The draw game, choice for choice; in France too the leader may play any tile first.",
        ("C.15",),
        "draw",
        {"tile": "any"},
    ),
    "domino-pool": Variant(
        "Draw until you can play, then play; two tiles stay in the boneyard.",
        ("C.18", "C.23", "C.26"),
        "draw",
        {"draw_when_able": False},
    ),
    "auction-draw": Variant(
        "Played for chips: antes and bought tiles fill a pot; the last two tiles are auctioned.",
        ("C.26", "C.27"),
        "draw",
        {
            "draw_when_able": False,
            "draw_optional": True,
            "auction": True,
            "chips": 100,
            "ante": 3,
            "fee": 1,
            "pot": True,
            "winner": "out",
            "points_out": "nothing",
            "points_blocked": "nothing",
            "rounds": 20,
        },
    ),
    "paid-draw": Variant(
        "The draw game; each drawn tile costs a point.",
        ("C.27",),
        "draw",
        {"fee": 1, "draw_optional": True},
    ),
    "pot-draw": Variant(
        "The draw game; each drawn tile costs a point, and the round's winner takes the pot.",
        ("C.27",),
        "paid-draw",
        {"pot": True},
    ),
    "point-a-round": Variant(
        "The draw game of early accounts: each round won scores one point; ten points win.",
        ("C.30",),
        "draw",
        {"winner": "out", "points_out": "one", "points_blocked": "one", "target": 10},
    ),
}


@cache
def find_variant(name: str) -> Ruleset:
    """Return the ruleset of a named game. Raises UserError with the nearest names."""
    if name not in VARIANTS:
        raise unknown_name("game", name, VARIANTS)
    variant = VARIANTS[name]
    base = find_variant(variant.base) if variant.base else Ruleset(name=name)
    return derive(base, name, variant.differs)
