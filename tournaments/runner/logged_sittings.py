"""Sittings of an event, played in this process into their logs."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType

import trio

from arena.analysis.replay import resume_game
from arena.logs.catalog import compress_finished
from arena.logs.compression import actual_path
from arena.logs.gamelog import GameLog, LoggedGame, read_games
from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.sandbox.sandbox import Sandbox
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.runner.commit import commit_results
from tournaments.runner.exit import MACHINE, RunStoppedError, root_cause, save_crash
from tournaments.runner.lanes import Lanes
from tournaments.runner.machine import machine
from tournaments.runner.sitting import InternalGameError, SittingRunner, keep_bots
from tournaments.schedule.game_numbers import numbers
from tournaments.schedule.schedule import PlannedGame, PlannedSitting
from tournaments.schedule.seating import has_dependent_games, seating, sitting, with_values
from tournaments.storage.folder import Folder, board_seeds


class LoggedSittings:
    """Sittings of one event, their bots, tables and logs."""

    def __init__(
        self,
        folder: Folder,
        event: Event,
        sandbox: Sandbox,
        poller: Poller,
        count: Callable[[Result], Awaitable[None]],
        *,
        keep_stderr: bool,
        results: Mapping[str, Result] = MappingProxyType({}),
        may_go_on: Callable[[PlannedSitting], bool] = lambda _: True,
    ) -> None:
        """`count` takes each result, after its game is on the disk. `keep_stderr`: the logs keep
        what bots write to stderr, with their answers. `results`: those so far, by game, if later
        games depend on them. `may_go_on`: asked before each game of a sitting.
        """
        self._keep_stderr = keep_stderr
        self._folder = folder
        self._event = event
        self._results = results
        self._may_go_on = may_go_on
        self._sandbox = sandbox
        self._count = count
        self._seed = board_seeds(folder, event)
        self._poller = poller

    async def play(
        self,
        plan: PlannedSitting,
        games: Collection[PlannedGame],
        lanes: Lanes,
        place: object = None,
    ) -> None:
        """Play games of a sitting at a reserved place of the lanes, or as soon as it has one.

        Raises RunStoppedError if the machine refuses to go on, or a bug of ours spoilt a game.
        """
        try:
            await self._sit(plan, games, lanes, place)
        except* MACHINE as group:
            reason = root_cause(group)
            raise RunStoppedError(f"The run stopped in sitting {plan.name}: {reason}.") from group
        except* InternalGameError as group:
            spoilt = root_cause(group)
            cause = spoilt.__cause__ or spoilt
            raise RunStoppedError(save_crash(self._folder, cause, f"in game {spoilt}")) from cause

    async def _sit(
        self, plan: PlannedSitting, games: Collection[PlannedGame], lanes: Lanes, place: object
    ) -> None:
        plain = [self._event.entrants[entrant].command for entrant in plan.seats]
        commands = with_values(self._event, plan.values, plain)
        pool = BotPool(
            self._poller,
            commands,
            self._event.clock.start_ms,
            self._sandbox,
            keep_stderr=self._keep_stderr,
        )
        # A game that depends on earlier ones may need no bots: they tell only at its turn.
        early = not has_dependent_games(self._event)
        async with lanes.staffed(pool, place):
            async with keep_bots(pool, start=early), lanes.playing(pool) as rise:
                await self._play_games(plan, games, pool, rise)
            # A log that cannot be compressed now stays readable, and the next run tries again.
            with suppress(OSError):
                await trio.to_thread.run_sync(compress_finished, self._folder.log(plan.name))

    async def _play_games(
        self,
        plan: PlannedSitting,
        games: Collection[PlannedGame],
        pool: BotPool,
        rise: Callable[[], None],
    ) -> None:
        """Play games of a sitting; call `rise` when the last one is over."""
        record = sitting(self._event, plan, self._sandbox.confinement, machine())
        path = self._folder.log(plan.name)
        is_new = not actual_path(path).exists()
        log = GameLog(path, record)
        apart = not has_dependent_games(self._event)
        try:
            async with commit_results(log.sync, self._count, at_once=not apart) as over:
                numbered = numbers(plan.who, plan.boards, self._seed)
                logged = () if is_new else read_games(path)
                cut = {one.game.game: one for one in logged if not one.result}
                referee = partial(self._referee, plan, numbered, cut)

                async def ended(result: Result) -> None:
                    await over(result)
                    if not self._may_go_on(plan):
                        runner.leave_off()

                runner = SittingRunner(self._poller, pool, log, referee, ended)
                wanted = games if self._may_go_on(plan) else ()
                in_turn = sorted(wanted, key=lambda game: numbered[game.board])
                await runner.play(in_turn, several=apart)
                # Another sitting plays while the disk stores these games.
                rise()
        finally:
            log.close()

    def _referee(
        self,
        plan: PlannedSitting,
        numbered: Mapping[int, int],
        cut: Mapping[str, LoggedGame],
        game: PlannedGame,
    ) -> Referee:
        """Return a game's referee. A game that was cut off goes on: no stop is a new chance."""
        number, seed = numbered[game.board], self._seed(game.board)
        setup = seating(self._event, plan, game, number, self._results)
        referee = Referee(setup, seed)
        if game.name in cut and not resume_game(referee, cut[game.name]):
            return Referee(setup, seed)
        return referee
