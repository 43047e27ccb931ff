"""Processes that check game logs side by side."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain
from multiprocessing.context import BaseContext
from threading import Thread

from protocol.errors import UserError
from tournaments.verification.log_check import LogCheck, LogTask, check_log

AHEAD = 4
"""Batches for each process that wait or are done before their turn."""
SAFE_PATH = "PYTHONSAFEPATH"
"""The variable with which Python imports nothing from the folder in which it starts."""


def check_batches(batches: Iterable[list[LogTask]], count: int) -> Iterator[LogCheck]:
    """Yield the check of each log of each batch, in order, from so many processes.

    A machine that has no semaphores for processes, as some containers, checks them in this one.
    Raises UserError if one of the processes is killed.
    """
    with _safe_path():
        try:
            pool = ProcessPoolExecutor(count, _context(), _prepare)
        except (OSError, ImportError):
            yield from chain.from_iterable(map(_check_batch, batches))
            return
        try:
            yield from _in_order(pool, batches, AHEAD * count)
        except BrokenProcessPool:
            raise UserError(
                "A process that checked logs was killed. See whether the machine is short of "
                "memory, and verify again."
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, batches: Iterable[list[LogTask]], ahead: int
) -> Iterator[LogCheck]:
    waiting: deque[Future[list[LogCheck]]] = deque()
    for batch in batches:
        waiting.append(pool.submit(_check_batch, batch))
        if len(waiting) > ahead:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


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


def _prepare() -> None:
    # An interrupt of the user is ours; they end when they are done with their batch.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent was killed: it would wait for batches for ever."""
    parent = multiprocessing.parent_process()
    assert parent, "It is a child."
    parent.join()
    os._exit(1)


def _check_batch(batch: list[LogTask]) -> list[LogCheck]:
    return [*map(check_log, batch)]


def _context() -> BaseContext:
    """Return the way to start processes: a fork of one that imported this module and no more.

    A fork of ourselves could copy a lock that another thread of ours holds, one of numpy perhaps.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context
