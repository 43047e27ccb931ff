"""Bytes to messages and records and back: hostile lines, harmless text, nothing lost on the way."""

import json
import unicodedata
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.logs.checksummed import read_lines
from protocol import codec
from protocol.codec import DamagedRecordError, Fault, decode_line, encode_line, printable
from protocol.messages import (
    MAX_LINE,
    MAX_NOTE,
    BotHello,
    Choose,
    Event,
    FromBot,
    Option,
    ToBot,
    Usage,
)
from protocol.records import (
    MAX_COUNT,
    ChoiceRecord,
    Commitment,
    FoulClass,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    Reveal,
)
from tests.support.events import finished
from tests.support.fast_run import examples
from tournaments.event.folder import Folder

CHOOSE = b'{"type":"choose","id":1,"choice":0}'
HELLO = b'{"type":"hello","name":"first","version":"1"}'


def choose(fields: str) -> bytes:
    """Return a good answer with something added."""
    return CHOOSE[:-1] + b"," + fields.encode() + b"}"


def with_id(number: str) -> bytes:
    return b'{"type":"choose","id":%b,"choice":0}' % number.encode()


def hello(**fields: Any) -> bytes:
    return json.dumps({"type": "hello", "name": "first", "version": "1", **fields}).encode()


# --- lines that are messages ---

