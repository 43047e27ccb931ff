"""Time that is charged and time that is given back, at made-up moments; and late bots."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from arena.match.clock import MIN_LAG_S, MOST_GIVEN_BACK_MS, Deadline, LagError, Timer, TimeUsage
from arena.match.poller import LINGER_S, Poller
from protocol.messages import MAX_INFO
from protocol.records import ChoiceRecord, FoulRecord, InfoSum, RoundRecord, SpentRecord


def do_nothing() -> None:
    """Do nothing when the time is over."""


def refuse(lag: LagError) -> None:
    raise lag


def begin_deadline(limit_ms: int = 1000, began: float = 50.0) -> Deadline:
    deadline = Deadline(do_nothing, refuse)
    deadline.begin(began, limit_ms)
    return deadline


@pytest.mark.parametrize("limit_ms", [10, 1_000, 60_000])
def test_lag_of_a_question_is_bounded(limit_ms: int) -> None:
    bound_ms = max(MOST_GIVEN_BACK_MS, limit_ms)
    deadline = begin_deadline(limit_ms)
    deadline.add_lag(bound_ms / 2000, 10**6)
    deadline.add_lag(bound_ms / 2000, 10**6)
    with pytest.raises(LagError, match=f"at most {bound_ms:.0f} ms"):
        deadline.add_lag(0.001, 10**6)


@given(
    st.floats(0, 1),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=20),
    st.integers(1, 10**6),
)
def test_no_more_is_given_back_than_the_lags_that_fell_into_the_question(
    began: float, turns: list[tuple[float, float]], limit_ms: int
) -> None:
    """`turns`: the planned wait of each turn of the poller, and the lag after it."""
    deadline = Deadline(do_nothing, lambda _: None)
    deadline.begin(began, limit_ms)
    now = question_lag = 0.0
    for planned, lag in turns:
        now += planned + lag
        question_lag += max(0.0, min(lag, now - began))
        # The poller tells of the lags that end after the question began.
        if now >= began:
            deadline.add_lag(lag, now)
    assert deadline.given_back_ms == pytest.approx(1000 * question_lag, abs=0.1)
    assert deadline.at - began - limit_ms / 1000 == pytest.approx(question_lag, abs=1e-6)
    assert 0 <= deadline.charged_ms(now) <= limit_ms
    assert deadline.charged_ms(now) <= max(0.0, 1000 * (now - began - question_lag)) + 0.1


def test_spending_is_what_is_charged_with_answers_and_fouls() -> None:
    spending = TimeUsage(2)
    for ms in (3.0, 5.0, 4.0):
        spending.add([ChoiceRecord(seat=0, id=1, choice=0, ms=ms, given_back_ms=2.5)])
    foul = FoulRecord(seat=1, foul="late", detail="", ms=1000.0, given_back_ms=30.0)
    spending.add([foul, RoundRecord(round=1, why="out", points=(1, 0), scores=(1, 0))])
    assert spending.record((20.0, None), 7.0) == SpentRecord(
        questions=(3, 1), ms=(12.0, 1000.0), worst_ms=(5.0, 1000.0), given_back_ms=(7.5, 30.0),
        cpu_ms=(20.0, None), worst_lag_ms=7.0,
    )  # fmt: skip


def test_own_numbers_are_summed_up_and_their_names_bounded() -> None:
    spending = TimeUsage(2)
    for number in range(20):
        info = {"depth": float(number), f"n{number}": 1.0}
        spending.add([ChoiceRecord(seat=1, id=1, choice=0, ms=1.0, info=info)])
    sums = spending.record((None, None), 0.0).info
    assert sums is not UNSET
    assert [len(seat) for seat in sums] == [0, MAX_INFO]
    assert sums[1]["depth"] == InfoSum(20, 190.0, 0.0, 19.0)


class Time:
    """A clock of the poller that only events advance."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Polls:
    """A stand-in for epoll: the time that each poll takes, and what is ready then."""

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
def time() -> Time:
    return Time()


@pytest.fixture
def poller(time: Time) -> Iterator[Poller]:
    new_poller = Poller(time)
    yield new_poller
    new_poller._watch.close()


def run_slice(
    poller: Poller, time: Time, *turns: tuple[float, list[int]], **readers: Callable[[], None]
) -> Polls:
    """Return the polls of a slice of a poller; each takes and finds this. Readers: d1, d2, …."""
    real, polls = poller._watch, Polls(time, *turns)
    poller._watch = polls  # type: ignore[assignment]
    poller._readers = {int(name[1:]): reader for name, reader in readers.items()}
    poller._slice()
    poller._watch = real
    return polls


