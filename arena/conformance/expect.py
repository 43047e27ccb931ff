"""Expectations: sends hello and questions, takes answers as the referee would, and words faults."""

import time
from typing import NamedTuple, NoReturn

from arena.conformance import diagnose_silence
from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Diagnosis, Expected, diagnose
from arena.conformance.language_hints import crash
from arena.conformance.model import Violation, ViolationError
from arena.conformance.mutations import Sent
from arena.conformance.scripted_game import ScriptedSeat
from arena.match import referee
from arena.match.game_setup import Question
from arena.match.piped_process import STDERR_A_GAME
from protocol.codec import Fault, decode_line, printable
from protocol.messages import BotHello, Choose, Unavailable

SHOWN = 160
"""Characters of a line that are shown."""
GATHER_S = 0.05
"""Seconds to wait for the rest of output that begins with a bad line."""

EXCUSED = "Check the bot while the service that it needs answers."
"""The remedy for a bot that is unavailable."""


class AcceptedAnswer(NamedTuple):
    """An answer that the referee took."""

    choice: int
    """The index of the option."""
    ms: float
    """The time of the answer, in ms."""


def expect_hello(connection: Connection, start_ms: int) -> BotHello:
    """Return the hello of a bot that was sent one. Raises ViolationError."""
    line = connection.next_line(connection.began + start_ms / 1000 - time.monotonic())
    due = Expected("hello")
    expected = f'{{"type":"hello","name":"...","version":"..."}} within {start_ms} ms'
    if line is None:
        half = connection.partial_line
        found = diagnose_silence.diagnose_silence(connection, due, start_ms)
        _raise_violation(connection, found, half, expected)
    said = referee.parse_hello(line)
    if isinstance(said, Unavailable):
        found = Diagnosis(f"It is unavailable: {printable(said.why)}.", EXCUSED)
        _raise_violation(connection, found, line, expected)
    if isinstance(said, Fault):
        behind = connection.read_for(GATHER_S)
        found = diagnose(line, behind, said, due, connection.language)
        _raise_violation(connection, found, line, expected)
    connection.tables = said.tables
    return said


def expect_answer(
    connection: Connection, seat: ScriptedSeat, said: Sent | None = None
) -> AcceptedAnswer:
    """Send the bot its seat's messages, and return its answer to the open question.

    Raises ViolationError.
    """
    send(connection, seat, said)
    return await_answer(connection, seat)


def send(connection: Connection, seat: ScriptedSeat, said: Sent | None = None) -> None:
    """Send the bot its seat's messages."""
    connection.send(*map(said, seat.lines()) if said else seat.lines())


def await_answer(connection: Connection, seat: ScriptedSeat) -> AcceptedAnswer:
    """Return the answer to the last question. Raises ViolationError."""
    question = seat.question
    assert question, "Somebody must have been asked."
    old: list[bytes] = []
    while True:
        line = connection.next_line(connection.sent_at + question.time_ms / 1000 - time.monotonic())
        if line is None:
            _report_silence(connection, question, old)
        ms = max(0.0, (connection.read_at - connection.sent_at) * 1000)
        fault = seat.receive(line, ms)
        if fault:
            _report_line(connection, question, line, fault)
        if seat.question is not question:
            check_stderr(connection)
            return AcceptedAnswer(_choice(line), ms)
        old.append(line)


def expect_silence(connection: Connection, seconds: float, when: str) -> None:
    """Check that nothing comes for this many seconds. Raises ViolationError."""
    said = connection.read_for(seconds)
    if said:
        _raise_violation(connection, diagnose_silence.chatter(said, when), said, "nothing")
    if connection.exit_reason:
        found = diagnose_silence.exit_description(connection)
        _raise_violation(connection, found, b"", "nothing, and the process waits")


def check_stderr(connection: Connection) -> None:
    """Check that the bot's stderr fits a game's budget. Raises ViolationError."""
    if connection.stderr_bytes > STDERR_A_GAME:
        text = f"It wrote {connection.stderr_bytes} bytes to stderr in one game."
        mend = f"At most {STDERR_A_GAME} bytes per game: write less, or write to a file in /tmp."
        _raise_violation(connection, Diagnosis(text, mend), b"", "less on stderr")


def report_violation(
    connection: Connection, fault: str, mend: str, came: str, expected: str
) -> NoReturn:
    """Report a fault that a step has found by itself. Raises ViolationError."""
    _raise_violation(connection, Diagnosis(fault, mend), came.encode(), expected)


def _report_silence(connection: Connection, question: Question, old: list[bytes]) -> NoReturn:
    due = Expected("choose", len(question.options), question.id)
    came = b"\n".join([*old, connection.partial_line])
    found = _old_numbers(question, old)
    found = found or diagnose_silence.diagnose_silence(connection, due, question.time_ms)
    _raise_violation(connection, found, came, _expected_answer(question))


def _old_numbers(question: Question, old: list[bytes]) -> Diagnosis | None:
    """Return the diagnosis of an answer to a question that is closed or never was."""
    if not old:
        return None
    said = decode_line(old[-1])
    number = said.id if isinstance(said, Choose) else 0
    which = "the question before" if number == question.id - 1 else f"question {number}"
    return Diagnosis(
        f"It answered {which}; question {question.id} is open.",
        "Copy the `id` of the question that you answer, and answer each question once.",
    )


def _report_line(connection: Connection, question: Question, line: bytes, fault: Fault) -> NoReturn:
    behind = connection.read_for(GATHER_S)
    due = Expected("choose", len(question.options), question.id)
    found = diagnose(line, behind, fault, due, connection.language)
    if fault.foul == "flooding":
        found = Diagnosis(fault.detail, "Write one answer for each question, with its `id`.")
    _raise_violation(connection, found, line, _expected_answer(question))


def _expected_answer(question: Question) -> str:
    last = len(question.options) - 1
    choice = f"0 to {last}" if last else "0"
    answer = f'{{"type":"choose","id":{question.id},"choice":N}}'
    return f"{answer} with N = {choice}, within {question.time_ms} ms"


def _choice(line: bytes) -> int:
    said = decode_line(line)
    assert isinstance(said, Choose)
    return said.choice


def _raise_violation(
    connection: Connection, found: Diagnosis, came: bytes, expected: str
) -> NoReturn:
    raise ViolationError(
        Violation(
            fault=found.fault,
            sent=tuple(map(shorten, connection.sent)),
            came=printable(came, SHOWN) if came.strip() else "nothing",
            expected=expected,
            mend=found.mend,
            stderr=_last_words(connection.stderr_text),
            gone=found.gone,
        )
    )


def shorten(line: bytes) -> str:
    """Return a sent line, shortened to its beginning and its end, where the options are."""
    text = printable(line.rstrip(b"\n"), len(line))
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"


def _last_words(stderr: str) -> str:
    """Return the end of a stderr, or the line of it that names the crash and the line before."""
    lines = [printable(line, SHOWN) for line in stderr.splitlines() if line.strip()]
    named = crash(stderr)
    end = next((n for n, line in enumerate(lines, 1) if line.strip() == named), len(lines))
    return "\n".join(lines[max(0, end - 4) : end + 1 if not named else end])
