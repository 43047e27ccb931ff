"""Files that a user names: what editors add to them, and what their authors write twice."""

import codecs
from pathlib import Path

import pytest

from arena.rules.load import load_ruleset
from arena.rules.toml_file import parse_toml
from protocol.errors import UserError
from protocol.ruleset import Ruleset
from tournaments.plan.deals.deals_file import read_deals

REPEATS = {
    "boards = 1\nboards = 2\n": "line 2, gives again what the file has already: boards = 2.",
    "[clock]\n[clock]": "line 2, gives again what the file has already: [clock].",
    "a = {b = 1, b = 2}": "line 1, gives again",
    "a = {b = 1}\na.c = 2": "line 2, gives again what the file has already: a.c = 2.",
    "# \u2028\na = 1\na = 2": "line 3, gives again what the file has already: a = 2.",
}


def test_a_byte_order_mark_of_utf_8_is_no_content(tmp_path: Path) -> None:
    rules, deals = tmp_path / "mine.toml", tmp_path / "deals.jsonl"
    rules.write_bytes(codecs.BOM_UTF8 + b'base = "dutch"\n')
    deals.write_bytes(codecs.BOM_UTF8 + b'{"hands": [[[6, 6]]]}\n')
    assert load_ruleset("mine.toml", tmp_path).name == "mine"
    assert len(read_deals(deals, Ruleset(name=""), 2).boards) == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "mine.toml").write_bytes("\ufeffbase = 1".encode(encoding))
    with pytest.raises(UserError, match=r"mine\.toml is written in UTF-16\. Save it as UTF-8\."):
        parse_toml(tmp_path / "mine.toml")


@pytest.mark.parametrize("text", REPEATS)
def test_what_stands_twice_is_shown_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "event.toml").write_text(text)
    with pytest.raises(UserError) as raised:
        parse_toml(tmp_path / "event.toml")
    assert REPEATS[text] in f"{raised.value}"
