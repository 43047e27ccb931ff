"""Plays an event: sittings side by side, each result into the ledger, nothing lost on the way."""

import traceback
from typing import Any

import trio

from arena.bots import Bot, CannotStartError
from arena.engine.chance import board_seed
from arena.gamelog import GameLog
from arena.pump import Pump
from arena.referee import Referee, Seating
from arena.sandbox.sandbox import Sandbox
from arena.table import Bench, Table
from protocol import __version__
from protocol.records import LOG_FORMAT, Result, Sitting
from tournaments.event import Entrant, Event
from tournaments.folder import Folder, secret_of
from tournaments.ledger import Ledger
from tournaments.schedule import PlannedGame, PlannedSitting, sittings

START_TRIES = 3
"""How often a process is started that the machine refused, before the run stops."""
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

    That is the user's error, and costs no game.
    """
    pump = Pump()
    complaint = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pump.run)
        for entrant in event.entrants:
            complaint = complaint or await _complaint(pump, entrant, event, sandbox)
        nursery.cancel_scope.cancel()
    return complaint


async def _complaint(pump: Pump, entrant: Entrant, event: Event, sandbox: Sandbox) -> str | None:
    """What is wrong with an entrant's bot, if it does not greet."""
    bench = Bench(pump, [entrant.command], event.clock.start_ms, sandbox)
    complaint = None
    try:
        (bot,) = await bench.ready()
        if bot.fault:
            words = bot.last_words()
            said = f" Its stderr ends: {words}" if words else ""
            complaint = f"Bot {entrant.name} does not greet: {bot.fault.detail}{said}"
            if sandbox.level != "off":
                complaint += f" {UNSEEN.format(level=sandbox.level)}"
    except CannotStartError as error:
        complaint = f"Bot {entrant.name}: {error}."
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
        self._plans = (plan for plan in sittings(event) if ledger.missing(plan))

    async def play(self, jobs: int) -> None:
        """Play what the ledger misses, `jobs` sittings at a time; each game goes to `finished`.

        Cancel it to stop: no process is left, and the next call goes on.
        Raises StoppedError when the machine refuses to go on.
        """
        async with self._finished, trio.open_nursery() as nursery:
            nursery.start_soon(self._pump.run)
            async with trio.open_nursery() as players:
                for _ in range(jobs):
                    players.start_soon(self._player)
            nursery.cancel_scope.cancel()

    async def _player(self) -> None:
        for plan in self._plans:
            try:
                await self._sit(plan)
            except* OSError as group:
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
        bots = await ready(bench)
        seating = Seating(
            game=game.name,
            number=game.number,
            board=game.board,
            seats=self._names(plan),
            rules=self._event.rules,
            clock=self._event.clock,
        )
        referee = Referee(seating, board_seed(self._secret, self._event.name, game.board))
        result = await self._result(Table(self._pump, referee, bots, log), game)
        await trio.to_thread.run_sync(log.sync)
        self._ledger.add(result)
        await self._finished.send(result)

    async def _result(self, table: Table, game: PlannedGame) -> Result:
        """The game's result; what spoils a game on our side voids it and stops the run."""
        try:
            return await table.play()
        except OSError:
            raise  # The machine's doing: the sitting stops the run.
        except Exception as bug:
            self._folder.crash.write_text("".join(traceback.format_exception(bug)))
            raise StoppedError(
                f"Boneyard itself failed in game {game.name}, which does not count; "
                f"please report {self._folder.crash}."
            ) from bug

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
            sandbox=self._sandbox.level,
            missing=self._sandbox.missing,
        )


async def ready(bench: Bench) -> list[Bot]:
    """Bots for the next game, trying again when the machine is short of something.

    Raises StoppedError.
    """
    for _ in range(START_TRIES - 1):
        try:
            return await bench.ready()
        except CannotStartError:
            await trio.sleep(START_PAUSE_S)
    try:
        return await bench.ready()
    except CannotStartError as error:
        raise StoppedError(f"The run stopped: {error}.") from error


def innermost(group: BaseExceptionGroup[Any]) -> BaseException:
    """The first error that really happened, under the nurseries it passed through."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
