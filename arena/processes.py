"""Processes that read game logs side by side."""

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from multiprocessing.context import BaseContext
from threading import Thread
from types import ModuleType
from typing import TypeVar

from arena.machine import cores, stay_on, usable_cores
from protocol.errors import UserError

T = TypeVar("T")
R = TypeVar("R")
ShowProgress = Callable[[int, int], None]
"""A function that shows how many games are done, and of how many."""

TASKS_AHEAD = 4
"""Tasks for each process that wait or are done before their turn."""
SAFE_PATH = "PYTHONSAFEPATH"
"""The variable with which Python imports nothing from the folder in which it starts."""


def map_tasks(work: Callable[[T], R], tasks: Iterable[T], most: int | None = None) -> Iterator[R]:
    """Yield what `work` returns for each task, in their order, from as many processes as cores.

    This process itself does a single task, as to start another process would take longer, and all
    tasks on a machine without semaphores, such as some containers. `most`: the most processes.
    Raises UserError if one of the processes is killed.
    """
    # A run's referee may have left all cores but one to others.
    stay_on(usable_cores())
    tasks, count = iter(tasks), most or cores()
    first = [*islice(tasks, 2)]
    all_tasks = chain(first, tasks)
    if count < 2 or len(first) < 2:
        yield from map(work, all_tasks)
        return
    with _safe_path():
        try:
            pool = ProcessPoolExecutor(count, _context(work.__module__), _prepare)
        except (OSError, ImportError, NotImplementedError):
            yield from map(work, all_tasks)
            return
        try:
            yield from _in_order(pool, work, all_tasks, TASKS_AHEAD * count)
        except BrokenProcessPool:
            raise UserError(
                "A process beside ours was killed. See whether the machine is short of memory, and "
                "run the command again."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, work: Callable[[T], R], tasks: Iterable[T], most: int
) -> Iterator[R]:
    waiting: deque[Future[R]] = deque()
    for task in tasks:
        with _starting_processes():
            waiting.append(pool.submit(work, task))
        if len(waiting) > most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def map_apart(work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R | None]]:
    """Yield each task, as it is done, with what `work` returns for it; None if it was killed.

    All begin at once, each in a process of its own: the system may kill one, for its memory
    perhaps, and the others go on.
    """
    stay_on(usable_cores())
    with _safe_path(), ExitStack() as pools:
        futures: dict[Future[R], T] = {}
        for task in tasks:
            try:
                pool = ProcessPoolExecutor(1, _context(work.__module__), _prepare)
            except (OSError, ImportError, NotImplementedError):  # As above.
                yield task, work(task)
                continue
            pools.callback(pool.shutdown, cancel_futures=True)
            with _starting_processes():
                futures[pool.submit(work, task)] = task
        for future in as_completed(futures):
            is_killed = isinstance(future.exception(), BrokenProcessPool)
            yield futures[future], None if is_killed else future.result()


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start processes that import nothing from our folder: it may be a stranger's event."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def _starting_processes() -> Iterator[None]:
    """Start processes that do not run the main module: they need nothing of it, and a script
    without `if __name__ == "__main__"` would verify again in each of them.

    Until they ignore Ctrl-C, which comes to them too, it is blocked: it would print a traceback.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    _mask_interrupt(is_blocked=True)
    try:
        yield
    finally:
        _mask_interrupt(is_blocked=False)
        sys.modules["__main__"] = main


def _mask_interrupt(*, is_blocked: bool) -> None:
    """Block Ctrl-C in this thread and in what it starts, or no more."""
    if sys.platform != "win32":
        how = signal.SIG_BLOCK if is_blocked else signal.SIG_UNBLOCK
        signal.pthread_sigmask(how, {signal.SIGINT})


def _prepare() -> None:
    # The parent handles the user's interrupt; the others end when their task is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _mask_interrupt(is_blocked=False)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent was killed: it would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    assert parent, "It is a child."
    parent.join()
    os._exit(1)


def _context(module: str) -> BaseContext:
    """Return the way to start processes: a fork of one that imported this module and no more.

    A fork of ourselves could copy a lock that another thread of ours holds, one of numpy perhaps.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, module])
    return context
