"""What is charged and what is disputed, with moments that are made up; and who tells the table."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import pump as pumping
from arena.clock import MARGIN_MS, Spending, Wait
from arena.pump import FELT_S, LINGER_S, Pump
from protocol.records import ChoiceRecord, FoulRecord, RoundRecord, SpentRecord


def nothing() -> None:
    """Nobody is told."""


def waiting(limit_ms: int = 1000, began: float = 50.0) -> Wait:
    wait = Wait(nothing)
    wait.begin(began, limit_ms)
    return wait


def test_a_wait_charges_from_its_beginning() -> None:
    wait = waiting()
    assert wait.deadline == 51.0
    assert wait.charged(50.25) == 250.0
    assert wait.charged(49.0) == 0.0


def test_lateness_before_the_question_does_not_count() -> None:
    wait = waiting()
    wait.stalled(7.0, 50.02)
    assert wait.referee_ms == pytest.approx(20)


def test_the_worst_lateness_counts_and_a_new_question_begins_with_none() -> None:
    wait = waiting()
    for seconds in (0.01, 0.03, 0.02):
        wait.stalled(seconds, 60.0)
    assert wait.referee_ms == pytest.approx(30)
    wait.begin(60.0, 500)
    assert wait.referee_ms == 0
    assert wait.worst_ms == pytest.approx(30)


@pytest.mark.parametrize(
    ("ms", "referee_ms", "disputed"),
    [
        (1050, 0, False),
        (1050, 49, False),
        (1050, 50, True),
        (1050, MARGIN_MS, True),
        (9000, MARGIN_MS, False),
        (9000, MARGIN_MS + 1, True),
    ],
)
def test_who_can_be_called_late(ms: float, referee_ms: float, disputed: bool) -> None:
    wait = waiting()
    wait.referee_ms = referee_ms
    assert wait.disputed(ms) is disputed


@given(st.integers(1, 10**6), st.floats(0, 10**4), st.floats(0, 10**4))
def test_a_wait_is_held_open_only_for_what_would_be_disputed_and_never_for_long(
    limit_ms: int, over: float, referee_ms: float
) -> None:
    wait = waiting(limit_ms)
    wait.referee_ms = referee_ms
    before = wait.deadline
    held = wait.held_open(limit_ms + over)
    assert held == (over < referee_ms <= MARGIN_MS) or over == pytest.approx(referee_ms)
    assert wait.deadline <= before + MARGIN_MS / 1000 + 1e-6
    if not held:
        assert wait.deadline == before


def test_spending_is_what_is_charged_with_answers_and_fouls() -> None:
    spending = Spending(2)
    for ms in (3.0, 5.0, 4.0):
        spending.note(ChoiceRecord(seat=0, id=1, choice=0, ms=ms))
    spending.note(FoulRecord(seat=1, foul="late", detail="", ms=1000.0))
    spending.note(RoundRecord(round=1, why="out", points=(1, 0), scores=(1, 0)))
    assert spending.record((20.0, None), 7.0) == SpentRecord(
        questions=(3, 1), ms=(12.0, 1000.0), worst_ms=(5.0, 1000.0), cpu_ms=(20.0, None),
        referee_ms=7.0,
    )  # fmt: skip


class Time:
    """Stands for the time module in the pump: only what happens takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Polls:
    """Stands for epoll: what each poll takes and what is ready then."""

    closed = True

    def __init__(self, time: Time, *turns: tuple[float, list[int]]) -> None:
        self._time, self._turns = time, list(turns)
        self.waits: list[float] = []

    def poll(self, wait: float) -> list[tuple[int, int]]:
        self.waits.append(wait)
        seconds, ready = self._turns.pop(0) if self._turns else (wait, [])
        self._time.now += seconds
        return [(descriptor, 1) for descriptor in ready]


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    fake = Time()
    monkeypatch.setattr(pumping, "time", fake)
    return fake


@pytest.fixture
def pump(time: Time) -> Iterator[Pump]:
    assert time.now == 100
    made = Pump()
    yield made
    made._epoll.close()


def pumped(
    pump: Pump, time: Time, *turns: tuple[float, list[int]], **readers: Callable[[], None]
) -> Polls:
    """One slice of a pump whose polls take so long and find so much; readers are named d1, d2…"""
    real, polls = pump._epoll, Polls(time, *turns)
    pump._epoll = polls  # type: ignore[assignment]
    pump._readers = {int(name[1:]): reader for name, reader in readers.items()}
    pump._slice()
    pump._epoll = real
    return polls


def test_a_poll_that_takes_as_long_as_planned_is_not_late(pump: Pump, time: Time) -> None:
    wait = waiting(began=100.0)
    pump.join(wait)
    assert pumped(pump, time, (LINGER_S, [])).waits == [LINGER_S]
    assert wait.referee_ms == 0


@pytest.mark.parametrize("seconds", [FELT_S * 1.5, 0.08, 7.0])
def test_a_poll_that_takes_longer_is_told(pump: Pump, time: Time, seconds: float) -> None:
    """As after Ctrl-Z and fg, or when the machine gives us no processor."""
    wait = waiting(60_000, began=100.0)
    pump.join(wait)
    pumped(pump, time, (LINGER_S + seconds, []))
    assert wait.referee_ms == pytest.approx(1000 * seconds)


def test_time_that_another_bot_took_is_told(pump: Pump, time: Time) -> None:
    wait = waiting(began=100.0)
    pump.join(wait)

    def slow() -> None:
        time.now += 0.4

    pumped(pump, time, (0, [1]), d1=slow)
    assert wait.referee_ms == 0
    assert pump.late_at(time.now) == pytest.approx(0.4)
    pumped(pump, time, (0, []))
    assert wait.referee_ms == pytest.approx(400, abs=2 * 1000 * LINGER_S)


def test_a_deadline_that_passes_while_others_are_read_waits_for_the_next_look(
    pump: Pump, time: Time
) -> None:
    """What came in meanwhile has not been read yet."""
    late: list[float] = []
    wait = Wait(lambda: late.append(time.now))
    wait.begin(100.0, 200)
    pump.join(wait)

    def slow() -> None:
        time.now += 0.4

    pumped(pump, time, (0, [1]), d1=slow)
    assert not late
    pumped(pump, time, (0, []))
    assert late == [pytest.approx(100.4)]


def test_work_for_later_comes_after_the_others_and_is_not_slept_on(pump: Pump, time: Time) -> None:
    order: list[str] = []

    def hog() -> None:
        order.append("hog")
        if order.count("hog") < 3:
            pump.soon(hog)

    pump.soon(hog)
    pump.join(waiting(began=100.0))
    polls = pumped(
        pump, time, (0, [1]), (0, [1]), (0, [1]), (0, []), d1=lambda: order.append("other")
    )
    assert order == ["other", "hog"] * 3
    assert polls.waits[:3] == [0, 0, 0]


async def test_a_shorter_deadline_ends_a_nap(pump: Pump) -> None:
    pump._nap_ends = 200.0
    pump.expect(300.0)
    assert not pump._nap.cancel_called
    pump.expect(199.0)
    assert pump._nap.cancel_called
