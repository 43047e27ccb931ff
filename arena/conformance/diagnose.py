"""Diagnoses of lines that are not answers, and of silence, in words for the bot's author."""

import ast
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, NamedTuple

from arena.conformance.connection import Connection, ScriptedSeat
from arena.logs.gamelog import crash_line
from arena.match import referee
from arena.rules.variants import find_variant
from protocol.codec import Fault, decode_line, printable
from protocol.messages import MAX_INFO, MAX_LINE, MAX_NOTE, PROTOCOL, BotHello, Choose, Clock

# Diagnoses of lines that are not answers, in words for the bot's author. Pure; repairs nothing.
#
# The codec decides whether a line is a message. This part gets only lines that are not, and reads
# JSON loosely to find out what their author meant.


INSPECTED_LENGTH = 4_096
ANSWER_FIELDS = {"hello": BotHello.__struct_fields__, "choose": Choose.__struct_fields__}
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
    late: bool = False
    """True if it ran on, but nothing whole came within its time."""


class Expected(NamedTuple):
    """The requirements of a line."""

    type: str
    """The message's `type`: hello or choose."""
    options: int = 0
    id: int = 0


def first_cause(causes: Iterable[Cause]) -> Diagnosis | None:
    """Return the first cause that holds; None if none does."""
    return next((Diagnosis(fault, mend) for holds, fault, mend in causes if holds), None)


def diagnose_line(line: bytes, tail: bytes, fault: Fault, due: Expected) -> Diagnosis:
    """Return the fault of a line. `tail`: the output after it; `fault`: the referee's word."""
    text = line.decode(errors="replace").rstrip("\r")
    value = _parse_json(text)
    diagnosis = first_cause(_of_bytes(line))
    if not diagnosis and value is None:
        diagnosis = first_cause(_of_layout(text, tail.decode(errors="replace")))
    elif not diagnosis:
        diagnosis = first_cause(_of_type(value, due)) or first_cause(_of_fields(value, due, text))
    return diagnosis or Diagnosis(
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
        (b"\0" in line[:INSPECTED_LENGTH], "The line contains zero bytes. Is it UTF-16?",
         "Write UTF-8 without zero bytes."),
        (bad is not None, f"Byte {bad} of the line is not UTF-8.", "Encode output as UTF-8."),
        (not line.strip(), "It wrote an empty line.",
         "Write exactly one newline after each message."),
    )  # fmt: skip


def _of_layout(text: str, tail: str) -> tuple[Cause, ...]:
    lines = _lines_of_one(text, tail)
    before, brace, _ = text.partition("{")
    value, end = _first_value(text, len(before)) if brace else (None, 0)
    is_object, rest = isinstance(value, dict), text[end:].strip()
    advice = "only messages to stdout"
    return (
        (isinstance(_python(text), dict),
         "It wrote single quotes, as Python prints a dict; this is not JSON.",
         "print(json.dumps(answer), flush=True)"),
        (lines > 1, f"It wrote one JSON object on {lines} lines.",
         "Write each message on one line, without indentation and line breaks."),
        (not is_object and text.lstrip().startswith("{"),
         f"It wrote almost JSON: {_complaint(text)}.",
         "Use double quotes for names and texts, no trailing comma, no comments."),
        (not is_object,
         f"It wrote text where a message is expected: {printable(text, DIAGNOSED)!r}.",
         f"Write {advice}, and debug output to stderr."),
        (before.strip(), f"It wrote text before the message: {printable(before, DIAGNOSED)!r}.",
         f"Write {advice}, and debug output to stderr."),
        (rest.startswith("{"), "It wrote two messages on one line.",
         "Write a newline after each message."),
        (True, f"It wrote text after the message: {printable(rest, DIAGNOSED)!r}.",
         f"Write each message on its own line, and {advice}."),
    )  # fmt: skip


def _of_type(value: Any, due: Expected) -> tuple[Cause, ...]:
    is_object = isinstance(value, dict)
    names, kind = (value, value.get("type")) if is_object else ((), None)
    nearly = next((name for name in names if name.lower() == "type" != name), None)
    (near,) = get_close_matches(str(kind).lower(), ANSWER_FIELDS, n=1, cutoff=0)
    return (
        (isinstance(value, str) and isinstance(_parse_json(value), dict),
         "The message is encoded twice: it is a text.", "Encode it once."),
        (not is_object, f"It wrote {_kind(value)} where a message is expected.",
         'Write the object: {"type":"choose","id":...,"choice":...}'),
        (kind == "hello" != due.type, "It wrote a second hello.",
         "Write hello once, as the first line."),
        (kind == "choose" != due.type, "Its first line is an answer, not a hello.",
         "Write a hello first."),
        (kind is None and nearly, f"A field's name is wrong: {nearly!r} must be `type`.",
         "Write names of fields in lower case, as in the examples of SPEC.md."),
        (kind is None, "The message has no `type`.", f'Begin with "type":"{due.type}".'),
        (kind != due.type, f"There is no message of type {printable(str(kind), 40)!r}: {near!r} "
         "is probably meant.", f'Write "type":"{due.type}".'),
    )  # fmt: skip


