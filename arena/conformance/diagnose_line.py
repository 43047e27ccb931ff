"""Diagnoses of lines that are not answers, in words for the bot's author. Pure; repairs nothing.

The codec decides whether a line is a message. This module gets only lines that are not, and reads
JSON loosely to find out what their author meant.
"""

import ast
import json
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, NamedTuple

from arena.conformance.language_hints import LanguageHints
from protocol.codec import Fault, printable
from protocol.messages import MAX_LINE, MAX_NOTE, PROTOCOL, BotHello, Choose

LOOKED_AT = 4_096
"""Characters of a line that a diagnosis considers."""
FIELDS = {"hello": BotHello.__struct_fields__, "choose": Choose.__struct_fields__}
DIAGNOSED = 120
"""Characters of a value that are shown."""


class Diagnosis(NamedTuple):
    """A fault, and advice."""

    fault: str
    """The fault, a sentence."""
    mend: str
    """The advice, a sentence."""
    gone: bool = False
    """True if the process had ended by itself."""


class Expected(NamedTuple):
    """The requirements of a line."""

    type: str
    """The message's `type`: hello or choose."""
    options: int = 0
    """The number of options of the question."""
    id: int = 0
    """The question's number."""


def diagnose(
    line: bytes, behind: bytes, fault: Fault, due: Expected, language: LanguageHints
) -> Diagnosis:
    """Return the fault of a line. `behind`: the output after it; `fault`: the referee's word."""
    return (
        _of_bytes(line)
        or _of_layout(line, behind, language)
        or _of_message(line, due)
        or Diagnosis(fault.detail, "Copy the examples in SPEC.md, and count options from 0.")
    )


def _of_bytes(line: bytes) -> Diagnosis | None:
    """Return the fault of a line that is not text."""
    if len(line) >= MAX_LINE:
        text = f"It wrote a line of more than {MAX_LINE} bytes."
        return Diagnosis(text, "Shorten the note, and end each line with a newline.")
    if line.startswith(b"\xef\xbb\xbf"):
        return Diagnosis(
            "The line begins with a byte order mark.", "Write UTF-8 without a byte order mark."
        )
    if b"\0" in line[:LOOKED_AT]:
        return Diagnosis(
            "The line contains zero bytes. Is it UTF-16?", "Write UTF-8 without zero bytes."
        )
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return Diagnosis(f"Byte {error.start} of the line is not UTF-8.", "Encode output as UTF-8.")
    if not line.strip():
        return Diagnosis("It wrote an empty line.", "Write exactly one newline after each message.")
    return None


def _of_layout(line: bytes, behind: bytes, language: LanguageHints) -> Diagnosis | None:
    """Return the fault that keeps a line from being one JSON object on one line."""
    text = line.decode().rstrip("\r")
    if _parse_json(text) is not None:
        return None
    if isinstance(_python(text), dict):
        return Diagnosis(
            "It wrote single quotes, as Python prints a dict; this is not JSON.",
            "print(json.dumps(answer), flush=True)",
        )
    lines = _lines_of_one(text, behind.decode(errors="replace"))
    if lines > 1:
        return Diagnosis(
            f"It wrote one JSON object on {lines} lines.",
            "Write each message on one line, without indentation and line breaks "
            f"({language.json}).",
        )
    return _of_pieces(text) or Diagnosis(
        f"It wrote text where a message is expected: {printable(text, DIAGNOSED)!r}.",
        "Write only messages to stdout, and debug output to stderr.",
    )


def _of_pieces(text: str) -> Diagnosis | None:
    """Return the fault of text around a message, or of a message that is nearly JSON."""
    before, brace, _ = text.partition("{")
    value, end = _first(text, len(before)) if brace else (None, 0)
    if not isinstance(value, dict):
        if text.lstrip().startswith("{"):
            return Diagnosis(
                f"It wrote almost JSON: {_complaint(text)}.",
                "Use double quotes for names and texts, no trailing comma, no comments.",
            )
        return None
    if before.strip():
        return Diagnosis(
            f"It wrote text before the message: {printable(before, DIAGNOSED)!r}.",
            "Write only messages to stdout, and debug output to stderr.",
        )
    rest = text[end:].strip()
    if rest.startswith("{"):
        return Diagnosis(
            "It wrote two messages on one line.", "Write a newline after each message."
        )
    return Diagnosis(
        f"It wrote text after the message: {printable(rest, DIAGNOSED)!r}.",
        "Write each message on its own line, and only messages to stdout.",
    )


def _of_message(line: bytes, due: Expected) -> Diagnosis | None:
    """Return the fault of a message."""
    value = _parse_json(line.decode())
    if isinstance(value, str) and isinstance(_parse_json(value), dict):
        return Diagnosis("The message is encoded twice: it is a text.", "Encode it once.")
    if not isinstance(value, dict):
        whole = '{"type":"choose","id":...,"choice":...}'
        return Diagnosis(
            f"It wrote {_kind(value)} where a message is expected.", f"Write the object: {whole}"
        )
    return _of_type(value, due) or next(_of_fields(value, due, line.decode()), None)


