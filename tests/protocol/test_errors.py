"""A mistake in what a user wrote is found wherever the types find one, and told in one sentence."""

import math
import re
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from protocol.errors import MAX_CHARS, UserError, convert_or_explain


class Way(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A table of one of several types."""


class Long(Way, frozen=True, tag="long"):
    """Has a field of its own."""

    miles: Annotated[int, Meta(ge=1)] = 1


class Short(Way, frozen=True, tag="short"):
    """Has none."""


class Trip(Struct, frozen=True, forbid_unknown_fields=True):
    """One field of every kind that files have."""

    to: Annotated[str, Meta(pattern="^[a-z]+$", description="letters")]
    by: tuple[Annotated[str, Meta(pattern="^[a-z]+$")], ...] = ()
    how: Long | Short = Short()
    when: Literal["now", "soon"] = "now"
    legs: Literal[2, 4, "many"] = 2
    far: Annotated[float, Meta(ge=0.5, le=9)] | None = None
    pair: tuple[str, int] = ("", 0)
    sure: bool = True
    more: dict[Annotated[str, Meta(pattern="^[a-z]+$")], int] = {}
    free: str | dict[str, Any] = ""
    some: Annotated[tuple[int, ...], Meta(min_length=1)] = (1,)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({}, "to is missing."),
        ({"to": "A"}, 'to must be letters, not "A".'),
        ({"to": 3}, "to must be letters, not 3."),
        ({"to": 99 * "A"}, f'to must be letters, not "{(MAX_CHARS - 1) * "A"}….'),
        ({"too": "a"}, "Unknown field too: did you mean to?"),
        ({"how": {"type": "long", "a\nb": 1}}, 'Unknown field how."a\\nb": there are type, miles.'),
        ({"by": "a"}, 'by must be a list of words, as by = ["a"], not "a".'),
        ({"by": "a b"}, 'by must be a list of words, as by = ["a", "b"], not "a b".'),
        ({"by": 3}, "by must be a list, not 3."),
        ({"by": ["a", "B"]}, 'by[1] must be text in quotes, not "B".'),
        ({"how": "long"}, 'how must be a table, as how = { type = "long" }, not "long".'),
        ({"how": {}}, "how.type is missing: there are long, short."),
        ({"how": {"type": "lon"}}, "Unknown value of how.type 'lon': did you mean long?"),
        ({"how": {"type": ["long"]}}, "Unknown value of how.type \"['long']\": did you mean long?"),
        ({"how": {"type": "long", "mile": 1}}, "Unknown field how.mile: did you mean miles?"),
        ({"how": {"type": "long", "miles": 0}}, "how.miles must be a whole number of 1 or more"),
        ({"when": "son"}, "Unknown value of when 'son': did you mean soon?"),
        ({"legs": 3}, "Unknown value of legs '3': there are 2, 4, many."),
        ({"far": 0}, "far must be a number from 0.5 to 9, not 0."),
        ({"pair": ["a"]}, "pair must have 2 entries, not 1."),
        ({"pair": ["a", "b"]}, 'pair[1] must be a whole number, not "b".'),
        ({"sure": "yes"}, 'sure must be true or false, not "yes".'),
        ({"more": {"a": True}}, "more.a must be a whole number, not true."),
        ({"more": {"A": 1}}, 'a name in more must be text in quotes, not "A".'),
        ({"free": 1}, "free must be text in quotes or a table, not 1."),
        ({"some": []}, "some must have 1 or more entries, not 0."),
    ],
)
def test_a_mistake_is_told_in_words_of_toml(said: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        convert_or_explain(said if said == {} else {"to": "a", **said}, Trip)
    assert str(caught.value).startswith(sentence)


class Checked(Struct, frozen=True):
    """Has a check of its own."""

    least: int

    def __post_init__(self) -> None:
        """ValueError when it is not above 0."""
        if self.least <= 0:
            raise ValueError("least must be above 0")


class Outer(Struct, frozen=True):
    """Something around it."""

    inner: tuple[Checked, ...] = ()
    named: dict[str, Checked] = {}


def test_errors_of_a_type_s_own_check_have_a_path() -> None:
    with pytest.raises(UserError) as caught:
        convert_or_explain({"inner": [{"least": 0}]}, Outer)
    assert str(caught.value) == "inner[0]: least must be above 0."
    with pytest.raises(UserError) as caught:
        convert_or_explain({"named": {"a": {"least": 1}, "b": {"least": 0}}}, Outer)
    assert str(caught.value) == "named.b: least must be above 0."
    with pytest.raises(UserError) as caught:
        convert_or_explain({"least": 0}, Checked, "here")
    assert str(caught.value) == "here: least must be above 0."


def test_recursive_or_deep_values_are_explained_too() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(UserError, match="to must be letters, not a table in too many"):
        convert_or_explain({"to": deep}, Trip)
    with pytest.raises(UserError, match="to must be letters, not inf"):
        convert_or_explain({"to": math.inf}, Trip)


PLAIN = (True, -1, 0, 1, 2, 3, 4, 0.4, 2.0, 9.5, "", "a", "A", "now", "many", "long", "short")
VALUES = (
    *PLAIN,
    *([one] for one in PLAIN),
    *({key: one} for key in ("a", "A", "type") for one in PLAIN),
    *({"type": kind, "miles": one} for kind in ("long", "short") for one in PLAIN),
    *(["a", one] for one in PLAIN),
    [],
    {},
)


@pytest.mark.parametrize("field", [*Trip.__struct_fields__, "b"])
def test_a_sentence_of_ours_for_every_mistake_and_for_nothing_else(field: str) -> None:
    for value in VALUES:
        said = {"to": "a", field: value}
        try:
            meant = msgspec.convert(said, Trip)
        except msgspec.ValidationError:
            with pytest.raises(UserError) as caught:
                convert_or_explain(said, Trip)
            assert field in str(caught.value)
            assert not re.search("Expected|Invalid|Object|[$]", str(caught.value))
        else:
            assert convert_or_explain(said, Trip) == meant