GOOD: dict[str, tuple[bytes, FromBot]] = {
    "choose": (CHOOSE, Choose(id=1, choice=0)),
    "hello": (HELLO, BotHello(name="first", version="1")),
    "everything": (
        hello(author="Ada", tables=64, protocol=2),
        BotHello(name="first", version="1", author="Ada", tables=64, protocol=2),
    ),
    "blanks": (b' { "type" : "choose" , "id" : 1 , "choice" : 0 } ', Choose(id=1, choice=0)),
    "carriage return": (CHOOSE + b"\r", Choose(id=1, choice=0)),
    "another order": (b'{"choice":0,"id":1,"type":"choose"}', Choose(id=1, choice=0)),
    "escaped key": (b'{"type":"choose","\\u0069d":1,"choice":0}', Choose(id=1, choice=0)),
    "minus zero": (with_id("-0"), Choose(id=0, choice=0)),
    "largest id": (with_id(str(2**53)), Choose(id=2**53, choice=0)),
    "largest choice": (CHOOSE.replace(b"0", b"65535"), Choose(id=1, choice=65_535)),
    "note": (choose('"note":"hm"'), Choose(id=1, choice=0, note="hm")),
    "usage": (
        choose('"usage":{"cents":1,"tokens_in":3}'),
        Choose(id=1, choice=0, usage=Usage(cents=1.0, tokens_in=3)),
    ),
    "info": (
        choose('"info":{"depth":4,"p_win":0.25,"v2":-1e15}'),
        Choose(id=1, choice=0, info={"depth": 4.0, "p_win": 0.25, "v2": -1e15}),
    ),
    "colons in a note": (choose('"note":"a:b::"'), Choose(id=1, choice=0, note="a:b::")),
    "JSON in a note": (
        choose(r'"note":"{\"id\":2,\"id\":3}"'),
        Choose(id=1, choice=0, note='{"id":2,"id":3}'),
    ),
    "brackets in a note": (
        choose(f'"note":"{"[{" * 500}"'),
        Choose(id=1, choice=0, note="[{" * 500),
    ),
    "quotes and brackets in a note": (
        choose(r'"note":"\\\"[[[[[[[[[[[\\"'),
        Choose(id=1, choice=0, note='\\"[[[[[[[[[[[\\'),
    ),
    "longest note": (
        choose(f'"note":"{"ä" * MAX_NOTE}"'),
        Choose(id=1, choice=0, note="ä" * MAX_NOTE),
    ),
    "surrogate pair": (choose(r'"note":"\ud83c\udc31"'), Choose(id=1, choice=0, note="🀱")),
    "escaped NUL": (choose(r'"note":"\u0000"'), Choose(id=1, choice=0, note="\0")),
    "longest name": (hello(name="ä" * 64), BotHello(name="ä" * 64, version="1")),
    "longest line": (CHOOSE + b" " * (MAX_LINE - 1 - len(CHOOSE)), Choose(id=1, choice=0)),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_good_line_is_its_message(case: str) -> None:
    line, message = GOOD[case]
    assert decode_line(line) == message


# --- lines that are fouls ---

BAD: dict[str, tuple[bytes, FoulClass, str]] = {
    # length comes first: what is too long is not even looked at
    "one byte too long": (
        CHOOSE + b" " * (MAX_LINE - len(CHOOSE)),
        "overlong",
        f"A line may have {MAX_LINE} bytes",
    ),
    "too long and not UTF-8": (b"\xff" * MAX_LINE, "overlong", "65536"),
    # then UTF-8
    "not UTF-8": (b"\xff" + CHOOSE, "malformed", "Byte 0 of the line is not UTF-8"),
    "not UTF-8 in a note": (choose('"note":"') + b"\xc3", "malformed", "not UTF-8"),
    "UTF-16": (CHOOSE.decode().encode("utf-16"), "malformed", "not UTF-8"),
    # then depth
    "arrays": (b"[" * 60_000, "malformed", "deeper than 8"),
    "nine deep": (choose('"x":' + "[" * 8 + "]" * 8), "malformed", "deeper than 8"),
    "deep behind a string": (choose('"note":"\\"","x":' + "[" * 8), "malformed", "deeper than 8"),
    "eight deep": (choose('"x":' + "[" * 7 + "]" * 7), "malformed", "unknown field"),
    # then JSON
    "nothing": (b"", "malformed", "Not a message"),
    "a word": (b"choosing 0", "malformed", "Not a message"),
    "half": (CHOOSE[:-1], "malformed", "truncated"),
    "a tab in a string": (choose('"note":"a\tb"'), "malformed", "invalid character"),
    "half a surrogate": (choose(r'"note":"\ud800 and more"'), "malformed", "surrogate"),
    "an open string": (b"[" * 9 + b'"' + b"\\" * 60_000, "malformed", "deeper than 8"),
    # then types
    "null": (b"null", "malformed", "got `null`"),
    "an empty object": (b"{}", "malformed", "missing required field `type`"),
    "no type": (b'{"id":1,"choice":0}', "malformed", "missing required field `type`"),
    "no choice": (b'{"type":"choose","id":1}', "malformed", "missing required field `choice`"),
    "the referee's type": (b'{"type":"bye"}', "malformed", "$.type"),
    "an unknown field": (choose('"score":12'), "malformed", "unknown field `score`"),
    "a string for an id": (with_id('"1"'), "malformed", "got `str` - at `$.id`"),
    "a float": (with_id("1.5"), "malformed", "got `float` - at `$.id`"),
    "true": (with_id("true"), "malformed", "got `bool` - at `$.id`"),
    "NaN": (with_id("NaN"), "malformed", "Not a message"),
    "an id below zero": (with_id("-1"), "malformed", ">= 0 - at `$.id`"),
    "an id too large": (with_id(str(2**53 + 1)), "malformed", "$.id"),
    "60000 digits": (with_id("9" * 60_000), "malformed", "$.id"),
    "a leading zero": (with_id("01"), "malformed", "invalid number"),
    "a choice below zero": (CHOOSE.replace(b"0", b"-1"), "malformed", ">= 0 - at `$.choice`"),
    "a choice too large": (CHOOSE.replace(b"0", b"65536"), "malformed", "$.choice"),
    "a note too long": (choose(f'"note":"{"a" * 1025}"'), "malformed", "$.note"),
    "infinite info": (choose('"info":{"a":1e999}'), "malformed", "Not a message"),
    "info too large": (choose('"info":{"a":1e16}'), "malformed", "$.info[...]"),
    "no number": (choose('"info":{"a":"1"}'), "malformed", "$.info[...]"),
    "a strange name": (choose('"info":{"<b>":1}'), "malformed", "A name in `info`"),
    "two words for a name": (choose('"info":{"a b":1}'), "malformed", "A name in `info`"),
    "17 numbers": (
        choose('"info":{' + ",".join(f'"a{n}":1' for n in range(17)) + "}"),
        "malformed",
        "length <= 16",
    ),
    "a number twice": (choose('"info":{"a":1,"a":2}'), "malformed", "twice"),
    "an empty name": (hello(name=""), "malformed", "$.name"),
    "a name too long": (hello(name="a" * 65), "malformed", "$.name"),
    "no tables": (hello(tables=0), "malformed", "$.tables"),
    "a protocol below zero": (hello(protocol=-1), "malformed", "$.protocol"),
    # and no key twice
    "an id twice": (choose('"id":1'), "malformed", "twice"),
    "an escaped id": (choose(r'"\u0069d":2'), "malformed", "twice"),
    "a name twice": (HELLO[:-1] + b',"name":"second"}', "malformed", "twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_its_foul(case: str) -> None:
    line, foul, detail = BAD[case]
    fault = decode_line(line)
    assert isinstance(fault, Fault)
    assert fault.foul == foul
    assert detail in fault.detail


@pytest.mark.parametrize(
    "line",
    [choose(r'"\u001b[31m\u202e":1'), b'{"type":"\\u001b[31m"}', choose(f'"{"a" * 60_000}":1')],
    ids=["field", "type", "long"],
)
def test_the_detail_of_a_foul_is_short_and_printable(line: bytes) -> None:
    fault = decode_line(line)
    assert isinstance(fault, Fault)
    assert fault.detail.isprintable()
    assert len(fault.detail) < 1_000


# --- any line ---


def check(line: bytes) -> None:
    """Check that a line is a faithful message or a fault, and nothing is raised."""
    message = decode_line(line)
    if isinstance(message, Fault):
        assert message.foul in ("malformed", "overlong")
        assert message.detail
        return
    fields = json.loads(line)
    assert len(json.loads(line, object_pairs_hook=list)) == len(fields)
    encoded_fields = json.loads(encode_line(message))
    assert {key: encoded_fields[key] for key in fields} == fields
    assert decode_line(encode_line(message)[:-1]) == message


@given(st.binary(max_size=300))
def test_no_bytes_raise(line: bytes) -> None:
    check(line)


PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'"\\{}[]:,-. \0\n\xff'),
        *(b"9" * 99, b"[" * 99, b"null", b"NaN", b"1e9", b"\\ud800", b"\\u0000"),
        *(b'"id":2,', b'"\\u0069d":2,', b'"note":"', b'"type":"hello",'),
        *(b"\xed\xa0\x80", b"\x1b[31m", "🀱".encode()),
    ]
)
SEEDS = st.sampled_from([line for line, _ in GOOD.values() if len(line) < 500])


