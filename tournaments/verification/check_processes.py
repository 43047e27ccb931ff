"""Processes that check game logs side by side."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain
from multiprocessing.context import BaseContext

from tournaments.verification.log_check import LogCheck, LogTask, check_log

AHEAD = 4
"""Batches for each process that wait or are done before their turn."""


def check_batches(batches: Sequence[list[LogTask]], count: int) -> Iterator[LogCheck]:
    """Yield the check of each log of each batch, in order, from so many processes.

    A machine that has no semaphores for processes, as some containers, checks them in this one.
    """
    try:
        pool = _pool(count)
    except (OSError, ImportError):
        yield from chain.from_iterable(map(_check_batch, batches))
        return
    waiting: deque[Future[list[LogCheck]]] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(_check_batch, batch))
            if len(waiting) > AHEAD * count:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(count: int) -> ProcessPoolExecutor:
    # An interrupt of the user is ours; they end when they are done with their batch.
    return ProcessPoolExecutor(count, _context(), signal.signal, (signal.SIGINT, signal.SIG_IGN))


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
