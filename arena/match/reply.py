"""The wait for a player's line under a clock: tables, handshakes and reasks wait this way."""

from collections.abc import Callable

import trio

from arena.match.player import Player
from arena.match.poller import Poller
from protocol.codec import Fault
from protocol.messages import FromBot

LINES_AT_ONCE = 32
"""The most lines that one wait takes before others have their turn: a bot that writes answers in
advance must not keep the poller for itself."""


class ReplyWaiter:
    """The wait for one reply after another; a subclass judges what comes.

    A line that lay in the pipe at the look after the deadline counts: only then is the player late.
    """

    def __init__(self, poller: Poller) -> None:
        self.error: Exception | None = None
        """The lag, or the bug of ours, that ended the wait; it voids this wait and no other."""
        self._poller = poller
        self._player: Player | None = None
        self._deadline = poller.deadline(self._expired, self.fail)
        self._over = trio.Event()

    def on_line(self, line: bytes, ms: float, message: FromBot | None = None) -> None:
        """Judge a line for which the player is charged this time.

        `message`: the message in the line, if it was decoded before.
        """
        raise NotImplementedError

    def on_fault(self, fault: Fault, ms: float) -> None:
        """Judge a player that is gone or late, charged this time; nothing more comes from it."""
        raise NotImplementedError

    def late(self) -> Fault:
        """Return the fault of a player that did not reply in time."""
        return Fault("late", f"No answer within {self._deadline.limit_ms} ms.")

    def expect(self, player: Player, limit_ms: int, now: float) -> None:
        """Wait for this player from now on."""
        self._player = player
        self._deadline.begin(now, limit_ms)
        if self._deadline.at < self._poller.soonest:
            self._poller.wake_by(self._deadline.at)

    async def wait(self) -> None:
        """Wait until the last reply was judged or `error` is set."""
        self._poller.add_timer(self._deadline)
        try:
            await self._over.wait()
        finally:
            self._poller.remove_timer(self._deadline)

    def finish(self) -> None:
        """End the wait: no further reply is expected."""
        self._player = None
        self._deadline.end()
        self._over.set()

    def fail(self, error: Exception) -> None:
        """End the wait because of a lag or a bug of ours: nobody can judge the player."""
        self.error = error
        self.finish()

    def hear(self) -> None:
        """Take the player's lines until none is left: a player wrote, or is gone."""
        self.guard(self._take_lines)

    def hear_line(self, player: Player, line: bytes, message: FromBot | None = None) -> None:
        """Judge a player's line at once; keep it if another player is asked."""
        if player is not self._player:
            return player.put_back(line)
        try:
            self.on_line(line, self._deadline.charged_ms(player.read_at), message)
            asked = self._player
            if asked is not None and asked.has_input:
                self._take_lines()
        except Exception as bug:
            self.fail(bug)

    def guard(self, work: Callable[[], None]) -> None:
        """Call the work; a bug in it ends this wait and not the poller's other work."""
        try:
            work()
        except Exception as bug:
            self.fail(bug)

    def _take_lines(self) -> None:
        for _ in range(LINES_AT_ONCE):
            player = self._player
            if player is None:
                return
            line = player.next_line()
            if line is not None:
                self.on_line(line, self._deadline.charged_ms(player.read_at))
            elif player.fault:
                self.on_fault(player.fault, self._deadline.charged_ms(self._poller.now()))
            else:
                return
        self._poller.call_soon(self.hear)

    def _expired(self) -> None:
        self.guard(self._too_late)

    def _too_late(self) -> None:
        """Look at the pipe once more after the deadline; a line that is there counts."""
        assert self._player, "A deadline runs while a player is expected."
        due = self._deadline.at
        self._player.take_in()
        self._take_lines()
        # After a reply the deadline is a later one, or none; a stale line leaves it as it was.
        if self._deadline.at == due:
            self.on_fault(self.late(), float(self._deadline.limit_ms))