@given(
    SEEDS, st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8), PIECES | st.binary(max_size=2)))
)
@example(CHOOSE, [])
@examples(300)
def test_no_spoilt_line_raises(line: bytes, spoils: list[tuple[float, int, bytes]]) -> None:
    """Replace some bytes of a message by others, several times."""
    for share, width, filling in spoils:
        start = int(share * len(line))
        line = line[:start] + filling + line[start + width :]
    check(line)


@given(st.integers(0, 2**53), st.integers(0, 65_535), st.text(max_size=MAX_NOTE))
def test_any_answer_survives_encoding_and_decoding(number: int, choice: int, note: str) -> None:
    answer = Choose(id=number, choice=choice, note=note)
    assert decode_line(encode_line(answer)[:-1]) == answer
    record = ChoiceRecord(seat=0, id=number, choice=choice, ms=1.5, note=note)
    assert codec.decode_record(encode_line(record)) == record


# --- harmless text ---


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        ("Ünï 🀱 中", "Ünï 🀱 中"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("a\r\nb\tc\0", r"a\r\nb\tc\x00"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\u2028\u2029\x85", r"\u2028\u2029\x85"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        (b"\xff\xfeok", r"\xff\xfeok"),
    ],
)
def test_printable_escapes_what_a_terminal_obeys(raw: bytes | str, text: str) -> None:
    assert printable(raw) == text


@given(st.binary() | st.text(st.characters()), st.integers(0, 300))
def test_printable_is_harmless(raw: bytes | str, limit: int) -> None:
    text = printable(raw, limit)
    assert text.isprintable()
    assert not {unicodedata.category(c) for c in text} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(text) <= 10 * limit + 1
    text.encode()


@given(st.text(st.characters(codec="utf-8")))
def test_json_on_a_terminal_is_harmless_and_the_same_value(text: str) -> None:
    terminal_text = codec.json_for_terminal({"note": text})
    assert terminal_text.replace("\n", "").isprintable()
    assert json.loads(terminal_text) == {"note": text}


# --- records ---

NUMBER = st.integers(0, MAX_COUNT)
HEX_32 = st.binary(min_size=32, max_size=32).map(bytes.hex)


