"""Orders given and played without any engine: each game once, and what stops a run."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
import trio
from msgspec.structs import replace

from arena.logs.gamelog import sitting_lines
from arena.match.poller import Poller
from arena.sandbox.command import OFF, Limits
from arena.sandbox.process import Sandbox
from protocol.errors import UserError
from protocol.records import FoulPolicy, Result
from tests.support.events import boneyard, run, untouched
from tests.support.tables import children
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event, secret_of
from tournaments.event.grow import open_event
from tournaments.plan.event import Event, WrittenBot
from tournaments.plan.schedule import PlannedGame
from tournaments.play.cluster.client import ClusterRunner, DaskClient, Pace
from tournaments.play.cluster.orders import (
    BrokenAnswerError,
    Order,
    OrderPart,
    OrderReply,
    Output,
    Run,
    Unplayed,
    answered,
    decoded,
    encoded,
    pack_bot,
    part_records,
)
from tournaments.play.cluster.worker import OrderRunner
from tournaments.play.lanes import Lanes
from tournaments.play.sittings import RunStoppedError, root_cause

WORDS = ("first", "greedy", "--boards", "3", "--set", "target=20")
"""Two sittings of three short games."""
Fate = Callable[[Order, OrderReply], OrderReply]


class FakeWorkers:
    """Two workers in this process, and what happens to what they answer."""

    def __init__(self, fate: Fate) -> None:
        self.places = trio.CapacityLimiter(3)
        self.orders: list[bytes] = []
        self.dismissed: list[str] = []
        self.runners: list[OrderRunner] = []
        self._fate = fate

    async def play(self, order: bytes) -> OrderReply:
        self.orders.append(order)
        runner = self.runners[len(self.orders) % 2]
        return self._fate(decoded(order, Order), answered(await runner.play(order)))

    def dismiss(self, worker: str) -> None:
        self.dismissed.append(worker)


def deliver(order: Order, answer: OrderReply) -> OrderReply:
    """Return the cluster, undisturbed."""
    assert isinstance(answer, Output), answer
    assert order.run == "run"
    return answer


def games(order: Order) -> list[PlannedGame]:
    """Return the games that were ordered."""
    return [game for part in order.parts for game in part.games]


class Stage:
    """An event in its folder, before its first game."""

    def __init__(self, tmp_path: Path, reference: Path) -> None:
        self.folder = Folder(tmp_path / "out")
        self.folder.path.mkdir()
        book, _ = open_event(self.folder, load_event(Folder(reference)), 1)
        self.event = book.event
        self.messages: list[str] = []
        self._bots_at = tmp_path / "bots"

    async def play(self, fate: Fate = deliver, width: int = 1) -> FakeWorkers:
        """Play it out at two workers, at each so many sittings side by side."""
        workers = FakeWorkers(fate)
        bundles = tuple(pack_bot(WrittenBot(name=name), Path.cwd()) for name in WORDS[:2])
        sender, receiver = trio.open_memory_channel[Result](1000)
        off = Sandbox(OFF, Limits())
        async with trio.open_nursery() as nursery:
            poller = Poller()
            nursery.start_soon(poller.run)
            workers.runners = [
                OrderRunner(poller, f"w{n}", self._bots_at, off, Lanes(width)) for n in (1, 2)
            ]
            for runner in workers.runners:
                runner.add_run("run", encoded(Run(self.event, bundles)))
            ledger = Ledger(Book(self.folder, self.event))
            client = cast("DaskClient", workers)
            await ClusterRunner(ledger, client, "run", sender, self.messages.append).play()
            nursery.cancel_scope.cancel()
        assert len([*received(receiver)]) == ledger.planned
        assert not children()
        return workers

    def bytes(self) -> bytes:
        return self.folder.ledger.read_bytes()


def received(receiver: trio.MemoryReceiveChannel[Result]) -> Iterator[Result]:
    while True:
        try:
            yield receiver.receive_nowait()
        except (trio.WouldBlock, trio.EndOfChannel):
            return


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("here")
    run(folder, *WORDS)
    with untouched(folder):
        yield folder


@pytest.fixture
def stage(tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Orders are of two games, so that sittings are cut."""
    monkeypatch.setattr(Pace, "games", 2)
    return Stage(tmp_path, reference)


