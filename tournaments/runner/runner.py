"""Play an event on this machine: sittings side by side, each result into the ledger."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial

import trio

from arena.analysis.replay import resume_game
from arena.logs.catalog import compress_finished
from arena.logs.gamelog import GameLog, LoggedGame, read_games
from arena.match.bot_pool import BotPool
from arena.match.piped_process import CannotStartError
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.sandbox.limits import REQUIRED, Level
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.selftest.network import network_faults
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.base import Entrant
from tournaments.plan.bot_command import shell_word
from tournaments.plan.event import Event
from tournaments.runner.commit import add_to_ledger, commit_results
from tournaments.runner.exit import MACHINE, RunStoppedError, root_cause, save_crash
from tournaments.runner.lanes import Lanes
from tournaments.runner.machine import cores, machine
from tournaments.runner.sitting import (
    InternalGameError,
    SittingRunner,
    greeting_complaint,
    keep_bots,
    start_bots,
)
from tournaments.schedule.game_numbers import numbers
from tournaments.schedule.schedule import PlannedGame, PlannedSitting
from tournaments.schedule.seating import has_dependent_games, seating, sitting, with_values
from tournaments.storage.folder import Folder, board_seeds
from tournaments.storage.ledger import Ledger

CHECK = "(Try `boneyard check {word}`; it says how to fix the bot.)"
"""Advice for a bot that does not greet."""
UNSEEN = (
    "(At sandbox level {level} it can read only the files that its command names. `folder` or "
    "`reads` in an event file add more; --sandbox off shows whether this is the reason.)"
)
"""Further advice if the sandbox may be the reason."""
UNREAD = re.compile(
    r"no such file|not ?found|(cannot|can't|could not|unable to) (find|open|load|read)"
    r"|no module named|permission denied|not permitted|ENOENT|EACCES|EPERM",
    re.IGNORECASE,
)
"""Complaints of programs, in any language, about a file that they cannot read."""


async def check_greetings(
    entrants: Iterable[Entrant],
    start_ms: int,
    sandbox: Sandbox,
    *,
    at_home: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Start every active bot once before the first game. Raises UserError for the first at fault.

    Each bot has `start_ms` to greet; as many start at a time as there are cores. A bot that does
    not greet is the user's mistake, and costs no game. `at_home`: the bots' files are where their
    user knows them, so that advice can name them. `say` is told for which unavailable bot, and how
    long, the run waits. Raises RunStoppedError if the machine is short of something.
    """
    poller = Poller()
    # The candidates of a tune have one command.
    first = {one.command: one for one in reversed([*entrants]) if not one.retired}
    connected = sandbox.level in REQUIRED and any(command.network for command in first)
    if connected and (wrong := await trio.to_thread.run_sync(network_faults)):
        kept = f"The sandbox does not keep what `network` promises here: {', '.join(wrong)}."
        raise UserError(kept)
    active = enumerate(reversed(first.values()))
    complaints: dict[int, str] = {}

    async def check_on() -> None:
        for place, entrant in active:
            if complaint := await _complaint(poller, entrant, start_ms, sandbox, at_home, say):
                complaints[place] = complaint
            # Every bot before the one that failed has been started by now, and is waited for.
            if complaints:
                break

    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async with trio.open_nursery() as starters:
            for _ in range(cores()):
                starters.start_soon(check_on)
        nursery.cancel_scope.cancel()
    if complaints:
        raise UserError(complaints[min(complaints)])


async def _complaint(
    poller: Poller,
    entrant: Entrant,
    start_ms: int,
    sandbox: Sandbox,
    at_home: bool,
    say: Callable[[str], None],
) -> str | None:
    """Return what is wrong with an entrant's bot; None if it greets."""

    def tell_pause(why: str, seconds: float) -> None:
        say(f"Bot {entrant.name}: {why}. It is started again in {seconds:.0f} s.")

    pool = BotPool(poller, [entrant.command], start_ms, sandbox, tell_pause=tell_pause)
    complaint = None
    try:
        (bot,) = await start_bots(pool)
        if bot and (complaint := greeting_complaint(entrant.name, bot)):
            if at_home:
                complaint += f" {CHECK.format(word=shell_word(entrant))}"
            complaint += sandbox_hint(sandbox.level, bot.stderr_tail(), silent=not bot.has_written)
    except CannotStartError as error:
        complaint = f"Bot {entrant.name}: {error}."
    except RunStoppedError as stop:
        raise RunStoppedError(f"Bot {entrant.name}: {stop}") from stop
    finally:
        await pool.close()
    return complaint


