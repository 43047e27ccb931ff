"""One bot process at many tables: each game has a channel to a bot that can play several.

Questions of one slice of the poller are written together (measured with a C bot: 88 µs a move at
one table, 3.8 µs at 128). Each answer goes to the game of its question. A fault of the process
spoils all its games: they have no other process.
"""

from collections import deque

from arena.match.bot_process import BotProcess
from arena.match.player import Evidence, Listener, Player
from arena.match.poller import Poller
from arena.match.referee import QUESTIONS_A_GAME, STALE_LINES
from protocol.codec import Fault, decode_line, printable
from protocol.messages import Choose

LINES_AT_ONCE = 256
"""The most lines of one process that are routed before other processes have their turn."""


class MultiplexedBot:
    """The multiplexer of one process: it routes its lines to tables and sends theirs together."""

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

    def disqualify(self, fault: Fault, judged: "GameChannel | None" = None) -> None:
        """Stop the process; tell every table once, but not the one that judged the foul."""
        if self._is_stopped:
            return
        self._is_stopped, self.fouled_at = True, judged
        self.bot.disqualify(fault)
        for channel in [one for one in self._channels.values() if one is not judged]:
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
        lines = self.bot.take_lines(LINES_AT_ONCE)
        for line in lines:
            # A foul in one line drops those after it.
            if self._is_stopped:
                return
            self._hand_on(line)
        if len(lines) == LINES_AT_ONCE:
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
        fault, judged = self._multiplexer.bot.fault, self._multiplexer.fouled_at
        if fault and judged not in (None, self):
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
        """Return that of the process, but no CPU time: nobody can tell that of one of its games."""
        return Evidence(*self._multiplexer.bot.evidence()[:4])

    def shut_down(self) -> None:
        """Close the channel, for the game is over."""
        self._multiplexer.release(self._number)
