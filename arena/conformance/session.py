"""One bot's session: starts its processes ahead, keeps one, counts questions, ends them all."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from arena.conformance import expect
from arena.conformance.connection import (
    MAX_BOARDS_TRIED,
    Budget,
    Connection,
    EventGame,
    OutOfTimeError,
    ScriptedSeat,
    SkippedError,
    WantedQuestion,
)
from arena.conformance.expect import AcceptedAnswer
from arena.match.bot_process import CannotStartError, read_first
from arena.match.poller import Poller
from arena.sandbox.command import Command
from arena.sandbox.process import Sandbox
from protocol.messages import BotHello, Clock
from protocol.ruleset import Ruleset

Change = Callable[[bytes], bytes]
"""A change to a line of the referee before it is sent."""
EVENT_BOARDS = 25
"""The most boards of an event's own game tried for a question; each may cost a whole game."""


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
            self.hello = await expect.expect_hello(connection, self.clock.start_ms)
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
        answer = await expect.await_answer(connection, seat)
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
        await expect.expect_silence(await self.keep_connection(), seconds, occasion)


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
