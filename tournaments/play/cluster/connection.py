"""The connection of a cluster: its address, and an asyncio loop in a thread under trio."""

import stat
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import trio

from protocol.errors import UserError
from protocol.records import WorkerName

if TYPE_CHECKING:
    import asyncio

# The address of a run's workers from the command line, refused without TLS.


OTHERS_RIGHTS = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but a file's owner."""
NO_PACKAGE = (
    "{what} needs the package {package}, which is not installed: "
    "pip install '.[cluster]' in the clone."
)
NO_TLS = (
    "{address} has no TLS: other users who can reach it could run programs there and here. Give "
    "the scheduler certificates and say tls://HOST:PORT --tls FOLDER; see `boneyard help cluster`."
)


class ClusterAddress(NamedTuple):
    """A scheduler's address."""

    address: str
    """Address of the scheduler, with its protocol."""
    tls: Path
    """A folder with ca.pem, cert.pem and key.pem."""


def parse_cluster_option(text: str, tls: Path | None) -> ClusterAddress:
    """Read the value of `--cluster`. Raises UserError, also for an address without TLS."""
    return ClusterAddress(_checked(text), _complete(text, tls))


def _checked(text: str) -> str:
    """Return a scheduler's address in full. Raises UserError."""
    address = text if "://" in text else f"tls://{text}"
    protocol, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if protocol not in ("tcp", "tls") or not host or not port.isdigit():
        raise UserError(f"{text!r} is not a scheduler's address. Give one such as tls://head:8786.")
    if protocol == "tcp":
        raise UserError(NO_TLS.format(address=address))
    return address


def check_worker_name(name: str) -> str:
    """Check a worker's name from the command line.

    Raises UserError for a name that a log cannot hold.
    """
    try:
        return msgspec.convert(name, WorkerName)
    except msgspec.ValidationError:
        raise UserError(
            f"--name {name!r}: a worker's name has up to 64 letters, digits, dots, dashes and "
            "underscores, and begins with a letter or a digit."
        ) from None


def _complete(text: str, tls: Path | None) -> Path:
    """Return the folder of the certificates. Raises UserError."""
    if tls is None:
        raise UserError(f"{text}: --tls FOLDER is missing, with ca.pem, cert.pem and key.pem.")
    for name in ("ca.pem", "cert.pem", "key.pem"):
        if not (tls / name).is_file():
            raise UserError(f"--tls {tls}: {name} is missing in this folder.")
    if (tls / "key.pem").stat().st_mode & OTHERS_RIGHTS:
        raise UserError(f"{tls / 'key.pem'}: other users may read it. Say chmod 600 of it.")
    return tls


def need_engine(feature: str) -> None:
    """Refuse to go on without the engine's packages. Raises UserError."""
    for package in ("distributed", "cryptography"):
        if find_spec(package) is None:
            raise UserError(NO_PACKAGE.format(what=feature, package=package))


# An asyncio loop in a thread of its own, under trio: cancelled with the task that runs it.


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
        import asyncio  # It takes 10 ms, and every run reads the address's option.

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