async def test_workers_make_the_ledger_of_a_run_of_ones_own(stage: Stage, reference: Path) -> None:
    workers = await stage.play()
    assert stage.bytes() == (reference / "ledger.jsonl").read_bytes()
    # The roll call, then a sitting's first two games, its last one with two of the next, and one.
    orders = [decoded(order, Order) for order in workers.orders]
    sizes = [[len(part.games) for part in order.parts] for order in orders]
    assert sizes == [[0], [2], [1, 2], [1]]
    # An order reveals only the deals of its boards.
    secret = secret_of(stage.folder)
    assert not [data for data in workers.orders if secret in data or secret.hex().encode() in data]
    assert all(set(order.seeds) == {game.board for game in games(order)} for order in orders)
    names = {line.worker for path in stage.folder.logs() for line in sitting_lines(path)}
    assert names == {"w1", "w2"}
    (message,) = stage.messages
    assert message.startswith("Sandbox off on w")
    boneyard("run", *WORDS, "--seed", "1", "--sandbox", "off", "--out", str(stage.folder.path))
    assert "OK: " in boneyard("verify", str(stage.folder.path))
    assert "Sandbox: off in all 2 sittings, on w1, w2." in (stage.folder.report.read_text())
    shares = json.loads(stage.folder.times.read_bytes())["workers"]
    sandboxes = [(share["worker"], share["sandbox"]) for share in shares]
    assert sandboxes == [("w1", ["off"]), ("w2", ["off"])]
    assert sum(share["games"] for share in shares) == 6


# Slow: orders that come back are tested beside it.
@pytest.mark.slow
async def test_orders_lost_with_a_worker_are_sent_again(stage: Stage, reference: Path) -> None:
    attempts: list[int] = []

    def often(order: Order, answer: OrderReply) -> OrderReply:
        if games(order) and order.attempt < 3:
            attempts.append(order.attempt)
            return Unplayed("", "left", "It died")
        return deliver(order, answer)

    workers = await stage.play(often)
    assert len(attempts) == 3 * 3
    assert len(set(workers.orders)) == len(workers.orders)
    assert stage.bytes() == (reference / "ledger.jsonl").read_bytes()
    assert not workers.dismissed


async def refused(stage: Stage, fate: Fate) -> Exception:
    # Two orders may be refused at once.
    with pytest.raises((ExceptionGroup, UserError, RunStoppedError)) as caught:
        await stage.play(fate)
    error = caught.value
    cause = root_cause(error) if isinstance(error, BaseExceptionGroup) else error
    assert isinstance(cause, Exception)
    return cause


def swapped(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """In each line."""
    return lambda line: re.sub(old, new, line)


RESULT = rb'(\{"type":"result".*)'
GARBAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no record": (lambda line: line[:-9], "."),
    "games nobody ordered": (swapped(rb'"game":"', rb'"game":"9'), "has not the results"),
    "no result": (swapped(RESULT, b""), "has not the results"),
    "a result twice": (swapped(RESULT, rb"\1\n\1"), "has not the results"),
}


async def test_an_impossible_answer_is_refused(stage: Stage) -> None:
    brought: list[tuple[Order, Output]] = []

    def record(order: Order, answer: OrderReply) -> OrderReply:
        played = deliver(order, answer)
        assert isinstance(played, Output)
        brought.append((order, played))
        return played

    await stage.play(record)
    order, output = next(pair for pair in brought if len(games(pair[0])) == 2)
    ((log,), (records,)) = output.logs, part_records(order, output)
    assert len(records) == len(log)
    for spoilt, why in GARBAGE.values():
        lines = (line for old in log for line in spoilt(old).split(b"\n") if line)
        with pytest.raises(BrokenAnswerError, match=why):
            part_records(order, replace(output, logs=(tuple(lines),)))
    with pytest.raises(BrokenAnswerError):
        part_records(order, replace(output, logs=()))


