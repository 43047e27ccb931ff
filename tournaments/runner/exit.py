"""Ends of a run: the signals that stop it, and the exit codes that say why it stopped."""

import signal

import trio

STOPPED = 1
"""Exit code when the machine, or we ourselves, kept a run from going on."""


INTERRUPTED = 130
"""Exit code after Ctrl-C."""


async def stop_on_signal(
    scope: trio.CancelScope, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Cancel the scope when somebody presses Ctrl-C or the program is asked to end."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel()
