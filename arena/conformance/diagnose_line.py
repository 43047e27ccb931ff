"""Diagnoses of lines that are not answers, in words for the bot's author. Pure; repairs nothing.

The codec decides whether a line is a message. This module gets only lines that are not, and reads
JSON loosely to find out what their author meant.
"""

import ast
import json
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, NamedTuple

from arena.conformance.language_hints import LanguageHints
from protocol.codec import Fault, printable
from protocol.messages import MAX_LINE, MAX_NOTE, PROTOCOL, BotHello, Choose

LOOKED_AT = 4_096
FIELDS = {"hello": BotHello.__struct_fields__, "choose": Choose.__struct_fields__}
DIAGNOSED = 120
BOM = b"\xef\xbb\xbf"
Cause = tuple[object, str, str]
"""A fact, the fault if it holds, and the advice."""


class Diagnosis(NamedTuple):
    """A fault, and advice."""

    fault: str
    mend: str
    gone: bool = False
    """True if the process had ended by itself."""


class Expected(NamedTuple):
    """The requirements of a line."""

    type: str
    """The message's `type`: hello or choose."""
    options: int = 0
    id: int = 0


def first_cause(causes: Iterable[Cause]) -> Diagnosis | None:
    """Return the first cause that holds; None if none does."""
    return next((Diagnosis(fault, mend) for holds, fault, mend in causes if holds), None)


def diagnose(
    line: bytes, behind: bytes, fault: Fault, due: Expected, language: LanguageHints
) -> Diagnosis:
    """Return the fault of a line. `behind`: the output after it; `fault`: the referee's word."""
    text = line.decode(errors="replace").rstrip("\r")
    value = _parse_json(text)
    found = first_cause(_of_bytes(line))
    if not found and value is None:
        found = first_cause(_of_layout(text, behind.decode(errors="replace"), language))
    elif not found:
        found = first_cause(_of_type(value, due)) or first_cause(_of_fields(value, due, text))
    return found or Diagnosis(
        fault.detail, "Copy the examples in SPEC.md, and count options from 0."
    )


def _of_bytes(line: bytes) -> tuple[Cause, ...]:
    bad = None
    try:
        line.decode()
    except UnicodeDecodeError as error:
        bad = error.start
    return (
        (len(line) >= MAX_LINE, f"It wrote a line of more than {MAX_LINE} bytes.",
         "Shorten the note, and end each line with a newline."),
        (line.startswith(BOM), "The line begins with a byte order mark.",
         "Write UTF-8 without a byte order mark."),
        (b"\0" in line[:LOOKED_AT], "The line contains zero bytes. Is it UTF-16?",
         "Write UTF-8 without zero bytes."),
        (bad is not None, f"Byte {bad} of the line is not UTF-8.", "Encode output as UTF-8."),
        (not line.strip(), "It wrote an empty line.",
         "Write exactly one newline after each message."),
    )  # fmt: skip


def _of_layout(text: str, behind: str, language: LanguageHints) -> tuple[Cause, ...]:
    lines = _lines_of_one(text, behind)
    before, brace, _ = text.partition("{")
    value, end = _first_value(text, len(before)) if brace else (None, 0)
    is_object, rest = isinstance(value, dict), text[end:].strip()
    only = "only messages to stdout"
    return (
        (isinstance(_python(text), dict),
         "It wrote single quotes, as Python prints a dict; this is not JSON.",
         "print(json.dumps(answer), flush=True)"),
        (lines > 1, f"It wrote one JSON object on {lines} lines.",
         "Write each message on one line, without indentation and line breaks "
         f"({language.json})."),
        (not is_object and text.lstrip().startswith("{"),
         f"It wrote almost JSON: {_complaint(text)}.",
         "Use double quotes for names and texts, no trailing comma, no comments."),
        (not is_object,
         f"It wrote text where a message is expected: {printable(text, DIAGNOSED)!r}.",
         f"Write {only}, and debug output to stderr."),
        (before.strip(), f"It wrote text before the message: {printable(before, DIAGNOSED)!r}.",
         f"Write {only}, and debug output to stderr."),
        (rest.startswith("{"), "It wrote two messages on one line.",
         "Write a newline after each message."),
        (True, f"It wrote text after the message: {printable(rest, DIAGNOSED)!r}.",
         f"Write each message on its own line, and {only}."),
    )  # fmt: skip


