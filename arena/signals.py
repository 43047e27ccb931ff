"""Signals that ask a program to end: the one rule of all commands, and the runs that obey it.

The first signal stops a command in order: it cancels the run of trio that goes on, or else raises
KeyboardInterrupt. The second changes nothing, for terminals and supervisors often send two at once,
and the end of a command must not be cut short by chance. Each later one interrupts again, so that
nobody has to wait for a long report. The exit code is 130 in each case.

trio itself takes up SIGINT alone, and any handler that raises may end it anywhere in its own code.
"""

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    # Imported late: a command that plays nothing starts in half the time without it.
    import trio

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
INTERRUPTED = 130
"""Exit code after a signal that asks to end, as after Ctrl-C in a shell."""
_STOPS: list[Callable[[], None]] = []
"""The last of them is what the next signal calls. Handlers are the process's, and so is this."""


def obey_signals() -> None:
    """Follow the rule from now on, for the rest of this process."""
    count = 0

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 2:
            return
        if not _STOPS:
            raise KeyboardInterrupt
        _STOPS[-1]()

    for number in ending_signals():
        # Ctrl-C too: a shell lets its background jobs ignore it.
        signal.signal(number, hear)


def ignore_signals() -> None:
    """Ignore them from now on: at its end Python would put back handlers that kill."""
    for number in ending_signals():
        signal.signal(number, signal.SIG_IGN)


def ending_signals() -> list[signal.Signals]:
    """Return the signals that ask the program to end; a hangup is none of them under nohup."""
    asked = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])]
    return [number for number in asked if number == signal.SIGINT or not _is_ignored(number)]


def _is_ignored(number: signal.Signals) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN


def run_async(function: Callable[[*Arguments], Awaitable[T]], *arguments: *Arguments) -> T:
    """Run a function of trio; a signal cancels it. Raises KeyboardInterrupt then."""
    import trio

    scope, tokens, asked = trio.CancelScope(), list[trio.lowlevel.TrioToken](), False

    def stop() -> None:
        nonlocal asked
        asked = True
        with suppress(trio.RunFinishedError):
            for token in tokens:
                token.run_sync_soon(scope.cancel)

    async def run() -> list[T]:
        tokens.append(trio.lowlevel.current_trio_token())
        if asked:
            scope.cancel()
        with scope:
            return [await function(*arguments)]
        return []

    with _calling(stop):
        results = trio.run(run)
    if asked or not results:
        raise KeyboardInterrupt
    return results[0]


@contextmanager
def cancelled_by_signals() -> "Iterator[trio.CancelScope]":
    """Yield a scope that a signal cancels, in place of the whole run."""
    import trio

    token = trio.lowlevel.current_trio_token()
    with trio.CancelScope() as scope, _calling(lambda: token.run_sync_soon(scope.cancel)):
        yield scope


@contextmanager
def _calling(stop: Callable[[], None]) -> Iterator[None]:
    _STOPS.append(stop)
    try:
        yield
    finally:
        _STOPS.remove(stop)
