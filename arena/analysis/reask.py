"""Questions of a logged game put to a fresh bot: it is started, told the game, asked and judged.

The bot receives what it would have received: hello, the game, its rounds so far, then the question,
byte for byte; but not the earlier questions, because a question says all that a bot may know.
"""

import time

import trio
from msgspec import Struct

from arena.analysis.decisions import Decision
from arena.match import referee as rulings
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import Deadline, LagError
from arena.match.poller import Poller
from arena.match.referee import STALE_LINES
from arena.match.table import BotPool
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault, printable
from protocol.errors import UserError
from protocol.messages import Choose, Clock
from protocol.records import FoulClass


class ReaskResult(Struct, frozen=True):
    """A bot's reaction to a question."""

    choice: int | None
    """The index that it chose; None: it fouled."""
    note: str
    """The bot's note."""
    foul: FoulClass | None
    """The class of its foul."""
    detail: str
    """A sentence about the foul."""
    line: str
    """The line of the foul, cut and escaped."""
    ms: float
    """The time charged, in ms."""
    given_back_ms: float
    """Time in which the referee could not look, added to the deadline, in ms."""
    stderr: str
    """The last lines of its stderr, cut and escaped."""


async def ask(
    command: Command, decision: Decision, clock: Clock, sandbox: Sandbox, times: int
) -> list[ReaskResult]:
    """Ask `times` times, each time in a fresh process; stop at a foul.

    Raises UserError if the bot cannot be started, or the machine cannot keep time.
    """
    found: list[ReaskResult] = []
    complaint = ""
    async with trio.open_nursery() as nursery:
        pump = Poller()
        nursery.start_soon(pump.run)
        try:
            while len(found) < times and not (found and found[-1].foul):
                found.append(await _once(pump, command, decision, clock, sandbox))
        except CannotStartError as error:
            complaint = f"The bot cannot be started: {error}."
        except LagError as error:
            complaint = f"Nobody can say whether the bot was late: {error}."
        nursery.cancel_scope.cancel()
    if complaint:
        raise UserError(complaint)
    return found


async def _once(
    pump: Poller, command: Command, decision: Decision, clock: Clock, sandbox: Sandbox
) -> ReaskResult:
    bench = BotPool(pump, [command], clock.start_ms, sandbox)
    try:
        (bot,) = await bench.start_missing()
        assert bot, "Somebody sits there."
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.monitor)
            asking = ReaskSession(pump, bot, decision)
            said = await asking.answered()
            nursery.cancel_scope.cancel()
        if asking.lag:
            raise asking.lag
        return said
    finally:
        await bench.close()


class ReaskSession:
    """The wait for one bot's answer to one question."""

    def __init__(self, pump: Poller, bot: BotProcess, decision: Decision) -> None:
        self._pump, self._bot, self._decision = pump, bot, decision
        self._question = decision.question
        self._deadline = Deadline(self._expired, self._stop)
        self.lag: LagError | None = None
        """The reason why its lateness is unknown, if the machine does not keep time."""
        self._done = trio.Event()
        self._stale = 0
        self._said: Choose | None = None
        self._fault = bot.fault
        self._line = b""
        self._ms = 0.0

    async def answered(self) -> ReaskResult:
        """Return the bot's answer or its foul; do not ask a bot that does not greet."""
        if self._fault is None:
            self._bot.on_input(self._heard)
            self._pump.add_timer(self._deadline)
            try:
                self._say()
                await self._done.wait()
            finally:
                self._pump.remove_timer(self._deadline)
        said = self._said
        return ReaskResult(
            choice=said.choice if said else None,
            note=said.note if said else "",
            foul=self._fault.foul if self._fault else None,
            detail=self._fault.detail if self._fault else "",
            line=printable(self._line),
            ms=self._ms,
            given_back_ms=self._deadline.given_back_ms,
            stderr=self._bot.stderr_tail(),
        )

    def _say(self) -> None:
        for line in self._decision.told:
            self._bot.send(line)
        now = time.monotonic()
        self._bot.send(self._decision.line)
        self._deadline.begin(now, self._question.time_ms)
        self._pump.wake_by(self._deadline.at)

    def _heard(self) -> None:
        while not self._done.is_set() and (line := self._bot.next_line()) is not None:
            self._ms = self._deadline.charged_ms(self._bot.read_at)
            self._judge(line)
        if self._bot.fault and not self._done.is_set():
            self._ms = self._deadline.charged_ms(time.monotonic())
            self._end(self._bot.fault)

    def _judge(self, line: bytes) -> None:
        said = rulings.parse_answer(self._question, line)
        if isinstance(said, Choose):
            self._said = said
            self._end(None)
        elif said is not None:
            self._line = line
            self._end(said)
        else:
            self._stale += 1
            if self._stale > STALE_LINES:
                self._end(Fault("flooding", f"More than {STALE_LINES} answers to other questions."))

    def _expired(self) -> None:
        self._bot.take_in()
        self._heard()
        if not self._done.is_set():
            self._ms = float(self._question.time_ms)
            self._end(Fault("late", f"No answer within {self._question.time_ms} ms."))

    def _stop(self, lag: LagError) -> None:
        self.lag = lag
        self._end(None)

    def _end(self, fault: Fault | None) -> None:
        self._fault = fault
        self._deadline.end()
        self._done.set()
