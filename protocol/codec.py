"""JSON: encoding and decoding of messages, records and files. No other module knows JSON."""

import json
import re
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Raw

from protocol.messages import (
    INFO_NAME,
    MAX_LINE,
    Answer,
    Ask,
    Choose,
    FromBot,
    Option,
    RefereeMessage,
    RoundOver,
    Stock,
    ToBot,
    UnknownMessage,
)
from protocol.messages import Event as SeenEvent
from protocol.records import Commitment, FoulClass, LogRecord, Record, Result, Reveal, Sitting
from protocol.ruleset import ImpossibleRulesError, Tile, check_seats

T = TypeVar("T")
P = TypeVar("P", Commitment, Reveal)

_NO_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[^][{}"]+', re.DOTALL)
"""Strings, and all other bytes that are not brackets."""

MAX_DEPTH = 8
"""Levels of nesting that a bot's line may have.

The depth that msgspec survives differs between Python versions, and deeper JSON can exhaust the
stack of a small thread.
"""
HARMLESS = 256
"""The length in bytes up to which a line is decoded safely, however deep it nests."""
INFO_NAME_PATTERN = re.compile(INFO_NAME)
REQUIRED_FIELDS = 3
"""Fields that every message of a bot has: its type and two more."""
SEAL = len(b',"crc":"00000000"}')
"""Bytes that a checksum adds to a log's line."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The version of JSON Schema that our schemas are written in."""
SHOWN_LINE = 200
"""Characters of an offending line that are kept as evidence."""


class Fault(NamedTuple):
    """The reason why a line is not a message: data about a bot, never an exception."""

    foul: FoulClass
    """The class of the foul."""
    detail: str
    """A sentence for the bot's author."""


TOO_DEEP = Fault("malformed", f"The line nests deeper than {MAX_DEPTH} levels.")


class DamagedRecordError(ValueError):
    """Damage in a log or ledger: a line is not what its type promises."""


COUNTS = tuple(b"%d" % number for number in range(256))
"""Numbers of tiles, encoded; no set has so many."""
_GAP: Any = Raw(b"\0")
"""A value that is left open. No other byte of JSON is 0: strings have it escaped."""
_encoder = msgspec.json.Encoder()
_from_bot: msgspec.json.Decoder[FromBot] = msgspec.json.Decoder(FromBot)
_to_bot: msgspec.json.Decoder[ToBot] = msgspec.json.Decoder(ToBot)
_unknown = msgspec.json.Decoder(UnknownMessage)
_log_record: msgspec.json.Decoder[LogRecord] = msgspec.json.Decoder(LogRecord)
_result = msgspec.json.Decoder(Result)
_commitment = msgspec.json.Decoder(Commitment)
_reveal = msgspec.json.Decoder(Reveal)


def encode_line(message: RefereeMessage | Answer | Record | Commitment | Reveal) -> bytes:
    """Return the message as one JSON object and its newline."""
    return _encoder.encode(message) + b"\n"


def encode_event(event: SeenEvent) -> bytes:
    """Return a comma and the event's JSON, for a list of events that grows.

    Each event of a round is so encoded once, though every question repeats it.
    """
    return b"," + _encoder.encode(event)


def _around_gaps(message: RefereeMessage) -> list[bytes]:
    """Return the pieces of the message's line around its gaps."""
    return encode_line(message).split(_GAP)


_ASK = _around_gaps(
    Ask(
        id=_GAP, game=_GAP, round=_GAP, time_ms=_GAP, seat=_GAP, hand=(_GAP,), line=_GAP,
        ends=_GAP, boneyard=Stock(_GAP, _GAP), hands=_GAP, scores=_GAP, pot=_GAP, events=[_GAP],
        options=_GAP,
    )
)  # fmt: skip
"""The line of a question around its values: before each stands its name."""


class QuestionForm:
    """The bytes that a seat's questions share, with gaps for the values that change."""

    __slots__ = ("_pieces", "_pot", "_scores", "_time_ms")

    def __init__(
        self, seat: int, game: int, round: int, time_ms: int, scores: tuple[int, ...], pot: int
    ) -> None:
        """Take the values that stay."""
        self._time_ms, self._scores, self._pot = time_ms, scores, pot
        names, encode = _ASK, _encoder.encode
        place = b"".join((
            names[1], encode(game), names[2], encode(round), names[3], encode(time_ms),
            names[4], encode(seat), names[5],
        ))  # fmt: skip
        points = b"".join((names[11], encode(scores), names[12], encode(pot), names[13]))
        self._pieces = (names[0], place, *names[6:11], points, *names[14:])

    def fits(self, time_ms: int, scores: tuple[int, ...], pot: int) -> bool:
        """Tell whether a question with this time, these scores and this pot has this form."""
        return time_ms == self._time_ms and scores == self._scores and pot == self._pot

    def fill(
        self,
        id: int,
        hand: Iterable[bytes],
        line: list[Tile],
        ends: tuple[int, ...],
        tiles: int,
        drawable: int,
        hands: tuple[int, ...],
        events: bytearray,
        options: tuple[Option, ...],
    ) -> bytes:
        """Return the line of the question with these values.

        `hand`: each tile encoded. `tiles`, `drawable`: the boneyard. `events`: without brackets.
        """
        encode, (a, b, c, d, e, f, g, h, i, end) = _encoder.encode, self._pieces
        return b"".join((
            a, b"%d" % id, b, b",".join(hand), c, encode(line), d, encode(ends),
            e, COUNTS[tiles], f, COUNTS[drawable], g, encode(hands),
            h, events, i, encode(options), end,
        ))  # fmt: skip


def encode_round_over(message: RoundOver, events: Iterable[bytearray]) -> list[bytes]:
    """Return the line of the message with each of these lists of events, without brackets."""
    start, end = _around_gaps(msgspec.structs.replace(message, events=[_GAP]))
    return [b"".join((start, part, end)) for part in events]


def decode_line(line: bytes) -> FromBot | Fault:
    """Return the message in a bot's line, or its fault. Take any bytes and never raise.

    The checks are the length, strict UTF-8, the depth, the types: each protects the next.
    """
    if len(line) >= MAX_LINE:
        return Fault("overlong", f"A line may have {MAX_LINE} bytes with its newline.")
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError as error:
            return Fault("malformed", f"Byte {error.start} of the line is not UTF-8.")
    if len(line) > HARMLESS and _is_deep(line):
        return TOO_DEEP
    try:
        message = _from_bot.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        # No message nests more than `info`, so a line that is too deep is no message.
        if _is_deep(line):
            return TOO_DEEP
        return Fault("malformed", f"Not a message: {printable(str(error))}.")
    # With as many colons as fields it repeats none and holds none in strings.
    colons = line.count(b":")
    return message if colons == REQUIRED_FIELDS else _check_fields(message, line, colons)


def decode_from_referee(line: bytes) -> ToBot:
    """Return the message that our referee sent to a seat, for a screen that shows it.

    Raises DamagedRecordError.
    """
    return _strict(_to_bot, line)


def decode_from_bot(line: bytes) -> ToBot | UnknownMessage:
    """Return a referee's message to a bot, as UnknownMessage if a later protocol added it.

    Raises DamagedRecordError for a line that is not a message at all.
    """
    try:
        return _to_bot.decode(line)
    except (msgspec.MsgspecError, ValueError):
        return _strict(_unknown, line)


def _is_deep(line: bytes) -> bool:
    """Tell whether brackets outside strings nest deeper than a line may."""
    if line.count(b"{") + line.count(b"[") <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for byte in _NO_BRACKETS.sub(b"", line):
        depth += 1 if byte in b"{[" else -1
        deepest = max(deepest, depth)
    return deepest > MAX_DEPTH


def _check_fields(message: FromBot, line: bytes, colons: int) -> FromBot | Fault:
    """Return a message with optional fields, or what is wrong with their names."""
    fields = REQUIRED_FIELDS
    if isinstance(message, Choose) and message.info:
        if not _are_info_names((*message.info,)):
            return Fault("malformed", f"A name in `info` is not {INFO_NAME}.")
        fields += 1 + len(message.info)
    if colons != fields and _repeats_a_key(line):
        return Fault("malformed", "A key stands twice in one object.")
    return message


@lru_cache(maxsize=256)
def _are_info_names(names: tuple[str, ...]) -> bool:
    """Tell whether each is a name of `info`; a bot repeats its names in every answer."""
    return all(map(INFO_NAME_PATTERN.fullmatch, names))


def _repeats_a_key(line: bytes) -> bool:
    repeats: list[bool] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        repeats.append(len({key for key, _ in pairs}) != len(pairs))

    json.loads(line, object_pairs_hook=look)
    return any(repeats)


def seal(line: bytes, previous: int) -> tuple[bytes, int]:
    """Return a log's line with its checksum, and that checksum.

    The checksum runs on from the line before, so that a lost or moved line shows too.
    """
    body = line[:-2]
    checksum = zlib.crc32(body, previous)
    return b'%b,"crc":"%08x"}\n' % (body, checksum), checksum


def seal_records(records: Iterable[msgspec.Struct], previous: int) -> tuple[bytes, int]:
    """Return the records' lines for a log with their checksums, and the last checksum.

    Equal to `seal` of each line; written out because each move of a game passes here.
    """
    lines = []
    for record in records:
        body = _encoder.encode(record)[:-1]
        previous = zlib.crc32(body, previous)
        lines.append(b'%b,"crc":"%08x"}\n' % (body, previous))
    return b"".join(lines), previous


def unseal(line: bytes, previous: int) -> tuple[bytes, int]:
    """Return the line without its checksum, and the checksum.

    Raises DamagedRecordError if the line is not what was written after the line before.
    """
    body, sealed = line[: -SEAL - 1], line[-SEAL - 1 :]
    checksum = zlib.crc32(body, previous)
    if sealed != b',"crc":"%08x"}\n' % checksum:
        raise DamagedRecordError("its checksum does not match")
    return body + b"}", checksum


def checksum_of(line: bytes) -> int:
    """Return the checksum that a log's line has. Raises DamagedRecordError if it has none."""
    try:
        return int(line[-SEAL + 7 : -3], 16)
    except ValueError as error:
        raise DamagedRecordError(f"it has no checksum: {error}") from error


def strip_checksum(line: bytes) -> bytes:
    """Return the line without its checksum, unchecked: for lines that are counted, not trusted."""
    return line[: -SEAL - 1] + b"}"


def decode_record(line: bytes) -> LogRecord:
    """Return the record in one line of a game log; the line has no checksum any more.

    Raises DamagedRecordError.
    """
    try:
        record = _strict(_log_record, line)
        if isinstance(record, Sitting):
            check_seats(record.rules, len(record.seats))
    except ImpossibleRulesError as error:
        raise DamagedRecordError(str(error)) from error
    return _of_its_seats(record) if isinstance(record, Result) else record


def decode_result(line: bytes) -> Result:
    """Return the result in one line of a ledger; the line has no checksum any more.

    Raises DamagedRecordError.
    """
    return _of_its_seats(_strict(_result, line))


def _of_its_seats(result: Result) -> Result:
    """Return the result if it has a score and a place for each seat, and fouls of no other seat.

    Raises DamagedRecordError.
    """
    seats = len(result.seats)
    if not seats == len(result.scores) == len(result.places):
        raise DamagedRecordError(f"a result of {seats} seats has not as many scores and places")
    if result.usage is not UNSET and len(result.usage) != seats:
        raise DamagedRecordError(f"a result of {seats} seats has the cost of other seats")
    fouled = max((foul.seat for foul in result.fouls), default=0) if result.fouls else 0
    if max(result.places) > seats or fouled >= seats:
        raise DamagedRecordError(f"a result of {seats} seats names a seat or place beyond them")
    return result


def decode_commitment(line: bytes) -> Commitment:
    """Return the commitment in one published line, which has its newline.

    Raises DamagedRecordError.
    """
    return _exact(_strict(_commitment, line), line)


def decode_reveal(line: bytes) -> Reveal:
    """Return the seed in one published line, which has its newline. Raises DamagedRecordError."""
    return _exact(_strict(_reveal, line), line)


def _exact(promise: P, line: bytes) -> P:
    """Return what was published if its line is exactly as we write it.

    A published line has no checksum, so not even a blank in it may change.
    Raises DamagedRecordError.
    """
    if encode_line(promise) != line:
        raise DamagedRecordError("it is not written as it was published")
    return promise


def line_start(kind: type[msgspec.Struct]) -> bytes:
    """Return the bytes with which each line of this record begins, and no other line does.

    Thus a reader finds the few records it needs without decoding the others.
    """
    return b'{"type":"%b",' % f"{kind.__struct_config__.tag}".encode()


def encode_json(value: object) -> bytes:
    """Return any value as JSON on one line, without a newline."""
    return _encoder.encode(value)


def canonical_json(value: object) -> bytes:
    """Return the JSON that equal values share, whatever the order of their fields."""
    return msgspec.json.encode(value, order="deterministic")


def indented_json(value: object, indent: int = 1) -> bytes:
    """Return a value as JSON for files and people, without a newline at its end."""
    return msgspec.json.format(_encoder.encode(value), indent=indent)


def json_for_terminal(value: object, indent: int = 1) -> str:
    """Return a value as JSON in which every character that could steer a terminal is escaped."""
    text = indented_json(value, indent).decode()
    if text.replace("\n", "").isprintable():
        return text
    safe_text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    return safe_text.replace("\x7f", "\\u007f")


def decode_json(data: bytes | str, kind: type[T]) -> T:
    """Return the value of this type in a JSON text. Raises DamagedRecordError."""
    return decoder_for(kind)(data)


def decoder_for(kind: type[T]) -> Callable[[bytes | str], T]:
    """Return `decode_json` of one type; to make it anew for each text takes 2 µs."""
    return partial(_strict, msgspec.json.Decoder(kind))


def _strict(decoder: "msgspec.json.Decoder[T]", line: bytes | str) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DamagedRecordError(str(error)) from error


def printable(raw: bytes | str, limit: int = SHOWN_LINE) -> str:
    """Return the beginning of a bot's text, safe on a terminal, in a log and on a page.

    Control characters, ANSI codes and direction marks become visible escapes.
    """
    text = raw.decode(errors="backslashreplace") if isinstance(raw, bytes) else raw
    cut = text[:limit]
    if cut.isprintable() and cut == text:
        return text
    safe_text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)
    return safe_text + "…" if len(text) > limit else safe_text


def printable_lines(text: str) -> str:
    """Return a text of several lines with all but its newlines and tabs safe on a terminal."""
    if text.isprintable():
        return text
    return "\n".join(
        line if line.isprintable() else "".join(c if c == "\t" else printable(c) for c in line)
        for line in text.split("\n")
    )


def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of both directions, made from the message types themselves."""
    (to_bot, from_bot), definitions = _schemas(ToBot, FromBot)
    return {
        "$schema": DIALECT,
        "title": "Boneyard protocol 1",
        "referee_to_bot": to_bot,
        "bot_to_referee": from_bot,
        "$defs": definitions,
    }


def log_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a game log: a record, and the checksum at its end."""
    schema = schema_of(LogRecord, "A line of a Boneyard game log")
    for reference in schema["anyOf"]:
        record = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        record["properties"]["crc"] = {"type": "string", "pattern": "^[0-9a-f]{8}$"}
        record["required"].append("crc")
    return schema


def schema_of(kind: Any, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a file, made from its type."""
    (schema,), definitions = _schemas(kind)
    return {"$schema": DIALECT, "title": title, **schema, "$defs": definitions}


def _schemas(*kinds: Any) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    return msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
