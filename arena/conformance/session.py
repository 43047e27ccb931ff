"""One bot's session: starts its processes ahead, keeps one, counts questions, ends them all."""

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from arena.conformance import expect
from arena.conformance.connection import Connection
from arena.conformance.expect import AcceptedAnswer
from arena.conformance.model import Budget, EventGame, OutOfTimeError, SkippedError
from arena.conformance.mutations import Sent
from arena.conformance.scripted_game import BOARDS, ScriptedSeat, WantedQuestion
from arena.match.piped_process import CannotStartError
from arena.match.poller import Poller
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.messages import BotHello, Clock
from protocol.ruleset import Ruleset

EVENT_BOARDS = 25
"""Boards of an event's own game, in which whole games are played, that are tried for a question."""


class Pause(NamedTuple):
    """A process that is left alone in the middle of a game."""

    connection: Connection
    seat: ScriptedSeat
    cpu_ms: float
    """The CPU time that it had used when the pause began."""


class Session:
    """The examination of one bot."""

    def __init__(
        self,
        command: Command,
        sandbox: Sandbox,
        clock: Clock,
        budget: Budget,
        outside: Sandbox | None = None,
        game: EventGame | None = None,
    ) -> None:
        """Prepare; nothing is started yet.

        `outside`: plain processes to compare with; None if nothing may run outside. `game`: the
        only one that the bot is asked to play; None: any.
        """
        self.command = command
        self.sandbox = sandbox
        self.outside = outside
        self.clock = clock
        self.budget = budget
        self.game = game
        self.poller = Poller()
        """The poller of its processes; `run_steps` runs it."""
        self.hello: BotHello | None = None
        self.questions = 0
        self.choices = 0
        self.first_choices = 0
        """Answered questions with several options in which it took option 0."""
        self.ms = 0.0
        """The time of all answers, in ms."""
        self.worst_ms = 0.0
        """The time of the slowest answer, in ms."""
        self.runs_twice = False
        """True once the bot has run twice at the same time, so that a process may start early."""
        self.pause: Pause | None = None
        """The pause that began before its step's turn."""
        self.start_ms: float | None = None
        """The time of the fastest start, in ms; None: nothing was timed."""
        self._number = 0
        self._connection: Connection | None = None
        self._spare: Connection | None = None
        self._step_ends = 0.0

    def begin_step(self, seconds: float) -> None:
        """Begin a step, which has this many seconds."""
        self._step_ends = time.monotonic() + seconds

    @property
    def is_out_of_time(self) -> bool:
        """Tell whether the step's time is used up, so that it asks no further question."""
        return time.monotonic() >= self._step_ends

    # --- processes ---

    def open_connection(self, hello: bytes | None = None) -> Connection:
        """Return a process that was just started. Raises CannotStartError."""
        return Connection(self.poller, self.command, self.sandbox, hello)

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
        connection = spare or self.open_connection(hello)
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
                self._spare = self.open_connection()
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
        kept, self._connection = self._connection, None
        if kept:
            await kept.close()

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

        With an event it is the event's game at its table, whatever the step would play; its rules
        may be any, so that on some boards a seat is not asked. Raises SkippedError if nothing is
        asked on any board that is tried.
        """
        self._number += 1
        tries = 1
        if self.game:
            (rules, seats), tries = self.game, EVENT_BOARDS
        for one in range(board, board + tries):
            begun = ScriptedSeat(
                *(rules, seats, seat % seats, number or self._number, clock or self.clock),
                one,
                wanted,
            )
            if begun.question or wanted or not self.game:
                return begun
        raise SkippedError("This event's rules ask nothing of that seat.")

    def find_seat(
        self, rules: Ruleset, seats: int, wanted: WantedQuestion, clock: Clock | None = None
    ) -> ScriptedSeat:
        """Return a game in which the bot's first question is the wanted one.

        Raises SkippedError if no board leads to one.
        """
        for board in range(1, (EVENT_BOARDS if self.game else BOARDS) + 1):
            one = self.new_seat(rules, seats, 0, board, wanted, clock)
            if one.question:
                return one
        raise SkippedError("No board led to such a question.")

    async def ask(
        self, seat: ScriptedSeat, said: Sent | None = None, connection: Connection | None = None
    ) -> AcceptedAnswer:
        """Send the bot its messages and take its answer, by the kept process if by no other.

        Raises ViolationError.
        """
        connection = connection or await self.keep_connection()
        expect.send(connection, seat, said)
        answer = await expect.await_answer(connection, seat)
        self.count(answer)
        return answer

    def count(self, answer: AcceptedAnswer) -> None:
        """Count an answer."""
        self.questions += 1
        self.choices += answer.options > 1
        self.first_choices += answer.options > 1 and answer.choice == 0
        self.ms += answer.ms
        self.worst_ms = max(self.worst_ms, answer.ms)

    async def play(
        self, seat: ScriptedSeat, said: Sent | None = None, connection: Connection | None = None
    ) -> int:
        """Play a game to its end; return the number of questions.

        Raises ViolationError, and OutOfTimeError if the step's time ends before the game.
        """
        connection = connection or await self.keep_connection()
        connection.stderr_bytes = 0
        before = self.questions

        def go_on(answer: AcceptedAnswer) -> bool:
            self.count(answer)
            return send_next()

        def send_next() -> bool:
            if not seat.question or self.is_out_of_time:
                return False
            expect.send(connection, seat, said)
            return True

        if send_next():
            await expect.take_answers(connection, seat, go_on)
        if seat.question:
            # A game must not be left in its middle: this process cannot be used further.
            await self.drop()
            raise OutOfTimeError(self.questions - before)
        expect.send(connection, seat, said)
        return self.questions - before

    async def play_on(
        self, seat: ScriptedSeat, said: Sent | None = None, connection: Connection | None = None
    ) -> str:
        """Play a game as far as the step's time goes, and return a note of how far.

        Raises ViolationError.
        """
        try:
            return f"{await self.play(seat, said, connection)} questions"
        except OutOfTimeError as hurry:
            return f"{hurry.questions} questions, then the step's time was up"

    async def expect_silence(self, when: str, share: float = 1.0) -> None:
        """Check that the kept process writes nothing for a share of the time for listening.

        Raises ViolationError.
        """
        seconds = share * self.budget.quiet_ms / 1000
        await expect.expect_silence(await self.keep_connection(), seconds, when)


class CheckStep(NamedTuple):
    """One step of the check."""

    name: str
    """Its name for `--only`."""
    title: str
    """The bot's action if it passes, as the end of a sentence about it."""
    promise: str
    """The part of SPEC.md that demands it."""
    run: Callable[[Session], Awaitable[str]]
    """The function that checks it and returns a note; it raises ViolationError or SkippedError."""
    gate: bool = False
    """True if all further steps would only repeat the failure of this one."""
    begin: Callable[[Session], Awaitable[object]] | None = None
    """The function that begins its wait beside earlier steps, once the bot has run twice."""
