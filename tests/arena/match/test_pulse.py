"""A stop of the whole program is a pause, however long; what a bot can cause is a lag."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.clock import Deadline, LagError
from arena.match.poller import BEAT_S, LEAST_STOP_S, Poller, Pulse, Vitals, is_stop

BEFORE = Vitals(100.0, 50, 2.0, 3)
GAPS = st.floats(1.1 * LEAST_STOP_S, 10**6)


def vitals(gap_s: float, runs: int = 2, waited_s: float = 0.001, faults: int = 0) -> Vitals:
    return Vitals(100.0 + gap_s, 50 + runs, 2.0 + waited_s, 3 + faults)


@given(GAPS)
def test_nothing_that_a_bot_can_cause_looks_like_a_stop(gap_s: float) -> None:
    assert is_stop(BEFORE, vitals(gap_s))
    busy = int(30 * gap_s)
    assert not is_stop(BEFORE, vitals(gap_s, runs=busy)), "It asked for the interpreter's lock."
    assert not is_stop(BEFORE, vitals(gap_s, waited_s=gap_s - BEAT_S)), "It got no processor."
    assert not is_stop(BEFORE, vitals(gap_s, faults=1)), "It waited for memory."


def test_thread_that_beats_shows_that_only_the_poller_was_blocked() -> None:
    assert not is_stop(BEFORE, vitals(BEAT_S))


class FakePulse(Pulse):
    """The pulse of a program whose vitals are made up."""

    def __init__(self, *vitals: Vitals | None) -> None:
        super().__init__()
        self._coming = list(vitals)

    def read_vitals(self) -> Vitals | None:
        return self._coming.pop(0)


def test_stop_is_noted_by_the_thread_that_runs_first() -> None:
    pulse = FakePulse(BEFORE, vitals(15.0), vitals(15.1), vitals(15.2))
    pulse.beat()
    pulse.beat()
    assert pulse.has_stopped_since(100.0)
    assert not pulse.has_stopped_since(115.0), "It went on before that moment."


def test_kernel_that_counts_nothing_knows_no_stop() -> None:
    pulse = FakePulse(None, None)
    pulse.beat()
    assert not pulse.has_stopped_since(0.0)


@pytest.fixture
def poller() -> Iterator[Poller]:
    new_poller = Poller(lambda: 100.0)
    yield new_poller
    new_poller._watch.close()


def refuse(lag: LagError) -> None:
    raise lag


def begin_deadline(poller: Poller, began: float, *vitals: Vitals) -> Deadline:
    deadline = Deadline(lambda: None, refuse)
    poller.add_timer(deadline)
    deadline.begin(began, 1000)
    poller._pulse = FakePulse(BEFORE, *vitals)
    poller._pulse.beat()
    return deadline


@given(GAPS, st.floats(0, 0.9))
def test_question_begins_anew_after_a_pause_of_any_length(gap_s: float, thought_s: float) -> None:
    poller = Poller(lambda: 100.0)
    poller._watch.close()
    end = 100.0 + gap_s
    deadline = begin_deadline(poller, 100.0 - thought_s, vitals(gap_s))
    poller._give_back(gap_s, end)
    assert deadline.at == end + 1.0
    assert deadline.charged_ms(end) == pytest.approx(0.0, abs=0.01), "The answer was in the pipe."
    assert deadline.charged_ms(end + 0.5) == pytest.approx(500.0, abs=0.01)
    assert deadline.paused_ms == pytest.approx(1000 * gap_s)
    # Lags after it have their own bound.
    deadline.add_lag(9.0, end + 9.0)
    with pytest.raises(LagError, match="for 11000 ms"):
        deadline.add_lag(2.0, end + 11.0)


def test_poller_that_was_kept_busy_for_long_still_ends_the_run(poller: Poller) -> None:
    begin_deadline(poller, 100.0, vitals(15.0, runs=600))
    with pytest.raises(LagError):
        poller._give_back(15.0, 115.0)


def test_pause_without_a_question_is_charged_to_nobody(poller: Poller) -> None:
    deadline = begin_deadline(poller, 100.0, vitals(15.0))
    deadline.end()
    poller._give_back(15.0, 115.0)
    assert not deadline.paused_ms


STOPPED = """
import trio
from arena.match.clock import Deadline
from arena.match.poller import Poller

async def main():
    poller = Poller()
    deadline = Deadline(lambda: print("late", flush=True), None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        deadline.begin(poller.now(), 10**6)
        poller.add_timer(deadline)
        await trio.sleep(0.3)
        print("ready", flush=True)
        while True:
            await trio.sleep(0.05)
            if deadline.given_back_ms > 1000:
                print(deadline.paused_ms, flush=True)
                deadline.begin(poller.now(), 10**6)
                deadline.paused_ms = 0.0

trio.run(main)
"""


def test_stopped_process_knows_that_it_was_stopped() -> None:
    words = (sys.executable, "-c", STOPPED)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        # On a machine that then has no processor for it, a longer stop is needed.
        for stop_s in (1.2, 3.0, 9.0):
            process.send_signal(signal.SIGSTOP)
            time.sleep(stop_s)
            process.send_signal(signal.SIGCONT)
            paused_ms = float(process.stdout.readline())
            if paused_ms:
                break
        process.kill()
    assert paused_ms >= 1000 * LEAST_STOP_S
