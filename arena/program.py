"""The program's own signals and streams: how it is asked to end, and where its words go.

The first signal stops a command in order: it cancels the run of trio that goes on, or else raises
KeyboardInterrupt. The second changes nothing, for terminals and supervisors often send two at once,
and the end of a command must not be cut short by chance. Each later one interrupts again, so that
nobody has to wait for a long report. The exit code is 130 in each case.

trio itself takes up SIGINT alone, and any handler that raises may end it anywhere in its own code.
"""

import codecs
import io
import os
import signal
import sys
import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    import trio


# The program's own streams: closed ones, and those whose encoding lacks a character.


PLAIN_CHARACTERS = {
    **{"±": "+-", "−": "-", "–": "-", "—": "-", "×": "x", "·": ".", "…": "...", "•": "*"},
    **{"→": "->", "←": "<-", "≤": "<=", "≥": ">=", "½": "1/2", "“": '"', "”": '"', "’": "'"},
    **{"│": "|", "┃": "|", "─": "-", "━": "-", "✓": "v", "✗": "x", "µ": "u", "¼": "1/4"},
}
"""Characters of ours, as an encoding without them writes them."""
PLAINLY = "boneyard-plain"
"""Our handler of characters that an encoding lacks, by the name that streams know it by."""


def open_streams() -> None:
    """Open those of stdin, stdout and stderr that are closed, and make none fail on a character.

    To be called before any file is opened: the system would give a file the number of a closed
    stream, and a bot's program would write its stderr into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _open_nothing(number, name)
    codecs.register_error(PLAINLY, _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        # A pipe of Windows would have the code page of decades ago, which nobody reads.
        if sys.platform == "win32" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
        # UTF-8 lacks nothing, and keeps the bytes of a file's name that are no text.
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.startswith("utf"):
            stream.reconfigure(errors=PLAINLY)


def drop_unwritten() -> None:
    """Drop what no stream took, as on a full disk: Python would fail on it when it exits.

    Whoever wrote it knows: every line is flushed.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)


def _open_nothing(number: int, name: str) -> None:
    """Open a stream from which nothing comes, and into which all goes."""
    try:
        os.fstat(number)
    except OSError:
        descriptor = os.open(os.devnull, os.O_RDWR)  # The lowest free number: this very one.
        if descriptor != number:
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.set_inheritable(number, True)
    setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that an encoding lacks, and the place behind them."""
    assert isinstance(error, UnicodeEncodeError)
    words = "".join(map(_to_ascii, error.object[error.start : error.end]))
    return words, error.end


def _to_ascii(character: str) -> str:
    """Return a character in ASCII: ours by the table, letters without accents, `?` for others."""
    if character in PLAIN_CHARACTERS:
        return PLAIN_CHARACTERS[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    blocks = {0x25: "-", 0x258: "#", 0x259: "#"}  # Boxes, and blocks of bars.
    return bare or blocks.get(ord(character) >> 4) or blocks.get(ord(character) >> 8, "?")


# Signals that ask a program to end: the one rule of all commands, and the runs that obey it.


T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
ENDING_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Their names: Windows has no hangup, and alone the last, of Ctrl-Break."""
INTERRUPTED = 130
"""Exit code after a signal that asks to end, as after Ctrl-C in a shell."""
GUEST_WAIT_S = 0.5
"""Longest wait for a thread, in s: on Windows no signal is heard within one."""
_STOPS: list[Callable[[], None]] = []
"""The last of them is what the next signal calls. Handlers are the process's, and so is this."""
_HANDLERS: list[Callable[[int, FrameType | None], None]] = []
"""Ours: where another one hears Ctrl-C, we are guests in another program."""


def obey_signals() -> None:
    """Treat signals as this module's docstring says, for the rest of this process."""
    count = 0

    def hear(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 2:
            return
        if not _STOPS:
            raise KeyboardInterrupt
        _STOPS[-1]()

    _HANDLERS.append(hear)
    for number in ending_signals():
        # Ctrl-C too: a shell lets its background jobs ignore it.
        signal.signal(number, hear)


def ignore_signals() -> None:
    """Ignore the ending signals from now on: at its exit Python would restore fatal handlers."""
    for number in ending_signals():
        signal.signal(number, signal.SIG_IGN)


def ending_signals() -> list[signal.Signals]:
    """Return the signals that ask the program to end; a hangup is none of them under nohup."""
    signals = [number for number in signal.Signals if number.name in ENDING_SIGNALS]
    return [number for number in signals if number.name != "SIGHUP" or not _is_ignored(number)]


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) == signal.SIG_IGN


def run_async(function: Callable[[*Arguments], Awaitable[T]], *arguments: *Arguments) -> T:
    """Run a function of trio; a signal cancels it. Raises KeyboardInterrupt then.

    In another thread than the main one it ends with the process instead. In another program, such
    as a notebook, trio gets a thread of its own, and Ctrl-C cancels it.
    """
    import trio

    scope, tokens, has_signal = trio.CancelScope(), list[trio.lowlevel.TrioToken](), False

    def stop() -> None:
        nonlocal has_signal
        has_signal = True
        with suppress(trio.RunFinishedError):
            for token in tokens:
                token.run_sync_soon(scope.cancel)

    async def run() -> list[T]:
        tokens.append(trio.lowlevel.current_trio_token())
        if has_signal:
            scope.cancel()
        with scope:
            return [await function(*arguments)]
        return []

    is_main = current_thread() is main_thread()
    is_guest = is_main and signal.getsignal(signal.SIGINT) not in _HANDLERS
    with _calling(stop) if is_main else nullcontext():
        results = _run_as_guest(run) if is_guest else trio.run(run)
    if has_signal or not results:
        raise KeyboardInterrupt
    return results[0]


def _run_as_guest(function: Callable[[], Awaitable[T]]) -> T:
    """Run a function of trio in a thread, and stop it if Ctrl-C comes meanwhile.

    The main thread may be in a loop of asyncio that called us, and trio would take its signals.
    """
    import trio

    def hear(_number: int, _frame: FrameType | None) -> None:
        with suppress(trio.RunFinishedError):
            _STOPS[-1]()

    handler = signal.signal(signal.SIGINT, hear)
    try:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(trio.run, function)
            while not running.done():
                wait([running], GUEST_WAIT_S)
            return running.result()
    finally:
        signal.signal(signal.SIGINT, handler)


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
