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
from arena.sandbox.select import choose_sandbox
from protocol.codec import encode_line
from protocol.errors import UserError
from protocol.records import LogRecord, Result
from tournaments.cluster.bundles import unpack_bot
from tournaments.cluster.orders import (
    MOST_S,
    Answer,
    Fate,
    Order,
    OrderPart,
    Output,
    Run,
    Unplayed,
    decoded,
    encoded,
)
from tournaments.plan.event import Event
from tournaments.runner.exit import MACHINE, RunStoppedError, root_cause
from tournaments.runner.greetings import check_greetings
from tournaments.runner.lanes import Lanes
from tournaments.runner.machine import machine
from tournaments.runner.sitting import InternalGameError, SittingRunner, keep_bots
from tournaments.schedule.schedule import PlannedGame
from tournaments.schedule.seating import has_dependent_games, seating, with_values


class Records:
    """The log of an order's part, in memory: its games count only if the whole answer arrives."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append records."""
        self.lines += map(encode_line, records)


class OrderRunner:
    """A player of orders, side by side, in the thread that made it."""

    def __init__(
        self, poller: Poller, name: str, folder: Path, proven: Sandbox, lanes: Lanes
    ) -> None:
        """`folder`: place to unpack bots. `proven`: the sandbox that this machine proved. `lanes`:
        the sittings that play side by side.
        """
        self._lanes = lanes
        self._poller = poller
        self._name = name
        self._folder = folder
        self._proven = proven
        self._runs: dict[str, Run] = {}
        self._ready: dict[tuple[str, bool], Command] = {}
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

    async def _played(self, order: Order) -> Output:
        run = self._runs.get(order.run)
        if run is None:
            raise RunStoppedError("It does not know this run")
        sandbox = self._sandbox(run.event)
        began = time.monotonic()
        logs = [Records() for _ in order.parts]
        async with trio.open_nursery() as nursery:
            for part, log in zip(order.parts, logs, strict=True):
                nursery.start_soon(
                    self._sit, run, order.seeds, part, log, logs, sandbox, began + MOST_S
                )
        return Output(
            worker=self._name,
            confinement=sandbox.confinement,
            machine=machine(),
            seconds=time.monotonic() - began,
            lines=tuple(line for log in logs for line in log.lines),
        )

    async def _sit(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        part: OrderPart,
        log: Records,
        logs: Sequence[Records],
        sandbox: Sandbox,
        end: float,
    ) -> None:
        """Play one of an order's parts, but begin no game after `end` except the order's first."""
        plan = part.plan
        plain = [await self._command(run, seat, sandbox) for seat in plan.seats]
        commands = with_values(run.event, plan.values, plain)
        if not part.games:
            return
        start_ms, keep = run.event.clock.start_ms, run.keep_stderr
        pool = BotPool(self._poller, commands, start_ms, sandbox, keep_stderr=keep)
        early = not has_dependent_games(run.event)
        async with (
            self._lanes.staffed(pool),
            keep_bots(pool, start=early),
            self._lanes.playing(pool) as rise,
        ):
            try:
                if time.monotonic() < end or not any(one.lines for one in logs):
                    await self._play(run, seeds, part, log, pool, end)
            finally:
                # The worker lives on after an order that fails.
                rise()

    async def _play(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        part: OrderPart,
        log: Records,
        pool: BotPool,
        end: float,
    ) -> None:
        """Play with these bots; begin no other game after `end`."""
        results = {result.game: result for result in part.results}
        numbers = dict(zip(part.games, part.numbers, strict=True))

        async def over(result: Result) -> None:
            results[result.game] = result
            if time.monotonic() >= end:
                sitter.leave_off()

        def referee(game: PlannedGame) -> Referee:
            seated = seating(run.event, part.plan, game, numbers[game], results)
            return Referee(seated, seeds[game.board])

        sitter = SittingRunner(self._poller, pool, log, referee, over)
        await sitter.play(part.games, several=not has_dependent_games(run.event))

    def _sandbox(self, event: Event) -> Sandbox:
        if event.sandbox == "off":
            return choose_sandbox("off", event.limits, self._folder)
        return Sandbox(self._proven.confinement, event.limits)

    async def _command(self, run: Run, entrant: int, sandbox: Sandbox) -> Command:
        """Return the command of an entrant's bot; unpack, build and greet it the first time.

        Raises UserError, RunStoppedError, OSError.
        """
        bundle = run.bundles[entrant]
        assert bundle, "Who is retired does not play."
        # One bot after the other: each build has the machine to itself.
        async with self._preparing:
            key = bundle.name, sandbox.is_locked
            if key not in self._ready:
                bot = await trio.to_thread.run_sync(unpack_bot, bundle, self._folder)
                alone = [replace(bot, name=run.event.entrants[entrant].name)]
                start_ms = run.event.clock.start_ms
                await check_greetings(alone, start_ms, sandbox, at_home=False)
                self._ready[key] = bot.command
            return self._ready[key]

    def _unplayed(self, error: Exception) -> Unplayed:
        """Return the answer that tells the run what went wrong."""
        cause = root_cause(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(cause, (*MACHINE, RunStoppedError, UserError)):
            fate: Fate = "bot" if isinstance(cause, UserError) else "machine"
            return Unplayed(self._name, fate, str(cause).rstrip("."))
        game = str(cause) if isinstance(cause, InternalGameError) else ""
        trace = "".join(traceback.format_exception(error))
        return Unplayed(self._name, "bug", trace, game)
