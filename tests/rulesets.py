"""Random rulesets over the whole type, for the properties."""

from typing import Any, get_args, get_type_hints

import msgspec
from hypothesis import strategies as st

from protocol.rules import (
    Boneyard,
    Deal,
    End,
    Game,
    Group,
    HandSizes,
    Lead,
    Ruleset,
    Score,
    Targets,
    Turn,
)


def _literals(group: type[Group]) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for every choice of a group that is a closed list or a yes or no."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    for name, kind in get_type_hints(group).items():
        if kind is bool:
            found[name] = st.booleans()
        elif getattr(kind, "__origin__", None) is not None or get_args(kind):
            values = get_args(kind)
            if all(isinstance(value, str | int) for value in values):
                found[name] = st.sampled_from(values)
    return found


def _group(group: type[Group], **special: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    choices = {**_literals(group), **special}
    missing = {field.name for field in msgspec.structs.fields(group)} - set(choices)
    assert not missing, f"{group.__name__}: no strategy for {missing}"
    return st.builds(group, **choices)


def rulesets() -> st.SearchStrategy[Ruleset]:
    """Every combination of choices that the type admits, at any table of two to four."""
    hands = st.integers(1, 7)
    points = st.integers(1, 60)
    return st.builds(
        Ruleset,
        name=st.just("random"),
        deal=_group(Deal, hand=hands | st.builds(HandSizes, two=hands, three=hands, four=hands)),
        lead=_group(Lead),
        turn=_group(Turn, draw_limit=st.sampled_from((0, 1, 2, 3, "unlimited"))),
        boneyard=_group(Boneyard, reserve=st.sampled_from((0, 1, 2, 5))),
        end=_group(End),
        score=_group(Score),
        game=_group(
            Game,
            target=points | st.builds(Targets, two=points, three=points, four=points),
            max_rounds=st.integers(1, 12),
        ),
    )
