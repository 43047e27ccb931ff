"""Files that a user names: what editors add to them, and what their authors write twice."""

import codecs
from pathlib import Path

import pytest

from arena.rules.load import load_ruleset, parse_toml, with_overrides
from arena.rules.variants import find_variant
from protocol.errors import UserError
from protocol.ruleset import Ruleset, check_seats, playable_seat_counts
from tournaments.plan.read_plan import read_deals

REPEATS = {
    "boards = 1\nboards = 2\n": "line 2, gives again what the file has already: boards = 2.",
    "[clock]\n[clock]": "line 2, gives again what the file has already: [clock].",
    "a = {b = 1, b = 2}": "line 1, gives again",
    "a = {b = 1}\na.c = 2": "line 2, gives again what the file has already: a.c = 2.",
    "# \u2028\na = 1\na = 2": "line 3, gives again what the file has already: a = 2.",
}


def test_a_byte_order_mark_of_utf_8_is_skipped(tmp_path: Path) -> None:
    rules, deals = tmp_path / "mine.toml", tmp_path / "deals.jsonl"
    rules.write_bytes(codecs.BOM_UTF8 + b'base = "dutch"\n')
    deals.write_bytes(codecs.BOM_UTF8 + b'{"hands": [[[6, 6]]]}\n')
    assert load_ruleset("mine.toml", tmp_path).name == "mine"
    assert len(read_deals(deals, Ruleset(name=""), 2).boards) == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_an_error_names_utf_16(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "mine.toml").write_bytes("\ufeffbase = 1".encode(encoding))
    with pytest.raises(UserError, match=r"mine\.toml is written in UTF-16\. Save it as UTF-8\."):
        parse_toml(tmp_path / "mine.toml")


def test_the_rules_of_an_event_file_are_those_of_its_event(tmp_path: Path) -> None:
    rules = {"named": '"dutch"', "spelled": '{base = "dutch", fee = 2}'}
    rules |= {"circular": '"circular.toml"'}
    for name, text in rules.items():
        (tmp_path / f"{name}.toml").write_text(f'bots = ["greedy"]\nrules = {text}\n')
    (tmp_path / "usual.toml").write_text('bots = ["greedy"]\n')
    assert load_ruleset("named.toml", tmp_path) == find_variant("dutch")
    assert load_ruleset("spelled.toml", tmp_path).stakes.fee == 2
    assert load_ruleset("usual.toml", tmp_path) == find_variant("draw")
    with pytest.raises(UserError, match=r"circular\.toml is its own base"):
        load_ruleset("circular.toml", tmp_path)


DRAW_LIMITS = 'draw_limit must be a whole number from 0 to 200 or "two_at_once" or "unlimited"'
WRONG = {
    "hand=seven": 'hand must be a whole number from 1 to 64 or a table or "eight_minus_seats", not',
    "draw_limit=many": f'{DRAW_LIMITS}, not "many"',
    "draw_limit=1.5": f'{DRAW_LIMITS}, not "1.5"',
    "draw_limit=unlimted": "Unknown value of draw_limit 'unlimted': did you mean unlimited?",
    "target=many": "target must be a whole number from 1 to 100000 or a table",
    "hand=5:none": "draw has no table of 2",
    "hand=2:x": "hand.two must be a whole number from 1 to 64",
}


@pytest.mark.parametrize("word", WRONG)
def test_a_wrong_value_is_answered_with_all_that_is_possible(word: str) -> None:
    with pytest.raises(UserError) as raised:
        check_seats(with_overrides(find_variant("draw"), [word]), 2)
    assert WRONG[word] in f"{raised.value}"


def test_a_table_of_hands_may_leave_a_number_of_seats_out() -> None:
    rules = with_overrides(find_variant("draw"), ["hand=2:7,3:7,4:6,5:none"])
    assert playable_seat_counts(rules) == (2, 3, 4)


@pytest.mark.parametrize("text", REPEATS)
def test_a_key_that_stands_twice_is_shown_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "event.toml").write_text(text)
    with pytest.raises(UserError) as raised:
        parse_toml(tmp_path / "event.toml")
    assert REPEATS[text] in f"{raised.value}"
