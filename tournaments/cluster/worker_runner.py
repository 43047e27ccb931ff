"""The order runner of a worker: one poller and one thread, in which all its bots are started.

While bots are quick, the games of an order are shared among several sittings of them.

Bots die with the thread that started them, so this thread takes all orders.
"""

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

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

LEAST = 8
"""The fewest games of an order for which more processes of its bots are started."""


class Records:
    """The log of an order in play: lines in memory, because they count only if all arrive."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append records."""
        self.lines += map(encode_line, records)


class Share(NamedTuple):
    """A part of an order, or a piece of one, that fresh processes play."""

    part: OrderPart
    """Its games."""
    records: Records
    """Their log."""


class OrderRunner:
    """A player of orders, side by side, in the thread that made it."""

    def __init__(
        self, poller: Poller, name: str, folder: Path, proven: Sandbox, jobs: int, lanes: Lanes
    ) -> None:
        """`folder`: place to unpack bots. `proven`: the sandbox that this machine proved. `jobs`:
        orders that come at one time; `lanes`: the sittings that play them.
        """
        self._jobs = jobs
        self._lanes = lanes
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

    async def _played(self, order: Order) -> Output:
        run = self._runs.get(order.run)
        if run is None:
            raise RunStoppedError("It does not know this run")
        sandbox = self._sandbox(run.event)
        began = time.monotonic()
        shares = [Share(part, Records()) for part in self._shared(run.event, order)]
        async with trio.open_nursery() as nursery:
            for share in shares:
                nursery.start_soon(
                    self._sit, run, order.seeds, share, shares, sandbox, began + MOST_S
                )
        return Output(
            worker=self._name,
            level=sandbox.level,
            missing=sandbox.missing,
            machine=machine(),
            seconds=time.monotonic() - began,
            lines=tuple(line for share in shares for line in share.records.lines),
        )

    def _shared(self, event: Event, order: Order) -> Iterator[OrderPart]:
        """Yield the order's parts, long ones in pieces if more sittings may play than orders."""
        wanted = max(1, self._lanes.width // self._jobs)
        pieces = 1 if has_dependent_games(event) else ceil(wanted / len(order.parts))
        for part in order.parts:
            size = max(LEAST, ceil(len(part.games) / pieces)) if pieces > 1 else len(part.games)
            for at in range(0, max(1, len(part.games)), max(1, size)):
                piece = slice(at, at + size)
                yield replace(part, games=part.games[piece], numbers=part.numbers[piece])

    async def _sit(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        share: Share,
        shares: Sequence[Share],
        sandbox: Sandbox,
        end: float,
    ) -> None:
        """Play one of an order's shares, but begin no game after `end` except the order's first."""
        plan = share.part.plan
        plain = [await self._command(run, seat, sandbox) for seat in plan.seats]
        commands = with_values(run.event, plan.values, plain)
        if not share.part.games:
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
                if time.monotonic() < end or not any(one.records.lines for one in shares):
                    await self._play(run, seeds, share, pool, end)
            finally:
                # The worker lives on after an order that fails.
                rise()

    async def _play(
        self, run: Run, seeds: Mapping[int, bytes], share: Share, pool: BotPool, end: float
    ) -> None:
        """Play with these bots; begin no other game after `end`."""
        part = share.part
        results = {result.game: result for result in part.results}
        numbers = dict(zip(part.games, part.numbers, strict=True))

        async def over(result: Result) -> None:
            results[result.game] = result
            if time.monotonic() >= end:
                sitter.leave_off()

        def referee(game: PlannedGame) -> Referee:
            seated = seating(run.event, part.plan, game, numbers[game], results)
            return Referee(seated, seeds[game.board])

        sitter = SittingRunner(self._poller, pool, share.records, referee, over)
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
        await check_greetings(alone, start_ms, sandbox, at_home=False)
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
