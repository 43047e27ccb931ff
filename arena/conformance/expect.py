"""Expectations: sends hello and questions, takes answers as the referee would, and words faults."""

from typing import NamedTuple

from arena.conformance import diagnose
from arena.conformance.connection import Connection, ScriptedSeat, Violation, ViolationError
from arena.conformance.diagnose import Diagnosis, Expected, diagnose_line
from arena.logs.gamelog import crash_line
from arena.match import referee
from arena.match.bot_process import STDERR_A_GAME
from arena.match.referee import OpenQuestion
from protocol.codec import Fault, decode_line, printable
from protocol.messages import BotHello, Choose, Unavailable

LONGEST_EXCERPT = 160
GATHER_S = 0.05
"""Seconds to wait for the rest of output that begins with a bad line."""
EXCUSED = "Check the bot while the service that it needs answers."
"""The remedy for a bot that is unavailable."""


class AcceptedAnswer(NamedTuple):
    """An answer that the referee took."""

    choice: int
    ms: float
    options: int


async def expect_hello(connection: Connection, start_ms: int) -> BotHello:
    """Return the hello of a bot that was sent one. Raises ViolationError."""
    line = await connection.read_line(start_ms, connection.began)
    expected = f'{{"type":"hello","name":"...","version":"..."}} within {start_ms} ms'
    if line is None:
        half, due = connection.partial_line, Expected("hello")
        diagnosis = await diagnose.diagnose_silence(connection, due, start_ms)
        raise violation(connection, diagnosis, half, expected)
    reply = referee.parse_hello(line)
    if isinstance(reply, Unavailable):
        diagnosis = Diagnosis(f"It is unavailable: {printable(reply.why)}.", EXCUSED)
        raise violation(connection, diagnosis, line, expected)
    if isinstance(reply, Fault):
        raise await _bad_line(connection, Expected("hello"), line, reply, expected)
    connection.take_offer(reply.tables)
    return reply


async def await_answer(connection: Connection, seat: ScriptedSeat) -> AcceptedAnswer:
    """Return the answer to the last question. Raises ViolationError."""
    question = seat.question
    assert question, "Somebody must have been asked."
    came: list[tuple[bytes, float]] = []
    fault: Fault | None = None

    def take(line: bytes, ms: float) -> int | None:
        nonlocal fault
        came.append((line, ms))
        fault = seat.receive(line, ms)
        return question.time_ms if not fault and seat.question is question else None

    has_come = await connection.converse(take, question.time_ms, connection.sent_at)
    due = due_of(question)
    if has_come and not fault:
        check_stderr(connection)
        line, ms = came[-1]
        reply = decode_line(line)
        assert isinstance(reply, Choose)
        return AcceptedAnswer(reply.choice, ms, len(question.options))
    last = len(question.options) - 1
    answer = f'{{"type":"choose","id":{question.id},"choice":N}}'
    expected = f"{answer} with N = {f'0 to {last}' if last else '0'}, within {question.time_ms} ms"
    old = [line for line, _ in came]
    if fault:
        raise await _bad_line(connection, due, old[-1], fault, expected)
    diagnosis = _old_numbers(question, old)
    diagnosis = diagnosis or await diagnose.diagnose_silence(connection, due, question.time_ms)
    raise violation(connection, diagnosis, b"\n".join([*old, connection.partial_line]), expected)


async def expect_silence(connection: Connection, seconds: float, occasion: str) -> None:
    """Check that nothing comes for this many seconds. Raises ViolationError."""
    output = await connection.read_for(seconds)
    if output:
        raise violation(connection, diagnose.chatter(output, occasion), output, "nothing")
    if connection.exit_reason:
        diagnosis = diagnose.diagnose_exit(connection)
        raise violation(connection, diagnosis, b"", "nothing, and the process waits")


def check_stderr(connection: Connection) -> None:
    """Check that the bot's stderr fits a game's budget. Raises ViolationError."""
    if connection.stderr_bytes > STDERR_A_GAME:
        text = f"It wrote {connection.stderr_bytes} bytes to stderr in one game."
        mend = f"At most {STDERR_A_GAME} bytes per game: write less, or write to a file in /tmp."
        raise violation(connection, Diagnosis(text, mend), b"", "less on stderr")


def due_of(question: OpenQuestion) -> Expected:
    """Return the requirements of an answer."""
    return Expected("choose", len(question.options), question.id)


async def _bad_line(
    connection: Connection, due: Expected, line: bytes, fault: Fault, expected: str
) -> ViolationError:
    tail = await connection.read_for(GATHER_S)
    diagnosis = diagnose_line(line, tail, fault, due)
    if fault.foul == "flooding":
        diagnosis = Diagnosis(fault.detail, "Write one answer for each question, with its `id`.")
    return violation(connection, diagnosis, line, expected)


def _old_numbers(question: OpenQuestion, old: list[bytes]) -> Diagnosis | None:
    if not old:
        return None
    answer = decode_line(old[-1])
    number = answer.id if isinstance(answer, Choose) else 0
    phrase = "the question before" if number == question.id - 1 else f"question {number}"
    return Diagnosis(
        f"It answered {phrase}; question {question.id} is open.",
        "Copy the `id` of the question that you answer, and answer each question once.",
    )


def violation(
    connection: Connection, diagnosis: Diagnosis, came: bytes, expected: str
) -> ViolationError:
    """Return the error for a fault of the bot, with the lines before it and the end of stderr."""
    return ViolationError(
        Violation(
            fault=diagnosis.fault,
            sent=tuple(map(_shorten, connection.sent)),
            came=printable(came, LONGEST_EXCERPT) if came.strip() else "nothing",
            expected=expected,
            mend=diagnosis.mend,
            stderr=_stderr_end(connection.stderr_text),
            gone=diagnosis.gone,
            late=diagnosis.late,
        )
    )


def _shorten(line: bytes) -> str:
    """Return a sent line, shortened to its beginning and its end, where the options are."""
    text = printable(line.rstrip(b"\n"), len(line))
    half = LONGEST_EXCERPT // 2
    return text if len(text) <= LONGEST_EXCERPT else f"{text[:half]} … {text[-half:]}"


def _stderr_end(stderr: str) -> str:
    """Return the end of a stderr, or the line of it that names the crash and the line before."""
    lines = [printable(line, LONGEST_EXCERPT) for line in stderr.splitlines() if line.strip()]
    crash = crash_line(stderr)
    end = next((n for n, line in enumerate(lines, 1) if line.strip() == crash), len(lines))
    return "\n".join(lines[max(0, end - 4) : end + 1 if not crash else end])
