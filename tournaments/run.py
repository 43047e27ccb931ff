"""Plays an event: sittings side by side, each result into the ledger, nothing lost on the way."""

import traceback
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

import trio

from arena.bots import Bot, CannotStartError
from arena.engine.chance import board_seed
from arena.gamelog import GameLog
from arena.pump import Pump
from arena.referee import Referee, Seating
from arena.sandbox.sandbox import Sandbox
from arena.table import TRIES, VOID, Bench, DisputedError, Table
from protocol import __version__
from protocol.records import LOG_FORMAT, Result, Sitting
from tournaments.event import Entrant, Event
from tournaments.folder import Folder, secret_of
from tournaments.fouls import forfeited
from tournaments.ledger import Ledger
from tournaments.schedule import PlannedGame, PlannedSitting

START_TRIES = 3
"""How often a process is started that the machine refused, before the run stops."""
MACHINE = (OSError, MemoryError, CannotStartError)
"""What the machine does to us: the run stops, and can go on later."""
START_PAUSE_S = 1.0
"""How long the machine is given in between."""

UNSEEN = (
    "(At sandbox level {level} it reads only the files that its command names: `folder` or `reads` "
    "in an event file add more, and --sandbox off shows whether that is the reason.)"
)
"""What is added when a bot does not start in the sandbox."""


class StoppedError(Exception):
    """The run cannot go on here and now; what was played is kept. The text is the reason."""


async def call_roll(event: Event, sandbox: Sandbox) -> str | None:
    """Start every bot once before the first game; what is wrong with the first that cannot greet.

    That is the user's error, and costs no game. Raises StoppedError when the machine is short of
    something.
    """
    pump = Pump()
    complaint = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pump.run)
        for entrant in (one for one in event.entrants if not one.retired):
            complaint = complaint or await _complaint(pump, entrant, event, sandbox)
        nursery.cancel_scope.cancel()
    return complaint


async def _complaint(pump: Pump, entrant: Entrant, event: Event, sandbox: Sandbox) -> str | None:
    """What is wrong with an entrant's bot, if it does not greet."""
    bench = Bench(pump, [entrant.command], event.clock.start_ms, sandbox)
    complaint = None
    try:
        (bot,) = await ready(bench)
        if bot and bot.fault:
            words = bot.last_words()
            said = f" Its stderr ends: {words}" if words else ""
            complaint = f"Bot {entrant.name} does not greet: {bot.fault.detail}{said}"
            if sandbox.level != "off":
                complaint += f" {UNSEEN.format(level=sandbox.level)}"
    except CannotStartError as error:
        complaint = f"Bot {entrant.name}: {error}."
    except StoppedError as stop:
        raise StoppedError(f"Bot {entrant.name}: {stop}") from stop
    finally:
        await bench.close()
    return complaint


