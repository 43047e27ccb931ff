"""Sittings: greetings, games in turn or at once, logs, results after fsync, referee processes."""

import os
import re
import signal
import subprocess
import sys
import traceback
from collections import defaultdict, deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, Self, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.analysis.timeline import resume_game
from arena.files import append_atomic, describe_error, open_append, write_atomic
from arena.logs.catalog import compress_finished
from arena.logs.checksummed import actual_path
from arena.logs.gamelog import (
    ANSWER_RECORDS,
    GameLog,
    Log,
    LoggedGame,
    WholeGame,
    crash_line,
    name_crash,
    read_games,
    stderr_lines,
)
from arena.machine import cores, end_with_parent, machine
from arena.match.bot_pool import BotPool, MultiplexedBot
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import LagError
from arena.match.player import Player
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.match.table import Table
from arena.sandbox.command import Confinement
from arena.sandbox.process import Sandbox
from arena.sandbox.select import network_faults
from arena.sealed.module import is_module
from protocol.codec import decode_json, encode_json
from protocol.errors import UserError
from protocol.records import ChoiceRecord, FoulRecord, GameRecord, LogRecord, Result
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event, make_private
from tournaments.formats.base import Entrant
from tournaments.plan.bots import shell_word
from tournaments.plan.schedule import (
    PlannedGame,
    PlannedSitting,
    has_dependent_games,
    numbers,
    seating,
    sitting,
    with_values,
)
from tournaments.play.lanes import Lanes

T = TypeVar("T")

# Ends of a run: the sentence and exit code that say why it stopped.


STOPPED = 1
"""Exit code if the machine, or a bug of ours, stopped the run."""
UNMET = 3
"""Exit code if a versus did not give the answer that the user requires."""
MACHINE_ERRORS = (OSError, MemoryError, CannotStartError, LagError)
"""Failures of the machine: the run stops, and can go on later."""


class RunStoppedError(Exception):
    """A stop of the run, which can go on later; played games are stored. The text is the reason."""


def save_crash(folder: Folder, bug: BaseException | str, place: str) -> str:
    """Save the traceback of a bug of ours, or a worker's; return a sentence for the user."""
    trace = bug if isinstance(bug, str) else "".join(traceback.format_exception(bug))
    with suppress(OSError):
        make_private(folder)
        write_atomic(folder.crash, [trace.encode()])
    return (
        f"Boneyard itself failed {place}; the unfinished games do not count. "
        f"Please report {folder.crash}."
    )