@pytest.mark.parametrize("event", ["fouls", "partners", "block"])
def test_a_record_is_written_as_it_was_read(event: str) -> None:
    """The logs of real events, line by line: opened, read, written and sealed as they are."""
    kinds = set[type]()
    for log in Folder(finished(event)).logs():
        before = after = 0
        for line in read_lines(log):
            plain, after = codec.unseal(line.data, before)
            record = codec.decode_record(plain + b"\n")
            assert encode_line(record) == plain + b"\n"
            assert plain.startswith(b'{"type":"')
            assert codec.seal(plain + b"\n", before) == (line.data, after)
            if isinstance(record, Result):
                assert codec.decode_result(plain + b"\n") == record
            kinds.add(type(record))
            before = after
    assert kinds | {FoulRecord} == set(get_args(LogRecord))


@given(NUMBER, HEX_32)
def test_commitments_and_reveals_survive_encoding_and_decoding(board: int, text: str) -> None:
    commitment, reveal = Commitment(board=board, sha256=text), Reveal(board=board, seed=text)
    assert codec.decode_commitment(encode_line(commitment)) == commitment
    assert codec.decode_reveal(encode_line(reveal)) == reveal


@pytest.mark.parametrize(
    "line",
    [
        b'{"board":1,"seed":"%b"}' % (b"a" * 64),
        b'{"board": 1,"seed":"%b"}\n' % (b"a" * 64),
        b'{"seed":"%b","board":1}\n' % (b"a" * 64),
        b'{"board":1,"seed":"%b"}\n' % (b"A" * 64),
        b'{"board":1,"seed":"%b"}\n' % (b"a" * 63),
    ],
)
def test_published_lines_have_one_spelling_only(line: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        codec.decode_reveal(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"\xff",
        b'{"type":"game"}',
        b'{"type":"game","game":"a","number":1,"board":1,"more":1}',
        b'{"type":"nobody"}',
        b'{"type":"foul","seat":0,"foul":"rude","detail":""}',
        b'{"type":"choice","seat":0,"id":1,"choice":0,"ms":null}',
        encode_line(Commitment(1, "00"))[:-2],
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("decode", [codec.decode_record, codec.decode_result])
def test_a_damaged_record_is_refused(decode: Any, line: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        decode(line)


@pytest.mark.parametrize("decode", [codec.decode_commitment, codec.decode_reveal])
@pytest.mark.parametrize("line", [b"", b"\xff", b"{}", b'{"board":1,"more":"x"}', b'{"board":1}{}'])
def test_a_damaged_commitment_is_refused(decode: Any, line: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        decode(line)


RECORD = encode_line(GameRecord(game="a", number=1, board=1, commitment="0" * 64))


@given(st.integers(0, len(RECORD) + codec.SEAL - 1), st.integers(1, 255))
def test_no_byte_of_a_sealed_line_can_change(position: int, mask: int) -> None:
    sealed_line, _ = codec.seal(RECORD, 7)
    assert len(sealed_line) == len(RECORD) + codec.SEAL - 1
    damaged_line = bytearray(sealed_line)
    damaged_line[position % len(sealed_line)] ^= mask
    with pytest.raises(DamagedRecordError):
        codec.unseal(bytes(damaged_line), 7)


def test_a_sealed_line_is_valid_in_its_place_and_whole_only() -> None:
    sealed_line, _ = codec.seal(RECORD, 7)
    with pytest.raises(DamagedRecordError):
        codec.unseal(sealed_line, 8)
    for length in range(len(sealed_line)):
        with pytest.raises(DamagedRecordError):
            codec.unseal(sealed_line[:length], 7)


# --- what the referee says ---


def test_the_schema_knows_every_message_and_lets_nothing_more_in_from_bots() -> None:
    schema = json.loads(json.dumps(codec.protocol_schema()))
    definitions = schema["$defs"]
    for kind in (*get_args(ToBot), *get_args(FromBot), *get_args(Option), *get_args(Event)):
        assert set(definitions[kind.__name__]["properties"]) >= set(kind.__struct_fields__)
    for kind in get_args(FromBot):
        assert definitions[kind.__name__]["additionalProperties"] is False
    for direction, union in (("referee_to_bot", ToBot), ("bot_to_referee", FromBot)):
        refs = {entry["$ref"] for entry in schema[direction]["anyOf"]}
        assert refs == {f"#/$defs/{kind.__name__}" for kind in get_args(union)}