def sandbox_hint(level: Level, words: str, *, silent: bool) -> str:
    """Return a hint at the sandbox, if that may be why a bot did not greet; else nothing.

    It may be if the bot's stderr ends with `words` about something that it cannot read, or if
    there are no words and its stdout was `silent` too.
    """
    may_be = UNREAD.search(words) if words else silent
    return f" {UNSEEN.format(level=level)}" if may_be and level != "off" else ""


class Runner:
    """State that the sittings of one run share."""

    def __init__(
        self,
        folder: Folder,
        event: Event,
        ledger: Ledger,
        sandbox: Sandbox,
        finished: trio.MemorySendChannel[Result],
        *,
        keep_stderr: bool = False,
    ) -> None:
        """`keep_stderr`: the logs keep what bots write to stderr, with their answers."""
        self._keep_stderr = keep_stderr
        self._folder = folder
        self._event = event
        self._ledger = ledger
        self._sandbox = sandbox
        self._finished = finished
        self._seed = board_seeds(folder, event)
        self._poller = Poller()

    async def play(self, lanes: Lanes) -> None:
        """Play what the ledger lacks, some sittings at a time; send each result to `finished`.

        The bots of the next sitting start meanwhile, and leaving bots end beside the games. The
        next stage begins when all results of the stage before have come. Cancel this to stop: no
        process is left, and the next call goes on. Raises RunStoppedError if the machine refuses to
        go on.
        """
        async with self._finished, trio.open_nursery() as nursery:
            nursery.start_soon(self._poller.run)
            while stage := self._ledger.stage:
                plans = (plan for plan in stage if self._ledger.playable(plan))
                async with trio.open_nursery() as players:
                    for _ in range(lanes.most):
                        players.start_soon(self._player, plans, lanes)
                if self._ledger.stage is stage:
                    # It would be requested again, for ever.
                    assert self._ledger.stopped, f"{stage[0].name} and others never end"
                    self._ledger.skip_stopped()
                    break
            nursery.cancel_scope.cancel()

    async def _player(self, plans: Iterator[PlannedSitting], lanes: Lanes) -> None:
        for plan in plans:
            try:
                await self._sit(plan, lanes)
            except* MACHINE as group:
                reason = root_cause(group)
                raise RunStoppedError(
                    f"The run stopped in sitting {plan.name}: {reason}."
                ) from group
            except* InternalGameError as group:
                spoilt = root_cause(group)
                cause = spoilt.__cause__ or spoilt
                raise RunStoppedError(
                    save_crash(self._folder, cause, f"in game {spoilt}")
                ) from cause

    async def _sit(self, plan: PlannedSitting, lanes: Lanes) -> None:
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
        async with lanes.staffed(pool), keep_bots(pool, start=early), lanes.playing(pool) as rise:
            await self._play_sitting(plan, pool, rise)
        # A log that cannot be compressed now stays readable, and the next run tries again.
        with suppress(OSError):
            await trio.to_thread.run_sync(compress_finished, self._folder.log(plan.name))

    async def _play_sitting(
        self, plan: PlannedSitting, pool: BotPool, rise: Callable[[], None]
    ) -> None:
        """Play what the ledger lacks of a sitting; call `rise` when its last game is over."""
        level, missing = self._sandbox.level, self._sandbox.missing
        record = sitting(self._event, plan, level, missing, machine())
        path = self._folder.log(plan.name)
        log = GameLog(path, record)
        apart = not has_dependent_games(self._event)
        try:
            async with commit_results(log.sync, self._count, at_once=not apart) as over:
                numbered = numbers(plan.who, plan.boards, self._seed)
                cut = {one.game.game: one for one in read_games(path) if not one.result}
                referee = partial(self._referee, plan, numbered, cut)
                games = sorted(self._ledger.playable(plan), key=lambda game: numbered[game.board])

                async def ended(result: Result) -> None:
                    await over(result)
                    if not self._ledger.playable(plan):
                        runner.leave_off()

                runner = SittingRunner(self._poller, pool, log, referee, ended)
                await runner.play(games, several=apart)
                # Another sitting plays while the disk stores these games.
                rise()
        finally:
            log.close()

    async def _count(self, result: Result) -> None:
        await add_to_ledger(self._ledger, result)
        await self._finished.send(result)

    def _referee(
        self,
        plan: PlannedSitting,
        numbered: Mapping[int, int],
        cut: Mapping[str, LoggedGame],
        game: PlannedGame,
    ) -> Referee:
        """Return a game's referee. A game that was cut off goes on: no stop is a new chance."""
        number, results = numbered[game.board], self._ledger.results
        setup, seed = seating(self._event, plan, game, number, results), self._seed(game.board)
        referee = Referee(setup, seed)
        if game.name in cut and not resume_game(referee, cut[game.name]):
            return Referee(setup, seed)
        return referee
