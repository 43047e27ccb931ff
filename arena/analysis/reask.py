"""Questions of a logged game put to a fresh bot: it is started, told the game, asked and judged.

The bot receives what it would have received: hello, the game, its rounds so far, then the question,
byte for byte; but not the earlier questions, because a question says all that a bot may know.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio
from msgspec.structs import replace

from arena.analysis.timeline import AnswerRecord
from arena.match import referee
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import LagError
from arena.match.poller import Poller, ReplyWaiter
from arena.match.referee import STALE_LINES, OpenQuestion
from arena.sandbox.command import Command
from arena.sandbox.process import Sandbox
from protocol.codec import Fault, decode_line, printable
from protocol.errors import UserError
from protocol.messages import Choose, Clock
from protocol.records import ChoiceRecord, FoulRecord


async def repeat_question(
    command: Command,
    question: OpenQuestion,
    lines: Sequence[bytes],
    clock: Clock,
    sandbox: Sandbox,
    times: int,
) -> list[AnswerRecord]:
    """Ask `times` times, each time in a fresh process; stop at a foul.

    `lines`: those before the question, and then the question, byte for byte.
    Raises UserError if the bot cannot be started, or the machine cannot keep time.
    """
    answers: list[AnswerRecord] = []
    poller, complaint = Poller(), ""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        try:
            while len(answers) < times and not (answers and isinstance(answers[-1], FoulRecord)):
                async with monitored(poller, command, clock, sandbox) as pool:
                    answers.append((await ask_once(poller, pool, question, lines))[0])
        except* CannotStartError as group:
            complaint = f"The bot cannot be started: {group.exceptions[0]}."
        except* LagError as group:
            complaint = f"The bot's time could not be measured: {group.exceptions[0]}."
        nursery.cancel_scope.cancel()
    if complaint:
        raise UserError(complaint)
    return answers


@asynccontextmanager
async def monitored(
    poller: Poller, command: Command, clock: Clock, sandbox: Sandbox
) -> AsyncIterator[BotPool]:
    """Yield a pool for one bot whose limits are checked; dismiss its process afterwards."""
    pool = BotPool(poller, [command], clock.start_ms, sandbox)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.monitor)
            yield pool
            nursery.cancel_scope.cancel()
    finally:
        await pool.close()


async def ask_once(
    poller: Poller, pool: BotPool, question: OpenQuestion, lines: Sequence[bytes]
) -> tuple[AnswerRecord, BotProcess]:
    """Return the answer of a pool's bot, and its process. Raises CannotStartError, LagError."""
    (bot,) = await pool.start_missing()
    assert bot, "Somebody sits there."
    return await ReaskSession(poller, bot, question, lines).ask(), bot


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
        self._answer: AnswerRecord

    async def ask(self) -> AnswerRecord:
        """Return the bot's answer or its foul; do not ask a bot that does not greet.

        Raises LagError.
        """
        if self._bot.fault:
            self.on_fault(self._bot.fault, 0.0)
        else:
            self._bot.set_listener(self)
            *context, question_line = self._lines
            for line in context:
                self._bot.send(line)
            now = self._poller.now()
            self._bot.send(question_line)
            self.expect(self._bot, self._question.limit_ms, now)
            self.hear()  # A sealed bot may have answered in advance.
            await self.wait()
        if self.error:
            raise self.error
        return replace(self._answer, stderr=self._bot.stderr_tail())

    def on_line(self, line: bytes, ms: float, _: object = None) -> None:
        """Judge a line as a referee does."""
        question, lag_ms = self._question, self._deadline.given_back_ms
        if question.is_effort:
            ms, lag_ms = self._bot.evidence().effort_ms(), 0.0
        reply = referee.judge_answer(question, decode_line(line))
        if isinstance(reply, Choose):
            words = reply.note, reply.usage, reply.info
            self._answer = ChoiceRecord(question.seat, reply.id, reply.choice, ms, lag_ms, *words)
            self.finish()
        elif reply is not None:
            self.on_fault(reply, ms, line)
        else:
            self._stale += 1
            if self._stale > STALE_LINES:
                detail = f"More than {STALE_LINES} answers to other questions."
                self.on_fault(Fault("flooding", detail), ms)

    def on_fault(self, fault: Fault, ms: float, line: bytes = b"") -> None:
        """Keep the bot's foul, with the line in which it lies; the bot is asked no more."""
        self._answer = FoulRecord(
            seat=self._question.seat,
            foul=fault.foul,
            detail=fault.detail,
            line=printable(line),
            ms=ms,
            given_back_ms=self._deadline.given_back_ms,
            limit_ms=self._question.time_ms if fault.foul == "late" else 0,
        )
        self.finish()
