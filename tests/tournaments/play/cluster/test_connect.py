"""A run's scheduler: who can reach it, and what the run says of it and of its workers."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import trio
import trio.testing

from tests.support.clusters import Cluster, write_certificates
from tournaments.play.cluster.connection import Loop

if TYPE_CHECKING:
    from tournaments.play.cluster.client import DaskClient


class Workers:
    """Who is there."""

    def __init__(self) -> None:
        self.workers: int | None = None
        self._changed = trio.Event()

    async def changed(self) -> None:
        await self._changed.wait()

    def become(self, workers: int | None) -> None:
        self.workers = workers
        self._changed.set()
        self._changed = trio.Event()


async def test_only_known_absence_of_workers_is_reported(
    autojump_clock: trio.abc.Clock,
) -> None:
    from tournaments.play.cluster.client import WAIT_S, say_if_nobody_comes

    assert autojump_clock
    client, lines = Workers(), list[str]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(say_if_nobody_comes, cast("DaskClient", client), "tls://x", lines.append)
        counts = []
        # No scheduler; nobody there; that again; a worker, a cut, nobody for a moment; nobody.
        for workers, waited in (
            (None, 100), (0, WAIT_S + 1), (0, 100), (2, 100), (None, 100), (0, WAIT_S - 1),
            (None, 100), (0, WAIT_S + 1),
        ):  # fmt: skip
            client.become(workers)
            await trio.sleep(waited)
            counts.append(len(lines))
        nursery.cancel_scope.cancel()
    assert counts == [0, 1, 1, 1, 1, 1, 1, 2]
    assert "none of those connected can play this event" in lines[0]


@pytest.mark.slow
async def test_who_has_no_certificate_cannot_use_the_scheduler(tmp_path: Path) -> None:
    """Whoever gets in can run programs as the organiser."""
    from distributed import Client, Security

    from tournaments.play.cluster.worker import read_certificates

    cluster = Cluster(tmp_path / "cluster")
    (tmp_path / "other").mkdir()
    write_certificates(tmp_path / "other")
    entered: list[str] = []

    async def enter(visitor: str, address: str, security: Security) -> None:
        with suppress(OSError, RuntimeError):
            async with Client(  # type: ignore[no-untyped-call]
                address, security=security, asynchronous=True, set_as_default=False, timeout=60
            ) as client:
                assert await client.run_on_scheduler(os.getpid) == cluster.processes[0].pid
                entered.append(visitor)

    try:
        with trio.fail_after(240):
            for visitor, address, security in (
                ("plain", cluster.address.replace("tls:", "tcp:"), Security()),  # type: ignore[no-untyped-call]
                ("other", cluster.address, read_certificates(tmp_path / "other")),
                ("own", cluster.address, read_certificates(cluster.tls)),
            ):
                await Loop().run(partial(enter, visitor, address, security))
    finally:
        cluster.close()
    assert entered == ["own"]
