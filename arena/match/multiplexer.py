"""One process at many tables: each game has its share of a bot that said it can play several.

Questions of one slice of the pump are written together; each line that comes back goes to the game
whose question it answers. What spoils the process spoils all its games: they have only this one.
"""

from collections import deque
from collections.abc import Callable

from arena.match.bot_process import BotProcess, ignore
from arena.match.poller import Poller
from arena.match.referee import QUESTIONS_A_GAME, STALE_LINES
from protocol.codec import Fault, decode_line, printable
from protocol.messages import Choose

LINES_AT_ONCE = 256
"""Lines of one process that are handed on before other processes have their turn."""


class MultiplexedBot:
    """Hands the lines of one process to its tables, and says theirs together."""

    def __init__(self, pump: Poller, bot: BotProcess) -> None:
        self.bot = bot
        self.judged: GameChannel | None = None
        """The table that called the foul for which the process was stopped, if one did."""
        self._pump = pump
        self._shares: dict[int, GameChannel] = {}
        self._said = bytearray()
        self._stale = 0
        self._told = False
        bot.on_input(self._heard)

    def open_channel(self, number: int) -> "GameChannel":
        """What the game with this number has of the bot, until it gives it back."""
        share = self._shares[number] = GameChannel(self, number)
        return share

    def release(self, number: int) -> None:
        """The game is over: what still comes for it is late."""
        del self._shares[number]

    def send(self, line: bytes) -> None:
        """Say a line, together with what the other tables say in this slice."""
        if not self._said:
            self._pump.call_soon(self.flush_all)
        self._said += line

    def disqualify(self, fault: Fault, judged: "GameChannel | None" = None) -> None:
        """The process is stopped; every table but the one that judged it is told, once."""
        if self._told:
            return
        self._told, self.judged = True, judged
        self.bot.disqualify(fault)
        for share in [one for one in self._shares.values() if one is not judged]:
            share.lost()

    def flush_all(self) -> None:
        """Say now what waits for the end of the slice: nothing may be said once the bot leaves."""
        said, self._said = bytes(self._said), bytearray()
        if said:
            self.bot.send(said)

    def take_in(self) -> None:
        """Read all that the process has written up to now, and hand it on."""
        self.bot.take_in()
        while (line := self.bot.next_line()) is not None:
            self._hand_on(line)
        if self.bot.fault:
            self.disqualify(self.bot.fault)

    def _heard(self) -> None:
        for _ in range(LINES_AT_ONCE):
            line = self.bot.next_line()
            if line is None:
                break
            self._hand_on(line)
        else:
            self._pump.call_soon(self._heard)
            return
        if self.bot.fault:
            self.disqualify(self.bot.fault)

    def _hand_on(self, line: bytes) -> None:
        """A line that names no game of ours is nobody's answer; it spoils the process."""
        said = decode_line(line)
        if isinstance(said, Fault):
            self.disqualify(Fault(said.foul, f"{said.detail} It wrote: {printable(line)}"))
        elif not isinstance(said, Choose):
            self.disqualify(Fault("malformed", "A hello belongs to the first line."))
        elif share := self._shares.get(said.id // QUESTIONS_A_GAME):
            share.receive(line, self.bot.read_at)
        else:
            self._late(said.id)

    def _late(self, number: int) -> None:
        self._stale += 1
        if self._stale > STALE_LINES:
            detail = f"More than {STALE_LINES} answers to games that were over, as {number}."
            self.disqualify(Fault("flooding", detail))


class GameChannel:
    """What one table has of a shared bot: it speaks and hears as if the process were its own."""

    def __init__(self, shared: MultiplexedBot, number: int) -> None:
        self._shared = shared
        self._number = number
        self._lines: deque[tuple[bytes, float]] = deque()
        self._heard: Callable[[], None] = ignore
        self.read_at = 0.0

    @property
    def fault(self) -> Fault | None:
        """What the process was stopped for, at this table or another."""
        fault, judged = self._shared.bot.fault, self._shared.judged
        if fault and judged not in (None, self):
            return Fault("gone", f"Stopped for a foul in another game of its: {fault.detail}")
        return fault

    @property
    def cpu_seen_ms(self) -> None:
        """Nobody can say what one game of many took."""
        return

    def cpu_ms(self) -> None:
        """Nobody can say it later either."""
        return

    def on_input(self, heard: Callable[[], None]) -> None:
        """Who is called when a line has come or the process is lost."""
        self._heard = heard

    def send(self, line: bytes) -> None:
        """Say a line at the end of this slice of the pump."""
        self._shared.send(line)

    def take_in(self) -> None:
        """Read all that the process has written up to now, whichever table it is for."""
        self._shared.take_in()

    def next_line(self) -> bytes | None:
        """The next line for this table, or None."""
        if not self._lines:
            return None
        line, self.read_at = self._lines.popleft()
        return line

    def receive(self, line: bytes, read_at: float) -> None:
        """A line for this table, and when it was read."""
        if len(self._lines) > STALE_LINES:
            self._shared.disqualify(
                Fault("flooding", f"More than {STALE_LINES} lines for one game.")
            )
        else:
            self._lines.append((line, read_at))
            self._heard()

    def lost(self) -> None:
        """The process is gone, and with it what it wrote."""
        self._lines.clear()
        self._heard()

    def disqualify(self, fault: Fault) -> None:
        """This table has judged a foul: the process is stopped, its other games are lost too."""
        self._lines.clear()
        self._shared.disqualify(fault, self)

    def stderr_tail(self) -> str:
        """The end of the process's stderr, safe to show."""
        return self._shared.bot.stderr_tail()

    def shut_down(self) -> None:
        """The game is over."""
        self._shared.release(self._number)
