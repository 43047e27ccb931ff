"""The order runner of a worker: one poller and one thread, in which all its bots are started.

Bots die with the thread that started them, so this thread takes all orders.
"""

import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import trio
from msgspec.structs import replace

from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from protocol.codec import encode_line
from protocol.errors import UserError
from protocol.records import LogRecord, Result
from tournaments.cluster.bundles import Bundle, unpack_bot
from tournaments.cluster.orders import (
    MOST_S,
    Answer,
    Fate,
    Order,
    OrderPart,
    Played,
    Run,
    Unplayed,
    decoded,
    encoded,
)
from tournaments.plan.event import Event
from tournaments.runner.exit import MACHINE, RunStoppedError, root_cause
from tournaments.runner.machine import machine
from tournaments.runner.runner import check_greetings
from tournaments.runner.sitting import InternalGameError, SittingRunner, keep_bots
from tournaments.schedule.schedule import PlannedGame
from tournaments.schedule.seating import has_dependent_games, seating


class Records:
    """The log of an order in play: lines in memory, because they count only if all arrive."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append records."""
        self.lines += map(encode_line, records)


class OrderRunner:
    """A player of orders, side by side, in the thread that made it."""

    def __init__(self, poller: Poller, name: str, folder: Path, proven: Sandbox) -> None:
        """`folder`: place to unpack bots. `proven`: the sandbox that this machine proved."""
        self._poller = poller
        self._name = name
        self._folder = folder
        self._proven = proven
        self._runs: dict[str, Run] = {}
        self._ready: dict[tuple[str, str], Command] = {}
        self._preparing = trio.Lock()
        self._going: set[trio.CancelScope] = set()

    def add_run(self, run: str, data: bytes) -> None:
        """Accept orders of this run from now on. Any thread may call this."""
        self._runs[run] = decoded(data, Run)

    def remove_run(self, run: str) -> None:
        """Forget a run that is over. Any thread may call this."""
        self._runs.pop(run, None)

    def cancel_all(self) -> None:
        """Cancel all orders: nobody waits for their answers any more."""
        for scope in self._going:
            scope.cancel()

    async def play(self, data: bytes) -> bytes:
        """Play an order and return the answer. Failures go into the answer and are never raised."""
        answer: Answer = Unplayed(self._name, "left", "It was told to leave")
        with trio.CancelScope() as scope:
            self._going.add(scope)
            try:
                answer = await self._played(decoded(data, Order))
            except Exception as error:
                answer = self._unplayed(error)
            finally:
                self._going.discard(scope)
        return encoded(answer)

    async def _played(self, order: Order) -> Played:
        run = self._runs.get(order.run)
        if run is None:
            raise RunStoppedError("It does not know this run")
        sandbox = self._sandbox(run.event)
        records, began = Records(), time.monotonic()
        for part in order.parts:
            if not records.lines or time.monotonic() - began < MOST_S:
                await self._sit(run, order.seeds, part, sandbox, records, began + MOST_S)
        return Played(
            worker=self._name,
            level=sandbox.level,
            missing=sandbox.missing,
            machine=machine(),
            seconds=time.monotonic() - began,
            lines=tuple(records.lines),
        )

    async def _sit(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        part: OrderPart,
        sandbox: Sandbox,
        records: Records,
        end: float,
    ) -> None:
        """Play a part, but begin no game after `end` except the first."""
        commands = [await self._command(run, seat, sandbox) for seat in part.plan.seats]
        pool = BotPool(self._poller, commands, run.event.clock.start_ms, sandbox)
        results = {result.game: result for result in part.results}
        numbers = dict(zip(part.games, part.numbers, strict=True))

        async def over(result: Result) -> None:
            results[result.game] = result
            if time.monotonic() >= end:
                sitter.leave_off()

        def referee(game: PlannedGame) -> Referee:
            seated = seating(run.event, part.plan, game, numbers[game], results)
            return Referee(seated, seeds[game.board])

        sitter = SittingRunner(self._poller, pool, records, referee, over)
        async with keep_bots(pool, start=False):
            await sitter.play(part.games, several=not has_dependent_games(run.event))

    def _sandbox(self, event: Event) -> Sandbox:
        if event.sandbox == "off":
            return choose_level("off", event.limits, self._folder)
        return Sandbox(self._proven.level, event.limits, self._proven.missing)

    async def _command(self, run: Run, entrant: int, sandbox: Sandbox) -> Command:
        """Return the command of an entrant's bot; unpack, build and greet it the first time.

        Raises UserError, RunStoppedError, OSError.
        """
        bundle = run.bundles[entrant]
        assert bundle, "Who is retired does not play."
        # One bot after the other: each build has the machine to itself.
        async with self._preparing:
            key = bundle.name, sandbox.level
            if key not in self._ready:
                name, clock = run.event.entrants[entrant].name, run.event.clock
                self._ready[key] = await self._prepared(bundle, name, clock.start_ms, sandbox)
            return self._ready[key]

    async def _prepared(
        self, bundle: Bundle, name: str, start_ms: int, sandbox: Sandbox
    ) -> Command:
        entrant = await trio.to_thread.run_sync(unpack_bot, bundle, self._folder)
        alone = [replace(entrant, name=name)]
        complaint = await check_greetings(alone, start_ms, sandbox, at_home=False)
        if complaint is not None:
            raise UserError(complaint)
        return entrant.command

    def _unplayed(self, error: Exception) -> Unplayed:
        """Return the answer that tells the run what went wrong."""
        cause = root_cause(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(cause, (*MACHINE, RunStoppedError, UserError)):
            fate: Fate = "bot" if isinstance(cause, UserError) else "machine"
            return Unplayed(self._name, fate, str(cause).rstrip("."))
        game = str(cause) if isinstance(cause, InternalGameError) else ""
        trace = "".join(traceback.format_exception(error))
        return Unplayed(self._name, "bug", trace, game)
