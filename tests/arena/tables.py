"""Plays games between real processes, for the tests."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import trio

from arena.bots import Command
from arena.engine.chance import board_seed
from arena.gamelog import GameLog
from arena.pump import Pump
from arena.referee import Referee, Seating
from arena.table import Bench, Table
from arena.variants import named
from protocol.messages import Clock
from protocol.records import LOG_FORMAT, Result, Sitting

BOTS = Path(__file__).parent.parent / "bots"
SAMPLES = Path(__file__).parent.parent.parent / "sample_bots"
STATUS = Path("/proc/self/status")
CLOCK = Clock(start_ms=20_000, move_ms=10_000, bank_ms=0)


def sample(name: str = "first") -> Command:
    """An honest bot."""
    return Command((sys.executable, "-I", "-S", f"{name}.py"), str(SAMPLES))


def hostile(
    how: str, tag: str = "", memory_mib: int = 512, program: Path = BOTS / "hostile"
) -> Command:
    """A bot that misbehaves in one way; the tag tells its processes from all others."""
    argv = (sys.executable, "-I", "-S", str(program), how, tag)
    return Command(argv, str(program), memory_mib)


async def play(
    commands: Sequence[Command],
    log_path: Path,
    clock: Clock = CLOCK,
    games: int = 1,
    then: Sequence[Command] = (),
) -> list[Result]:
    """Play games one after another with the same bench.

    `then`: who is started in place of a bot that is lost.
    """
    commands = list(commands)
    names = tuple(f"bot{seat}" for seat in range(len(commands)))
    rules = named("dutch")
    record = Sitting(
        format=LOG_FORMAT,
        boneyard="test",
        event="test",
        seats=names,
        boards=tuple(range(1, games + 1)),
        rules=rules,
        clock=clock,
    )
    results = []
    log = GameLog(log_path, record)
    async with trio.open_nursery() as nursery:
        pump = Pump()
        nursery.start_soon(pump.run)
        bench = Bench(pump, commands, clock.start_ms)
        nursery.start_soon(bench.look_after)
        try:
            for number in range(1, games + 1):
                seating = Seating(f"{number}.test", number, number, names, rules, clock)
                referee = Referee(seating, board_seed(b"test", "test", number))
                bots = await bench.ready()
                results.append(await Table(pump, referee, bots, log).play())
                commands[:] = then or commands
        finally:
            await bench.close()
            log.close()
        nursery.cancel_scope.cancel()
    return results


def children() -> list[str]:
    """Process ids of our children, dead or alive."""
    threads = Path("/proc/self/task").iterdir()
    return [pid for thread in threads for pid in (thread / "children").read_text().split()]


def alive(tag: str) -> list[int]:
    """Every process on the machine that has the tag in its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if tag.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


async def vanished(tag: str) -> None:
    """Wait until the kernel has ended what was killed: a minute is the bound, not the rule."""
    for _ in range(6000):
        if not alive(tag):
            return
        await trio.sleep(0.01)
    raise AssertionError(f"still alive: {alive(tag)}")


def forget_peak() -> None:
    """From now on `peak_memory` counts anew, where the kernel lets us."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """The most memory that this process had resident, in bytes."""
    (line,) = [one for one in STATUS.read_text().splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def descriptors() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))
