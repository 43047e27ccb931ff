"""The truth of SPEC.md: its examples, tables, bot and conversations are checked."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from arena.analysis.alternative_deals import find_round, reach_question
from arena.match.bot_process import KEPT_STDERR_BYTES, STDERR_A_GAME
from arena.match.clock import MOST_GIVEN_BACK_MS
from arena.match.referee import STALE_LINES
from arena.match.sources import PIPE_READ_BYTES
from arena.rules import variants
from protocol import codec, messages, ruleset
from protocol.codec import Fault, decode_line
from protocol.messages import (
    Annulled,
    Clock,
    Event,
    FromBot,
    Option,
    Stock,
    ToBot,
    WhyGame,
    WhyRound,
)
from protocol.position import EVENT_LETTERS, FIELDS, POSITION_PREFIX, AskedPhase, read_position
from protocol.records import FoulClass, FoulPolicy
from tests.support import conversations
from tests.support.conversations import EXCERPTS, TINY

SPEC = conversations.SPEC.read_text(encoding="utf-8")

KINDS: dict[str, Any] = {"referee": ToBot, "bot": FromBot, "event": Event}
"""What the word behind ```json says an example is."""


CONVERSATIONS = dict(conversations.all_conversations())
"""What stands behind a conversation's fence, and the conversation as the referee plays it now."""


def blocks(info: str) -> list[str]:
    """Return the contents of the fences with this info string."""
    return re.findall(rf"^```{re.escape(info)}\n(.*?)^```$", SPEC, re.DOTALL | re.MULTILINE)


def examples() -> Iterator[tuple[str, str]]:
    """Yield every JSON example: its kind and its text, which may have line breaks."""
    decoder = json.JSONDecoder()
    for kind in KINDS:
        for block in blocks(f"json {kind}"):
            text = block.strip()
            while text:
                _, end = decoder.raw_decode(text)
                yield kind, text[:end]
                text = text[end:].lstrip()


EXAMPLES = list(examples())


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    match = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", SPEC, re.DOTALL | re.MULTILINE)
    assert match, f"SPEC.md has no heading {heading!r}."
    return match[1]


def table(heading: str) -> list[list[str]]:
    """Return the rows of the table under a heading that begin with a name."""
    lines = section(heading).splitlines()
    return [line.strip("|").split("|") for line in lines if line.startswith("| `")]


