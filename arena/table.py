"""Seats bots around a referee, keeps time, feeds the log. Decides nothing."""

import math
import time
from collections.abc import Callable, Sequence

import trio
from msgspec.structs import replace

from arena import referee as rulings
from arena.bots import Bot, CannotStartError, nobody
from arena.gamelog import GameLog
from arena.pump import Pump
from arena.referee import Question, Referee
from arena.sandbox.profile import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault
from protocol.records import FoulRecord, LogRecord, Result

LOOK_S = 0.1
"""How often the bots' memory and pipes are looked at."""
LOG_EVERY = 64
"""Records that are collected before they are written."""


class Greeting:
    """Waits for a bot's hello."""

    def __init__(self, pump: Pump, bot: Bot, start_ms: int) -> None:
        self.deadline = time.monotonic() + start_ms / 1000
        self._limit_ms = start_ms
        self._bot = bot
        self._done = trio.Event()
        self._pump = pump

    async def wait(self) -> None:
        """Wait until the bot has greeted or has its `fault` set."""
        self._bot.listen(self._pump.watch, self._heard)
        self._pump.join(self)
        self._pump.say(self._bot, rulings.hello())
        await self._done.wait()

    def expired(self) -> None:
        """No hello came in time."""
        self._end(Fault("no_hello", f"No hello within {self._limit_ms} ms."))

    def _heard(self) -> None:
        line = self._bot.next_line()
        if line is not None:
            said = rulings.greeted(line)
            self._end(said if isinstance(said, Fault) else None)
        elif self._bot.fault:
            self._end(self._bot.fault)

    def _end(self, fault: Fault | None) -> None:
        if fault:
            self._bot.condemn(fault)
        self.deadline = math.inf
        self._bot.tell(nobody)
        self._pump.part(self)
        self._done.set()

    def forgive(self, seconds: float) -> None:
        """The referee itself stood still: the bot is not charged for that."""
        self.deadline += seconds


class Bench:
    """The bots of a sitting: one process an entrant, replaced only when it is lost."""

    def __init__(
        self, pump: Pump, commands: Sequence[Command], start_ms: int, sandbox: Sandbox
    ) -> None:
        self._sandbox = sandbox
        self._pump = pump
        self._commands = commands
        self._start_ms = start_ms
        self._bots: list[Bot | None] = [None] * len(commands)

    async def ready(self) -> list[Bot]:
        """Bots for the next game: those that were lost are started afresh.

        Raises CannotStartError.
        """
        await self._dismiss([bot for bot in self._bots if bot and bot.fault])
        # Leaving cannot be cancelled; after it, nobody new is started for a run that was.
        await trio.lowlevel.checkpoint_if_cancelled()
        fresh = await self._start([seat for seat, bot in enumerate(self._bots) if bot is None])
        async with trio.open_nursery() as nursery:
            for bot in fresh:
                nursery.start_soon(Greeting(self._pump, bot, self._start_ms).wait)
        for bot in fresh:
            if bot.fault and bot.never_ran:
                raise CannotStartError(f"the sandbox failed: {bot.last_words()}")
        return [bot for bot in self._bots if bot]

    async def _start(self, seats: list[int]) -> list[Bot]:
        try:
            for seat in seats:
                self._bots[seat] = Bot(self._commands[seat], self._sandbox)
        except CannotStartError:
            # A bot that was started but not greeted must not pass for one that was.
            await self.close()
            raise
        return [bot for seat in seats if (bot := self._bots[seat])]

    async def look_after(self) -> None:
        """Look at every bot again and again, until cancelled."""
        while True:
            await trio.sleep(LOOK_S)
            for bot in self._bots:
                if bot:
                    bot.look()

    async def close(self) -> None:
        """Every bot leaves; none is left behind."""
        await self._dismiss([bot for bot in self._bots if bot])

    async def _dismiss(self, leaving: list[Bot]) -> None:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for bot in leaving:
                    self._pump.forget(bot)
                    self._bots[self._bots.index(bot)] = None
                    fault = bot.fault
                    nursery.start_soon(bot.leave, rulings.bye(fault.detail if fault else ""))


