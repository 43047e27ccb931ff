"""The wait for a reply: whose line is judged, when, and what a bug of ours ends."""

from typing import cast

import pytest

from arena.match.clock import LagError
from arena.match.player import Listener, Player
from arena.match.poller import Poller, ReplyWaiter
from protocol.codec import Fault


class FakePlayer:
    """A player whose pipe is a list."""

    def __init__(self, waiter: ReplyWaiter) -> None:
        self.fault: Fault | None = None
        self.read_at = 0.0
        self.lines: list[bytes] = []
        self.pipe: list[bytes] = []
        self._listener: Listener = waiter

    @property
    def has_input(self) -> bool:
        return bool(self.lines) or self.fault is not None

    def write(self, line: bytes, time_s: float) -> None:
        """Send one line, as a process does of which the poller found one line."""
        self.read_at = time_s
        self._listener.hear_line(cast("Player", self), line)

    def put_back(self, line: bytes) -> None:
        self.lines.append(line)

    def next_line(self) -> bytes | None:
        return self.lines.pop(0) if self.lines else None

    def take_in(self) -> None:
        self.lines += self.pipe


class Waiter(ReplyWaiter):
    """A waiter that asks its players in turn."""

    def __init__(self) -> None:
        super().__init__(Poller())
        self._poller._watch.close()
        self.players = [FakePlayer(self), FakePlayer(self)]
        self.judged: list[tuple[object, float]] = []
        self.now = 100.0

    def ask(self, number: int) -> None:
        self.expect(cast("Player", self.players[number % 2]), 1000, self.now)

    def on_line(self, line: bytes, ms: float, _: object = None) -> None:
        if line == b"bug":
            raise ZeroDivisionError
        self.judged.append((line, ms))
        if line != b"stale":
            self.ask(len(self.judged))

    def on_fault(self, fault: Fault, ms: float) -> None:
        self.judged.append((fault.foul, ms))
        self.finish()


@pytest.fixture
def waiter() -> Waiter:
    new_waiter = Waiter()
    new_waiter.ask(0)
    return new_waiter


def test_a_line_of_the_player_that_is_asked_is_judged_at_once(waiter: Waiter) -> None:
    waiter.players[0].write(b"one", 100.25)
    assert waiter.judged == [(b"one", 250.0)]


def test_a_line_from_before_the_question_is_kept_and_costs_nothing(waiter: Waiter) -> None:
    waiter.players[1].write(b"early", 99.0)
    assert waiter.judged == []
    waiter.players[0].write(b"one", 100.5)
    assert waiter.judged == [(b"one", 500.0), (b"early", 0.0)]


def test_a_player_that_was_gone_before_its_question_is_judged_with_it(waiter: Waiter) -> None:
    waiter.players[1].fault = Fault("gone", "It left.")
    waiter.hear()
    assert waiter.judged == []
    waiter.players[0].write(b"one", 100.5)
    assert [judgement for judgement, _ in waiter.judged] == [b"one", "gone"]


@pytest.mark.parametrize(
    ("pipe", "judgements"),
    [
        ([], [("late", 1000.0)]),
        ([b"one"], [(b"one", 0.0)]),
        ([b"stale"], [(b"stale", 0.0), ("late", 1000.0)]),
    ],
)
def test_only_a_look_that_finds_no_answer_makes_a_player_late(
    waiter: Waiter, pipe: list[bytes], judgements: list[tuple[object, float]]
) -> None:
    waiter.players[0].pipe = pipe
    waiter.now = waiter._deadline.at
    waiter._deadline.due()
    assert waiter.judged == judgements


@pytest.mark.parametrize("way", ["alone", "kept"])
async def test_a_bug_ends_this_wait_and_not_the_poller(waiter: Waiter, way: str) -> None:
    if way == "alone":
        waiter.players[0].write(b"bug", 100.1)
    else:
        waiter.players[0].lines = [b"bug"]
        waiter.hear()
    assert isinstance(waiter.error, ZeroDivisionError)
    await waiter.wait()
    waiter.players[0].write(b"more", 100.2)
    assert waiter.judged == []


async def test_a_lag_beyond_what_is_given_back_ends_the_wait(waiter: Waiter) -> None:
    waiter._deadline.add_lag(11.0, 10**6)
    assert isinstance(waiter.error, LagError)
    await waiter.wait()
    assert waiter.judged == []