def root_cause(group: BaseExceptionGroup[Any]) -> BaseException:
    """Return the original error under the groups of the nurseries it passed through."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def stop_sentence(
    folder: Folder, group: BaseExceptionGroup[Exception], kind: Literal["run", "game"], place: str
) -> str:
    """Say why a run, or a game with a person, stopped; a bug of ours is kept in the folder.

    Raises UserError if it is the user's doing.
    """
    error = root_cause(group)
    if isinstance(error, UserError):
        raise error
    if isinstance(error, RunStoppedError):
        return str(error)
    if isinstance(error, MACHINE_ERRORS):
        return f"The {kind} stopped: {describe_error(error)}."
    return save_crash(folder, group, place)


# Commit results after fsync while the sitting continues.


QUEUED_RESULTS = 64
"""Most games that may end before a slow disk has stored the first of them."""
ReportResult = Callable[[Result], Awaitable[None]]
"""A function that takes the result of a game that is over."""


@asynccontextmanager
async def commit_results(
    sync: Callable[[], None], count: ReportResult, *, at_once: bool
) -> AsyncIterator[ReportResult]:
    """Yield a function that takes a sitting's results; all of them count if the block ends well.

    If it fails or is cancelled, results that the log already has count when the next run reads it.
    `sync`: blocks until the disk has all games that are over. `at_once`: each result counts before
    the next game begins, which depends on it. Raises what `sync` and `count` raise, in a group.
    """
    sender, receiver = trio.open_memory_channel[Result](QUEUED_RESULTS)

    async def store_and_count(*results: Result) -> None:
        await trio.to_thread.run_sync(sync)
        for result in results:
            await count(result)

    async def count_arrivals() -> None:
        async for result in receiver:
            # One wait for the disk is enough for all that have arrived.
            await store_and_count(*with_waiting(result, receiver))

    async with trio.open_nursery() as nursery, sender:
        nursery.start_soon(count_arrivals)
        yield store_and_count if at_once else sender.send


def with_waiting(result: Result, receiver: trio.MemoryReceiveChannel[Result]) -> list[Result]:
    """Return a result that was received, and all that wait behind it."""
    waiting = receiver.statistics().current_buffer_used
    return [result, *(receiver.receive_nowait() for _ in range(waiting))]


async def add_to_ledger(ledger: Ledger, result: Result) -> None:
    """Add the result of a game that is over; raises what `Ledger.add` raises."""
    if ledger.has_one_open:
        # The next stage may depend on the luck of this one, which takes seconds. Nobody plays now.
        await trio.to_thread.run_sync(ledger.add, result)
    else:
        ledger.add(result)


# Play one sitting: its games in turn, or several at once if all its bots can do that.


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
        report_result: ReportResult,
    ) -> None:
        self._poller = poller
        self._pool = pool
        self._log = log
        self._referee = referee
        self._report_result = report_result
        self._left: deque[PlannedGame] = deque()

    def leave_off(self) -> None:
        """Begin no other game."""
        self._left.clear()

    async def play(self, games: Iterable[PlannedGame], *, several: bool) -> None:
        """Play the games; `report_result` takes each result.

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
        for player in shared:
            player.flush_all()

    async def _play_on(self, shared: list[MultiplexedBot]) -> None:
        """Play game after game at one table."""
        while self._left and not any(player.bot.fault for player in shared):
            game = self._left.popleft()
            referee = self._new_referee(game)
            channels = [player.open_channel(referee.setup.number) for player in shared]
            log = WholeGame(self._log)
            try:
                await self._play_game(game, referee, channels, log)
            finally:
                log.flush()
            for channel in channels:
                channel.shut_down()

    def _new_referee(self, game: PlannedGame) -> Referee:
        try:
            return self._referee(game)
        except MACHINE_ERRORS:
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
        except MACHINE_ERRORS:
            raise
        except Exception as bug:
            raise InternalGameError(game.name) from bug
        await self._report_result(result)


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
    addition = f" Its stderr ends: {words}" if words else ""
    if crash_line(words):
        addition = f" It crashed: {name_crash(words)}."
    return f"Bot {name} sends no hello: {bot.fault.detail}{addition}"


# The bots' greetings before the first game: a bot that does not greet is its user's mistake.