class Table:
    """One game being played: a referee, a bot in each seat, the clock, the log."""

    def __init__(self, pump: Pump, referee: Referee, bots: Sequence[Bot], log: GameLog) -> None:
        self.deadline = math.inf
        self._pump = pump
        self._referee = referee
        self._bots = bots
        self._log = log
        self._asked_at = 0.0
        self._question: Question | None = None
        self._done = trio.Event()
        self._bug: Exception | None = None

    async def play(self) -> Result:
        """Play the game to its end.

        A bug of ours is raised here, out of the pump, so that it voids this game and no other.
        """
        for bot in self._bots:
            bot.tell(self._heard)
        self._pump.join(self)
        try:
            self._deliver()
            self._heard()
            await self._done.wait()
        finally:
            self._pump.part(self)
        if self._bug:
            raise self._bug
        assert self._referee.result
        return self._referee.result

    def expired(self) -> None:
        """The seat that is asked has used up its time."""
        self._guarded(self._too_late)

    def forgive(self, seconds: float) -> None:
        """The referee itself stood still: nobody is charged for that."""
        self._asked_at += seconds
        self.deadline += seconds

    def _heard(self) -> None:
        """Somebody wrote or is gone: listen to whoever is asked, until nobody has more to say."""
        self._guarded(self._listen_on)

    def _listen_on(self) -> None:
        while not self._done.is_set() and self._listen():
            pass

    def _too_late(self) -> None:
        question = self._referee.awaiting
        if question:
            detail = f"No answer within {question.time_ms} ms."
            self._foul(question.seat, Fault("late", detail), self._ms_since(time.monotonic()))
            self._listen_on()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Our own failure ends this game only; `play` raises it."""
        try:
            work()
        except Exception as bug:
            self._bug = bug
            self.deadline = math.inf
            self._done.set()

    def _listen(self) -> bool:
        question = self._referee.awaiting
        if question is None:
            self._finish()
            return False
        bot = self._bots[question.seat]
        line = bot.next_line()
        if line is not None:
            ms = self._ms_since(bot.read_at)
            if ms > question.time_ms:
                self._foul(question.seat, Fault("late", f"Answered after {ms} ms."), ms)
            else:
                self._referee.received(question.seat, line, ms)
                self._deliver()
            return True
        if bot.fault:
            self._foul(question.seat, bot.fault, self._ms_since(time.monotonic()))
            return True
        return False

    def _foul(self, seat: int, fault: Fault, ms: float) -> None:
        self._referee.lost(seat, fault.foul, fault.detail, ms=ms)
        self._deliver()

    def _ms_since(self, moment: float) -> float:
        """Time charged to the seat that is asked; what it wrote before costs nothing."""
        return max(0.0, round((moment - self._asked_at) * 1000, 3))

    def _deliver(self) -> None:
        """Say what the referee wants said, note the deadline, log what has piled up."""
        referee = self._referee
        now = time.monotonic()
        for seat, line in referee.outgoing():
            self._pump.say(self._bots[seat], line)
        # The clock of an open question runs on, whatever else its seat has written meanwhile.
        if referee.awaiting is not self._question:
            self._question, self._asked_at = referee.awaiting, now
            self.deadline = now + self._question.time_ms / 1000 if self._question else math.inf
        if referee.unlogged >= LOG_EVERY or referee.result:
            self._log.append([self._with_evidence(record) for record in referee.records()])

    def _with_evidence(self, record: LogRecord) -> LogRecord:
        """A foul is logged with the bot's last words; the bot is not used again."""
        if not isinstance(record, FoulRecord):
            return record
        bot = self._bots[record.seat]
        bot.condemn(Fault(record.foul, record.detail))
        return replace(record, stderr=bot.last_words())

    def _finish(self) -> None:
        self.deadline = math.inf
        self._done.set()
