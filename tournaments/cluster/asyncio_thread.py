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
        token = trio.lowlevel.current_trio_token()

        async def cancellable() -> None:
            self._runs, self._task = asyncio.get_running_loop(), asyncio.current_task()
            token.run_sync_soon(task_status.started)
            if not self._stopped:
                await main()

        def blocking() -> None:
            try:
                asyncio.run(cancellable())
            except asyncio.CancelledError:
                if not self._stopped:
                    raise

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._stop_when_cancelled)
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(blocking)
            nursery.cancel_scope.cancel()

    def call(self, work: Callable[[], object]) -> None:
        """Call `work` soon in the loop, unless the loop has ended. Any thread may call this."""
        if self._runs and not self._runs.is_closed():
            self._runs.call_soon_threadsafe(work)

    async def _stop_when_cancelled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._stopped = True
            if self._task:
                self.call(self._task.cancel)
