"""Diagnoses of a silent bot: waits a little longer, then sends more questions to find the cause."""

import re
import time

from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Diagnosis, Expected
from arena.conformance.language_hints import crash
from arena.conformance.scripted_game import ScriptedSeat
from arena.match import referee
from arena.rules.variants import find_variant
from protocol.codec import Fault, decode_line, printable
from protocol.messages import MAX_LINE, BotHello, Choose, Clock

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
SHOWN = 80
"""Characters of the bot's output that are shown."""

READS_ON = (
    "Read line by line and answer each line before you read the next; in most languages a loop "
    "over the lines of stdin does that, but not one that reads all of it first."
)


def diagnose_silence(connection: Connection, due: Expected, limit_ms: int) -> Diagnosis:
    """Return the reason why no line came within the limit. The process cannot be used afterwards.

    The likelier reasons come first; each next one takes longer to find.
    """
    if _of_exit(connection):
        return exit_description(connection)
    if connection.is_flooded:
        return _too_much(connection)
    if connection.partial_line:
        return _half(connection)
    unread, before, began = connection.unread(), connection.usage().cpu_ms, time.monotonic()
    line = connection.next_line(min(limit_ms, GRACE_MS) / 1000)
    if line is not None:
        since = connection.sent_at if due.type == "choose" else connection.began
        ms = (connection.read_at - since) * 1000
        return Diagnosis(
            f"It answered after {ms:.0f} ms; {limit_ms} are allowed.",
            "Compare the clock with `time_ms`, or write hello first and load the rest later.",
        )
    if _of_exit(connection):
        return exit_description(connection)
    cpu_ms = connection.usage().cpu_ms - before
    if cpu_ms > BUSY * (time.monotonic() - began) * 1000:
        return Diagnosis(
            f"Nothing came within {limit_ms} ms; the bot was still computing.",
            "Compare the clock with `time_ms` during the search, and look for an endless loop.",
        )
    return _of_buffering(connection, due, unread)


def _of_exit(connection: Connection) -> bool:
    return bool(connection.exit_reason)


def exit_description(connection: Connection) -> Diagnosis:
    """Return the diagnosis of a bot whose process has ended."""
    named = crash(connection.stderr_text)
    if named:
        path = re.search(r"'(/[^']+)'", named)
        # It is not looked up: a stranger's bot must not learn which files are here.
        hidden = "there is no such file, or the sandbox hides it"
        more = f" It cannot see {path[1]}: {hidden}." if path else ""
        if "env: " in named and r"\r" in named:
            more = " Its first line ends with \\r\\n. Save the file with \\n line ends."
        return Diagnosis(
            f"It crashed: {printable(named, SHOWN)} (the process {connection.exit_reason}).",
            f"Its stderr says where.{more}",
            gone=True,
        )
    if connection.exit_reason.endswith("status 0") or connection.exit_reason == "left":
        return Diagnosis(
            "It exited too early.",
            "Read lines in a loop until stdin ends, and answer each question.",
            gone=True,
        )
    mend = "Run the bot yourself with the lines that were sent."
    return Diagnosis(f"The process {connection.exit_reason}.", mend, gone=True)


def chatter(said: bytes, when: str) -> Diagnosis:
    """Return the diagnosis of a bot that writes without being asked."""
    line = said.partition(b"\n")[0]
    heard = decode_line(line)
    if isinstance(heard, Choose):
        return Diagnosis(
            f"It wrote an answer {when}: question {heard.id} was not open.",
            "Write one answer for each question, and nothing else.",
        )
    if not isinstance(heard, Fault):
        return Diagnosis(f"It wrote a second hello {when}.", "Write hello once, as the first line.")
    if not line.strip():
        return Diagnosis(
            f"It wrote an empty line {when}.", "Write exactly one newline after each message."
        )
    return Diagnosis(
        f"It wrote to stdout {when}: {printable(line, SHOWN)!r}.",
        "Write only answers to stdout, and debug output to stderr.",
    )


def _too_much(connection: Connection) -> Diagnosis:
    kind = (
        "without end"
        if b"\n" in connection.partial_line
        else f"a line of more than {MAX_LINE} bytes"
    )
    return Diagnosis(
        f"It wrote {kind}.", "Write one line of JSON with its newline for each question."
    )


def _half(connection: Connection) -> Diagnosis:
    """Return the diagnosis of output without a newline."""
    half = connection.partial_line
    if b"\r" in half:
        return Diagnosis("It ends its lines with \\r alone.", "End each line with \\n.")
    if isinstance(decode_line(half), Fault):
        return Diagnosis(
            f"It wrote half a line and no newline: {printable(half, SHOWN)!r}.",
            "Write complete messages, each with a newline.",
        )
    return Diagnosis("It wrote its message without a newline.", "End each line with \\n.")


def _of_buffering(connection: Connection, due: Expected, unread: int) -> Diagnosis:
    """Return the diagnosis of a waiting bot: more questions or a closed stdin flush its buffer."""
    if unread:
        return Diagnosis(
            f"It does not read its stdin: {unread} bytes wait there.",
            "Read lines from stdin in a loop, also while you compute or print.",
        )
    _press(connection, due)
    line = connection.next_line(PRESS_S)
    if line is not None:
        return _of_late_answer(connection, line, due)
    connection.exits_within(PRESS_S)
    said = connection.rest()
    if not said and _on_stderr(connection, due):
        return Diagnosis(
            f"It wrote its {due.type} to stderr.",
            "Write messages to stdout; stderr is for debug output.",
        )
    if not said:
        return Diagnosis(
            "It has read all lines and does not answer.",
            "Answer each line as it comes; do not wait for an empty line or the end of the input.",
        )
    return Diagnosis(
        "It answered only when its stdin was closed: it reads to the end before it answers, or its "
        "output waits in a large buffer.",
        f"{READS_ON} And flush {_after_each_line(connection)}",
    )


def _on_stderr(connection: Connection, due: Expected) -> bool:
    """Tell whether the missing line is on stderr; a bot that logs it has it on stdout too."""
    heard = map(decode_line, bytes(connection.stderr).splitlines())
    kind = Choose if due.type == "choose" else BotHello
    return any(isinstance(one, kind) for one in heard)


def _after_each_line(connection: Connection) -> str:
    return f"after each line ({connection.language.name}): {connection.language.flush}."


def _of_late_answer(connection: Connection, line: bytes, due: Expected) -> Diagnosis:
    """Return the diagnosis of a bot that answered only after more questions."""
    if connection.tables > 1:
        return Diagnosis(
            "It answered only after many more questions: it waits until it has questions from "
            "several games, or its output is buffered and was not flushed.",
            "Answer what there is when no further line waits: there may be one game only. "
            f"And flush {_after_each_line(connection)}",
        )
    if due.type == "hello" and isinstance(decode_line(line), Choose):
        return Diagnosis(
            "It sends no hello, although it answers questions.",
            "Write a hello before anything else.",
        )
    return Diagnosis(
        "It answered only after many more questions: its output is buffered and was not flushed.",
        f"Flush {_after_each_line(connection)}",
    )


def _press(connection: Connection, due: Expected) -> None:
    """Repeat the last question; before a hello, send a hello and a first question."""
    last = connection.sent[-1]
    if due.type == "hello":
        last = referee.hello() + b"".join(
            ScriptedSeat(find_variant("draw"), 2, 0, 1, Clock()).lines()
        )
    connection.probe_with(last * min(PRESSED, PRESSED_BYTES // len(last)))
