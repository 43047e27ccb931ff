"""Diagnoses of a silent bot: waits a little longer, then sends more questions to find the cause."""

import re

from arena.analysis.crash import crash_line
from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Cause, Diagnosis, Expected, first_cause
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
LOAD_FIRST = "Load first, then write hello: `start_ms` is the time for that."
"""Advice for a bot that is late: its first question comes at once after its hello."""
SLOW_HELLO = (
    "Load less before hello, or give it more time: `--start-ms`, or `start_ms` in an event file."
)


async def diagnose_silence(connection: Connection, due: Expected, limit_ms: int) -> Diagnosis:
    """Return the reason why no line came within the limit. The process cannot be used afterwards.

    The likelier reasons come first; each next one takes longer to find.
    """
    return (
        _of_end(connection)
        or first_cause(_of_rest(connection.partial_line))
        or await _of_slowness(connection, due, limit_ms)
        or await _of_buffering(connection, due)
    )


def _of_end(connection: Connection) -> Diagnosis | None:
    if connection.exit_reason or (connection.frames and connection.fault):
        return exit_description(connection)
    if not connection.fault or connection.fault.foul == "late":
        return None
    endless = connection.fault.foul == "flooding"
    kind = "without end" if endless else f"a line of more than {MAX_LINE} bytes"
    return Diagnosis(
        f"It wrote {kind}.", "Write one line of JSON with its newline for each question."
    )


def exit_description(connection: Connection) -> Diagnosis:
    """Return the diagnosis of a bot whose process has ended."""
    how, named = connection.exit_reason, crash_line(connection.stderr_text)
    path = re.search(r"'(/[^']+)'", named)
    # It is not looked up: a stranger's bot must not learn which files are here.
    hidden = "there is no such file, or the sandbox hides it"
    more = f" It cannot see {path[1]}: {hidden}." if path else ""
    if "env: " in named and r"\r" in named:
        more = " Its first line ends with \\r\\n. Save the file with \\n line ends."
    told = connection.fault.detail if connection.frames and connection.fault else ""
    causes = (
        (told, told, "The README in arena/sealed says what a sealed bot may do."),
        (named, f"It crashed: {printable(named, SHOWN)} (the process {how}).",
         f"Its stderr says where.{more}"),
        (how.endswith("status 0") or how == "left", "It exited too early.",
         "Read lines in a loop until stdin ends, and answer each question."),
        (True, f"The process {how}.", "Run the bot yourself with the lines that were sent."),
    )  # fmt: skip
    found = first_cause(causes)
    assert found
    return found._replace(gone=True)


def _of_rest(half: bytes) -> tuple[Cause, ...]:
    shown = f"{printable(half, SHOWN)!r}"
    return (
        (b"\r" in half, "It ends its lines with \\r alone.", "End each line with \\n."),
        (half and isinstance(decode_line(half), Fault),
         f"It wrote half a line and no newline: {shown}.",
         "Write complete messages, each with a newline."),
        (half, "It wrote its message without a newline.", "End each line with \\n."),
    )  # fmt: skip


def chatter(said: bytes, when: str) -> Diagnosis:
    """Return the diagnosis of a bot that writes without being asked."""
    line = said.partition(b"\n")[0]
    heard = decode_line(line)
    is_answer = isinstance(heard, Choose)
    number = heard.id if isinstance(heard, Choose) else 0
    found = first_cause((
        (is_answer, f"It wrote an answer {when}: question {number} was not open.",
         "Write one answer for each question, and nothing else."),
        (not isinstance(heard, Fault), f"It wrote a second hello {when}.",
         "Write hello once, as the first line."),
        (not line.strip(), f"It wrote an empty line {when}.",
         "Write exactly one newline after each message."),
        (True, f"It wrote to stdout {when}: {printable(line, SHOWN)!r}.",
         "Write only answers to stdout, and debug output to stderr."),
    ))  # fmt: skip
    assert found
    return found


async def _of_slowness(connection: Connection, due: Expected, limit_ms: int) -> Diagnosis | None:
    """Return the diagnosis of a bot that answers a little later, is computing, or does not read."""
    unread, before, began = connection.unread(), connection.usage().cpu_ms, connection.now()
    line = await connection.read_line(min(limit_ms, GRACE_MS), began)
    ended = _of_end(connection)
    if line is None and ended:
        return ended
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
    said = b""
    if line is None:
        await connection.exits_within(PRESS_S)
        said = connection.rest()
    flush = f"after each line ({connection.language.name}): {connection.language.flush}."
    greeted = due.type == "choose" or not isinstance(decode_line(line or b""), Choose)
    found = first_cause((
        (line is not None and connection.tables > 1,
         "It answered only after many more questions: it waits until it has questions from "
         "several games, or its output is buffered and was not flushed.",
         "Answer what there is when no further line waits: there may be one game only. "
         f"And flush {flush}"),
        (not greeted, "It sends no hello, although it answers questions.",
         "Write a hello before anything else."),
        (line is not None, "It answered only after many more questions: its output is buffered "
         "and was not flushed.", f"Flush {flush}"),
        (said, "It answered only when its stdin was closed: it reads to the end before it "
         "answers, or its output waits in a large buffer.",
         "Read line by line and answer each line before you read the next; in most languages a "
         "loop over the lines of stdin does that, but not one that reads all of it first. And "
         f"flush {flush}"),
        (_is_on_stderr(connection, due), f"It wrote its {due.type} to stderr.",
         "Write messages to stdout; stderr is for debug output."),
        (True, "It has read all lines and does not answer.", "Answer each line as it comes; do "
         "not wait for an empty line or the end of the input."),
    ))  # fmt: skip
    assert found
    return found


def _is_on_stderr(connection: Connection, due: Expected) -> bool:
    """Tell whether the missing line is on stderr; a bot that logs it has it on stdout too."""
    heard = map(decode_line, connection.stderr_text.encode().splitlines())
    kind = Choose if due.type == "choose" else BotHello
    return any(isinstance(one, kind) for one in heard)


def _press(connection: Connection, due: Expected) -> None:
    """Repeat the last question; before a hello, send a hello and a first question."""
    last = connection.sent[-1]
    if due.type == "hello":
        last = referee.hello() + b"".join(
            ScriptedSeat(find_variant("draw"), 2, 0, 1, Clock()).lines()
        )
    connection.probe_with(last * min(PRESSED, PRESSED_BYTES // len(last)))
