"""Play one sitting: its games in turn, or several at once if all its bots can do that."""

from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager

import trio

from arena.analysis.crash import crash_line, name_crash
from arena.logs.gamelog import Log, WholeGame
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess
from arena.match.multiplexer import MultiplexedBot
from arena.match.piped_process import CannotStartError
from arena.match.player import Player
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.match.table import Table
from tournaments.runner.commit import Over
from tournaments.runner.exit import MACHINE, RunStoppedError
from tournaments.schedule.schedule import PlannedGame

START_TRIES = 3
"""Attempts to start a process that the machine refuses, before the run stops."""
START_PAUSE_S = 1.0
"""Pause between two attempts, in s."""


class InternalGameError(Exception):
    """A bug of ours, the cause, spoilt the game that the text names; the game does not count."""


class SittingRunner:
    """The unplayed games of a sitting, the bots that play them, and their log."""

    def __init__(
        self,
        poller: Poller,
        pool: BotPool,
        log: Log,
        referee: Callable[[PlannedGame], Referee],
        over: Over,
    ) -> None:
        self._poller = poller
        self._pool = pool
        self._log = log
        self._referee = referee
        self._over = over
        self._left: deque[PlannedGame] = deque()

    def leave_off(self) -> None:
        """Begin no other game."""
        self._left.clear()

    async def play(self, games: Iterable[PlannedGame], *, several: bool) -> None:
        """Play the games; each result goes to `over`.

        `several`: no game depends on an earlier one, so bots that can play several at once do so.
        Raises RunStoppedError, InternalGameError, OSError, CannotStartError, LagError.
        """
        self._left.extend(games)
        while self._left:
            referee = self._new_referee(self._left[0])
            # A game that forfeits have decided needs no bots.
            bots = await start_bots(self._pool, empty_seats(referee))
            present = [bot for bot in bots if bot]
            tables = min((bot.tables for bot in present), default=1) if several else 1
            if min(tables, len(self._left)) > 1:
                await self._play_several(present, tables)
            else:
                await self._play_game(self._left.popleft(), referee, bots, self._log)

    async def _play_several(self, bots: list[BotProcess], tables: int) -> None:
        """Play at several tables at once until no game is left or these bots cannot go on."""
        shared = [MultiplexedBot(self._poller, bot) for bot in bots]
        async with trio.open_nursery() as nursery:
            for _ in range(min(tables, len(self._left))):
                nursery.start_soon(self._play_on, shared)
        for one in shared:
            one.flush_all()

    async def _play_on(self, shared: list[MultiplexedBot]) -> None:
        """Play game after game at one table."""
        while self._left and not any(one.bot.fault for one in shared):
            game = self._left.popleft()
            referee = self._new_referee(game)
            shares = [one.open_channel(referee.setup.number) for one in shared]
            log = WholeGame(self._log)
            try:
                await self._play_game(game, referee, shares, log)
            finally:
                log.flush()
            for share in shares:
                share.shut_down()

    def _new_referee(self, game: PlannedGame) -> Referee:
        try:
            return self._referee(game)
        except MACHINE:
            raise
        except Exception as bug:
            raise InternalGameError(game.name) from bug

    async def _play_game(
        self,
        game: PlannedGame,
        referee: Referee,
        seated: Collection[Player | None],
        log: Log,
    ) -> None:
        try:
            result = await Table(self._poller, referee, [*seated], log).play()
        except MACHINE:
            raise
        except Exception as bug:
            raise InternalGameError(game.name) from bug
        await self._over(result)


@asynccontextmanager
async def keep_bots(pool: BotPool, *, start: bool) -> AsyncIterator[None]:
    """Watch the limits of a sitting's bots inside the block, and end the bots after it.

    `start`: start them all first, so that they are ready before their sitting's turn comes.
    Raises RunStoppedError, CannotStartError, LagError.
    """
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pool.monitor)
            if start:
                await start_bots(pool, early=True)
            yield
            nursery.cancel_scope.cancel()
    finally:
        await pool.close()


def empty_seats(referee: Referee) -> Collection[int]:
    """Return the seats that stay empty: they have forfeited, or the game is already decided."""
    setup = referee.setup
    return range(len(setup.seats)) if referee.result else setup.forfeited


async def start_bots(
    pool: BotPool, absent: Collection[int] = (), *, early: bool = False
) -> list[BotProcess | None]:
    """Start the bots for the next game; try again while the machine is short of something.

    `absent`, `early`: see `BotPool.start_missing`.
    Raises RunStoppedError if the shortage lasts, CannotStartError if trying again cannot help, and
    LagError.
    """
    number = 1
    while True:
        try:
            return await pool.start_missing(absent, early=early)
        except CannotStartError as error:
            if not error.shortage:
                raise
            if number == START_TRIES:
                raise RunStoppedError(f"The run stopped after {number} tries: {error}.") from error
        await trio.sleep(START_PAUSE_S)
        number += 1


def greeting_complaint(name: str, bot: BotProcess) -> str | None:
    """Say why the bot of this entrant did not greet; None if it did."""
    if bot.fault is None:
        return None
    words = bot.stderr_tail()
    said = f" Its stderr ends: {words}" if words else ""
    if crash_line(words):
        said = f" It crashed: {name_crash(words)}."
    return f"Bot {name} sends no hello: {bot.fault.detail}{said}"
