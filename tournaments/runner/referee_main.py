"""The program of a referee process; see `tournaments.runner.referee_process`."""

import os
import signal
import sys
from pathlib import Path

import trio

from arena.match.poller import Poller
from arena.sandbox.sandbox import Sandbox
from protocol.codec import decode_json
from protocol.errors import UserError
from protocol.records import Result
from tournaments.runner.exit import root_cause, stop_sentence
from tournaments.runner.lanes import Lanes
from tournaments.runner.logged_sittings import LoggedSittings
from tournaments.runner.machine import end_with_parent
from tournaments.runner.referee_process import (
    Assignment,
    MessageStream,
    RefereeAnswer,
    SittingOrder,
)
from tournaments.storage.folder import Folder, load_event


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
            folder,
            event,
            Sandbox(assignment.confinement, event.limits),
            self._poller,
            self._count,
            keep_stderr=assignment.keep_stderr,
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
