"""A mistake of a user: found wherever the types find a mistake, and stated in one sentence."""

import math
import re
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from protocol.errors import UserError
from protocol.validation import MAX_CHARS, convert_or_explain


class Way(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A table of one of several types."""


class Long(Way, frozen=True, tag="long"):
    """A way with a field of its own."""

    miles: Annotated[int, Meta(ge=1)] = 1


class Short(Way, frozen=True, tag="short"):
    """A way without a field of its own."""


class Trip(Struct, frozen=True, forbid_unknown_fields=True):
    """One field of every kind that files have."""

    to: Annotated[str, Meta(pattern="^[a-z]+$", description="letters")]
    stops: tuple[Annotated[str, Meta(pattern="^[a-z]+$")], ...] = ()
    way: Long | Short = Short()
    start: Literal["now", "soon"] = "now"
    legs: Literal[2, 4, "many"] = 2
    far: Annotated[float, Meta(ge=0.5, le=9)] | None = None
    pair: tuple[str, int] = ("", 0)
    is_paid: bool = True
    more: dict[Annotated[str, Meta(pattern="^[a-z]+$")], int] = {}
    free: str | dict[str, Any] = ""
    days: Annotated[tuple[int, ...], Meta(min_length=1)] = (1,)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "to is missing."),
        ({"to": "A"}, 'to must be letters, not "A".'),
        ({"to": 3}, "to must be letters, not 3."),
        ({"to": 99 * "A"}, f'to must be letters, not "{(MAX_CHARS - 1) * "A"}….'),
        ({"too": "a"}, "Unknown field too: did you mean to?"),
        ({"way": {"type": "long", "a\nb": 1}}, 'Unknown field way."a\\nb": there are type, miles.'),
        ({"stops": "a"}, 'stops must be a list of words, as stops = ["a"], not "a".'),
        ({"stops": "a b"}, 'stops must be a list of words, as stops = ["a", "b"], not "a b".'),
        ({"stops": 3}, "stops must be a list, not 3."),
        ({"stops": ["a", "B"]}, 'stops[1] must be text in quotes, not "B".'),
        ({"way": "long"}, 'way must be a table, as way = { type = "long" }, not "long".'),
        ({"way": {}}, "way.type is missing: there are long, short."),
        ({"way": {"type": "lon"}}, "Unknown value of way.type 'lon': did you mean long?"),
        ({"way": {"type": ["long"]}}, "Unknown value of way.type \"['long']\": did you mean long?"),
        ({"way": {"type": "long", "mile": 1}}, "Unknown field way.mile: did you mean miles?"),
        ({"way": {"type": "long", "miles": 0}}, "way.miles must be a whole number of 1 or more"),
        ({"start": "son"}, "Unknown value of start 'son': did you mean soon?"),
        ({"legs": 3}, "Unknown value of legs '3': there are 2, 4, many."),
        ({"far": 0}, "far must be a number from 0.5 to 9, not 0."),
        ({"pair": ["a"]}, "pair must have 2 entries, not 1."),
        ({"pair": ["a", "b"]}, 'pair[1] must be a whole number, not "b".'),
        ({"is_paid": "yes"}, 'is_paid must be true or false, not "yes".'),
        ({"more": {"a": True}}, "more.a must be a whole number, not true."),
        ({"more": {"A": 1}}, 'a name in more must be text in quotes, not "A".'),
        ({"free": 1}, "free must be text in quotes or a table, not 1."),
        ({"days": []}, "days must have 1 or more entries, not 0."),
    ],
)
def test_a_mistake_is_told_in_words_of_toml(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        convert_or_explain(fields if fields == {} else {"to": "a", **fields}, Trip)
    assert str(caught.value).startswith(sentence)


class Checked(Struct, frozen=True):
    """A struct with a check of its own."""

    least: int

    def __post_init__(self) -> None:
        """Raise ValueError if `least` is not above 0."""
        if self.least <= 0:
            raise ValueError("least must be above 0")


class Outer(Struct, frozen=True):
    """A struct around `Checked`."""

    inner: tuple[Checked, ...] = ()
    by_name: dict[str, Checked] = {}


def test_errors_of_a_type_s_own_check_have_a_path() -> None:
    with pytest.raises(UserError) as caught:
        convert_or_explain({"inner": [{"least": 0}]}, Outer)
    assert str(caught.value) == "inner[0]: least must be above 0."
    with pytest.raises(UserError) as caught:
        convert_or_explain({"by_name": {"a": {"least": 1}, "b": {"least": 0}}}, Outer)
    assert str(caught.value) == "by_name.b: least must be above 0."
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


SCALARS = (True, -1, 0, 1, 2, 3, 4, 0.4, 2.0, 9.5, "", "a", "A", "now", "many", "long", "short")
FIELD_VALUES = (
    *SCALARS,
    *([scalar] for scalar in SCALARS),
    *({key: scalar} for key in ("a", "A", "type") for scalar in SCALARS),
    *({"type": kind, "miles": scalar} for kind in ("long", "short") for scalar in SCALARS),
    *(["a", scalar] for scalar in SCALARS),
    [],
    {},
)


@pytest.mark.parametrize("field", [*Trip.__struct_fields__, "b"])
def test_a_sentence_of_ours_for_every_mistake_and_for_nothing_else(field: str) -> None:
    for value in FIELD_VALUES:
        fields = {"to": "a", field: value}
        try:
            trip = msgspec.convert(fields, Trip)
        except msgspec.ValidationError:
            with pytest.raises(UserError) as caught:
                convert_or_explain(fields, Trip)
            assert field in str(caught.value)
            assert not re.search("Expected|Invalid|Object|[$]", str(caught.value))
        else:
            assert convert_or_explain(fields, Trip) == trip
