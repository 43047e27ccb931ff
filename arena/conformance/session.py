"""The session with one bot: its processes, what they are sent, and what is expected back."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.conformance import diagnose
from arena.conformance.connection import (
    MAX_BOARDS_TRIED,
    Budget,
    Connection,
    EventGame,
    OutOfTimeError,
    ScriptedSeat,
    SkippedError,
    Violation,
    ViolationError,
    WantedQuestion,
)
from arena.conformance.diagnose import Diagnosis, Expected, diagnose_line
from arena.logs.gamelog import crash_line
from arena.match import referee
from arena.match.bot_process import STDERR_A_GAME, CannotStartError, read_first
from arena.match.poller import Poller
from arena.match.referee import OpenQuestion
from arena.sandbox.command import Command
from arena.sandbox.process import Sandbox
from protocol.codec import Fault, decode_line, printable
from protocol.messages import BotHello, Choose, Clock, Unavailable
from protocol.ruleset import Ruleset

Change = Callable[[bytes], bytes]
"""A change to a line of the referee before it is sent."""
EVENT_BOARDS = 25
"""The most boards of an event's own game tried for a question; each may cost a whole game."""
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


class Pause(NamedTuple):
    """A process that is left alone in the middle of a game."""

    connection: Connection
    seat: ScriptedSeat
    cpu_ms: float
    """The CPU time that it had used when the pause began."""


@dataclass
class Session:
    """The examination of one bot."""

    command: Command
    sandbox: Sandbox
    clock: Clock
    budget: Budget
    game: EventGame | None = None
    """The only game that the bot is asked to play; None: any."""
    poller: Poller = field(default_factory=Poller)
    hello: BotHello | None = None
    answers: list[AcceptedAnswer] = field(default_factory=list)
    runs_twice: bool = False
    """True once the bot has run twice at the same time, so that a process may start early."""
    pause: Pause | None = None
    """The pause that began before its step's turn."""
    start_ms: float | None = None
    """The time of the fastest start, in ms; None: nothing was timed."""
    _number: int = 0
    _connection: Connection | None = None
    _spare: Connection | None = None
    _step_ends: float = 0.0

    def begin_step(self, seconds: float) -> None:
        """Begin a step, which has this many seconds."""
        self._step_ends = time.monotonic() + seconds

    @property
    def is_out_of_time(self) -> bool:
        """Tell whether the step's time is used up, so that it asks no further question."""
        return time.monotonic() >= self._step_ends

    # --- processes ---

    async def restart(self, hello: bytes | None = None) -> Connection:
        """Return a fresh process that has greeted; end any other of this bot before.

        Raises ViolationError, CannotStartError.
        """
        await self.drop()
        return await self.start_another(hello)

    async def start_another(self, hello: bytes | None = None) -> Connection:
        """Return a process that has greeted, beside those that run.

        Raises ViolationError, CannotStartError.
        """
        spare, self._spare = (None, self._spare) if hello else (self._spare, None)
        code = await read_first(self.command, self.sandbox)
        connection = spare or Connection(self.poller, self.command, self.sandbox, hello, code)
        try:
            self.hello = await expect_hello(connection, self.clock.start_ms)
        except BaseException:
            failed = connection.never_ran
            await connection.close()
            if failed:
                raise CannotStartError("the sandbox failed") from None
            raise
        # The next process starts while this one plays: some languages take a second.
        if self.runs_twice and self._spare is None:
            with suppress(CannotStartError):
                self._spare = Connection(self.poller, self.command, self.sandbox, code=code)
        return connection

    async def keep_connection(self) -> Connection:
        """Return the process that plays on from step to step; a fresh one if the last was dropped.

        Raises ViolationError, CannotStartError.
        """
        if self._connection is None:
            self._connection = await self.restart()
        return self._connection

    async def drop(self) -> None:
        """Drop the kept process, which cannot be used any more."""
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()

    async def end(self) -> None:
        """End every process of this session."""
        await self.drop()
        for other in (self._spare, self.pause and self.pause.connection):
            if other:
                await other.close()
        self._spare = self.pause = None

    # --- games ---

    def new_seat(
        self,
        rules: Ruleset,
        seats: int = 2,
        seat: int = 0,
        board: int = 1,
        wanted: WantedQuestion | None = None,
        clock: Clock | None = None,
        number: int = 0,
    ) -> ScriptedSeat:
        """Return a new game for the bot; `number`: its number on the pipe, if not the next.

        `wanted`: the bot's first question. With an event it is the event's game at its table,
        whatever the step would play; its rules may be any, so that on some boards a seat is not
        asked. Raises SkippedError if no board that is tried leads to a question, or to that one.
        """
        self._number += 1
        tries = EVENT_BOARDS if self.game else MAX_BOARDS_TRIED if wanted else 1
        rules, seats = self.game or (rules, seats)
        for next_board in range(board, board + tries):
            scripted = ScriptedSeat(
                *(rules, seats, seat % seats, number or self._number, clock or self.clock),
                next_board,
                wanted,
            )
            if scripted.question or tries == 1:
                return scripted
        reason = "This event's rules ask nothing of that seat."
        raise SkippedError("No board led to such a question." if wanted else reason)

    async def ask(
        self, seat: ScriptedSeat, change: Change | None = None, connection: Connection | None = None
    ) -> AcceptedAnswer:
        """Send the bot its messages and take its answer, by the kept process if by no other.

        Raises ViolationError.
        """
        connection = connection or await self.keep_connection()
        connection.send(*map(change or bytes, seat.take_lines()))
        answer = await await_answer(connection, seat)
        self.answers.append(answer)
        return answer

    async def play(
        self, seat: ScriptedSeat, change: Change | None = None, connection: Connection | None = None
    ) -> int:
        """Play a game to its end; return the number of questions.

        Raises ViolationError, and OutOfTimeError if the step's time ends before the game.
        """
        connection = connection or await self.keep_connection()
        connection.stderr_bytes = 0
        before = len(self.answers)
        while seat.question and not self.is_out_of_time:
            await self.ask(seat, change, connection)
        if seat.question:
            # Its game is unfinished, so this process cannot be used further.
            await self.drop()
            raise OutOfTimeError(len(self.answers) - before)
        connection.send(*map(change or bytes, seat.take_lines()))
        return len(self.answers) - before

    async def play_on(
        self, seat: ScriptedSeat, change: Change | None = None, connection: Connection | None = None
    ) -> str:
        """Play a game as far as the step's time goes, and return a note of how far.

        Raises ViolationError.
        """
        try:
            return f"{await self.play(seat, change, connection)} questions"
        except OutOfTimeError as hurry:
            return f"{hurry.questions} questions, then the step's time was up"

    async def expect_silence(self, occasion: str, share: float = 1.0) -> None:
        """Check that the kept process writes nothing for a share of the time for listening.

        Raises ViolationError.
        """
        seconds = share * self.budget.quiet_ms / 1000
        await expect_silence(await self.keep_connection(), seconds, occasion)


class CheckStep(NamedTuple):
    """One step of the check."""

    name: str
    title: str
    """The bot's action if it passes, as the end of a sentence about it."""
    promise: str
    run: Callable[[Session], Awaitable[str]]
    """The function that checks it and returns a note; it raises ViolationError or SkippedError."""
    gate: bool = False
    """True if all further steps would only repeat the failure of this one."""
