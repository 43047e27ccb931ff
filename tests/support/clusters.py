"""A cluster of processes on this machine, behind a proxy that can be cut."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.support.events import BONEYARD

PATIENCE_S = 120
"""The time that anything may take: a bound, not an expectation."""
LOOK_S = 0.05
LISTENS = "0A"
"""The state of a socket that listens, in /proc/net/tcp."""
README = Path(__file__).parents[2] / "tournaments" / "play" / "cluster" / "README.md"
Process = subprocess.Popen[bytes]


def until(happened: Callable[[], bool], event: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end, f"in vain: {event}"
        # Not more often: the proxy's threads are in this process.
        time.sleep(LOOK_S)


def from_readme() -> tuple[dict[str, str], list[str]]:
    """Return the README's way to start a scheduler: the environment that it exports, and the
    command."""
    block = README.read_text().partition("export DASK")[2].partition("```")[0]
    lines = ("export DASK" + block).replace("\\\n", " ").splitlines()
    exports = [shlex.split(line)[1:] for line in lines if line.startswith("export ")]
    command = next(line for line in lines if line.startswith("dask scheduler "))
    settings = dict(word.split("=", 1) for words in exports for word in words)
    return settings, shlex.split(command)


def doors(pid: int) -> set[tuple[str, int]]:
    """Return where a process listens to TCP: address and port."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # It has just been closed.
            sockets.add(str(descriptor.readlink()))
    addresses = set()
    for family, table in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and f"socket:[{inode}]" in sockets:
                address, port = local.split(":")
                words = [
                    bytes.fromhex(address[start : start + 8])[::-1]
                    for start in range(0, len(address), 8)
                ]
                addresses.add((socket.inet_ntop(family, b"".join(words)), int(port, 16)))
    return addresses


def write_certificates(folder: Path) -> None:
    """Write a new key, and a certificate for it that all who have the key accept."""
    # Only the processes that run such tests load it: it takes longer than all of ours.
    from distributed import Security

    certificates = Security.temporary()  # type: ignore[no-untyped-call]
    for name, text in (
        ("ca.pem", certificates.tls_ca_file),
        ("cert.pem", certificates.tls_client_cert),
        ("key.pem", certificates.tls_client_key),
    ):
        (folder / name).touch(0o600)
        (folder / name).write_text(text)


class Proxy:
    """A carrier of bytes between one port of this machine and another, until it is cut."""

    def __init__(self, target: int) -> None:
        self._target = ("127.0.0.1", target)
        self._open: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._listen()

    def cut(self) -> None:
        # A thread that waits in `accept` holds the door open until somebody enters.
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._listener.join()
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open.clear()

    def mend(self) -> None:
        self._door = socket.create_server(("127.0.0.1", self.port))
        self._listen()

    def _listen(self) -> None:
        self._listener = threading.Thread(target=self._accept, args=(self._door,), daemon=True)
        self._listener.start()

    def _accept(self, door: socket.socket) -> None:
        while True:
            try:
                client, _ = door.accept()
            except OSError:
                return
            self._open.append(client)
            try:
                server = socket.create_connection(self._target)
            except OSError:
                client.close()
                continue
            self._open.append(server)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=carry, args=(source, sink), daemon=True).start()


def carry(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Cluster:
    """A scheduler behind a proxy, workers, and the output of them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bots = folder / "bots"
        folder.mkdir(parents=True, exist_ok=True)
        self.tls = folder / "tls"
        self.tls.mkdir()
        write_certificates(self.tls)
        self.processes: list[Process] = []
        self._scheduler = self._started_scheduler()
        contact = folder / "scheduler.json"
        until(lambda: contact.exists() and bool(contact.read_bytes()), "a scheduler")
        address = json.loads(contact.read_text())["address"]
        self.proxy = Proxy(int(address.rpartition(":")[2]))
        self.address = f"tls://127.0.0.1:{self.proxy.port}"

    def _started_scheduler(self) -> Process:
        """Start a scheduler as the README says, but for this machine alone."""
        settings, words = from_readme()
        changes = {"tls://head": "tls://127.0.0.1", "8786": "0"}
        words = [changes.get(word, word).replace("tls/", f"{self.tls}/") for word in words]
        settings = {name: text.replace("tls/", f"{self.tls}/") for name, text in settings.items()}
        contact = ("--scheduler-file", str(self._folder / "scheduler.json"))
        return self._start("scheduler", sys.executable, "-m", *words, *contact, settings=settings)

    def add(self, name: str, sandbox: str = "off", jobs: int = 1) -> Process:
        options = ("--name", name, "--folder", str(self.bots), "--sandbox", sandbox)
        return self._start(
            name, *BONEYARD, "worker", self.address, *options, "--jobs", f"{jobs}", *self._keys()
        )

    def run(self, name: str, *words: str) -> Process:
        return self._start(name, *BONEYARD, "run", *words, *self.words())

    def words(self) -> tuple[str, ...]:
        return ("--cluster", self.address, *self._keys())

    def _keys(self) -> tuple[str, ...]:
        return ("--tls", str(self.tls))

    def output(self, name: str) -> str:
        return (self._folder / f"{name}.txt").read_text()

    def wait_for_output(self, name: str, part: str, times: int = 1) -> None:
        until(lambda: self.output(name).count(part) >= times, f"{name} says {part!r}")

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.proxy.cut()

    def _start(self, name: str, *words: str, settings: Mapping[str, str] | None = None) -> Process:
        # Who is killed cannot tidy up.
        environment = {**os.environ, **(settings or {}), "TMPDIR": str(self._folder)}
        with (self._folder / f"{name}.txt").open("ab") as output:
            process = subprocess.Popen(
                words, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment
            )
        self.processes.append(process)
        return process


def kill(*processes: Process) -> None:
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def results(out: Path) -> int:
    logs = [path.read_bytes() for path in (out / "games").glob("*")]
    return sum(log.count(b'"type":"result"') for log in logs)