def _of_fields(value: dict[str, Any], due: Expected, text: str) -> tuple[Cause, ...]:
    strange = next((name for name in value if name not in (*ANSWER_FIELDS[due.type], "type")), "")
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
    note, info = value.get("note", ""), value.get("info", {})
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
        (not isinstance(info, dict), f"`info` is {_kind(info)}, not an object.",
         'It has names and numbers: "info":{"depth":4}.'),
        (info and isinstance(info, dict), "`info` has a name or a number that is not allowed.",
         f"At most {MAX_INFO} names of a-z, 0-9 and _, each with a number up to 1e15."),
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
        return ast.literal_eval(text) if len(text) < INSPECTED_LENGTH else None
    return None


def _lines_of_one(text: str, tail: str) -> int:
    """Return the number of lines of a JSON value that begins with this one; 0 if none does."""
    output = f"{text}\n{tail}"[:INSPECTED_LENGTH]
    if not text.lstrip().startswith(("{", "[")):
        return 0
    value, end = _first_value(output, len(output) - len(output.lstrip()))
    return output[:end].count("\n") + 1 if value is not None else 0


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


# Diagnoses of a silent bot: waits a little longer, then sends more questions to find the cause.


GRACE_MS = 2_000
"""Most extra time for a late answer, in ms."""
PRESSED = 800
"""Questions sent at once to a silent bot: 30 KiB of answers overflow the usual buffer of 4 to 8 KiB
and so reveal what it holds back."""
PRESSED_BYTES = 2**20
"""Most bytes of those questions together."""
PRESS_S = 1.0
"""Seconds to wait for their answers; and again with stdin closed."""
BUSY = 0.05
"""The share of a core above which a bot is thinking; low, because a full machine gives little."""
LONGEST_QUOTE = 80
LOAD_FIRST = "Load first, then write hello: `start_ms` is the time for that."
"""Advice for a bot that is late: its first question comes at once after its hello."""
SLOW_HELLO = (
    "Load less before hello, or give it more time: `--start-ms`, or `start_ms` in an event file."
)


async def diagnose_silence(connection: Connection, due: Expected, limit_ms: int) -> Diagnosis:
    """Return the reason why no line came within the limit. The process cannot be used afterwards.

    The likelier reasons come first; each next one takes longer to find.
    """
    diagnosis = (
        _of_end(connection)
        or first_cause(_of_rest(connection.partial_line))
        or await _of_slowness(connection, due, limit_ms)
        or await _of_buffering(connection, due)
    )
    return diagnosis._replace(late=not diagnosis.gone)


def _of_end(connection: Connection) -> Diagnosis | None:
    if connection.exit_reason or (connection.frames and connection.fault):
        return diagnose_exit(connection)
    if not connection.fault or connection.fault.foul == "late":
        return None
    endless = connection.fault.foul == "flooding"
    kind = "without end" if endless else f"a line of more than {MAX_LINE} bytes"
    return Diagnosis(
        f"It wrote {kind}.", "Write one line of JSON with its newline for each question."
    )


def diagnose_exit(connection: Connection) -> Diagnosis:
    """Return the diagnosis of a bot whose process has ended."""
    reason, crash = connection.exit_reason, crash_line(connection.stderr_text)
    path = re.search(r"'(/[^']+)'", crash)
    # It is not looked up: a stranger's bot must not learn which files are here.
    hidden = "there is no such file, or the sandbox hides it"
    more = f" It cannot see {path[1]}: {hidden}." if path else ""
    if "env: " in crash and r"\r" in crash:
        more = " Its first line ends with \\r\\n. Save the file with \\n line ends."
    detail = connection.fault.detail if connection.frames and connection.fault else ""
    causes = (
        (not crash and detail, detail, "`boneyard help sealed` says what a sealed bot may do."),
        (crash, f"It crashed: {printable(crash, LONGEST_QUOTE)} (the process {reason}).",
         f"Its stderr says where.{more}"),
        (reason.endswith("status 0") or reason == "left", "It exited too early.",
         "Read lines in a loop until stdin ends, and answer each question."),
        (True, f"The process {reason}.", "Run the bot yourself with the lines that were sent."),
    )  # fmt: skip
    diagnosis = first_cause(causes)
    assert diagnosis
    return diagnosis._replace(gone=True)


