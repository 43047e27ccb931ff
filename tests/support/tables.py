"""Games between real processes, and walks of the check that take no longer than a test may."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import trio

from arena.conformance.connection import Budget, StepResult
from arena.conformance.runner import CHECK_STEPS
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import GameLog, LoggedGame, read_games
from arena.match.bot_pool import BotPool
from arena.match.clock import Deadline, LagError
from arena.match.poller import Poller
from arena.match.referee import GameSetup, Referee
from arena.match.table import Table
from arena.rules.variants import find_variant
from arena.sandbox.command import OFF, Command, Confinement, Limits, program_paths
from arena.sandbox.process import Sandbox
from protocol.messages import Clock
from protocol.records import LOG_FORMAT, ChoiceRecord, Result, Sitting
from protocol.ruleset import Ruleset

# Plays games between real processes, for the tests.


BOTS = Path(__file__).parent.parent / "bots"
SAMPLES = Path(__file__).parent.parent.parent / "sample_bots"
FIRST_BOT = (SAMPLES / "first.py").read_text()
"""The source of the bot that takes the first option."""
STATUS = Path("/proc/self/status")
CLOCK = Clock(start_ms=20_000, move_ms=10_000, bank_ms=0)
EFFORT = Clock(start_ms=20_000, move_ms=20, bank_ms=5, effort=20, effort_bank=5)
"""A clock of 20 million instructions for each question, with 5 million in the bank."""


DUTCH = (find_variant("dutch"),)
LIMITS = Limits()


@cache
def interpreter(executable: str) -> tuple[str, ...]:
    """Return what a bot that this interpreter runs must be able to read."""
    return tuple(program_paths(Path(executable)))


def reads(folder: Path) -> tuple[str, ...]:
    """Return what a bot in this folder, run by our own interpreter, must be able to read."""
    return (*interpreter(sys.executable), str(folder))


def sample(name: str = "first") -> Command:
    argv = (sys.executable, "-I", "-S", f"{name}.py")
    return Command(argv, str(SAMPLES), reads(SAMPLES))


def answering(line: str) -> str:
    """Return the source of the first bot with a line before each of its choices."""
    head, choice = FIRST_BOT.rsplit("        print(", 1)
    return f"import os, stat, time\n{head}        {line}\n        print({choice}"


def hostile(behaviour: str, tag: str = "", program: Path = BOTS / "hostile") -> Command:
    """Return a bot that misbehaves in one way; the tag tells its processes from all others."""
    argv = (sys.executable, "-I", "-S", str(program), behaviour, tag)
    return Command(argv, str(program), reads(program))


def sitting(
    seats: tuple[str, ...],
    boards: Iterable[int],
    rules: Ruleset,
    clock: Clock,
    sandbox: str = OFF.state,
    event: str = "test",
) -> Sitting:
    """Return the first record of a log, for tests that write one by hand."""
    return Sitting(
        format=LOG_FORMAT,
        boneyard="test",
        event=event,
        seats=seats,
        boards=tuple(boards),
        rules=rules,
        clock=clock,
        sandbox=sandbox,
        missing=(),
    )


async def play(
    commands: Sequence[Command],
    log_path: Path,
    clock: Clock = CLOCK,
    games: int = 1,
    confinement: Confinement = OFF,
    limits: Limits = LIMITS,
    substitutes: Sequence[Command] = (),
    rules: Sequence[Ruleset] = DUTCH,
    poller: Callable[[], Poller] = Poller,
    referee: Callable[[GameSetup, bytes], Referee] = Referee,
    table: type[Table] = Table,
) -> list[Result]:
    """Play games one after another with the same pool.

    `substitutes`: started in place of lost bots. `rules`: of one game after the other,
    and then from the first again. `poller`, `referee`, `table`: who serves, judges and connects.
    """
    commands = list(commands)
    names = tuple(f"bot{seat}" for seat in range(len(commands)))
    record = sitting(names, range(1, games + 1), rules[0], clock, confinement.state)
    results = []
    log = GameLog(log_path, record)
    async with trio.open_nursery() as nursery:
        server = poller()
        nursery.start_soon(server.run)
        pool = BotPool(server, commands, clock.start_ms, Sandbox(confinement, limits))
        nursery.start_soon(pool.monitor)
        try:
            for number in range(1, games + 1):
                ruleset = rules[(number - 1) % len(rules)]
                setup = GameSetup(f"{number}.test", number, number, names, ruleset, clock)
                judge = referee(setup, board_seed(b"test", "test", number))
                bots = await pool.start_missing()
                results.append(await table(server, judge, bots, log).play())
                commands[:] = substitutes or commands
        finally:
            await pool.close()
            log.close()
        nursery.cancel_scope.cancel()
    return results


async def play_sealed(
    folder: Path,
    bots: Iterable[Command],
    *,
    games: int = 1,
    clock: Clock = EFFORT,
    confinement: Confinement = OFF,
    limits: Limits = LIMITS,
) -> list[LoggedGame]:
    """Play games of sealed bots; return them as they were logged."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    await play([*bots], log, clock, games, confinement, limits)
    return [*read_games(log)]


