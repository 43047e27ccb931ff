"""Rulesets as data: variations, unknown names, what cannot be played, one owner for each choice."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given

from arena.rules.variants import choices, derive
from protocol.errors import UserError, unknown_name
from protocol.ruleset import (
    Deal,
    HandSizes,
    ImpossibleRulesError,
    Ruleset,
    check_seats,
    hand_size,
    playable_seat_counts,
)
from tests.support.rulesets import rulesets

BASE = Ruleset(name="base")


def differing_choices(base: Ruleset, rules: Ruleset) -> dict[str, Any]:
    """Return the choices of the rules that differ from the base's."""
    return {
        choice: getattr(getattr(rules, group), choice)
        for choice, group in choices().items()
        if getattr(getattr(base, group), choice) != getattr(getattr(rules, group), choice)
    }


@given(rulesets())
def test_any_ruleset_is_a_variation_of_the_defaults(rules: Ruleset) -> None:
    choices_of_rules = msgspec.to_builtins(differing_choices(BASE, rules))
    assert derive(BASE, rules.name, choices_of_rules) == rules


@pytest.mark.parametrize(
    ("choice", "value", "message"),
    [
        ("draw_limti", 1, "Unknown choice of rules 'draw_limti': did you mean draw_limit"),
        ("targtes", 1, "did you mean target"),
        ("zzz", 1, "Unknown choice of rules 'zzz': there are highest_pip, doubles, hand"),
        ("deal", {}, "deal is a group of choices, not a choice. Set one of highest_pip"),
        ("name", "x", "Unknown choice of rules 'name'"),
        ("first", "higest", "Unknown value of first 'higest': did you mean highest"),
        ("draw_limit", "unlimitd", "'unlimitd': did you mean unlimited?"),
        ("highest_pip", 5, "value of highest_pip '5': there are 6, 7, 8, 9, 12, 15, 18"),
        ("draw_limit", -1, "draw_limit must be a whole number from 0 to"),
        ("draw_when_able", "yes", "draw_when_able must be true or false, not"),
        ("draw_when_able", 1, "draw_when_able must be true or false, not 1."),
        ("reserve", 1.5, "reserve must be a whole number"),
        ("highest_pip", 10, "Unknown value of highest_pip '10': there are 6, 7, 8, 9"),
        ("hand", True, "hand must be"),
        ("hand", 0, "hand must be a whole number from 1 to"),
        ("hand", {"two": 0}, "hand.two must be"),
        ("target", {"two": 7, "three": 7}, "target.four is missing."),
        ("bonus", [-1], "bonus[0] must be"),
        ("tiles", 3, "Unknown value of tiles '3': there are 1, 2."),
        ("hand", {"two": 7, "three": 7, "four": 6, "nine": 5}, "Unknown field hand.nine: "),
        ("target", 0, "target must be"),
        ("max_rounds", 0, "max_rounds must be"),
    ],
)
def test_a_mistake_is_the_users_and_says_where(choice: str, value: object, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        derive(BASE, "mine", {choice: value})
    assert type(caught.value) is UserError


@pytest.mark.parametrize(
    ("differs", "seats", "sentence"),
    [
        (
            {"hand": 7},
            6,
            "6 seats × 7 tiles need 42 tiles; double-six has 28: "
            "take double-nine (highest_pip = 9).",
        ),
        (
            {"hand": 7, "highest_pip": 9},
            8,
            "8 seats × 7 tiles need 56 tiles; double-nine has 55: "
            "take double-twelve (highest_pip = 12) or deal 6 at most (hand).",
        ),
        (
            {"highest_pip": 7},
            6,
            "6 seats × 6 tiles need 36 tiles and 3 to draw from; double-seven has 36: "
            "take double-nine (highest_pip = 9) or deal 5 at most (hand).",
        ),
        (
            {"hand": {"two": 7, "four": 24, "six": None}, "highest_pip": 18},
            6,
            "mine has no table of 6. Give a hand for it (hand).",
        ),
        ({"partners": True, "highest_pip": 9}, 6, "Partners need a table of four, not 6"),
    ],
)
def test_a_table_that_is_too_large_is_told_what_would_work(
    differs: dict[str, Any], seats: int, sentence: str
) -> None:
    with pytest.raises(ImpossibleRulesError, match=f"^{re.escape(sentence)}"):
        check_seats(derive(BASE, "mine", differs), seats)


@pytest.mark.parametrize(
    ("differs", "expected"),
    [
        ({}, (2, 3, 4)),
        ({"hand": "eight_minus_seats"}, (2, 3, 4)),
        ({"hand": 7, "partners": True}, (4,)),
        ({"first": "odd_even"}, (2,)),
        ({"hand": {"three": 9}}, (3,)),
        ({"hand": 7, "starter": True}, (2, 3)),
        ({"hand": 14}, (2,)),
        ({"hand": 18, "highest_pip": 8, "doubles": False}, (2,)),
        ({"highest_pip": 9}, (2, 3, 4, 5, 6, 7, 8)),
        ({"highest_pip": 9, "hand": "eight_minus_seats"}, (2, 3, 4, 5, 6, 7)),
        ({"highest_pip": 9, "hand": 7}, (2, 3, 4, 5, 6, 7)),
        ({"highest_pip": 9, "hand": 9}, (2, 3, 4, 5)),
        ({"highest_pip": 9, "hand": 9, "draw_limit": 0}, (2, 3, 4, 5, 6)),
        ({"highest_pip": 9, "partners": True}, (4,)),
        ({"highest_pip": 15, "hand": {"eight": 16}}, (8,)),
    ],
)
def test_choices_decide_the_seat_counts(differs: dict[str, Any], expected: tuple[int, ...]) -> None:
    rules = derive(BASE, "mine", differs)
    assert playable_seat_counts(rules) == expected
    for seats in expected:
        check_seats(rules, seats)


@pytest.mark.parametrize(
    ("differs", "message"),
    [
        ({"hand": {}}, "mine has no table of 2. Give a hand for it (hand)"),
        (
            {"hand": 14, "starter": True},
            "2 seats × 14 tiles need 29 tiles with the starter; double-six has 28",
        ),
        (
            {"hand": 19, "highest_pip": 8, "doubles": False},
            "2 seats × 19 tiles need 38 tiles; double-eight without doubles has 36",
        ),
        ({"partners": True, "hand": {"two": 7}}, "mine has no table of 4"),
        ({"partners": True, "first": "odd_even"}, "choose another first lead"),
        ({"hand": {"three": 5}, "first": "odd_even"}, "choose another first lead"),
        ({"doubles": False, "first": "double_six"}, "has none to lead with"),
        ({"doubles": False, "after_tie": "highest_double"}, "has none to lead with"),
        ({"doubles": False, "refuse_doubles": 3}, "leave refuse_doubles at 0"),
        ({"starter": True, "tile": "highest"}, "leave tile at any"),
        ({"starter": True, "missing": "draw_for_it"}, "set missing = next_double"),
        ({"tiles": 2}, "set starter = true"),
        ({"draw_ends_turn": True}, "set draw_when_able = false"),
        ({"draw_limit": "two_at_once", "draw_optional": True}, "set draw_ends_turn = false and"),
        ({"partners": True, "winner": "out"}, "set points_out = others"),
        ({"ante": 1}, "set pot = true"),
        ({"auction": True}, "set chips and pot = true"),
        ({"auction": True, "chips": 9}, "set chips and pot = true"),
        ({"auction": True, "chips": 9, "pot": True, "reserve": 0}, "set reserve = 2"),
        (
            {
                "auction": True,
                "chips": 9,
                "pot": True,
                "tiles": 2,
                "starter": True,
                "draw_when_able": False,
            },
            "set tiles = 1",
        ),
        ({"chips": 9, "fee": 1}, "set draw_optional = true"),
    ],
)
def test_impossible_rules_are_refused_with_the_remedy(
    differs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ImpossibleRulesError, match=re.escape(message)):
        derive(BASE, "mine", differs)


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        (5, [5, 5, 5]),
        ("eight_minus_seats", [6, 5, 4]),
        (HandSizes(two=1, three=2, four=3), [1, 2, 3]),
        (HandSizes(three=2), [None, 2, None]),
    ],
)
def test_the_number_of_seats_decides_the_hand(hand: Any, expected: list[int | None]) -> None:
    assert [hand_size(Deal(hand=hand), seats) for seats in (2, 3, 4)] == expected


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("duch", ["draw", "dutch", "block"], "did you mean dutch"),
        ("zzz", ["draw", "dutch"], "there are draw, dutch."),
        ("zzz", [], "there is none."),
        ("zzz", [f"n{number}" for number in range(20)], "n18, n19."),
        ("zzz", [f"n{number}" for number in range(28)], "n18, n19 … and 8 more."),
        ("abcd", ["abxy"], "there is abxy."),
    ],
)
def test_an_unknown_name_brings_the_nearest(name: str, names: list[str], hint: str) -> None:
    error = unknown_name("game", name, names)
    assert str(error).startswith(f"Unknown game {name!r}: ")
    assert hint in str(error)
