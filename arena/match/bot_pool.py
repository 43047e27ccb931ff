"""The bots of a sitting: one process for each entrant, at one table or at many at once."""

from collections import deque
from collections.abc import Callable, Collection, Sequence

import trio

from arena.match import referee
from arena.match.bot_process import BotProcess, CannotStartError, read_first
from arena.match.player import Evidence, Listener, Player
from arena.match.poller import Poller, ReplyWaiter
from arena.match.referee import QUESTIONS_A_GAME, STALE_LINES
from arena.sandbox.command import Command
from arena.sandbox.process import Sandbox
from protocol.codec import Fault, decode_line, printable
from protocol.messages import Choose, Unavailable

# One bot process at many tables: each game has a channel to a bot that can play several.
#
# Questions of one slice of the poller are written together (measured with a C bot: 88 µs a move at
# one table, 3.8 µs at 128). Each answer goes to the game of its question. A fault of the process
# spoils all its games: they have no other process.


ROUTED_LINES = 256
"""The most lines of one process that are routed before other processes have their turn."""


class MultiplexedBot:
    """The multiplexer of one process: routes lines to tables and sends tables' lines together."""

    def __init__(self, poller: Poller, bot: BotProcess) -> None:
        self.bot = bot
        self.fouled_at: GameChannel | None = None
        """The channel of the table whose foul stopped the process, or None."""
        self._poller = poller
        self._channels: dict[int, GameChannel] = {}
        self._outbox = bytearray()
        self._stale = 0
        self._is_stopped = False
        bot.set_listener(self)

    def open_channel(self, number: int) -> "GameChannel":
        """Open a channel for the game with this number; `release` closes it."""
        channel = self._channels[number] = GameChannel(self, number)
        return channel

    def release(self, number: int) -> None:
        """Close a game's channel, for it is over: an answer that still comes for it is late."""
        del self._channels[number]

    def send(self, line: bytes) -> None:
        """Send a line, together with the lines of other tables in this slice."""
        if not self._outbox:
            self._poller.call_soon(self.flush_all)
        self._outbox += line

    def disqualify(self, fault: Fault, judge: "GameChannel | None" = None) -> None:
        """Stop the process; tell every table once, but not the one that judged the foul."""
        if self._is_stopped:
            return
        self._is_stopped, self.fouled_at = True, judge
        self.bot.disqualify(fault)
        for channel in [channel for channel in self._channels.values() if channel is not judge]:
            channel.drop()

    def flush_all(self) -> None:
        """Send now the lines that wait for the end of the slice: the bot leaves after them."""
        lines, self._outbox = bytes(self._outbox), bytearray()
        if lines:
            self.bot.send(lines)

    def take_in(self) -> None:
        """Read all that the process has written up to now, and route it."""
        self.bot.take_in()
        while (line := self.bot.next_line()) is not None:
            self._hand_on(line)
        if self.bot.fault:
            self.disqualify(self.bot.fault)

    def hear_line(self, _: Player, line: bytes, __: object = None) -> None:
        """Route the only line that the process has written."""
        self._hand_on(line)
        if self.bot.fault:
            self.disqualify(self.bot.fault)

    def hear(self) -> None:
        """Route the lines that the process has written, or tell all tables that it is gone."""
        lines = self.bot.take_lines(ROUTED_LINES)
        for line in lines:
            # A foul in one line drops those after it.
            if self._is_stopped:
                return
            self._hand_on(line)
        if len(lines) == ROUTED_LINES:
            self._poller.call_soon(self.hear)
        elif self.bot.fault:
            self.disqualify(self.bot.fault)

    def _hand_on(self, line: bytes) -> None:
        answer = decode_line(line)
        if isinstance(answer, Fault):
            self.disqualify(Fault(answer.foul, f"{answer.detail} It wrote: {printable(line)}"))
        elif not isinstance(answer, Choose):
            self.disqualify(Fault("malformed", "That belongs to the first line."))
        elif channel := self._channels.get(answer.id // QUESTIONS_A_GAME):
            channel.receive(line, answer, self.bot.read_at)
        else:
            self._count_stale(answer.id)

    def _count_stale(self, number: int) -> None:
        self._stale += 1
        if self._stale > STALE_LINES:
            detail = f"More than {STALE_LINES} answers to games that were over, as {number}."
            self.disqualify(Fault("flooding", detail))


class GameChannel:
    """One table's channel to a shared bot: to the table it is like a process of its own."""

    def __init__(self, shared: MultiplexedBot, number: int) -> None:
        self._multiplexer = shared
        self._number = number
        self._lines: deque[tuple[bytes, float]] = deque()
        self._listener: Listener | None = None
        self.read_at = 0.0

    @property
    def fault(self) -> Fault | None:
        """The fault for which the process was stopped, at this table or another."""
        fault, judge = self._multiplexer.bot.fault, self._multiplexer.fouled_at
        if fault and judge not in (None, self):
            return Fault("gone", f"Stopped for a foul in another game of its: {fault.detail}")
        return fault

    @property
    def has_input(self) -> bool:
        """True if a line or a fault waits to be taken."""
        return bool(self._lines) or self._multiplexer.bot.fault is not None

    def set_listener(self, listener: Listener | None) -> None:
        """Tell this listener from now on when a line has come or the process is lost."""
        self._listener = listener

    def send(self, line: bytes) -> None:
        """Send a line at the end of this slice of the poller."""
        self._multiplexer.send(line)

    def take_in(self) -> None:
        """Read all that the process has written up to now, for any table."""
        self._multiplexer.take_in()

    def put_back(self, line: bytes) -> None:
        """Keep a line for `next_line`: it came before its question."""
        self._lines.append((line, self.read_at))

    def next_line(self) -> bytes | None:
        """Return the next line for this table, or None."""
        if not self._lines:
            return None
        line, self.read_at = self._lines.popleft()
        return line

    def receive(self, line: bytes, answer: Choose, read_at: float) -> None:
        """Take a line for this table, with its answer and the time at which it was read."""
        if self._listener and not self._lines:
            self.read_at = read_at
            self._listener.hear_line(self, line, answer)
        elif len(self._lines) > STALE_LINES:
            self._multiplexer.disqualify(
                Fault("flooding", f"More than {STALE_LINES} lines for one game.")
            )
        else:
            self._lines.append((line, read_at))
            self._notify()

    def drop(self) -> None:
        """Drop all lines, for the process is gone, and tell the table."""
        self._lines.clear()
        self._notify()

    def _notify(self) -> None:
        if self._listener:
            self._listener.hear()

    def disqualify(self, fault: Fault) -> None:
        """Stop the process for a foul at this table: its other games are lost too."""
        self._lines.clear()
        self._multiplexer.disqualify(fault, self)

    def evidence(self) -> Evidence:
        """Return the process's evidence without CPU time: nobody can tell the share of one game."""
        return Evidence(*self._multiplexer.bot.evidence()[:4])

    def shut_down(self) -> None:
        """Close the channel, for the game is over."""
        self._multiplexer.release(self._number)


# The bots of a sitting: one process for each entrant, greeted, watched and replaced when lost.


USAGE_CHECK_S = 0.1
"""The interval in s at which the memory, the CPU time and the pipes of bots are checked."""
LONGEST_SHOWN_LINE = 60
"""The most characters shown of a line that is not a hello."""
FIRST_PAUSE_S = 2.0
"""The pause in s after which a bot that says that it is unavailable is started again."""
PAUSE_GROWS = 5
"""The factor by which each pause is longer than the last."""
LONGEST_PAUSE_S = 60.0
"""The longest pause in s."""


class BotPool:
    """The bots of a sitting: one process for each entrant, replaced only when it is lost.

    A new Python process costs as much as 4,000 moves, so a bot stays for many games.
    """

    def __init__(
        self,
        poller: Poller,
        commands: Sequence[Command],
        start_ms: int,
        sandbox: Sandbox,
        *,
        keep_stderr: bool = False,
        tell_pause: Callable[[str, float], None] = lambda _why, _seconds: None,
    ) -> None:
        """Prepare a pool of these bots.

        `tell_pause` is called before each pause, for each bot that is unavailable, with the reason
        and the length of the pause in s.
        """
        self._tell_pause = tell_pause
        self._keep_stderr = keep_stderr
        self._sandbox = sandbox
        self._poller = poller
        self._commands = commands
        self._start_ms = start_ms
        self._bots: list[BotProcess | None] = [None] * len(commands)
        self._unjudged: list[BotProcess] = []
        self._voids = [0] * len(commands)

    async def start_missing(
        self, absent: Collection[int] = (), *, early: bool = False
    ) -> list[BotProcess | None]:
        """Return the bots for the next game; start lost ones afresh, but none for `absent`.

        `early`: the game begins later; a bot that fails to greet now is kept, to foul in that game.
        Raises CannotStartError, LagError.
        """
        if faulty := [bot for bot in self._bots if bot and bot.fault and bot not in self._unjudged]:
            await self._dismiss(faulty)
        # Dismissing cannot be cancelled; after it, a cancelled run must not start new bots.
        await trio.lowlevel.checkpoint_if_cancelled()
        wanted = [seat for seat, bot in enumerate(self._bots) if bot is None and seat not in absent]
        fresh = await self._start_available(wanted) if wanted else []
        self._unjudged = [bot for bot in fresh if early and bot.fault]
        return list(self._bots)

    async def _start_available(self, seats: list[int]) -> list[BotProcess]:
        """Start and greet bots; start one that is unavailable again after a pause, while it may.

        Such a start does not count: since its last game ended, nothing was told to the bot.
        """
        all_seats, pause_s = list(seats), FIRST_PAUSE_S
        voids = dict.fromkeys(seats, 0)
        while True:
            await self._greet(await self._start(seats))
            seats = [seat for seat in seats if self._may_start_again(seat)]
            if not seats:
                break
            unavailable = [bot for seat in seats if (bot := self._bots[seat])]
            for bot in unavailable:
                if bot.fault:
                    self._tell_pause(bot.fault.detail, pause_s)
            await self._dismiss(unavailable)
            await trio.sleep(pause_s)
            pause_s = min(PAUSE_GROWS * pause_s, LONGEST_PAUSE_S)
            for seat in seats:
                self._voids[seat] += 1
                voids[seat] += 1
        fresh = {seat: bot for seat in all_seats if (bot := self._bots[seat])}
        for seat, bot in fresh.items():
            bot.voids = voids[seat]
        return list(fresh.values())

    def _may_start_again(self, seat: int) -> bool:
        bot = self._bots[seat]
        most = self._sandbox.limits.unavailable
        return bot is not None and bot.is_unavailable and self._voids[seat] < most

    async def _greet(self, fresh: list[BotProcess]) -> None:
        """Wait for the hellos of fresh bots. Raises CannotStartError, LagError."""
        errors: list[Exception | None] = []

        async def greet(bot: BotProcess) -> None:
            errors.append(await Handshake(self._poller, bot, self._start_ms).greet())

        async with trio.open_nursery() as nursery:
            for bot in fresh:
                nursery.start_soon(greet, bot)
        for bot in fresh:
            if bot.fault and bot.never_ran:
                raise CannotStartError(f"the sandbox failed: {bot.stderr_tail()}")
        for error in filter(None, errors):
            raise error

    async def _start(self, seats: list[int]) -> list[BotProcess]:
        try:
            for seat in seats:
                command, sandbox = self._commands[seat], self._sandbox
                code = await read_first(command, sandbox)
                keeps = self._keep_stderr
                self._bots[seat] = BotProcess(command, sandbox, code, keeps_stderr=keeps)
        except CannotStartError:
            # A bot that was started but did not greet must not pass for one that did.
            await self.close()
            raise
        return [bot for seat in seats if (bot := self._bots[seat])]

    async def monitor(self) -> None:
        """Check every bot's limits at intervals, until cancelled."""
        while True:
            await trio.sleep(USAGE_CHECK_S)
            for bot in self._bots:
                if bot:
                    bot.check_limits()

    def cpu_ms(self) -> float:
        """Return the CPU time of all bots that are here, in ms, at the last look at each."""
        return sum(bot.cpu_seen_ms for bot in self._bots if bot)

    async def close(self) -> None:
        """Dismiss every bot, with its foul if it fouled; leave no process behind."""
        await self._dismiss([bot for bot in self._bots if bot])

    async def _dismiss(self, leaving: list[BotProcess]) -> None:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for bot in leaving:
                    self._bots[self._bots.index(bot)] = None
                    fault = bot.fault
                    nursery.start_soon(bot.shut_down, referee.bye(fault.detail if fault else ""))


class Handshake(ReplyWaiter):
    """The wait for one bot's hello."""

    def __init__(self, poller: Poller, bot: BotProcess, start_ms: int) -> None:
        super().__init__(poller)
        self._bot = bot
        # A busy machine must not decide: the host itself bounds the work until the hello.
        self._start_ms = 20 * start_ms if bot.frames else start_ms

    async def greet(self) -> Exception | None:
        """Wait until the bot has greeted, or has its `fault` set.

        Returns a LagError if nobody knows whether it was late, or a bug of ours.
        """
        self._bot.listen(self._poller, self)
        self.expect(self._bot, self._start_ms, self._poller.now())
        try:
            self._bot.send(referee.hello())
            await self.wait()
        finally:
            self._bot.set_listener(None)
        # Take up the CPU time of the start, so that no game is charged for it.
        self._bot.cpu_ms()
        return self.error

    def late(self) -> Fault:
        """Return the fault of a bot that did not greet in time."""
        return Fault("no_hello", f"No hello within {self._start_ms} ms.")

    def on_line(self, line: bytes, *_: object) -> None:
        """Judge the bot's first line."""
        hello = referee.parse_hello(line)
        if isinstance(hello, Fault):
            end, _rest = self._bot.last_words()
            words = f"It {end}, and had written no hello." if end else hello.detail
            detail = f"{words} It wrote: {printable(line, LONGEST_SHOWN_LINE)}"
            self._bot.disqualify(hello._replace(detail=detail))
        elif isinstance(hello, Unavailable):
            # Nothing that a sealed bot needs can be down: its excuse would only make all wait.
            self._bot.is_unavailable = not self._bot.frames
            detail = f"It said that it is unavailable: {printable(hello.why)}"
            self._bot.disqualify(Fault("no_hello", detail))
        else:
            self._bot.take_offer(hello.tables)
        self.finish()

    def on_fault(self, fault: Fault, _: float) -> None:
        """Stop a bot that did not greet."""
        self._bot.disqualify(fault)
        self.finish()