# Slow: orders that come back are tested beside it.
@pytest.mark.slow
async def test_a_worker_with_unasked_results_gets_no_orders(stage: Stage, reference: Path) -> None:
    """Another worker plays the games."""
    senders: list[str] = []

    def drop_first(order: Order, answer: OrderReply) -> OrderReply:
        played = deliver(order, answer)
        assert isinstance(played, Output)
        if not games(order) or senders:
            return played
        senders.append(played.worker)
        return replace(played, logs=())

    workers = await stage.play(drop_first)
    assert workers.dismissed == senders
    assert len(senders) == 1
    assert stage.bytes() == (reference / "ledger.jsonl").read_bytes()


async def test_the_run_stops_if_no_worker_can_play(stage: Stage) -> None:
    error = await refused(stage, lambda _order, _answer: Unplayed("w1", "machine", "no space"))
    assert isinstance(error, RunStoppedError)
    assert "no space" in str(error)


async def test_a_bug_of_ours_on_a_worker_is_kept_with_its_trace(stage: Stage) -> None:
    def bug(order: Order, answer: OrderReply) -> OrderReply:
        return Unplayed("w2", "bug", "Traceback: ours", "3.a.b") if games(order) else answer

    error = await refused(stage, bug)
    assert isinstance(error, RunStoppedError)
    assert "in game 3.a.b on worker w2" in str(error)
    assert stage.folder.crash.read_text() == "Traceback: ours"


# Slow: orders that come back are tested beside it.
@pytest.mark.slow
async def test_one_worker_plays_a_sitting_if_fouls_cost_it(
    tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pace, "games", 2)
    stage = Stage(tmp_path, reference)
    event: Event = replace(stage.event, fouls=FoulPolicy(lose="sitting"))
    stage.event = event
    workers = await stage.play()
    assert [len(games(decoded(order, Order))) for order in workers.orders] == [0, 3, 3]


async def test_a_worker_answers_whatever_happens(tmp_path: Path, stage: Stage) -> None:
    plan = Ledger(Book(stage.folder, stage.event)).stage[0]
    order = Order(
        "run", 0, (OrderPart(plan, plan.games, tuple(range(1, 1 + len(plan.games)))),), {}
    )
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no such model')")
    bot = WrittenBot(name="broken", run=("{python}", str(broken)))
    good, bad = (pack_bot(entry, tmp_path) for entry in (WrittenBot(name="first"), bot))
    async with trio.open_nursery() as nursery:
        poller = Poller()
        nursery.start_soon(poller.run)
        runner = OrderRunner(poller, "w", tmp_path / "bots", Sandbox(OFF, Limits()), Lanes(1))

        async def fate(data: bytes) -> tuple[str, str]:
            answer = answered(await runner.play(data))
            assert isinstance(answer, Unplayed)
            return answer.fate, answer.reason

        assert await fate(encoded(order)) == ("machine", "It does not know this run")
        assert (await fate(b"no order"))[0] == "bug"
        runner.add_run("run", encoded(Run(stage.event, (good, bad))))
        kind, why = await fate(encoded(order))
        assert kind == "bot"
        assert "Bot greedy sends no hello" in why
        assert "no such model" in why
        # A seed that is missing is our mistake.
        runner.add_run("run", encoded(Run(stage.event, (good, good))))
        kind, why = await fate(encoded(order))
        assert (kind, "KeyError" in why) == ("bug", True)
        # The tables of what failed are free again.
        assert (await fate(encoded(order)))[0] == "bug"
        nursery.cancel_scope.cancel()
    assert not children()
