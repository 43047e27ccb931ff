"""What is said of a line and of a silence, and how the referee's lines are changed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.conformance.cases.messages import mutate
from arena.conformance.diagnose_line import Expected, diagnose
from arena.conformance.language_hints import COMPILED, LANGUAGES, language
from arena.conformance.scripted_game import ScriptedSeat
from arena.rules.variants import VARIANTS, find_variant
from arena.sandbox.command import Command
from protocol.codec import Fault, decode_line
from protocol.messages import MAX_LINE, Clock
from protocol.ruleset import playable_seat_counts
from tests.bots.hostile import lines

PYTHON = LANGUAGES["python"]
DUE = Expected("choose", 4, 1_000_001)


def said(line: bytes, behind: bytes = b"") -> str:
    fault = decode_line(line)
    known = fault if isinstance(fault, Fault) else Fault("illegal", "as the referee says")
    return diagnose(line, behind, known, DUE, PYTHON).fault


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_get_a_sentence(line: bytes, behind: bytes) -> None:
    line = line.replace(b"\n", b"")
    assert said(line, behind).isprintable()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["type", "id", "choice"]), inner)
        ),
        max_leaves=6,
    )
)
def test_any_json_gets_a_sentence(value: object) -> None:
    assert said(json.dumps(value).encode()).isprintable()


@pytest.mark.parametrize("name", [name for name, (_, foul) in lines.LINES.items() if foul])
def test_every_hostile_line_gets_a_sentence(name: str) -> None:
    line = lines.LINES[name][0].replace(b"@", b"1000001").partition(b"\n")[0]
    sentence = said(line)
    assert sentence.isprintable()
    assert len(sentence) < 300


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("/usr/bin/python3.11", "-I", "bot.py"), "Python"),
        (("/usr/bin/python3.11", "-m", "bot"), "Python"),
        (("node", "bot.mjs"), "JavaScript"),
        (("/usr/bin/java", "-cp", ".", "Bot"), "Java"),
        (("./bot.rb",), "Ruby"),
        (("sh", "bot.sh"), "shell"),
        (("./bot",), COMPILED.name),
    ],
)
def test_the_language_is_told_from_the_command(argv: tuple[str, ...], name: str) -> None:
    assert language(Command(argv, "/")).name == name


def questions() -> list[bytes]:
    """Return the first question of each game, and the messages before it."""
    return [
        line
        for name in VARIANTS
        for line in ScriptedSeat(
            find_variant(name), playable_seat_counts(find_variant(name))[0], 0, 1, Clock()
        ).lines()
    ]


@pytest.mark.parametrize("how", ["fields", "options", "events", "name"])
def test_mutations_keep_the_guarantees_for_bots_without_a_parser(how: str) -> None:
    asks = 0
    for line in questions():
        changed = mutate(how, line)
        assert len(changed) <= MAX_LINE
        before, after = json.loads(line), json.loads(changed)
        assert changed.startswith(line[: line.index(b",")])
        if before["type"] == "ask":
            asks += 1
            assert changed.startswith(line[: line.index(b',"game"')])
            assert changed.count(b'"options":') == 1
            behind = changed.partition(b'"options":')[2]
            assert behind.count(b'"do":') == len(before["options"]) == len(after["options"])
            assert json.loads(behind.rstrip()[:-1]) == after["options"]
    assert asks == len(VARIANTS)
