"""A referee process of a run: it plays sittings of quick bots on a core of its own.

The run sends orders, a line each, and gets each result once its game is on the disk. The process
writes the logs where the run would, so that a kill of either loses nothing; it ends with the run.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Self, TypeVar

import trio
from msgspec import Struct

from arena.sandbox.limits import Confinement
from protocol.codec import decode_json, encode_json
from protocol.records import Result
from tournaments.runner.exit import RunStoppedError
from tournaments.schedule.schedule import PlannedGame, PlannedSitting

T = TypeVar("T")

WORDS = (
    *(sys.executable, "-P", "-c"),
    "from tournaments.runner.referee_main import serve_run; serve_run()",
)
LEAVE_S = 10.0
"""Most seconds in which a process ends its bots and leaves."""
READ_AT_ONCE = 2**16


class Assignment(Struct, frozen=True):
    """The argument of a referee process: the event that it plays, and on which core."""

    folder: str
    confinement: Confinement
    keep_stderr: bool
    core: int
    """The core of the process, and of quick bots."""


class SittingOrder(Struct, frozen=True):
    """A line to it: the games of a sitting that it has to play."""

    sitting: PlannedSitting
    games: tuple[PlannedGame, ...]


class RefereeAnswer(Struct, frozen=True, omit_defaults=True):
    """A line from it, with one of these."""

    result: Result | None = None
    """The result of a game that is on the disk."""
    over: str = ""
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
            (*WORDS, encode_json(assignment).decode()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        with self._process.stdin as orders, self._process.stdout as answers:
            self._messages = MessageStream(answers.fileno(), orders.fileno(), RefereeAnswer)
        self._count = count
        self._going: dict[str, trio.Event] = {}

    async def play(self, sitting: PlannedSitting, games: list[PlannedGame]) -> None:
        """Let the process play a sitting's games, until its bots have left."""
        over = self._going[sitting.name] = trio.Event()
        await self._messages.send(SittingOrder(sitting, tuple(games)))
        await over.wait()

    async def run(self) -> None:
        """Count its results until cancelled, then end it. Raises RunStoppedError."""
        try:
            async for answer in self._messages:
                if answer.result:
                    await self._count(answer.result)
                elif answer.over:
                    self._going.pop(answer.over).set()
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