def quoted_names(cell: str) -> list[str]:
    """Return the names in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def column(heading: str) -> list[str]:
    """Return the names in the first column."""
    return [quoted_names(row[0])[0] for row in table(heading)]


def fields(kind: type) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind)]


def tag(kind: type) -> str:
    return str(kind.__struct_config__.tag)  # type: ignore[attr-defined]


# --- the examples ---


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_an_example_survives_decoding_and_encoding(kind: str, text: str) -> None:
    example = json.loads(text)
    round_trip = json.loads(msgspec.json.encode(msgspec.json.decode(text, type=KINDS[kind])))
    if kind == "bot":  # what a bot leaves out has a default
        round_trip = {key: value for key, value in round_trip.items() if key in example}
    assert round_trip == example, "An unknown field, or a value that is written otherwise."
    assert json.dumps(round_trip) == json.dumps(example), "The order of fields is a promise."


@pytest.mark.parametrize("text", [text for kind, text in EXAMPLES if kind == "bot"])
def test_the_referee_takes_a_bots_example(text: str) -> None:
    assert not isinstance(decode_line(text.encode()), Fault)


@pytest.mark.parametrize("kind", ["referee", "bot"])
def test_every_message_has_an_example(kind: str) -> None:
    types = {json.loads(text)["type"] for example_kind, text in EXAMPLES if example_kind == kind}
    assert types == {tag(struct) for struct in get_args(KINDS[kind])}


def test_every_json_block_is_checked() -> None:
    infos = re.findall(r"^```(.+)$", SPEC, re.MULTILINE)
    known_infos = {
        "python",
        "sh",
        "toml",
        "text malformed",
        "positions",
        *(f"json {kind}" for kind in KINDS),
    }
    assert set(infos) == known_infos | set(CONVERSATIONS)


# --- the tables ---


@pytest.mark.parametrize(
    ("heading", "kind"),
    [(f"Referee: `{tag(kind)}`", kind) for kind in get_args(ToBot)]
    + [(f"Bot: `{tag(kind)}`", kind) for kind in get_args(FromBot)],
)
def test_a_message_has_its_table(heading: str, kind: type) -> None:
    assert column(heading) == ["type", *fields(kind)]


def test_the_clock_and_the_boneyard_have_their_tables() -> None:
    assert column("Time") == fields(Clock)
    assert column("`boneyard`") == fields(Stock)


@pytest.mark.parametrize(("heading", "union"), [("Options", Option), ("Events", Event)])
def test_every_option_and_event_has_its_row(heading: str, union: object) -> None:
    rows = {quoted_names(row[0])[0]: quoted_names(row[1]) for row in table(heading)}
    assert rows == {tag(kind): fields(kind) for kind in get_args(union)}


def test_every_foul_has_its_row() -> None:
    assert column("Fouls") == list(get_args(FoulClass))


def test_every_setting_of_fouls_has_its_row_and_stands_in_the_example() -> None:
    settings = {quoted_names(row[0])[0]: quoted_names(row[1]) for row in table("Settings of fouls")}
    assert list(settings) == fields(FoulPolicy)
    for name, values in settings.items():
        assert values == literals(get_type_hints(FoulPolicy)[name])
    (example,) = blocks("toml")
    assert list(msgspec.toml.decode(example)["fouls"]) == fields(FoulPolicy)
    assert msgspec.toml.decode(example, type=dict[str, FoulPolicy])


def literals(kind: object) -> list[str]:
    """Return the allowed words of a choice, also those of a union's parts."""
    if isinstance(kind, str):
        return [kind]
    return [word for part in get_args(kind) for word in literals(part)]


def test_every_choice_of_the_rules_has_its_row_and_its_values() -> None:
    cells = {quoted_names(row[0])[0]: row[1] for row in table("Rules")}
    assert list(cells) == [f"{group}.{choice}" for choice, group in variants.choices().items()]
    for group in msgspec.structs.fields(ruleset.Ruleset):
        if group.name == "name":
            continue
        for choice in msgspec.structs.fields(group.type):
            words = literals(choice.type)
            cell = cells[f"{group.name}.{choice.name}"]
            assert set(words) <= set(quoted_names(cell)), f"{choice.name}: {cell}"
    for name, kind in (("deal.hand", ruleset.HandSizes), ("game.target", ruleset.Targets)):
        assert set(fields(kind)) <= set(quoted_names(cells[name]))


def test_every_reason_to_annul_stands_in_its_row() -> None:
    (cell,) = [row[2] for row in table("Events") if quoted_names(row[0]) == ["annul"]]
    reasons = set(get_args(get_type_hints(Annulled)["why"]))
    assert reasons <= set(quoted_names(cell))
    events = [json.loads(text) for kind, text in EXAMPLES if kind == "event"]
    assert reasons == {event["why"] for event in events if event["do"] == "annul"}


@pytest.mark.parametrize(
    ("heading", "reasons"), [("Referee: `round`", WhyRound), ("Referee: `end`", WhyGame)]
)
def test_every_reason_stands_in_its_row(heading: str, reasons: object) -> None:
    (cell,) = [row[2] for row in table(heading) if quoted_names(row[0]) == ["why"]]
    assert quoted_names(cell) == list(get_args(reasons))


def test_every_name_in_the_schema_occurs() -> None:
    schema = codec.protocol_schema()
    names = {
        name for definition in schema["$defs"].values() for name in definition.get("properties", ())
    }
    missing_names = {name for name in names if not re.search(rf"[`.]{name}[`.]", SPEC)}
    assert not missing_names