def _of_type(value: Any, due: Expected) -> tuple[Cause, ...]:
    is_object = isinstance(value, dict)
    names, said = (value, value.get("type")) if is_object else ((), None)
    nearly = next((name for name in names if name.lower() == "type" != name), None)
    (near,) = get_close_matches(str(said).lower(), FIELDS, n=1, cutoff=0)
    return (
        (isinstance(value, str) and isinstance(_parse_json(value), dict),
         "The message is encoded twice: it is a text.", "Encode it once."),
        (not is_object, f"It wrote {_kind(value)} where a message is expected.",
         'Write the object: {"type":"choose","id":...,"choice":...}'),
        (said == "hello" != due.type, "It wrote a second hello.",
         "Write hello once, as the first line."),
        (said == "choose" != due.type, "Its first line is an answer, not a hello.",
         "Write a hello first."),
        (said is None and nearly, f"A field's name is wrong: {nearly!r} must be `type`.",
         "Write names of fields in lower case, as in the examples of SPEC.md."),
        (said is None, "The message has no `type`.", f'Begin with "type":"{due.type}".'),
        (said != due.type, f"There is no message of type {printable(str(said), 40)!r}: {near!r} "
         "is probably meant.", f'Write "type":"{due.type}".'),
    )  # fmt: skip


def _of_fields(value: dict[str, Any], due: Expected, text: str) -> tuple[Cause, ...]:
    strange = next((name for name in value if name not in (*FIELDS[due.type], "type")), "")
    pairs = json.loads(text, object_pairs_hook=list)
    return (
        (strange,
         f"The message has a field {printable(strange, 40)!r} that the protocol does not have.",
         "Leave it out; a `note` can hold anything for the log."),
        (len(pairs) != len(value), "A field occurs twice in the message.",
         "Write each field once."),
        *(_of_hello(value) if due.type == "hello" else _of_choose(value, due)),
    )  # fmt: skip


def _of_hello(value: dict[str, Any]) -> tuple[Cause, ...]:
    needed = (name for name in ("name", "version") if not isinstance(value.get(name), str))
    wrong = next(needed, "")
    protocol, tables = value.get("protocol", PROTOCOL), value.get("tables", 1)
    return (
        (wrong and wrong not in value, f"The hello has no `{wrong}`.", f'Add "{wrong}", a text.'),
        (wrong, f"`{wrong}` is {_kind(value.get(wrong))}, not a text.",
         f'Put it in quotes: "{wrong}":"1".'),
        (protocol != PROTOCOL, f"It speaks protocol {printable(str(protocol), 20)}; this referee "
         f"speaks {PROTOCOL}.", f'Write "protocol":{PROTOCOL}, or leave it out.'),
        (type(tables) is not int or not 1 <= tables <= 1024,
         f"`tables` is {printable(str(tables), 20)}.", "A number from 1 to 1024, or nothing."),
    )  # fmt: skip


def _of_choose(value: dict[str, Any], due: Expected) -> tuple[Cause, ...]:
    needed = {"id": "the question's `id`", "choice": "an index into `options`"}
    wrong = next((name for name in needed if type(value.get(name)) is not int), "")
    meaning, last = needed.get(wrong, ""), due.options - 1
    number, choice = (0, 0) if wrong else (value["id"], value["choice"])
    note = value.get("note", "")
    size = len(note) if isinstance(note, str) else 0
    off = " Perhaps it counts from 1." if choice == due.options else ""
    return (
        (wrong and wrong not in value, f"The answer has no `{wrong}`.",
         f'Add "{wrong}": {meaning}.'),
        (wrong, f"`{wrong}` is {_kind(value.get(wrong))}, not a whole number.",
         f"It is {meaning}, a number without quotes and without a point."),
        (number > due.id,
         f"It answered question {number}, which was never asked; {due.id} is open.",
         "Copy the `id` of the question that you answer; store it in 64 bits and do not count "
         "questions yourself."),
        (choice < 0, f"Its choice is {choice}.",
         "Choose an index from 0; resigning is not possible."),
        (choice > last, f"It chose {choice}, but the options are 0 to {last}.{off}",
         "Options are counted from 0: the first is 0."),
        (not isinstance(note, str), f"`note` is {_kind(note)}, not a text.",
         "Leave it out, or write a text."),
        (size > MAX_NOTE, f"The note has {size} characters; {MAX_NOTE} are allowed.",
         "Shorten it, or write it to a file."),
    )  # fmt: skip


# --- reading loosely ---


def _parse_json(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


def _first_value(text: str, start: int) -> tuple[Any, int]:
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, start)
    return None, 0


def _python(text: str) -> Any:
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(text) if len(text) < LOOKED_AT else None
    return None


def _lines_of_one(text: str, behind: str) -> int:
    """Return the number of lines of a JSON value that begins with this one; 0 if none does."""
    whole = f"{text}\n{behind}"[:LOOKED_AT]
    if not text.lstrip().startswith(("{", "[")):
        return 0
    value, end = _first_value(whole, len(whole) - len(whole.lstrip()))
    return whole[:end].count("\n") + 1 if value is not None else 0


def _complaint(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return printable(str(error), DIAGNOSED)
    return "it is JSON"


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "true or false", list: "an array", dict: "an object"}
    if isinstance(value, str):
        return f"the text {printable(value, 40)!r}"
    return names.get(type(value)) or f"the number {printable(str(value), 40)}"
