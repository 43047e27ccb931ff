"""Whole events on workers that are processes: killed, cut off, and still each game once."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import trio
import trio.testing

from arena.sandbox.command import OFF
from tests.support.clusters import Cluster, doors, kill, results, until, write_certificates
from tests.support.events import boneyard
from tests.support.tables import alive
from tournaments.play.cluster.worker import Loop

if TYPE_CHECKING:
    from tournaments.play.cluster.worker import OrderRunner

GATED = """
import json, os, sys, time
from glob import glob
GATE = GATE_FOLDER
waits = os.path.join(GATE, "waits-%d" % os.getpid())
def may_enter():
    for one in glob(os.path.join(GATE, "pass-*")):
        try:
            os.unlink(one)
        except FileNotFoundError:
            continue
        return True
entered = False
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "gated", "version": "1"}', flush=True)
    elif message["type"] == "ask":
        while os.getppid() > 1 and not (entered or may_enter()):
            open(waits, "w").close()
            time.sleep(0.01)
        if os.getppid() == 1:
            sys.exit()
        entered = True
        if os.path.exists(waits):
            os.unlink(waits)
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0}), flush=True)
"""
"""A bot that plays its sitting once it has a pass."""


class Gate:
    """Lets so many bots in; counts who waits there: so it is known what is played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.bot = folder / "gated.py"
        self.bot.write_text(GATED.replace("GATE_FOLDER", repr(str(folder))))

    def let_in(self, bots: int) -> None:
        """Give passes to this many bots; forget who waited, as some of them are dead."""
        for path in self.folder.glob("waits-*"):
            path.unlink()
        for number in range(bots):
            (self.folder / f"pass-{number}").touch()

    def until_waiting(self, bots: int) -> None:
        until(lambda: len(list(self.folder.glob("waits-*"))) >= bots, f"{bots} bots wait")


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


def words(gate: Gate) -> tuple[str, ...]:
    """Four entrants that are the same bot: twelve sittings of two short games."""
    bot = f"python3 -I -S {gate.bot}"
    plan = ("--boards", "2", "--set", "target=30", "--move-ms", "100000")
    return (*[bot] * 4, *plan, "--seed", "1", "--sandbox", "off")


PAGES = ("/", "/status", "/health", "/metrics", "/json/counts.json", "/info/main/workers.html")


@pytest.mark.slow
def test_no_web_page_and_no_other_address_is_open(cluster: Cluster) -> None:
    """Dask's own scheduler shows tasks and logs to whoever asks, at port 8787 of all addresses."""
    worker = cluster.add("w")
    cluster.wait_for_output("w", "connected")
    for process in (cluster.processes[0], worker):
        addresses = doors(process.pid)
        assert {address for address, _ in addresses} == {"127.0.0.1"}
        answers = {status(port, page) for (_, port), page in product(addresses, PAGES)}
        assert answers == {None}


