"""Random rulesets over the whole type, for the properties."""

from contextlib import suppress
from typing import Any, get_args, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET

from arena.rules.variants import derive, find_variant
from protocol.ruleset import (
    Boneyard,
    Deal,
    End,
    Game,
    Group,
    HandSizes,
    ImpossibleRulesError,
    Lead,
    Ruleset,
    Score,
    Stakes,
    Targets,
    Turn,
    playable_seat_counts,
)


def _closed(group: type[Group]) -> dict[str, st.SearchStrategy[Any]]:
    """Return a strategy for every choice of a group that is a closed list or a yes or no."""
    strategies: dict[str, st.SearchStrategy[Any]] = {}
    for name, kind in get_type_hints(group).items():
        values = get_args(kind)
        if kind is bool:
            strategies[name] = st.booleans()
        elif values and all(isinstance(value, str | int) for value in values):
            strategies[name] = st.sampled_from(values)
    return strategies


def _group(group: type[Group], **special: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    choices = {**_closed(group), **special}
    missing = {field.name for field in msgspec.structs.fields(group)} - set(choices)
    assert not missing, f"{group.__name__}: no strategy for {missing}"
    return st.fixed_dictionaries(choices)


HANDS = st.integers(1, 9)
POINTS = st.integers(1, 60)
GROUPS = {
    "deal": _group(
        Deal,
        highest_pip=st.sampled_from((6, 6, 6, 7, 8, 9)),
        hand=HANDS
        | st.just("eight_minus_seats")
        | st.builds(
            HandSizes,
            two=HANDS,
            three=st.none() | HANDS,
            four=st.none() | HANDS,
            six=st.just(UNSET) | st.none() | HANDS,
        ),
        refuse_doubles=st.sampled_from((0, 0, 1, 3)),
        annul_suit=st.sampled_from((0, 0, 3, 5)),
    ),
    "lead": _group(Lead),
    "turn": _group(Turn, draw_limit=st.sampled_from((0, 1, 2, 3, "unlimited", "two_at_once"))),
    "boneyard": _group(Boneyard, reserve=st.sampled_from((0, 1, 2, 2, 5))),
    "stakes": _group(
        Stakes,
        fee=st.sampled_from((0, 0, 1, 5)),
        ante=st.sampled_from((0, 0, 3)),
        chips=st.sampled_from((0, 10, 40)),
    ),
    "end": _group(End),
    "score": _group(
        Score,
        bonus=st.sampled_from(((), (100, 75), (1,))),
        capicu=st.sampled_from((0, 100)),
        out_with_blank=st.sampled_from((0, 100)),
    ),
    "game": _group(
        Game,
        target=POINTS
        | st.builds(Targets, two=POINTS, three=POINTS, four=POINTS, partners=st.none() | POINTS),
        rounds=st.sampled_from((0, 0, 1, 3)),
        max_rounds=st.integers(1, 8),
    ),
}

# What each conflict is mended with: drawing again until nothing conflicts would take for ever.
_MENDS: tuple[tuple[str, str, Any], ...] = (
    ("deal", "doubles", True),
    ("deal", "starter", True),
    ("lead", "tile", "any"),
    ("lead", "missing", "next_double"),
    ("turn", "draw_when_able", False),
    ("turn", "draw_optional", True),
    ("turn", "draw_limit", 2),
    ("score", "points_out", "others"),
    ("stakes", "pot", True),
    ("boneyard", "auction", False),
    ("lead", "first", "random"),
    ("deal", "hand", 3),
    ("turn", "tiles", 1),
)


def _mended(plain: dict[str, dict[str, Any]], keep: int) -> Ruleset:
    """Return the ruleset with the fewest changes needed; `keep` varies their order."""
    for number in range(len(_MENDS) + 1):
        mended = {group: dict(choices) for group, choices in plain.items()}
        for group, choice, value in (_MENDS[keep:] + _MENDS[:keep])[:number]:
            mended[group][choice] = value
        with suppress(ImpossibleRulesError):
            return msgspec.convert({"name": "random", **mended}, Ruleset)
    raise AssertionError("All mends together make any ruleset possible.")


def rulesets() -> st.SearchStrategy[Ruleset]:
    """Return every combination of choices that the type admits."""
    return st.builds(_mended, st.fixed_dictionaries(GROUPS), st.integers(0, len(_MENDS) - 1))


CROWDS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("draw", 5, {"highest_pip": 9}),
    ("draw", 6, {"highest_pip": 9, "hand": 7}),
    ("block", 8, {"highest_pip": 9, "hand": 6}),
    ("dutch", 7, {"highest_pip": 12, "hand": 9}),
    ("dutch", 5, {"highest_pip": 9, "draw_limit": "two_at_once"}),
    ("double-draw", 6, {"highest_pip": 9}),
    ("arab-row", 5, {"highest_pip": 7, "hand": 6}),
    ("vietnamese", 8, {"highest_pip": 8}),
    ("auction-draw", 7, {"highest_pip": 9}),
    ("puerto-rico", 8, {"highest_pip": 15, "hand": 12}),
    ("jordanian", 6, {"highest_pip": 9}),
)
"""Games at tables of five and more: their names, seats, and what differs."""


def crowd_rules(name: str, differs: dict[str, Any]) -> Ruleset:
    """Return the rules of such a game, for one round."""
    return derive(find_variant(name), name, differs | {"rounds": 1})


def rules_and_seats() -> st.SearchStrategy[tuple[Ruleset, int]]:
    """Return a ruleset and a number of seats that it allows."""
    return rulesets().flatmap(
        lambda rules: st.tuples(st.just(rules), st.sampled_from(playable_seat_counts(rules)))
    )