def answers(game: LoggedGame) -> list[tuple[int, int, str, float]]:
    """Return all that the bots of a game did, with the work that it took them."""
    choices = (record for record in game.records if isinstance(record, ChoiceRecord))
    return [(record.seat, record.choice, record.note, record.ms) for record in choices]


class LaggingPoller(Poller):
    """A poller that lags by so many ms at each question, or hello, but the first few.

    No time goes by; the deadline is moved as by a lag.
    """

    def __init__(self, ms: float, after: int = 0) -> None:
        super().__init__()
        self.lag_ms, self._first = ms, after

    def deadline(self, due: Callable[[], None], stop: Callable[[LagError], None]) -> Deadline:
        return _LaggingDeadline(self, due, stop)

    def lag(self) -> float:
        """Return the lag of the next question, in s."""
        self._first -= 1
        return 0.0 if self._first >= 0 else self.lag_ms / 1000


class _LaggingDeadline(Deadline):
    def __init__(
        self, poller: LaggingPoller, due: Callable[[], None], stop: Callable[[LagError], None]
    ) -> None:
        super().__init__(due, stop)
        self._poller = poller

    def begin(self, now: float, limit_ms: int) -> None:
        super().begin(now, limit_ms)
        if lag := self._poller.lag():
            self.add_lag(lag, now + lag)


HELPERS = (b"playwright", b"multiprocessing")
"""Words in the command lines of processes that libraries keep until ours ends."""


def children() -> list[str]:
    """Process ids of our children, dead or alive; without those that libraries keep."""
    lines: dict[str, bytes] = {}
    for thread in Path("/proc/self/task").iterdir():
        # A thread, or a child that a library reaps, may end while this looks.
        with suppress(FileNotFoundError, ProcessLookupError):
            for pid in (thread / "children").read_text().split():
                lines[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
    return [pid for pid, line in lines.items() if not any(word in line for word in HELPERS)]


def alive(tag: str) -> list[int]:
    """Return every process on the machine that has the tag in its command line."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if tag.encode() in (entry / "cmdline").read_bytes():
                    pids.append(int(entry.name))
            except OSError:
                continue
    return pids


async def vanished(tag: str) -> None:
    """Wait until the kernel has ended what was killed: two minutes are the bound, not the rule."""
    for _ in range(12_000):
        if not alive(tag):
            return
        await trio.sleep(0.01)
    raise AssertionError(f"still alive: {alive(tag)}")


def forget_peak() -> None:
    """Let `peak_memory` count anew from now on, where the kernel allows that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the peak resident memory of this process, in bytes."""
    (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def descriptors() -> int:
    """Return how many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def flips(path: Path) -> Iterator[int]:
    """Change each byte of a file in turn, in several ways; yield its offset each time.

    The ways: a low bit, a high bit, a letter's case, a newline, a blank, a digit.
    """
    file = os.open(path, os.O_WRONLY)
    for offset, byte in enumerate(path.read_bytes()):
        for variant in sorted({byte ^ 1, byte ^ 0x80, byte ^ 0x20, 0x0A, 0x20, 0x30} - {byte}):
            os.pwrite(file, bytes([variant]), offset)
            yield offset
        os.pwrite(file, bytes([byte]), offset)
    os.close(file)


# Walks of the conformance check that take no longer than a test may.


QUICK = Budget(total_s=3_000, step_s=600, pause_ms=20, quiet_ms=20, is_full=False)


def failed(outcomes: Sequence[StepResult]) -> list[StepResult]:
    """Return the steps that failed or were not reached."""
    assert len(outcomes) == len(CHECK_STEPS)
    return [
        outcome
        for outcome in outcomes
        if outcome.finding or (outcome.state == "skip" and outcome.name != "tables")
    ]
