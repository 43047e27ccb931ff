"""An asyncio loop in a thread of its own, under trio: cancelled with the task that runs it."""

import asyncio
from collections.abc import Awaitable, Callable

import trio


class Loop:
    """A thread with an asyncio loop, in which all calls to the distributed engine are made."""

    def __init__(self) -> None:
        self._runs: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    async def run(
        self,
        main: Callable[[], Awaitable[None]],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run `main` in the loop until it returns; started once `call` works.

        When this is cancelled, it cancels `main` and waits for it. Raises what `main` raises, in a
        group.
        """
        up, over = trio.Event(), trio.Event()
        token = trio.lowlevel.current_trio_token()

        async def cancellable() -> None:
            self._runs, self._task = asyncio.get_running_loop(), asyncio.current_task()
            token.run_sync_soon(up.set)
            if not self._stopped:
                await main()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._threaded, cancellable, over)
            try:
                await up.wait()
                task_status.started()
                await over.wait()
            finally:
                self._stop()

    def call(self, work: Callable[[], object]) -> None:
        """Call `work` soon in the loop, unless the loop has ended. Any thread may call this."""
        if self._runs and not self._runs.is_closed():
            self._runs.call_soon_threadsafe(work)

    async def _threaded(self, main: Callable[[], Awaitable[None]], over: trio.Event) -> None:
        with trio.CancelScope(shield=True):
            try:
                await trio.to_thread.run_sync(self._blocking, main)
            finally:
                over.set()

    def _blocking(self, main: Callable[[], Awaitable[None]]) -> None:
        try:
            asyncio.run(main())  # type: ignore[arg-type]
        except asyncio.CancelledError:
            if not self._stopped:
                raise

    def _stop(self) -> None:
        self._stopped = True
        if self._task:
            self.call(self._task.cancel)