def test_the_numbers_are_those_of_the_program() -> None:
    clock = Clock()
    for number in (
        messages.MAX_LINE, messages.MAX_NOTE, KEPT_STDERR_BYTES, STDERR_A_GAME, 4 * PIPE_READ_BYTES,
        clock.start_ms, clock.move_ms, clock.bank_ms,
    ):  # fmt: skip
        assert f"{number:,}" in SPEC
    assert f"up to {STALE_LINES} of them" in SPEC
    assert f"more than {MOST_GIVEN_BACK_MS:,.0f} ms" in SPEC
    assert f"nested {codec.MAX_DEPTH} deep" in SPEC
    assert f"This is protocol {messages.PROTOCOL}." in SPEC


def test_links_lead_somewhere() -> None:
    headings = {
        heading.lower().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", SPEC, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", SPEC)) <= headings


# --- the conversations ---


@pytest.mark.parametrize("info", CONVERSATIONS)
def test_a_conversation_is_that_of_a_real_game(info: str) -> None:
    (conversation,) = blocks(info)
    assert conversation == CONVERSATIONS[info], "python -m tests.support.conversations"


@pytest.mark.parametrize(
    ("language", "program"), [("python", (sys.executable, "-I", "-c")), ("sh", ("sh", "-c"))]
)
def test_the_ten_line_bots_have_this_conversation(language: str, program: tuple[str, ...]) -> None:
    (bot,) = blocks(language)
    assert len(bot.splitlines()) <= 10
    (conversation,) = blocks("text conversation")
    input_text, output_text = (
        "".join(line[2:] for line in conversation.splitlines(keepends=True) if line[0] == mark)
        for mark in "><"
    )
    process = subprocess.run(
        [*program, bot], input=input_text.encode(), capture_output=True, timeout=120, check=True
    )
    answers, expected_answers = (
        [json.loads(line) for line in text.splitlines()]
        for text in (process.stdout.decode(), output_text)
    )
    assert {**answers[0], "name": "first"} == expected_answers[0]
    assert answers[1:] == expected_answers[1:]
    assert process.stderr == b""


# --- what is promised to bots without a JSON parser ---

ORDER = ("play", "play_two", "draw", "pass")
"""What a turn offers, in the order in which it is listed."""


@pytest.mark.parametrize("conversation", [TINY, *EXCERPTS.values()])
def test_a_question_has_the_promised_bytes(conversation: conversations.Conversation) -> None:
    questions = [
        line[2:]
        for line in conversations.played(conversation).splitlines()
        if line.startswith('> {"type":"ask"')
    ]
    assert questions
    for line in questions:
        question = json.loads(line)
        assert list(question) == ["type", *fields(messages.Ask)]
        assert list(question)[:2] == ["type", "id"]
        assert list(question)[-1] == "options"
        assert line.startswith(f'{{"type":"ask","id":{question["id"]},')
        assert line == json.dumps(question, separators=(",", ":"))
        parts = line.split('"options":')
        assert len(parts) == 2
        assert parts[1].count('"do":') == len(question["options"]) >= 2
        assert parts[1].startswith('[{"do":')
        assert parts[1].endswith("]}")
        kinds = [option["do"] for option in question["options"]]
        assert all(next(iter(option)) == "do" for option in question["options"])
        if set(kinds) & set(ORDER):
            assert kinds == sorted(kinds, key=ORDER.index)
        else:
            assert set(kinds) in ({"keep", "refuse"}, {"guess"}, {"bid"}, {"call", "go_on"})


def test_both_positions_are_one_question() -> None:
    (block,) = blocks("positions")
    seat_position, open_position = map(read_position, block.splitlines())
    assert open_position.is_open
    assert open_position.as_seen() == seat_position != open_position
    reach_question(find_round(open_position), open_position)


def test_the_table_of_positions_has_every_letter_and_field() -> None:
    section = SPEC.partition("## Positions")[2].partition("```")[0]
    for word in (*EVENT_LETTERS, *FIELDS, *get_args(AskedPhase), POSITION_PREFIX):
        assert re.search(rf"\b{word}\b", section), word
