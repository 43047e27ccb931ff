"""Ends of a run: the signals that stop it, and the exit codes that say why it stopped."""

import signal

import trio

STOPPED = 1
"""Exit code if the machine, or a bug of ours, stopped the run."""


INTERRUPTED = 130
"""Exit code after Ctrl-C."""


async def stop_on_signal(
    scope: trio.CancelScope, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Cancel the scope on Ctrl-C, or if the program is asked to end."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
