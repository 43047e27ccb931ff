"""The only place that knows JSON: bytes become messages and records here, and back."""

import json
import re
import zlib
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from protocol.messages import (
    MAX_LINE,
    Answer,
    FromBot,
    RefereeMessage,
    ToBot,
)
from protocol.messages import Event as SeenEvent
from protocol.records import Commitment, FoulClass, LogRecord, Record, Result, Reveal

T = TypeVar("T")
P = TypeVar("P", Commitment, Reveal)

_NO_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[^][{}"]+', re.DOTALL)
"""Strings, and whatever else is no bracket."""

MAX_DEPTH = 8
"""Nesting that is looked at; deeper JSON can exhaust a small thread's stack."""
REQUIRED_FIELDS = 3
"""Fields that every message of a bot has: its type and two more."""
SEAL = len(b',"crc":"00000000"}')
"""Bytes that a checksum adds to a log's line."""
SHOWN_LINE = 200
"""Characters of an offending line that are kept as evidence."""


class Fault(NamedTuple):
    """Why a line is no message: data about a bot, never an exception."""

    foul: FoulClass
    """The class of the foul."""
    detail: str
    """A sentence for the bot's author."""


class DamagedRecordError(ValueError):
    """A line of a log or ledger is not what its type promises."""


class UnknownMessage(msgspec.Struct, frozen=True):
    """A message that this version cannot read; bots must bear it."""

    type: str
    """What it calls itself."""
    id: int = 0
    """The question's number, if it is one."""


_encoder = msgspec.json.Encoder()
_from_bot: msgspec.json.Decoder[FromBot] = msgspec.json.Decoder(FromBot)
_to_bot: msgspec.json.Decoder[ToBot] = msgspec.json.Decoder(ToBot)
_unknown = msgspec.json.Decoder(UnknownMessage)
_log_record: msgspec.json.Decoder[LogRecord] = msgspec.json.Decoder(LogRecord)
_result = msgspec.json.Decoder(Result)
_commitment = msgspec.json.Decoder(Commitment)
_reveal = msgspec.json.Decoder(Reveal)


def encode_line(message: RefereeMessage | Answer | Record | Commitment | Reveal) -> bytes:
    """One JSON object and its newline."""
    return _encoder.encode(message) + b"\n"


def encode_event(event: SeenEvent) -> bytes:
    """A comma and an event's JSON; `encoded_events` makes a list of many."""
    return b"," + _encoder.encode(event)


def encoded_events(events: bytearray) -> Raw:
    """The list of events that were encoded before, for a message to copy."""
    return Raw(b"".join((b"[", memoryview(events)[1:], b"]")))


def decode_line(line: bytes) -> FromBot | Fault:
    """What a bot said, or the fault that it is. Takes any bytes and never raises.

    Length, then strict UTF-8, then depth, then the types: each check protects the next.
    """
    if len(line) >= MAX_LINE:
        return Fault("overlong", f"A line may have {MAX_LINE} bytes with its newline.")
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return Fault("malformed", f"Byte {error.start} of the line is not UTF-8.")
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH and _depth(line) > MAX_DEPTH:
        return Fault("malformed", f"The line nests deeper than {MAX_DEPTH} levels.")
    try:
        message = _from_bot.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Fault("malformed", f"Not a message: {printable(str(error))}.")
    # A flat object with as many colons as required fields repeats none and holds none in strings.
    if line.count(b":") != REQUIRED_FIELDS and _repeats_a_key(line):
        return Fault("malformed", "A key stands twice in one object.")
    return message


def decode_from_referee(line: bytes) -> ToBot:
    """What our referee told a seat, for whoever shows it to a person.

    Raises DamagedRecordError.
    """
    return _strict(_to_bot, line)


def decode_from_bot(line: bytes) -> ToBot | UnknownMessage:
    """What a referee said to a bot; `Unknown` is what a later protocol may have added.

    Raises DamagedRecordError for what is no message at all.
    """
    try:
        return _to_bot.decode(line)
    except msgspec.ValidationError:
        return _strict(_unknown, line)


def _depth(line: bytes) -> int:
    """How deep brackets nest outside strings."""
    depth = deepest = 0
    for byte in _NO_BRACKETS.sub(b"", line):
        depth += 1 if byte in b"{[" else -1
        deepest = max(deepest, depth)
    return deepest


def _repeats_a_key(line: bytes) -> bool:
    pairs: list[tuple[str, Any]] = json.loads(line, object_pairs_hook=list)
    return len({key for key, _ in pairs}) != len(pairs)


def seal(line: bytes, previous: int) -> tuple[bytes, int]:
    """A log's line with its checksum, which runs on from the line before; and that checksum."""
    body = line[:-2]
    checksum = zlib.crc32(body, previous)
    return b'%b,"crc":"%08x"}\n' % (body, checksum), checksum


def unseal(line: bytes, previous: int) -> tuple[bytes, int]:
    """The line without its checksum, and the checksum.

    Raises DamagedRecordError when it is not what was written after the line before.
    """
    body, sealed = line[: -SEAL - 1], line[-SEAL - 1 :]
    checksum = zlib.crc32(body, previous)
    if sealed != b',"crc":"%08x"}\n' % checksum:
        raise DamagedRecordError("its checksum does not match")
    return body + b"}", checksum


def unsealed(line: bytes) -> bytes:
    """The line without its checksum, unchecked: for what is only counted, not trusted."""
    return line[: -SEAL - 1] + b"}"


def decode_record(line: bytes) -> LogRecord:
    """One line of a game log without its checksum.

    Raises DamagedRecordError.
    """
    record = _strict(_log_record, line)
    return _of_its_seats(record) if isinstance(record, Result) else record


def decode_result(line: bytes) -> Result:
    """One line of a ledger without its checksum.

    Raises DamagedRecordError.
    """
    return _of_its_seats(_strict(_result, line))


def _of_its_seats(result: Result) -> Result:
    """Return the result if it has a score and a place for each seat, and fouls of no other seat.

    Raises DamagedRecordError.
    """
    seats = len(result.seats)
    fouled = [foul.seat for foul in result.fouls]
    if not seats == len(result.scores) == len(result.places):
        raise DamagedRecordError(f"a result of {seats} seats has not as many scores and places")
    if max((*result.places, *(seat + 1 for seat in fouled)), default=0) > seats:
        raise DamagedRecordError(f"a result of {seats} seats names a seat or place beyond them")
    return result


def decode_commitment(line: bytes) -> Commitment:
    """One line of the published commitments, with its newline.

    Raises DamagedRecordError.
    """
    return _exact(_strict(_commitment, line), line)


def decode_reveal(line: bytes) -> Reveal:
    """One line of the revealed seeds, with its newline.

    Raises DamagedRecordError.
    """
    return _exact(_strict(_reveal, line), line)


def _exact(promise: P, line: bytes) -> P:
    """What is published has no checksum, so not even a blank in it may change."""
    if encode_line(promise) != line:
        raise DamagedRecordError("it is not written as it was published")
    return promise


def _strict(decoder: "msgspec.json.Decoder[T]", line: bytes) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DamagedRecordError(str(error)) from error


def printable(raw: bytes | str, limit: int = SHOWN_LINE) -> str:
    """The beginning of a text from a bot, safe on a terminal, in a log and on a page.

    Control characters, ANSI codes and direction marks become visible escapes.
    """
    text = raw.decode(errors="backslashreplace") if isinstance(raw, bytes) else raw
    cut = text[:limit]
    if cut.isprintable() and cut == text:
        return text
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)
    return shown + "…" if len(text) > limit else shown


def schema() -> dict[str, Any]:
    """JSON Schema of both directions, made from the message types themselves."""
    (to_bot, from_bot), definitions = msgspec.json.schema_components(
        (ToBot, FromBot), ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Boneyard protocol 1",
        "referee_to_bot": to_bot,
        "bot_to_referee": from_bot,
        "$defs": definitions,
    }
