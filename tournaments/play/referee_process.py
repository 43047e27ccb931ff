"""A referee process of a run: it plays sittings of quick bots on a core of its own."""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, Self, TypeVar

import trio
from msgspec import Struct

from arena.machine import end_with_parent
from arena.match.poller import Poller
from arena.sandbox.command import Confinement
from arena.sandbox.process import Sandbox
from protocol.codec import decode_json, encode_json
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.book import Book
from tournaments.event.folder import Folder, load_event
from tournaments.plan.schedule import PlannedGame, PlannedSitting
from tournaments.play.lanes import Lanes
from tournaments.play.sittings import LoggedSittings, RunStoppedError, root_cause, stop_sentence

# A referee process of a run: it plays sittings of quick bots on a core of its own.
#
# The run sends orders, a line each, and gets each result once its game is on the disk. The process
# writes the logs where the run would, so that a kill of either loses nothing; it ends with the run.


T = TypeVar("T")

REFEREE_ARGV = (
    *(sys.executable, "-P", "-c"),
    "from tournaments.play.referee_process import serve_run; serve_run()",
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


# The program of that process.


class OrderedSittings:
    """The sittings that the run ordered, and the answers to it."""

    def __init__(self, assignment: Assignment, messages: MessageStream[SittingOrder]) -> None:
        """Open the event. Raises UserError, OSError."""
        folder = Folder(Path(assignment.folder))
        event = load_event(folder)
        self._messages = messages
        self._poller = Poller()
        self._lanes = Lanes(None, core=assignment.core)
        self._sittings = LoggedSittings(
            Book(folder, event),
            Sandbox(assignment.confinement, event.limits),
            self._poller,
            self._count,
            stderr_boards=assignment.stderr_boards,
        )

    async def serve(self) -> None:
        """Play until the orders end. Raises what `LoggedSittings.play` raises, in a group."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._poller.run)
            async for order in self._messages:
                nursery.start_soon(self._play, order)
            nursery.cancel_scope.cancel()

    async def _play(self, order: SittingOrder) -> None:
        await self._sittings.play(order.sitting, order.games, self._lanes)
        await self._messages.send(RefereeAnswer(over=order.sitting.name))

    async def _count(self, result: Result) -> None:
        await self._messages.send(RefereeAnswer(result=result))


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
        await OrderedSittings(assignment, messages).serve()
    except* Exception as group:
        folder, cause = Folder(Path(assignment.folder)), root_cause(group)
        if isinstance(cause, UserError):
            stopped = str(cause)
        else:
            stopped = stop_sentence(folder, group, "run", "between two games")
    if stopped:
        await messages.send(RefereeAnswer(stopped=stopped))
    await messages.close()
