"""Play an event on this machine: sittings side by side, while its bots play by the rules."""

import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import trio

from arena.analysis.find import read_foul
from arena.match.poller import Poller
from arena.sandbox.process import Sandbox
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.book import Book, Ledger
from tournaments.plan.bots import shell_word
from tournaments.plan.schedule import Stage, has_dependent_games
from tournaments.play.lanes import MOST_A_CORE, Lanes
from tournaments.play.sittings import (
    Assignment,
    LoggedSittings,
    RefereeProcess,
    add_to_ledger,
)
from tournaments.rating.tables import fouls_committed

# Bots that foul in each of their first games: a mistake must not cost its author an evening.


MIN_FOULED_GAMES = 5
"""Games, from its first, that a bot must lose by its fouls to stop the run: it would lose all."""


class FoulWatch:
    """The fouls of bots that have not yet ended a game without one."""

    def __init__(self, book: Book, *, stops: bool) -> None:
        """Watch the bots; `stops`: a bot whose first games all end by its fouls stops the run."""
        self._folder, self._stops = book.folder, stops
        self._entrants = {bot.name: bot for bot in book.event.entrants if not bot.retired}
        self.fouls: dict[str, list[str]] = {name: [] for name in self._entrants}
        """The words about the foul of each such bot in its first games, as they ended."""
        self._crashed: dict[str, int] = Counter()

    async def add(self, result: Result) -> None:
        """Count a finished game; read the log only for the first fouls of a bot, in a thread.

        A game that another's foul ended, or that was forfeited before, tells nothing of a bot.
        Raises UserError, which names the bot and its foul, if the run is to stop.
        """
        classes = {foul.seat: foul.foul for foul in fouls_committed(result)}
        for seat, name in enumerate(result.seats):
            if name not in self.fouls:
                continue
            if seat in classes:
                self._crashed[name] += classes[seat] == "gone"
                place = self._folder.path, result.game, seat
                self._add_foul(name, await trio.to_thread.run_sync(read_foul, *place))
            elif result.why != "foul":
                del self.fouls[name]

    def _add_foul(self, name: str, words: str) -> None:
        fouls = self.fouls[name]
        fouls.append(words)
        if len(fouls) < MIN_FOULED_GAMES:
            return
        del self.fouls[name]
        if self._stops:
            ((usual, _),) = Counter(fouls).most_common(1)
            word = shell_word(self._entrants[name]).replace(f"{Path.cwd()}/", "")
            fault = f"lost each of its first {MIN_FOULED_GAMES} games by a foul"
            fault = "crashes" if self._crashed[name] == MIN_FOULED_GAMES else fault
            raise UserError(f"{name} {fault}: {usual}. Try `boneyard check {word}`.")


# Play an event on this machine: sittings side by side, each result into the ledger.


PAYS_S = 3.0
"""Least seconds of play that are left for each process if another referee process is started."""
MOST_PROCESSES = 32
"""Most referee processes: of a machine's many cores a container may use only a few."""


class Runner:
    """A run of an event: its sittings, here and in referee processes, and its ledger."""

    def __init__(
        self,
        ledger: Ledger,
        sandbox: Sandbox,
        finished: trio.MemorySendChannel[Result],
        *,
        stderr_boards: int = 0,
    ) -> None:
        """`stderr_boards`: see `LoggedSittings`."""
        self._ledger = ledger
        self._finished = finished
        self._poller = Poller()
        self._sittings = LoggedSittings(
            ledger.book,
            sandbox,
            self._poller,
            self._count,
            stderr_boards=stderr_boards,
            results=ledger.results,
            may_go_on=lambda plan: bool(ledger.playable(plan)),
        )
        folder, event = ledger.book.folder, ledger.book.event
        # A referee process knows no other's results, on which the next game may depend.
        is_able = sys.platform == "linux"  # Only there it ends with the run.
        self._may_lend = is_able and not has_dependent_games(event) and event.limits.cents is None
        self._assignment = partial(Assignment, str(folder.path), sandbox.confinement, stderr_boards)
        self._processes: list[RefereeProcess] = []
        self._counted = 0

    async def play(self, lanes: Lanes) -> None:
        """Play what the ledger lacks, some sittings at a time; send each result to `finished`.

        The bots of the next sitting start meanwhile, and leaving bots end beside the games. The
        next stage begins when all results of the stage before have come. Cancel this to stop: no
        process is left, and the next call goes on. Raises RunStoppedError if the machine refuses to
        go on.
        """
        self._began = time.monotonic()
        try:
            async with self._finished, trio.open_nursery() as nursery:
                nursery.start_soon(self._poller.run)
                while stage := self._ledger.stage:
                    await self._play_stage(stage, lanes, nursery)
                    if self._ledger.stage is stage:
                        # The same stage would be played again, for ever.
                        assert self._ledger.stopped, f"{stage[0].name} and others never end"
                        self._ledger.skip_stopped()
                        break
                nursery.cancel_scope.cancel()
        finally:
            lanes.release_cores()

    async def _play_stage(self, stage: Stage, lanes: Lanes, processes: trio.Nursery) -> None:
        plans = (plan for plan in stage if self._ledger.playable(plan))

        async def play_here() -> None:
            for plan in plans:
                place = await lanes.reserve()
                if self._lending_pays(lanes):
                    with lanes.lend_core() as core:
                        process = RefereeProcess(self._assignment(core), self._count)
                    self._processes.append(process)
                    processes.start_soon(process.run)
                    share_with(process)
                games = self._ledger.playable(plan)
                players.start_soon(self._sittings.play, plan, games, lanes, place)

        async def play_there(process: RefereeProcess) -> None:
            for plan in plans:
                await process.play(plan, self._ledger.playable(plan))

        def share_with(process: RefereeProcess) -> None:
            for _ in range(MOST_A_CORE):
                players.start_soon(play_there, process)

        async with trio.open_nursery() as players:
            for process in self._processes:
                share_with(process)
            players.start_soon(play_here)

    def _lending_pays(self, lanes: Lanes) -> bool:
        """Return whether one more referee process would save several times what its start costs."""
        if not (self._may_lend and lanes.can_lend and len(self._processes) < MOST_PROCESSES):
            return False
        left = self._ledger.planned - len(self._ledger.results)
        left_s = left * (time.monotonic() - self._began) / max(1, self._counted)
        return left_s > PAYS_S * (1 + len(self._processes))

    async def _count(self, result: Result) -> None:
        self._counted += 1
        await add_to_ledger(self._ledger, result)
        try:
            # `send` would wait for trio's next round, which takes 3 to 6 ms while games are played:
            # with a result a round, those of a referee process were counted seconds late.
            self._finished.send_nowait(result)
        except trio.WouldBlock:
            await self._finished.send(result)
