"""Names of bots become files, so they differ on each system, and files of any script have names."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import UserError
from tournaments.plan.bots import parse_bots, slug, unique_name
from tournaments.plan.event import ENTRANT, check_names_differ
from tournaments.plan.read_plan import read_plan


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("ä", "a"), ("a\u0308", "a"), ("Ölgötze", "Olgotze"), ("straße", "strasse"),
        ("Łódź", "Lodz"),
        ("жук", "zhuk"), ("Щука", "Shchuka"), ("τάυλι", "tayli"), ("日本", "u65e5u672c"),
        ("ﬁne", "fine"), ("-x", "x"), ("=1+1", "1-1"), ("--", "bot"), ("✓", "bot"),
    ],
)  # fmt: skip
def test_file_of_any_script_has_a_name(name: str, plain: str) -> None:
    assert slug(name) == plain


@given(st.text(max_size=60))
def test_slug_is_a_name_in_whatever_form_the_system_keeps_it(name: str) -> None:
    assert re.fullmatch(ENTRANT, slug(name))
    assert slug(unicodedata.normalize("NFD", name)) == slug(unicodedata.normalize("NFC", name))


@given(st.lists(st.sampled_from(["Mine", "mine", "mine-2", "MINE-2", "Ä", "a"]), max_size=6))
def test_bots_of_a_command_differ_where_capitals_do_not(words: list[str]) -> None:
    names: list[str] = []
    for word in words:
        names.append(unique_name(slug(word), names))
    check_names_differ("bots", names)


def test_bots_are_called_as_their_files(tmp_path: Path) -> None:
    for name in ("ä.py", "日本.py", "Suit.py"):
        (tmp_path / name).touch()
    words = [f"{tmp_path}/ä.py", f"{tmp_path}/日本.py", "suit", f"{tmp_path}/Suit.py"]
    assert [bot.name for bot in parse_bots(words)] == ["a", "u65e5u672c", "suit", "Suit-2"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("mine", "MINE"), "Two bots are called 'mine' and 'MINE': some systems"),
        (("mine", "mine"), "Two bots are called 'mine'. Names must be different"),
        (("mine", "-other"), "letters a to z, digits, _ or -, and no - in front"),
        (("mine", "jürgen"), "letters a to z, digits, _ or -, and no - in front"),
    ],
)  # fmt: skip
def test_event_file_refuses_odd_names(tmp_path: Path, names: tuple[str, str], words: str) -> None:
    bots = "".join(f'[[bots]]\nname = "{name}"\nbot = "greedy"\n' for name in names)
    (tmp_path / "cup.toml").write_text(f"boards = 1\n{bots}")

    def read() -> None:
        config = read_plan([f"{tmp_path}/cup.toml"]).config
        check_names_differ("bots", [bot.name for bot in config.bots])

    with pytest.raises(UserError, match=words):
        read()