def test_a_question_that_is_asked_during_a_lag_is_given_back_the_rest_of_it(
    poller: Poller, time: Time
) -> None:
    deadline = Deadline(do_nothing, refuse)
    poller.add_timer(deadline)

    def slow() -> None:
        time.now += 0.4
        deadline.begin(time.now, 1000)
        time.now += 0.1

    run_slice(poller, time, (0, [1]), d1=slow)
    run_slice(poller, time, (0, []))
    assert deadline.given_back_ms == pytest.approx(100, abs=2 * 1000 * LINGER_S)


def test_a_timer_restarted_by_another_due_timer_has_its_whole_time(
    poller: Poller, time: Time
) -> None:
    """Two tables of one bot are like that: its loss at one lets the game go on at the other."""
    due: list[Timer] = []

    def expire(timer: Timer, other_timer: Timer) -> None:
        due.append(timer)
        timer.end()
        other_timer.at = time.now + 0.2

    first = Timer(lambda: expire(first, second))
    second = Timer(lambda: expire(second, first))
    for timer in (first, second):
        timer.at = 100.2
        poller.add_timer(timer)
    run_slice(poller, time, (0.3, []))
    assert len(due) == 1
    run_slice(poller, time, (0.3, []))
    assert len(due) == 2
    assert due[0] is not due[1]


class Bots:
    """A stand-in for epoll and for a bot with one answer, which is in its pipe from a moment on."""

    closed = True

    def __init__(self, time: Time, answers_at: float, stalls: list[float]) -> None:
        self._time, self._answers_at, self._stalls = time, answers_at, list(stalls)
        self.looks: list[tuple[float, float]] = []
        """Each look: when it was, and how long was to be waited for it, in s."""
        self.found: bool | None = None
        """Whether its answer was found in time; None: it still has time."""
        self.deadline = Deadline(self._expired, refuse)

    def poll(self, wait: float) -> list[tuple[int, int]]:
        """Wait until the bot answers or the time is over; then comes a stall."""
        end = self._time.now + wait
        if self._time.now <= self._answers_at < end:
            end = self._answers_at
        self._time.now = end + (self._stalls.pop(0) if self._stalls else 0.0)
        self.looks.append((self._time.now, wait))
        return [(1, 1)] if self.has_answered and self.found is None else []

    @property
    def has_answered(self) -> bool:
        return self._time.now >= self._answers_at

    def read(self) -> None:
        if self.found is None:
            self.found = True
            self.deadline.end()

    def _expired(self) -> None:
        """Read the pipe before the bot counts as late, as the table does."""
        self.found = self.has_answered
        self.deadline.end()


@given(
    st.integers(1, 60),
    st.floats(-0.005, 0.01),
    st.lists(st.sampled_from((0.0, 0.0, 0.001, 0.0019, 0.003, 0.02, 0.15)), max_size=60),
)
def test_a_bot_is_late_if_and_only_if_a_look_after_the_deadline_found_no_line(
    limit_ms: int, margin_s: float, stalls: list[float]
) -> None:
    """It answers about when its time and all that is given back are over."""
    given_back = sum(stall for stall in stalls if stall > MIN_LAG_S)
    answers_after = max(0.0, limit_ms / 1000 + margin_s + given_back)
    time = Time()
    poller = Poller(time)
    poller._watch.close()
    bots = Bots(time, 100.0 + answers_after, stalls)
    poller._watch = bots  # type: ignore[assignment]
    poller._readers = {1: bots.read}
    poller.add_timer(bots.deadline)
    bots.deadline.begin(100.0, limit_ms)
    poller.wake_by(bots.deadline.at)
    for _ in range(1000):
        if bots.found is not None:
            break
        poller._slice()
        # The slice ends where the poller would rest: here it does so for a moment.
        time.now += 0.001
        poller._planned = 0.001
    # The rule, worked out anew: each look moves the deadline by what it came too late.
    deadline, before, in_time = 100.0 + limit_ms / 1000, 100.0, None
    for look, planned in bots.looks:
        lag = look - before - planned
        deadline += lag if lag > MIN_LAG_S else 0.0
        before = look
        in_time = look >= 100.0 + answers_after
        if in_time or look >= deadline:
            break
    assert bots.found == in_time


def test_work_for_later_comes_after_the_others_and_is_not_slept_on(
    poller: Poller, time: Time
) -> None:
    order: list[str] = []

    def hog() -> None:
        order.append("hog")
        if order.count("hog") < 3:
            poller.call_soon(hog)

    poller.call_soon(hog)
    poller.add_timer(begin_deadline(began=100.0))
    polls = run_slice(
        poller, time, (0, [1]), (0, [1]), (0, [1]), (0, []), d1=lambda: order.append("other")
    )
    assert order == ["other", "hog"] * 3
    assert polls.waits[:3] == [0, 0, 0]