def _of_rest(half: bytes) -> tuple[Cause, ...]:
    quote = f"{printable(half, LONGEST_QUOTE)!r}"
    return (
        (b"\r" in half, "It ends its lines with \\r alone.", "End each line with \\n."),
        (half and isinstance(decode_line(half), Fault),
         f"It wrote half a line and no newline: {quote}.",
         "Write complete messages, each with a newline."),
        (half, "It wrote its message without a newline.", "End each line with \\n."),
    )  # fmt: skip


def chatter(output: bytes, occasion: str) -> Diagnosis:
    """Return the diagnosis of a bot that writes without being asked."""
    line = output.partition(b"\n")[0]
    message = decode_line(line)
    is_answer = isinstance(message, Choose)
    number = message.id if isinstance(message, Choose) else 0
    diagnosis = first_cause((
        (is_answer, f"It wrote an answer {occasion}: question {number} was not open.",
         "Write one answer for each question, and nothing else."),
        (not isinstance(message, Fault), f"It wrote a second hello {occasion}.",
         "Write hello once, as the first line."),
        (not line.strip(), f"It wrote an empty line {occasion}.",
         "Write exactly one newline after each message."),
        (True, f"It wrote to stdout {occasion}: {printable(line, LONGEST_QUOTE)!r}.",
         "Write only answers to stdout, and debug output to stderr."),
    ))  # fmt: skip
    assert diagnosis
    return diagnosis


async def _of_slowness(connection: Connection, due: Expected, limit_ms: int) -> Diagnosis | None:
    """Return the diagnosis of a bot that answers a little later, is computing, or does not read."""
    unread, before, began = connection.unread(), connection.usage().cpu_ms, connection.now()
    line = await connection.read_line(min(limit_ms, GRACE_MS), began)
    end = _of_end(connection)
    if line is None and end:
        return end
    since = connection.sent_at if due.type == "choose" else connection.began
    ms = (connection.read_at - since) * 1000
    busy = connection.usage().cpu_ms - before > BUSY * (connection.now() - began) * 1000
    load = SLOW_HELLO if due.type == "hello" else LOAD_FIRST
    return first_cause((
        (line is not None, f"It answered after {ms:.0f} ms; {limit_ms} are allowed.",
         f"Compare the clock with `time_ms`. {load}"),
        (busy, f"Nothing came within {limit_ms} ms; the bot was still computing.",
         f"Compare the clock with `time_ms` in the search, and look for an endless loop. {load}"),
        (unread, f"It does not read its stdin: {unread} bytes wait there.",
         f"Read lines from stdin in a loop, also while you compute or print. {load}"),
    ))  # fmt: skip


async def _of_buffering(connection: Connection, due: Expected) -> Diagnosis:
    """Return the diagnosis of a waiting bot: more questions or a closed stdin flush its buffer."""
    _press(connection, due)
    line = await connection.read_line(int(PRESS_S * 1000), connection.now())
    output = b""
    if line is None:
        await connection.exits_within(PRESS_S)
        output = connection.rest()
    flush = f"after each line ({connection.language.name}): {connection.language.flush}."
    greeted = due.type == "choose" or not isinstance(decode_line(line or b""), Choose)
    diagnosis = first_cause((
        (line is not None and connection.tables > 1,
         "It answered only after many more questions: it waits until it has questions from "
         "several games, or its output is buffered and was not flushed.",
         "Answer what there is when no further line waits: there may be one game only. "
         f"And flush {flush}"),
        (not greeted, "It sends no hello, although it answers questions.",
         "Write a hello before anything else."),
        (line is not None, "It answered only after many more questions: its output is buffered "
         "and was not flushed.", f"Flush {flush}"),
        (output, "It answered only when its stdin was closed: it reads to the end before it "
         "answers, or its output waits in a large buffer.",
         "Read line by line and answer each line before you read the next; in most languages a "
         "loop over the lines of stdin does that, but not one that reads all of it first. And "
         f"flush {flush}"),
        (_is_on_stderr(connection, due), f"It wrote its {due.type} to stderr.",
         "Write messages to stdout; stderr is for debug output."),
        (True, "It has read all lines and does not answer.", "Answer each line as it comes; do "
         "not wait for an empty line or the end of the input."),
    ))  # fmt: skip
    assert diagnosis
    return diagnosis


def _is_on_stderr(connection: Connection, due: Expected) -> bool:
    """Tell whether the missing line is on stderr; a bot that logs it has it on stdout too."""
    messages = map(decode_line, connection.stderr_text.encode().splitlines())
    kind = Choose if due.type == "choose" else BotHello
    return any(isinstance(message, kind) for message in messages)


def _press(connection: Connection, due: Expected) -> None:
    """Repeat the last question; before a hello, send a hello and a first question."""
    last = connection.sent[-1]
    if due.type == "hello":
        last = referee.hello() + b"".join(
            ScriptedSeat(find_variant("draw"), 2, 0, 1, Clock()).take_lines()
        )
    connection.probe_with(last * min(PRESSED, PRESSED_BYTES // len(last)))
