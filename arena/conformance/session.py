"""One bot's session: starts its processes ahead, keeps one, counts questions, ends them all."""

import time
from contextlib import suppress
from typing import NamedTuple

from arena.conformance import expect
from arena.conformance.connection import Connection
from arena.conformance.expect import AcceptedAnswer
from arena.conformance.model import Budget, EventGame, OutOfTimeError, SkippedError
from arena.conformance.mutations import Sent
from arena.conformance.scripted_game import BOARDS, ScriptedSeat, WantedQuestion
from arena.match.piped_process import CannotStartError
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.messages import BotHello, Clock
from protocol.ruleset import Ruleset

EVENT_BOARDS = 25
"""Boards of an event's own game, in which whole games are played, that are tried for a question."""


class Pause(NamedTuple):
    """A process that is left alone in the middle of a game."""

    connection: Connection
    """The process."""
    seat: ScriptedSeat
    """Its game."""
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
        """The bot's command."""
        self.sandbox = sandbox
        """The bot's sandbox."""
        self.outside = outside
        """Plain processes, to compare with."""
        self.clock = clock
        """The clock of its questions."""
        self.budget = budget
        """The extent of the check."""
        self.hello: BotHello | None = None
        """The bot's greeting."""
        self.game = game
        """The only game that it is asked to play; None: any."""
        self.questions = 0
        """Questions that it has answered."""
        self.choices = 0
        """Answered questions with several options."""
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

    def restart(self, hello: bytes | None = None) -> Connection:
        """Return a fresh process that has greeted; end any other of this bot before.

        Raises ViolationError, CannotStartError.
        """
        self.drop()
        return self.start_another(hello)

    def start_another(self, hello: bytes | None = None) -> Connection:
        """Return a process that has greeted, beside those that run.

        Raises ViolationError, CannotStartError.
        """
        spare, self._spare = (None, self._spare) if hello else (self._spare, None)
        connection = spare or Connection(self.command, self.sandbox, hello)
        try:
            self.hello = expect.expect_hello(connection, self.clock.start_ms)
        except BaseException:
            failed = connection.never_ran
            connection.close()
            if failed:
                raise CannotStartError("the sandbox failed") from None
            raise
        # The next process starts while this one plays: some languages take a second.
        if self.runs_twice and self._spare is None:
            with suppress(CannotStartError):
                self._spare = Connection(self.command, self.sandbox)
        return connection

    @property
    def kept_connection(self) -> Connection:
        """Return the process that plays on from step to step; a fresh one if the last was dropped.

        Raises ViolationError, CannotStartError.
        """
        if self._connection is None:
            self._connection = self.restart()
        return self._connection

    def drop(self) -> None:
        """Drop the kept process, which cannot be used any more."""
        kept, self._connection = self._connection, None
        if kept:
            kept.close()

    def end(self) -> None:
        """End every process of this session."""
        self.drop()
        for other in (self._spare, self.pause and self.pause.connection):
            if other:
                other.close()
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

        With an event it is the event's game at its table, whatever the step would play.
        """
        self._number += 1
        number, clock = number or self._number, clock or self.clock
        if self.game:
            return self._event_seat(self.game, seat, board, wanted, clock, number)
        return ScriptedSeat(rules, seats, seat, number, clock, board, wanted)

    def _event_seat(
        self,
        game: EventGame,
        seat: int,
        board: int,
        wanted: WantedQuestion | None,
        clock: Clock,
        number: int,
    ) -> ScriptedSeat:
        """Return an event's game; its rules may be any, so that on some boards a seat is not asked.

        Raises SkippedError if nothing is asked on any board that is tried.
        """
        seat %= game.seats
        for one in range(board, board + EVENT_BOARDS):
            begun = ScriptedSeat(game.rules, game.seats, seat, number, clock, one, wanted)
            if begun.question or wanted:
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

    def ask(
        self, connection: Connection, seat: ScriptedSeat, said: Sent | None = None
    ) -> AcceptedAnswer:
        """Send the bot its messages and take its answer. Raises ViolationError."""
        options = len(seat.question.options) if seat.question else 0
        answer = expect.expect_answer(connection, seat, said)
        self.count(answer.ms, answer.choice, options)
        return answer

    def count(self, ms: float, choice: int, options: int) -> None:
        """Count a question that was answered with this choice after this many ms."""
        self.questions += 1
        self.choices += options > 1
        self.first_choices += options > 1 and choice == 0
        self.ms += ms
        self.worst_ms = max(self.worst_ms, ms)

    def play(self, connection: Connection, seat: ScriptedSeat, said: Sent | None = None) -> int:
        """Play a game to its end; return the number of questions.

        Raises ViolationError, and OutOfTimeError if the step's time ends before the game.
        """
        connection.stderr_bytes = 0
        questions = 0
        while seat.question and not self.is_out_of_time:
            self.ask(connection, seat, said)
            questions += 1
        if seat.question:
            # A game must not be left in its middle: this process cannot be used further.
            self.drop()
            raise OutOfTimeError(questions)
        expect.send(connection, seat, said)
        return questions

    def play_on(self, connection: Connection, seat: ScriptedSeat, said: Sent | None = None) -> str:
        """Play a game as far as the step's time goes, and return a note of how far.

        Raises ViolationError.
        """
        try:
            return f"{self.play(connection, seat, said)} questions"
        except OutOfTimeError as hurry:
            return f"{hurry.questions} questions, then the step's time was up"
