"""Questions of a logged game put to a fresh bot: it is started, told the game, asked and judged.

The bot receives what it would have received: hello, the game, its rounds so far, then the question,
byte for byte; but not the earlier questions, because a question says all that a bot may know.
"""

from collections.abc import Sequence

import trio
from msgspec import Struct

from arena.match import referee
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess
from arena.match.clock import LagError
from arena.match.game_setup import OpenQuestion
from arena.match.piped_process import CannotStartError
from arena.match.poller import Poller
from arena.match.referee import STALE_LINES
from arena.match.reply import ReplyWaiter
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault, decode_line, printable
from protocol.errors import UserError
from protocol.messages import Choose, Clock
from protocol.records import FoulClass


class ReaskResult(Struct, frozen=True):
    """A bot's reaction to a question."""

    choice: int | None
    note: str
    foul: FoulClass | None
    detail: str
    """A sentence about the foul."""
    line: str
    ms: float
    """The time charged, in ms."""
    given_back_ms: float
    """Time in which the referee could not look, added to the deadline, in ms."""
    stderr: str
    """The last lines of its stderr, cut and escaped."""


async def repeat_question(
    command: Command,
    question: OpenQuestion,
    lines: Sequence[bytes],
    clock: Clock,
    sandbox: Sandbox,
    times: int,
) -> list[ReaskResult]:
    """Ask `times` times, each time in a fresh process; stop at a foul.

    `lines`: those before the question, and then the question, byte for byte.
    Raises UserError if the bot cannot be started, or the machine cannot keep time.
    """
    found: list[ReaskResult] = []
    complaint = ""
    async with trio.open_nursery() as nursery:
        poller = Poller()
        nursery.start_soon(poller.run)
        try:
            while len(found) < times and not (found and found[-1].foul):
                found.append(await _once(poller, command, question, lines, clock, sandbox))
        except CannotStartError as error:
            complaint = f"The bot cannot be started: {error}."
        except LagError as error:
            complaint = f"The bot's time could not be measured: {error}."
        nursery.cancel_scope.cancel()
    if complaint:
        raise UserError(complaint)
    return found


async def _once(
    poller: Poller,
    command: Command,
    question: OpenQuestion,
    lines: Sequence[bytes],
    clock: Clock,
    sandbox: Sandbox,
) -> ReaskResult:
    pool = BotPool(poller, [command], clock.start_ms, sandbox)
    try:
        (bot,) = await pool.start_missing()
        assert bot, "Somebody sits there."
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.monitor)
            session = ReaskSession(poller, bot, question, lines)
            result = await session.ask()
            nursery.cancel_scope.cancel()
        # Outside the nursery, which would wrap it in an exception group.
        if session.error:
            raise session.error
        return result
    finally:
        await pool.close()


class ReaskSession(ReplyWaiter):
    """The wait for one bot's answer to one question."""

    def __init__(
        self, poller: Poller, bot: BotProcess, question: OpenQuestion, lines: Sequence[bytes]
    ) -> None:
        """`lines`: those before the question, and then the question, byte for byte."""
        super().__init__(poller)
        self._bot = bot
        self._lines = lines
        self._question = question
        self._stale = 0
        self._answer: Choose | None = None
        self._fault = bot.fault
        self._line = b""
        self._ms = 0.0

    async def ask(self) -> ReaskResult:
        """Return the bot's answer or its foul; do not ask a bot that does not greet."""
        if self._fault is None:
            self._bot.set_listener(self)
            *told, asked = self._lines
            for line in told:
                self._bot.send(line)
            now = self._poller.now()
            self._bot.send(asked)
            self.expect(self._bot, self._question.time_ms, now)
            await self.wait()
        answer, fault = self._answer, self._fault
        return ReaskResult(
            choice=answer.choice if answer else None,
            note=answer.note if answer else "",
            foul=fault.foul if fault else None,
            detail=fault.detail if fault else "",
            line=printable(self._line),
            ms=self._ms,
            given_back_ms=self._deadline.given_back_ms,
            stderr=self._bot.stderr_tail(),
        )

    def on_line(self, line: bytes, ms: float, _: object = None) -> None:
        """Judge a line as a referee does."""
        self._ms = ms
        reply = referee.judge_answer(self._question, decode_line(line))
        if isinstance(reply, Choose):
            self._answer = reply
            self.finish()
        elif reply is not None:
            self._line = line
            self.on_fault(reply, ms)
        else:
            self._stale += 1
            if self._stale > STALE_LINES:
                detail = f"More than {STALE_LINES} answers to other questions."
                self.on_fault(Fault("flooding", detail), ms)

    def on_fault(self, fault: Fault, ms: float) -> None:
        """Keep the bot's foul; it is asked no more."""
        self._fault, self._ms = fault, ms
        self.finish()