CHECK = "(Try `boneyard check {word}`; it says how to fix the bot.)"
"""Advice for a bot that does not greet."""
UNSEEN = (
    "(A locked bot can read only the files that its command names. `folder` or "
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
    first = {entrant.command: entrant for entrant in reversed([*entrants]) if not entrant.retired}
    connected = sandbox.is_locked and any(command.network for command in first)
    if connected and (wrong := await trio.to_thread.run_sync(network_faults)):
        text = f"The sandbox does not keep what `network` promises here: {', '.join(wrong)}."
        raise UserError(text)
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
            if not is_module(entrant.command.argv):
                complaint += sandbox_hint(sandbox, bot.stderr_tail(), silent=not bot.has_written)
    except CannotStartError as error:
        complaint = f"Bot {entrant.name}: {error}."
    except RunStoppedError as stop:
        raise RunStoppedError(f"Bot {entrant.name}: {stop}") from stop
    finally:
        await pool.close()
    return complaint


def sandbox_hint(sandbox: Sandbox, words: str, *, silent: bool) -> str:
    """Return a hint at the sandbox, if that may be why a bot did not greet; else nothing.

    It may be if the bot's stderr ends with `words` about something that it cannot read, or if
    there are no words and its stdout was `silent` too.
    """
    may_be = UNREAD.search(words) if words else silent
    return f" {UNSEEN}" if may_be and sandbox.is_locked else ""


# What bots write to stderr, apart from the log that everybody will read.


STDERR_APART = 2**16
"""Bytes of a bot's stderr in a sitting that are kept apart; its fouls may take as much again."""


class ApartStderr:
    """The log of a sitting without what its bots write to stderr, which goes into their files."""

    def __init__(self, log: Log, folder: Path, name: str, seats: Sequence[str]) -> None:
        """`folder`: that of all bots. `name`: that of the sitting. `seats`: its bots."""
        self._log, self._game = log, ""
        self._paths = [folder / seat / f"{name}.txt" for seat in seats]

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append the records to the log, without stderr. Raises OSError."""
        texts: defaultdict[int, str] = defaultdict(str)
        for record in records:
            if isinstance(record, GameRecord):
                self._game = record.game
            elif isinstance(record, FoulRecord):
                text = f"{record.foul}: {record.detail}\n{record.stderr}"
                texts[record.seat] += f"{self._game}: {text}\n"
            elif isinstance(record, ChoiceRecord) and record.stderr:
                texts[record.seat] += f"{self._game}, question {record.id}:\n{record.stderr}\n"
        has_fouls = any(isinstance(record, FoulRecord) for record in records)
        for seat, text in texts.items():
            with suppress(OSError):  # It decides nothing: no game waits for room on the disk.
                self._keep(self._paths[seat], text, STDERR_APART * (1 + has_fouls))
        self._log.append([_without_stderr(record) for record in records] if texts else records)

    def _keep(self, path: Path, text: str, most: int) -> None:
        path.parent.mkdir(exist_ok=True)
        room = most - (path.stat().st_size if path.exists() else 0)
        data = "".join(f"{line}\n" for line in stderr_lines(text)).encode()[: max(0, room)]
        with open_append(path, 0o600) as descriptor:
            append_atomic(descriptor, data)


def _without_stderr(record: LogRecord) -> LogRecord:
    return replace(record, stderr="") if isinstance(record, ANSWER_RECORDS) else record


# Sittings of an event, played in this process into their logs.


class LoggedSittings:
    """Sittings of one event, their bots, tables and logs."""

    def __init__(
        self,
        book: Book,
        sandbox: Sandbox,
        poller: Poller,
        count: Callable[[Result], Awaitable[None]],
        *,
        stderr_boards: int,
        results: Mapping[str, Result] = MappingProxyType({}),
        may_go_on: Callable[[PlannedSitting], bool] = lambda _: True,
    ) -> None:
        """`count` takes each result, after its game is on the disk. `stderr_boards`: the logs of
        sittings that begin with one of the first so many boards keep what bots write to stderr,
        with their answers. `results`: those so far, by game, if later games depend on them.
        `may_go_on`: asked before each game of a sitting.
        """
        self._folder, self._event = book.folder, book.event
        self._keeps_apart = self._folder.stderr.is_dir()
        self._stderr_boards = stderr_boards
        self._results = results
        self._may_go_on = may_go_on
        self._sandbox = sandbox
        self._count = count
        self._seed = book.seed_of
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
        except* MACHINE_ERRORS as group:
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
            keep_stderr=self._keeps_apart or plan.boards[0] <= self._stderr_boards,
        )
        # A game that depends on earlier ones may need no bots: only at its turn is that known.
        early = not has_dependent_games(self._event)
        async with lanes.staffed(pool, place):
            async with keep_bots(pool, start=early), lanes.playing(pool) as free_place:
                await self._play_games(plan, games, pool, free_place)
            # A log that cannot be compressed now stays readable, and the next run tries again.
            with suppress(OSError):
                await trio.to_thread.run_sync(compress_finished, self._folder.log(plan.name))

    async def _play_games(
        self,
        plan: PlannedSitting,
        games: Collection[PlannedGame],
        pool: BotPool,
        free_place: Callable[[], None],
    ) -> None:
        """Play games of a sitting; call `free_place` when the last one is over."""
        record = sitting(self._event, plan, self._sandbox.confinement, machine())
        path = self._folder.log(plan.name)
        is_new = not actual_path(path).exists()
        log = GameLog(path, record)
        in_turn = has_dependent_games(self._event)
        try:
            async with commit_results(log.sync, self._count, at_once=in_turn) as report_result:
                numbered = numbers(plan.names, plan.boards, self._seed)
                logged = () if is_new else read_games(path)
                unfinished = {game.game.game: game for game in logged if not game.result}
                referee = partial(self._referee, plan, numbered, unfinished)

                async def take_result(result: Result) -> None:
                    await report_result(result)
                    if not self._may_go_on(plan):
                        runner.leave_off()

                place = self._folder.stderr, plan.name, record.seats
                game_log = ApartStderr(log, *place) if self._keeps_apart else log
                runner = SittingRunner(self._poller, pool, game_log, referee, take_result)
                wanted = games if self._may_go_on(plan) else ()
                games_to_play = sorted(wanted, key=lambda game: numbered[game.board])
                await runner.play(games_to_play, several=not in_turn)
                # Another sitting plays while the disk stores these games.
                free_place()
        finally:
            log.close()

    def _referee(
        self,
        plan: PlannedSitting,
        numbered: Mapping[int, int],
        unfinished: Mapping[str, LoggedGame],
        game: PlannedGame,
    ) -> Referee:
        """Return a game's referee. A game that was cut off goes on: a stop gives no new chance."""
        number, seed = numbered[game.board], self._seed(game.board)
        setup = seating(self._event, plan, game, number, self._results, seed)
        referee = Referee(setup, seed)
        if game.name in unfinished and not resume_game(referee, unfinished[game.name]):
            return Referee(setup, seed)
        return referee


# A referee process of a run: it plays sittings of quick bots on a core of its own.
#
# The run sends orders, a line each, and gets each result once its game is on the disk. The process
# writes the logs where the run would, so that a kill of either loses nothing; it ends with the run.


REFEREE_ARGV = (
    *(sys.executable, "-P", "-c"),
    "from tournaments.play.sittings import serve_run; serve_run()",
)
LEAVE_S = 10.0
"""Most seconds in which a process ends its bots and leaves."""
READ_AT_ONCE = 2**16


class Assignment(Struct, frozen=True):
    """The argument of a referee process: the event that it plays, and on which core."""

    folder: str
    confinement: Confinement
    stderr_boards: int
    core: int
    """The core of the process, and of quick bots."""


class SittingOrder(Struct, frozen=True):
    """A line to a referee process: the games of a sitting that it has to play."""

    sitting: PlannedSitting
    games: tuple[PlannedGame, ...]


class RefereeAnswer(Struct, frozen=True, omit_defaults=True):
    """A line from a referee process, with one of these."""

    result: Result | None = None
    """The result of a game that is on the disk."""
    left_sitting: str = ""
    """The name of a sitting whose bots have left."""
    stopped: str = ""
    """The sentence that says why the run has to stop."""


class MessageStream(Generic[T]):
    """Messages to another process, and those of one kind from it: a line of JSON each."""

    def __init__(self, receives: int, sends: int, kind: type[T]) -> None:
        """Use copies of these descriptors."""
        self._receiving = trio.lowlevel.FdStream(os.dup(receives))
        self._sending = trio.lowlevel.FdStream(os.dup(sends))
        self._turn = trio.Lock()
        self._kind = kind
        self._arrived: deque[T] = deque()
        self._rest = b""

    async def send(self, message: Struct) -> None:
        """Send a message, if anybody reads it; the end of the other's messages says if not."""
        async with self._turn:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._sending.send_all(encode_json(message) + b"\n")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        """Return the other's next message, until it sends no more."""
        while not self._arrived:
            data = await self._receiving.receive_some(READ_AT_ONCE)
            if not data:
                raise StopAsyncIteration
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._arrived.extend(decode_json(line, self._kind) for line in lines)
        return self._arrived.popleft()

    async def close(self) -> None:
        """Send and read no more."""
        await self._sending.aclose()
        await self._receiving.aclose()


class RefereeProcess:
    """The run's end of a referee process."""

    def __init__(self, assignment: Assignment, count: Callable[[Result], Awaitable[None]]) -> None:
        """Start the process; `count` takes each result. Raises OSError.

        It is killed when the thread ends that started it, or with the run.
        """
        # Ctrl-C in a terminal is the run's to answer.
        self._process = subprocess.Popen(
            (*REFEREE_ARGV, encode_json(assignment).decode()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        with self._process.stdin as orders, self._process.stdout as answers:
            self._messages = MessageStream(answers.fileno(), orders.fileno(), RefereeAnswer)
        self._count = count
        self._in_play: dict[str, trio.Event] = {}

    async def play(self, sitting: PlannedSitting, games: list[PlannedGame]) -> None:
        """Let the process play a sitting's games, until its bots have left."""
        bots_left = self._in_play[sitting.name] = trio.Event()
        await self._messages.send(SittingOrder(sitting, tuple(games)))
        await bots_left.wait()

    async def run(self) -> None:
        """Count its results until cancelled, then end it. Raises RunStoppedError."""
        try:
            async for answer in self._messages:
                if answer.result:
                    await self._count(answer.result)
                elif answer.left_sitting:
                    self._in_play.pop(answer.left_sitting).set()
                else:
                    raise RunStoppedError(answer.stopped)
            code = await trio.to_thread.run_sync(self._process.wait)
            raise RunStoppedError(
                f"The run stopped: a referee process ended with exit code {code}."
            )
        finally:
            with trio.CancelScope(shield=True):
                await self._messages.close()
                await trio.to_thread.run_sync(self._end)

    def _end(self) -> None:
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


# The program of that process.


def serve_run() -> None:
    """Play for the run at the other end of stdin and stdout, until it closes stdin."""
    # The kernel kills this process, and with it its bots, when the run is killed.
    end_with_parent(signal.SIGKILL)
    assignment = decode_json(sys.argv[1], Assignment)
    trio.run(_serve, assignment)


async def _serve(assignment: Assignment) -> None:
    messages, stopped = MessageStream(0, 1, SittingOrder), ""
    # Whatever else is printed is not an answer.
    os.dup2(2, 1)
    try:
        await _play_orders(assignment, messages)
    except* Exception as group:
        folder, cause = Folder(Path(assignment.folder)), root_cause(group)
        if isinstance(cause, UserError):
            stopped = str(cause)
        else:
            stopped = stop_sentence(folder, group, "run", "between two games")
    if stopped:
        await messages.send(RefereeAnswer(stopped=stopped))
    await messages.close()


async def _play_orders(assignment: Assignment, messages: MessageStream[SittingOrder]) -> None:
    """Play until the orders end.

    Raises UserError, OSError, and in a group what `LoggedSittings.play` raises.
    """
    folder, poller = Folder(Path(assignment.folder)), Poller()
    event, lanes = load_event(folder), Lanes(None, core=assignment.core)

    async def count(result: Result) -> None:
        await messages.send(RefereeAnswer(result=result))

    async def play(order: SittingOrder) -> None:
        await logged.play(order.sitting, order.games, lanes)
        await messages.send(RefereeAnswer(left_sitting=order.sitting.name))

    sandbox = Sandbox(assignment.confinement, event.limits)
    logged = LoggedSittings(
        Book(folder, event), sandbox, poller, count, stderr_boards=assignment.stderr_boards
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async for order in messages:
            nursery.start_soon(play, order)
        nursery.cancel_scope.cancel()
