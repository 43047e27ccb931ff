"""A run's scheduler: who can reach it, and what the run says of it and of its workers."""

import asyncio
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import trio
import trio.testing

from protocol.errors import UserError
from tests.support.clusters import Cluster, write_certificates
from tournaments.play.cluster.worker import Loop

if TYPE_CHECKING:
    from distributed import Client


class Scheduler:
    """A scheduler, and the engine's client that asks it; it describes other workers each time."""

    def __init__(self, jobs: Sequence[int]) -> None:
        self.scheduler = self
        self._jobs = iter(jobs)

    async def identity(self) -> dict[str, object]:
        return {"workers": {"w": {"resources": {"ours": next(self._jobs), "other": 1.0}}}}


async def test_only_lasting_absence_of_workers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Security

    from tournaments.play.cluster import client

    monkeypatch.setattr(client, "WORKER_CHECK_S", 0.0)
    said, none = list[str](), Security()  # type: ignore[no-untyped-call]
    run = client.DaskClient("tls://x", none, run="", data=b"", resource="ours", tell=said.append)

    async def look(looks: Sequence[int]) -> None:
        with suppress(RuntimeError):  # So the end of the looks comes out of a coroutine.
            await run._look(cast("Client", Scheduler(looks)))

    # Nobody; nobody for longer; nobody between two workers; nobody for a moment.
    enough = [0] * client.LOOKS_IN_VAIN
    for looks, count in ((enough, 1), (enough * 2, 1), ([2, *enough[1:], 2], 0), (enough[1:], 0)):
        said.clear()
        await Loop().run(partial(look, looks))
        await trio.testing.wait_all_tasks_blocked()
        assert len(said) == count
    assert run.places.total_tokens == 1
    await Loop().run(partial(look, [*enough, 2, *enough]))
    await trio.testing.wait_all_tasks_blocked()
    assert ["none of those connected can play this event" in text for text in said] == [True] * 2


async def test_a_run_ends_although_its_scheduler_is_lost_at_the_same_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The engine's error comes in place of the cancellation."""
    from distributed import Security

    from tournaments.play.cluster import client

    security = Security()  # type: ignore[no-untyped-call]
    run = client.DaskClient("", security, run="", data=b"", resource="", tell=lambda _: None)

    async def lose() -> None:
        try:
            await asyncio.sleep(math.inf)
        except asyncio.CancelledError:
            raise client.LostError from None

    monkeypatch.setattr(client, "RECONNECT_S", 0.0)
    monkeypatch.setattr(run, "_connection", lose)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            await nursery.start(run.run)
            nursery.cancel_scope.cancel()


def test_certificates_that_cannot_be_used_are_refused_at_once(tmp_path: Path) -> None:
    from tournaments.play.cluster.worker import read_certificates

    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).write_text("no key")
    with pytest.raises(UserError, match="certificates cannot be used"):
        read_certificates(tmp_path)


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
