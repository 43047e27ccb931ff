"""The diagnosis of a line and of a silence, and the mutations of the referee's lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.conformance.connection import COMPILED_HINTS, ScriptedSeat, language
from arena.conformance.diagnose import Expected, diagnose_line
from arena.conformance.steps import mutate
from arena.rules.variants import VARIANTS, find_variant
from arena.sandbox.command import Command
from protocol.codec import Fault, decode_line
from protocol.messages import MAX_LINE, Clock
from protocol.ruleset import playable_seat_counts

DUE = Expected("choose", 4, 1_000_001)


def fault_sentence(line: bytes, tail: bytes = b"", due: Expected = DUE) -> str:
    fault = decode_line(line)
    referee_fault = fault if isinstance(fault, Fault) else Fault("illegal", "as the referee says")
    return diagnose_line(line, tail, referee_fault, due).fault


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_get_a_sentence(line: bytes, tail: bytes) -> None:
    line = line.replace(b"\n", b"")
    assert fault_sentence(line, tail).isprintable()


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
    assert fault_sentence(json.dumps(value).encode()).isprintable()


GOOD = b'{"type": "choose", "id": 1000001, "choice": 0}'
GREETING = b'{"type": "hello", "name": "broken", "version": "1"}'
MISTAKES: list[tuple[bytes, str]] = [
    # --- what a line looks like ---
    (GOOD.replace(b'"', b"'"), "single quotes, as Python prints a dict"),
    (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    (GOOD.decode().encode("utf-16-le"), "UTF-16"),
    (GOOD + b"\xe9", "Byte 46 of the line is not UTF-8"),
    (b"I think I play the first", "text where a message is expected: 'I think I play the first'"),
    (b"answer: " + GOOD, "text before the message: 'answer: '"),
    (GOOD + b"; # fine", "text after the message: '; # fine'"),
    (GOOD + b" " + GOOD, "two messages on one line"),
    (GOOD.replace(b'"type"', b"type"), "almost JSON"),
    (json.dumps(GOOD.decode()).encode(), "encoded twice"),
    (b"", "an empty line"),
    (GOOD + b" " * MAX_LINE, "more than 65536 bytes"),
    # --- what an answer says ---
    (b"0", "the number 0 where a message"),
    (GOOD.replace(b"0}", b'"0"}'), "`choice` is the text '0', not a whole number"),
    (GOOD.replace(b"0}", b"0.0}"), "`choice` is the number 0.0"),
    (GOOD.replace(b"0}", b"{}}"), "`choice` is an object"),
    (GOOD.replace(b', "choice": 0', b""), "The answer has no `choice`"),
    (GOOD.replace(b"choose", b"chose"), "no message of type 'chose': 'choose' is probably meant"),
    (GOOD.replace(b"type", b"Type"), "'Type' must be `type`"),
    (GOOD.replace(b"}", b', "score": 12}'), "a field 'score' that the protocol does not have"),
    (GOOD.replace(b"}", b', "id": 12}'), "A field occurs twice"),
    (GOOD.replace(b"}", b', "note": "%b"}' % (b"hm " * 500)), "note has 1500 characters"),
    (GOOD.replace(b"}", b', "note": 1}'), "`note` is the number 1"),
    (GOOD.replace(b"0}", b"4}"), "the options are 0 to 3. Perhaps it counts from 1"),
    (GOOD.replace(b"0}", b"9}"), "It chose 9, but the options are 0 to 3."),
    (GOOD.replace(b"0}", b"-1}"), "Its choice is -1"),
    (GOOD.replace(b"001,", b"002,"), "question 1000002, which was never asked"),
    (GREETING, "a second hello"),
]
"""Lines that stand for an answer to question 1000001 with four options, and their faults."""
BAD_GREETINGS: list[tuple[bytes, str]] = [
    (GREETING.replace(b', "version": "1"', b""), "The hello has no `version`"),
    (GREETING.replace(b'"1"', b"1.0"), "`version` is the number 1.0, not a text"),
    (GREETING.replace(b"}", b', "protocol": 2}'), "protocol 2; this referee speaks 1"),
    (GREETING.replace(b"}", b', "tables": 0}'), "`tables` is 0"),
    (GREETING.replace(b"}", b', "language": "Python"}'), "a field 'language'"),
    (GOOD, "Its first line is an answer, not a hello"),
]


@pytest.mark.parametrize(("line", "fault"), MISTAKES)
def test_a_mistake_in_an_answer_is_named(line: bytes, fault: str) -> None:
    assert fault in fault_sentence(line)


@pytest.mark.parametrize(("line", "fault"), BAD_GREETINGS)
def test_a_mistake_in_a_hello_is_named(line: bytes, fault: str) -> None:
    assert fault in fault_sentence(line, due=Expected("hello"))


def test_an_object_on_several_lines_is_named() -> None:
    first, *others = json.dumps(json.loads(GOOD), indent=2).encode().splitlines()
    assert "one JSON object on 5 lines" in fault_sentence(first, b"\n".join(others))


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("/usr/bin/python3.11", "-I", "bot.py"), "Python"),
        (("/usr/bin/python3.11", "-m", "bot"), "Python"),
        (("node", "bot.mjs"), "JavaScript"),
        (("/usr/bin/java", "-cp", ".", "Bot"), "Java"),
        (("./bot.rb",), "Ruby"),
        (("sh", "bot.sh"), "shell"),
        (("./bot",), COMPILED_HINTS.name),
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
        ).take_lines()
    ]


@pytest.mark.parametrize("mutation", ["fields", "options", "events", "name"])
def test_mutations_keep_the_guarantees_for_bots_without_a_parser(mutation: str) -> None:
    asks = 0
    for line in questions():
        mutant = mutate(mutation, line)
        assert len(mutant) <= MAX_LINE
        before, after = json.loads(line), json.loads(mutant)
        assert mutant.startswith(line[: line.index(b",")])
        if before["type"] == "ask":
            asks += 1
            assert mutant.startswith(line[: line.index(b',"game"')])
            assert mutant.count(b'"options":') == 1
            options_text = mutant.partition(b'"options":')[2]
            assert options_text.count(b'"do":') == len(before["options"]) == len(after["options"])
            assert json.loads(options_text.rstrip()[:-1]) == after["options"]
    assert asks == len(VARIANTS)
