"""What a run says of its scheduler and its workers: only what is known."""

from typing import cast

import pytest
import trio
import trio.testing

from tournaments.cluster import client as engines
from tournaments.cluster.client import DaskClient
from tournaments.cluster.connect import WAIT_S, say_if_nobody_comes
from tournaments.runner.exit import RunStoppedError


class Known:
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


async def test_only_what_is_known_of_the_workers_is_said(autojump_clock: trio.abc.Clock) -> None:
    assert autojump_clock
    known, said = Known(), list[str]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(say_if_nobody_comes, cast(DaskClient, known), "tcp://x", said.append)
        counts = []
        # No scheduler; nobody there; that again; a worker, a cut, nobody for a moment; nobody.
        for workers, waited in (
            (None, 100), (0, WAIT_S + 1), (0, 100), (2, 100), (None, 100), (0, WAIT_S - 1),
            (None, 100), (0, WAIT_S + 1),
        ):  # fmt: skip
            known.become(workers)
            await trio.sleep(waited)
            counts.append(len(said))
        nursery.cancel_scope.cancel()
    assert counts == [0, 1, 1, 1, 1, 1, 1, 2]
    assert "none of those connected can play this event" in said[0]


async def test_a_scheduler_that_never_was_is_not_told_as_one_that_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "CONNECT_S", 0.1)
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        # Patience ends when it has spoken, however long that took.
        monkeypatch.setattr(engines, "PATIENCE_S", 0.0)

    run = DaskClient("tcp://127.0.0.1:1", None, run="run", data=b"", resource="off", tell=tell)
    with trio.fail_after(60), pytest.RaisesGroup(RunStoppedError, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run.run)
    assert said == [engines.ABSENT.format("tcp://127.0.0.1:1")]
    assert run.workers is None