def _of_type(value: dict[str, Any], due: Expected) -> Diagnosis | None:
    said = value.get("type")
    if said == due.type:
        return None
    if said == "hello":
        return Diagnosis("It wrote a second hello.", "Write hello once, as the first line.")
    if said == "choose":
        return Diagnosis("Its first line is an answer, not a hello.", "Write a hello first.")
    written = next((name for name in value if name.lower() == "type" != name), None)
    if said is None and written:
        return Diagnosis(
            f"A field's name is wrong: {written!r} must be `type`.",
            "Write names of fields in lower case, as in the examples of SPEC.md.",
        )
    if said is None:
        return Diagnosis("The message has no `type`.", f'Begin with "type":"{due.type}".')
    near = get_close_matches(str(said).lower(), FIELDS, n=1, cutoff=0)[0]
    text = f"There is no message of type {printable(str(said), 40)!r}"
    return Diagnosis(f"{text}: {near!r} is probably meant.", f'Write "type":"{due.type}".')


def _of_fields(value: dict[str, Any], due: Expected, text: str) -> Iterator[Diagnosis]:
    """Yield the faults of a message's fields, the likeliest first."""
    known = FIELDS[due.type]
    for name in value.keys() - {*known, "type"}:
        yield Diagnosis(
            f"The message has a field {printable(name, 40)!r} that the protocol does not have.",
            "Leave it out; a `note` can hold anything for the log.",
        )
    pairs = json.loads(text, object_pairs_hook=list)
    if len(pairs) != len(value):
        yield Diagnosis("A field occurs twice in the message.", "Write each field once.")
    yield from _of_hello(value) if due.type == "hello" else _of_choose(value, due)


def _of_hello(value: dict[str, Any]) -> Iterator[Diagnosis]:
    for name in ("name", "version"):
        if name not in value:
            yield Diagnosis(f"The hello has no `{name}`.", f'Add "{name}", a text.')
        elif not isinstance(value[name], str):
            yield Diagnosis(
                f"`{name}` is {_kind(value[name])}, not a text.", f'Put it in quotes: "{name}":"1".'
            )
    protocol = value.get("protocol", PROTOCOL)
    if protocol != PROTOCOL:
        yield Diagnosis(
            f"It speaks protocol {printable(str(protocol), 20)}; this referee speaks {PROTOCOL}.",
            f'Write "protocol":{PROTOCOL}, or leave it out.',
        )
    tables = value.get("tables", 1)
    if type(tables) is not int or not 1 <= tables <= 1024:
        yield Diagnosis(
            f"`tables` is {printable(str(tables), 20)}.", "A number from 1 to 1024, or nothing."
        )


def _of_choose(value: dict[str, Any], due: Expected) -> Iterator[Diagnosis]:
    for name, what in (("id", "the question's `id`"), ("choice", "an index into `options`")):
        if name not in value:
            yield Diagnosis(f"The answer has no `{name}`.", f'Add "{name}": {what}.')
        elif type(value[name]) is not int:
            yield Diagnosis(
                f"`{name}` is {_kind(value[name])}, not a whole number.",
                f"It is {what}, a number without quotes and without a point.",
            )
    yield from _of_numbers(value, due)
    note = value.get("note", "")
    if not isinstance(note, str):
        yield Diagnosis(f"`note` is {_kind(note)}, not a text.", "Leave it out, or write a text.")
    elif len(note) > MAX_NOTE:
        yield Diagnosis(
            f"The note has {len(note)} characters; {MAX_NOTE} are allowed.",
            "Shorten it, or write it to a file.",
        )


def _of_numbers(value: dict[str, Any], due: Expected) -> Iterator[Diagnosis]:
    number, choice, last = value.get("id"), value.get("choice"), due.options - 1
    if isinstance(number, int) and number > due.id:
        yield Diagnosis(
            f"It answered question {number}, which was never asked; {due.id} is open.",
            "Copy the `id` of the question that you answer; store it in 64 bits and do not count "
            "questions yourself.",
        )
    if isinstance(choice, int) and choice < 0:
        yield Diagnosis(
            f"Its choice is {choice}.", "Choose an index from 0; resigning is not possible."
        )
    if isinstance(choice, int) and choice > last:
        off = " Perhaps it counts from 1." if choice == due.options else ""
        yield Diagnosis(
            f"It chose {choice}, but the options are 0 to {last}.{off}",
            "Options are counted from 0: the first is 0.",
        )


# --- reading loosely ---


def _parse_json(text: str) -> Any:
    """Return the JSON value of a text; None if it has none."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _first(text: str, start: int) -> tuple[Any, int]:
    """Return the first JSON value from there and its end; None if there is none."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, start)
    return None, 0


def _python(text: str) -> Any:
    """Return the value of a Python literal."""
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(text) if len(text) < LOOKED_AT else None
    return None


def _lines_of_one(text: str, behind: str) -> int:
    """Return the number of lines of a JSON value that begins with this one; 0 if none does."""
    whole = f"{text}\n{behind}"[:LOOKED_AT]
    if not text.lstrip().startswith(("{", "[")):
        return 0
    value, end = _first(whole, len(whole) - len(whole.lstrip()))
    return whole[:end].count("\n") + 1 if value is not None else 0


def _complaint(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return printable(str(error), DIAGNOSED)
    return "it is JSON"


def _kind(value: Any) -> str:
    """Return the name of a JSON value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return f"the text {printable(value, 40)!r}"
        case int() | float():
            return f"the number {printable(str(value), 40)}"
        case list():
            return "an array"
        case _:
            return "an object"
