"""The table of one game: it connects bots, clock and log with a referee, and decides nothing."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import trio
from msgspec.structs import replace

from arena.logs.gamelog import Log
from arena.match import referee as rulings
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import Deadline, LagError, Timer, TimeUsage
from arena.match.handshake import Handshake
from arena.match.player import Player
from arena.match.poller import Poller
from arena.match.referee import Question, Referee
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault
from protocol.records import FoulRecord, LogRecord, Result

LOOK_S = 0.1
"""The interval in s at which the memory, the CPU time and the pipes of bots are checked."""
LOG_EVERY = 64
"""The most records that wait to be written: one system call for many is cheaper."""
LOG_WITHIN_S = 0.2
"""The longest time in s that a record may wait to be written: onlookers follow the log."""
LINES_AT_ONCE = 32
"""The most lines that one table reads before the others have their turn: a bot that writes answers
in advance must not keep a table for itself."""


class BotPool:
    """The bots of a sitting: one process for each entrant, replaced only when it is lost.

    A new Python process costs as much as 4,000 moves, so a bot stays for many games.
    """

    def __init__(
        self, poller: Poller, commands: Sequence[Command], start_ms: int, sandbox: Sandbox
    ) -> None:
        self._sandbox = sandbox
        self._poller = poller
        self._commands = commands
        self._start_ms = start_ms
        self._bots: list[BotProcess | None] = [None] * len(commands)

    async def start_missing(self, absent: Collection[int] = ()) -> list[BotProcess | None]:
        """Return the bots for the next game; start lost ones afresh, but none for `absent`.

        Raises CannotStartError, LagError.
        """
        await self._dismiss([bot for bot in self._bots if bot and bot.fault])
        # Dismissing cannot be cancelled; after it, a cancelled run must not start new bots.
        await trio.lowlevel.checkpoint_if_cancelled()
        empty = [seat for seat, bot in enumerate(self._bots) if bot is None]
        await self._greet(await self._start([seat for seat in empty if seat not in absent]))
        return list(self._bots)

    async def _greet(self, fresh: list[BotProcess]) -> None:
        """Wait for the hellos of fresh bots.

        Raises CannotStartError, LagError.
        """
        lags: list[LagError | None] = []

        async def wait(bot: BotProcess) -> None:
            lags.append(await Handshake(self._poller, bot, self._start_ms).wait())

        async with trio.open_nursery() as nursery:
            for bot in fresh:
                nursery.start_soon(wait, bot)
        for bot in fresh:
            if bot.fault and bot.never_ran:
                raise CannotStartError(f"the sandbox failed: {bot.stderr_tail()}")
        for lag in filter(None, lags):
            raise lag

    async def _start(self, seats: list[int]) -> list[BotProcess]:
        try:
            for seat in seats:
                self._bots[seat] = BotProcess(self._commands[seat], self._sandbox)
        except CannotStartError:
            # A bot that was started but did not greet must not pass for one that did.
            await self.close()
            raise
        return [bot for seat in seats if (bot := self._bots[seat])]

    async def monitor(self) -> None:
        """Check every bot's limits at intervals, until cancelled."""
        while True:
            await trio.sleep(LOOK_S)
            for bot in self._bots:
                if bot:
                    bot.check_limits()

    async def close(self) -> None:
        """Dismiss every bot, with its foul if it fouled; leave no process behind."""
        await self._dismiss([bot for bot in self._bots if bot])

    async def _dismiss(self, leaving: list[BotProcess]) -> None:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for bot in leaving:
                    self._poller.unregister(bot)
                    self._bots[self._bots.index(bot)] = None
                    fault = bot.fault
                    nursery.start_soon(bot.shut_down, rulings.bye(fault.detail if fault else ""))