class Runner:
    """What the sittings of one run share."""

    def __init__(
        self,
        folder: Folder,
        event: Event,
        ledger: Ledger,
        sandbox: Sandbox,
        finished: trio.MemorySendChannel[Result],
    ) -> None:
        self._folder = folder
        self._event = event
        self._ledger = ledger
        self._sandbox = sandbox
        self._finished = finished
        self._secret = secret_of(folder)
        self._pump = Pump()

    async def play(self, jobs: int) -> None:
        """Play what the ledger misses, `jobs` sittings at a time; each game goes to `finished`.

        The next stage begins when the results of the one before are there.

        Cancel it to stop: no process is left, and the next call goes on.
        Raises StoppedError when the machine refuses to go on.
        """
        async with self._finished, trio.open_nursery() as nursery:
            nursery.start_soon(self._pump.run)
            while stage := self._ledger.stage:
                plans = (plan for plan in stage if self._ledger.missing(plan))
                async with trio.open_nursery() as players:
                    for _ in range(jobs):
                        players.start_soon(self._player, plans)
                # A stage that nobody can finish would be asked for again, forever.
                assert self._ledger.stage is not stage, f"{stage[0].name} and others never end"
            nursery.cancel_scope.cancel()

    async def _player(self, plans: Iterator[PlannedSitting]) -> None:
        for plan in plans:
            try:
                await self._sit(plan)
            except* MACHINE as group:
                reason = innermost(group)
                raise StoppedError(f"The run stopped in sitting {plan.name}: {reason}.") from group

    async def _sit(self, plan: PlannedSitting) -> None:
        commands = [self._event.entrants[entrant].command for entrant in plan.seats]
        bench = Bench(self._pump, commands, self._event.clock.start_ms, self._sandbox)
        log = GameLog(self._folder.log(plan.name), self._record(plan))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(bench.look_after)
                for game in self._ledger.missing(plan):
                    await self._play_game(plan, game, bench, log)
                nursery.cancel_scope.cancel()
        finally:
            await bench.close()
            log.close()

    async def _play_game(
        self, plan: PlannedSitting, game: PlannedGame, bench: Bench, log: GameLog
    ) -> None:
        """Play it; again, by fresh processes, while it cannot be said whether a bot was late."""
        for number in range(1, TRIES + 1):
            try:
                result = await self._played(plan, game, bench, log, final=number == TRIES)
                break
            except DisputedError:
                # They have seen the board; nobody may meet it twice.
                await bench.close(VOID)
        await trio.to_thread.run_sync(log.sync)
        self._ledger.add(result)
        await self._finished.send(result)

    async def _played(
        self, plan: PlannedSitting, game: PlannedGame, bench: Bench, log: GameLog, *, final: bool
    ) -> Result:
        """The result; what spoils the game on our side voids it and stops the run.

        Raises DisputedError.
        """
        seating = self._seating(plan, game)
        try:
            referee = Referee(seating, board_seed(self._secret, self._event.name, game.board))
            # What forfeits have decided needs nobody to sit down.
            absent = range(len(plan.seats)) if referee.result else seating.forfeited
            bots = await ready(bench, absent)
            return await Table(self._pump, referee, bots, log, final=final).play()
        except (*MACHINE, DisputedError, StoppedError):
            raise
        except Exception as bug:
            raise StoppedError(crashed(self._folder, bug, f"in game {game.name}")) from bug

    def _seating(self, plan: PlannedSitting, game: PlannedGame) -> Seating:
        return Seating(
            game=game.name,
            number=game.number,
            board=game.board,
            seats=self._names(plan),
            rules=self._event.rules,
            clock=self._event.clock,
            fouls=self._event.fouls,
            forfeited=forfeited(self._event.fouls, plan, game, self._ledger.results),
        )

    def _names(self, plan: PlannedSitting) -> tuple[str, ...]:
        return tuple(self._event.entrants[entrant].name for entrant in plan.seats)

    def _record(self, plan: PlannedSitting) -> Sitting:
        return Sitting(
            format=LOG_FORMAT,
            boneyard=__version__,
            event=self._event.name,
            seats=self._names(plan),
            boards=tuple(game.board for game in plan.games),
            rules=self._event.rules,
            clock=self._event.clock,
            fouls=self._event.fouls,
            sandbox=self._sandbox.level,
            missing=self._sandbox.missing,
        )


async def ready(bench: Bench, absent: Collection[int] = ()) -> list[Bot | None]:
    """Bots for the next game, trying again while the machine is short of something.

    Raises StoppedError when it stays so, CannotStartError when trying again cannot help.
    """
    number = 1
    while True:
        try:
            return await bench.ready(absent)
        except CannotStartError as error:
            if not error.shortage:
                raise
            if number == START_TRIES:
                raise StoppedError(f"The run stopped, tried {number} times: {error}.") from error
        await trio.sleep(START_PAUSE_S)
        number += 1


def crashed(folder: Folder, bug: BaseException, where: str) -> str:
    """Keep what is known about a bug of ours; the sentence for the user."""
    with suppress(OSError):
        folder.crash.write_text("".join(traceback.format_exception(bug)))
    return (
        f"Boneyard itself failed {where}; nothing that was going on counts. "
        f"Please report {folder.crash}."
    )


def innermost(group: BaseExceptionGroup[Any]) -> BaseException:
    """The first error that really happened, under the nurseries it passed through."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
