"""Elo against time: what a doubling is worth, and what is not claimed."""

import random
from collections.abc import Sequence
from math import log2

import pytest
from msgspec.structs import replace

from arena.sandbox.command import Command
from protocol.records import SeatFoul
from tests.support.made_up import figure, game, played
from tests.support.planned_events import event
from tournaments.formats.base import Entrant
from tournaments.formats.entrant import OwnClock
from tournaments.plan.event import Event
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Pool
from tournaments.report.scaling import Scaling, scalings
from tournaments.report.standings import doubling_text

CLOCKS = {"mine@50ms": 50, "mine@200ms": 200, "mine@1s": 1000}
WORTH = 40.0
"""Elo of a doubling in the simulated events."""


def scaled_event(clocks: dict[str, int], rivals: Sequence[str] = ("rival",)) -> Event:
    entrants = [
        Entrant(name, Command(("x",), "."), "one", clock=OwnClock(ms, 5 * ms))
        for name, ms in clocks.items()
    ]
    entrants += [Entrant(name, Command(("y",), "."), name) for name in rivals]
    return replace(event(2), entrants=tuple(entrants))


def simulate(seed: int, boards: int = 300, deal: float = 80.0) -> Pool:
    strength = {name: WORTH * log2(ms / 200) for name, ms in CLOCKS.items()}
    (pool,) = fit(played(random.Random(seed), {**strength, "rival": 0.0}, boards, deal=deal)).pools
    return pool


def scaling_of(pool: Pool) -> Scaling:
    (scaling,) = scalings(scaled_event(CLOCKS), pool)
    return scaling


def test_the_values_are_those_of_the_ratings() -> None:
    pool = simulate(1)
    scaling = scaling_of(pool)
    assert [point.name for point in scaling.points] == list(CLOCKS)
    elo = {rating.name: figure(rating.elo) for rating in pool.entrants}
    place = {rating.name: index for index, rating in enumerate(pool.entrants)}
    before = scaling.points[0]
    assert before.gain is None
    for point in scaling.points[1:]:
        assert figure(point.gain) == pytest.approx(elo[point.name] - elo[before.name])
        error = figure(pool.errors[place[point.name]][place[before.name]])
        assert figure(point.gain_half_width) / error == pytest.approx(1.98, abs=0.03)
        before = point
    clocks = {name: ms for name, ms in CLOCKS.items() if ms != 200}
    (line,) = scalings(scaled_event(clocks), pool)
    wide = log2(1000 / 50)
    assert figure(line.doubling) * wide == pytest.approx(figure(line.points[1].gain))
    half_width = figure(line.points[1].gain_half_width)
    assert figure(line.doubling_half_width) * wide == pytest.approx(half_width)


def test_no_doubling_is_claimed_without_evidence() -> None:
    late = (SeatFoul(0, "late"),)
    results = [game(board, ("mine@50ms", "mine@1s"), (0, 9), late) for board in (1, 2, 3)]
    results += [game(board, ("mine@1s", "mine@50ms"), (9, 0), ()) for board in (1, 2, 3)]
    (scaling,) = scalings(scaled_event(CLOCKS), fit(results).pools[0])
    assert scaling.doubling is None
    assert doubling_text(scaling) == (
        "The results do not say what more time is worth to mine. Lost by fouls: mine@50ms 3 games."
    )
    nothing = replace(scaling_of(simulate(1)), doubling=3.0, doubling_half_width=8.0)
    assert "worth +3 ± 8 Elo to mine on average (95 %), so it may be worth nothing." in (
        doubling_text(nothing)
    )