class Table:
    """One game being played: a referee, a bot in each seat, the clock, the log."""

    def __init__(
        self,
        poller: Poller,
        referee: Referee,
        bots: Sequence[Player | None],
        log: Log,
    ) -> None:
        """Seat the bots; None for a forfeited seat."""
        self._poller = poller
        self._referee = referee
        self._bots = bots
        self._log = log
        self._deadline = Deadline(self._expired, self._stop)
        self._unlogged = Timer(self._log_now)
        self._question: Question | None = None
        self._asked: Player | None = None
        self._cpu_before: float | None = None
        self._lateness: dict[str, Any] = {}
        self._spending = TimeUsage(len(bots))
        self._cpu_began = [bot.cpu_seen_ms if bot else None for bot in bots]
        self._done = trio.Event()
        self._bug: Exception | None = None

    async def play(self) -> Result:
        """Play the game to its end.

        Raises our own bugs here and not in the poller, so that they void this game and no other.
        Raises LagError.
        """
        for bot in self._bots:
            if bot:
                bot.on_input(self._heard)
        self._poller.add_timer(self._deadline)
        self._poller.add_timer(self._unlogged)
        try:
            self._guarded(self._deliver)
            self._heard()
            await self._done.wait()
        finally:
            self._poller.remove_timer(self._deadline)
            self._poller.remove_timer(self._unlogged)
            # The log shows a game that is cut off as far as it was played.
            self._log_now()
        if self._bug:
            raise self._bug
        assert self._referee.result
        return self._referee.result

    def _expired(self) -> None:
        """Judge the seat that is asked, for its deadline has passed."""
        self._guarded(self._too_late)

    def _stop(self, lag: LagError) -> None:
        """End the game without a result: nobody knows any more what time a bot had."""
        self._log_now()
        self._bug = lag
        self._finish()

    def _heard(self) -> None:
        """Listen to the seat that is asked until no line is left: a bot wrote or is gone."""
        self._guarded(self._listen_on)

    def _listen_on(self) -> None:
        for _ in range(LINES_AT_ONCE):
            if self._done.is_set() or not self._listen():
                return
        self._poller.call_soon(self._heard)

    def _too_late(self) -> None:
        """Look at the pipe once more after the deadline; a line that is there counts."""
        question, bot = self._question, self._asked
        if bot:
            bot.take_in()
        self._listen_on()
        if question and question is self._referee.awaiting and not self._done.is_set():
            late = Fault("late", f"No answer within {question.time_ms} ms.")
            self._foul(question, late, float(question.time_ms))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Call the work; let a bug of ours end this game only. `play` raises the bug."""
        try:
            work()
        except Exception as bug:
            self._bug = bug
            self._finish()

    def _listen(self) -> bool:
        question, bot = self._question, self._asked
        if question is None or bot is None:
            self._finish()
            return False
        line = bot.next_line()
        if line is not None:
            deadline = self._deadline
            ms = deadline.charged_ms(bot.read_at)
            self._referee.received(question.seat, line, ms, deadline.given_back_ms)
            self._deliver(at_once=self._referee.has_fouled(question.seat))
            return True
        if bot.fault:
            self._foul(question, bot.fault, self._deadline.charged_ms(time.monotonic()))
            return True
        return False

    def _foul(self, question: Question, fault: Fault, ms: float) -> None:
        if fault.foul == "late":
            self._lateness = self._figures(question)
        given_back = self._deadline.given_back_ms
        self._referee.forfeit(
            question.seat, fault.foul, fault.detail, ms=ms, given_back_ms=given_back
        )
        self._deliver(at_once=True)

    def _figures(self, question: Question) -> dict[str, Any]:
        """Return the evidence on a late answer besides its times; it decides nothing."""
        before, now = self._cpu_before, self._asked.cpu_ms() if self._asked else None
        return {
            "limit_ms": question.time_ms,
            "cpu_ms": None if before is None or now is None else now - before,
        }

    def _deliver(self, *, at_once: bool = False) -> None:
        """Send the referee's lines, begin the deadline of a new question, log enough records."""
        referee = self._referee
        now = time.monotonic()
        for seat, line in referee.outgoing():
            bot = self._bots[seat]
            if bot:
                bot.send(line)
        # The clock of an open question runs on, whatever else its seat has sent meanwhile.
        if referee.awaiting is not self._question:
            self._ask(now)
        if at_once or referee.unlogged >= LOG_EVERY or referee.result:
            self._write(referee.records())
        elif referee.unlogged and self._unlogged.at == math.inf:
            self._unlogged.at = now + LOG_WITHIN_S
            self._poller.wake_by(self._unlogged.at)

    def _log_now(self) -> None:
        """Log the records that have waited long enough, though they are few."""
        if self._referee.unlogged and not self._bug:
            self._guarded(lambda: self._write(self._referee.records()))

    def _ask(self, now: float) -> None:
        """Begin the deadline of the question that is open now, if there is one."""
        question = self._question = self._referee.awaiting
        if question:
            bot = self._asked = self._bots[question.seat]
            assert bot, "Nobody is asked where nobody sits."
            self._cpu_before = bot.cpu_seen_ms
            self._deadline.begin(now, question.time_ms)
            self._poller.wake_by(self._deadline.at)

    def _write(self, records: Sequence[LogRecord]) -> None:
        self._unlogged.end()
        complete = [self._with_evidence(record) for record in records]
        for record in complete:
            self._spending.add(record)
        if self._referee.result:
            # The result stays last: a log with the result has all records of the game.
            lag_ms = self._deadline.worst_lag_ms
            complete.insert(-1, self._spending.record(self._cpu_used(), lag_ms))
        self._log.append(complete)

    def _with_evidence(self, record: LogRecord) -> LogRecord:
        """Add the bot's stderr to a foul; kill the bot, which is not used again."""
        bot = self._bots[record.seat] if isinstance(record, FoulRecord) else None
        if not isinstance(record, FoulRecord) or bot is None:
            return record
        bot.disqualify(Fault(record.foul, record.detail))
        figures = self._lateness if record.foul == "late" else {}
        return replace(record, stderr=bot.stderr_tail(), **figures)

    def _cpu_used(self) -> tuple[float | None, ...]:
        """Return the CPU time that each bot has used since the end of its last game, in ms."""
        now = [bot.cpu_ms() if bot else None for bot in self._bots]
        began = zip(self._cpu_began, now, strict=True)
        return tuple(None if a is None or b is None else b - a for a, b in began)

    def _finish(self) -> None:
        self._deadline.end()
        self._done.set()