def status(port: int, page: str) -> int | None:
    """Return a web server's status at this address; None without a server that has no TLS."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as door:
        try:
            door.request("GET", page)
            return door.getresponse().status
        except (OSError, HTTPException):
            return None


@pytest.mark.slow
def test_results_count_once_whatever_dies(gate: Gate, cluster: Cluster, tmp_path: Path) -> None:
    """One of two workers is killed, one joins; all connections break; the run is killed."""
    reference, out = tmp_path / "here", tmp_path / "out"
    gate.let_in(24)
    boneyard("run", *words(gate), "--out", str(reference))
    workers = [cluster.add(f"worker-{number}") for number in range(2)]
    run = cluster.run("run", *words(gate), "--out", str(out))
    gate.until_waiting(2)
    kill(workers[0])
    cluster.add("worker-2")
    # Of eight bots two play with no opponent that has a pass, and two may be of the dead worker.
    gate.let_in(8)
    until(lambda: results(out) >= 4, "games are played")
    gate.until_waiting(2)
    cluster.proxy.cut()
    cluster.wait_for_output("run", "No connection")
    for name in ("worker-1", "worker-2"):
        cluster.wait_for_output(name, "is cut")
    cluster.proxy.mend()
    cluster.wait_for_output("run", "scheduler answers")
    gate.let_in(8)
    gate.until_waiting(2)
    kill(run)
    assert results(out) <= 16
    gate.let_in(24)
    second_run = cluster.run("again", *words(gate), "--out", str(out))
    assert second_run.wait(120) == 0, cluster.output("again")
    assert (out / "ledger.jsonl").read_bytes() == (reference / "ledger.jsonl").read_bytes()
    assert results(out) == 24
    assert "OK: " in boneyard("verify", str(out))
    report = (out / "report.md").read_text()
    assert "worker-1" in report
    assert "worker-2" in report
    assert "worker-2" in (out / "times.json").read_text()
    until(lambda: not alive(str(gate.bot)), "no bot is left")


@pytest.mark.slow
def test_an_open_worker_gets_no_bot_that_needs_a_sandbox(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    cluster.add("open")
    cluster.wait_for_output("open", "connected")
    plan = ("first", "greedy", "--boards", "2", "--set", "target=1", "--sandbox", "auto")
    run = cluster.run("run", *plan, "--out", str(out))
    # It comes long after the other, which would have begun.
    cluster.add("locked", sandbox="auto")
    assert run.wait(120) == 0, cluster.output("run")
    played = json.loads((out / "times.json").read_bytes())["workers"]
    assert [(share["worker"], share["games"]) for share in played] == [("locked", 4)]


class Closing:
    """The engine's worker or client, whose connections are closed while it is asked.

    Met under load: the engine raises as it does at a closed door.
    """

    address = "tls://127.0.0.1:1"
    status = "closed"
    why = "the connection broke"

    def __init__(self) -> None:
        self.scheduler = self
        self.over = asyncio.Event()

    def __await__(self) -> Iterator[None]:
        yield from ()

    async def echo(self, data: bytes = b"") -> bytes:
        raise RuntimeError(f"ConnectionPool is closed: {data!r}")

    identity = echo

    async def register_plugin(self, *_: object) -> None:
        """Accept the plugin in time."""

    async def close(self) -> None:
        self.over.set()

    async def finished(self) -> None:
        await self.over.wait()


async def test_a_worker_that_serves_longer_than_its_patience_tries_again_after_a_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tournaments.play.cluster import worker as dask_worker

    monkeypatch.setattr(dask_worker, "OrderWorker", lambda *_, **__: Closing())
    monkeypatch.setattr(dask_worker, "SCHEDULER_CHECK_S", 0.0)
    messages: list[str] = []
    write_certificates(tmp_path)
    process = dask_worker.WorkerProcess(
        address=Closing.address, tls=f"{tmp_path}", name="w", folder="", temporary=f"{tmp_path}",
        patience=-1, sandbox="off", confinement=OFF, jobs=1, core=0,
    )  # fmt: skip
    worker = dask_worker.SchedulerConnection(process, cast("OrderRunner", None), messages.append)

    async def serve() -> None:
        assert await worker._connected()

    with trio.fail_after(120):
        await Loop().run(serve)
    await trio.testing.wait_all_tasks_blocked()
    assert messages[-1] == "the connection is cut"


async def test_a_run_looks_again_for_a_lost_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Security

    from tournaments.play.cluster import client

    monkeypatch.setattr(client, "CONNECT_S", 0.1)
    tls = Security()  # type: ignore[no-untyped-call]
    run = client.DaskClient(Closing.address, tls, run="run", data=b"", resource="off", tell=print)

    async def connect() -> None:
        with pytest.raises(client.LostError):
            async with run._client():
                pass
        monkeypatch.setattr(client, "Client", lambda *_, **__: Closing())
        with pytest.raises(client.LostError):
            await run._connection()
        monkeypatch.setattr(Closing, "status", "running")
        with pytest.RaisesGroup(RuntimeError):
            await run._connection()

    with trio.fail_after(120):
        await Loop().run(connect)
