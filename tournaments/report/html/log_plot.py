"""The figure of Elo against time, the time on a logarithmic axis. Pure."""

from collections.abc import Iterable, Sequence
from math import log10
from typing import NamedTuple

from tournaments.formats.own_clock import write_time
from tournaments.rating.tables import Pool
from tournaments.report.html.forest import Axis, Tick, axis, percent
from tournaments.report.scaling import Scaling, ScalingPoint

APART = 0.09
"""Share of the width that two labels of the time axis need."""
ABOVE = 0.07
"""Share of the height that two labels of other bots need."""
FREE = 0.12
"""Share of the width that is free of points at either end: the labels of Elo stand there."""


class Dot(NamedTuple):
    """A rating at a clock."""

    x: str
    y: str
    """The place of the rating, or of the bound."""
    ends: tuple[str, str]
    """The places of the interval's ends; those of a bound reach the edge."""
    is_bound: bool


class Line(NamedTuple):
    """A bot at one clock only, for comparison."""

    y: str
    label: str
    """The names of it and of those close by; empty where another line has its name."""


class Plot(NamedTuple):
    """The figure; places are in percent of its width and height."""

    times: list[Tick]
    """The clocks, along the bottom."""
    elo: list[Tick]
    """Round values of Elo, on the left."""
    curves: list[list[Dot]]
    """In the order given."""
    others: list[Line]
    """Highest first."""


def plot(curves: Sequence[Scaling], pool: Pool) -> Plot:
    """Return the figure of these curves and of the other entrants of their pool nearby."""
    points = [one for curve in curves for one in curve.points]
    known = [(one.elo, one.half_width or 0.0) for one in points if one.elo is not None]
    low = min((elo - width for elo, width in known), default=0.0)
    high = max((elo + width for elo, width in known), default=0.0)
    drawn = {one.name for one in points}
    near = [
        (one.elo, one.name)
        for one in pool.entrants
        if one.name not in drawn
        and one.elo is not None
        and not one.bound
        and low - (high - low) <= one.elo <= high + (high - low)
    ]
    up = axis(min([low, *(elo for elo, _ in near)]), max([high, *(elo for elo, _ in near)]))
    times = sorted({one.move_ms for one in points})
    along = Axis(log10(times[0]), log10(times[-1]))
    return Plot(
        _times(times, along),
        [tick._replace(at=_down(tick.at)) for tick in up.ticks()],
        [[_dot(one, along, up) for one in curve.points] for curve in curves],
        list(_lines(sorted(near, reverse=True), up)),
    )


def _down(at: str) -> str:
    """Return a place counted from the top."""
    return percent(1 - float(at[:-1]) / 100)


def _x(ms: int, along: Axis) -> float:
    wide = along.high - along.low
    share = (log10(ms) - along.low) / wide if wide else 0.5
    return FREE + (1 - 2 * FREE) * share


def _times(times: Iterable[int], along: Axis) -> list[Tick]:
    ticks: list[Tick] = []
    before = -1.0
    for ms in times:
        at = _x(ms, along)
        near = at - before < APART
        ticks.append(Tick(percent(at), "" if near else write_time(ms)))
        before = before if near else at
    return ticks


def _dot(one: ScalingPoint, along: Axis, up: Axis) -> Dot:
    x, elo = percent(_x(one.move_ms, along)), one.elo
    if elo is None:
        return Dot(x, "50%", ("0%", "100%"), is_bound=True)
    y = _down(up.at(elo))
    if one.half_width is None:
        return Dot(x, y, (y, "0%" if one.bound == ">" else "100%"), is_bound=True)
    ends = _down(up.at(elo - one.half_width)), _down(up.at(elo + one.half_width))
    return Dot(x, y, ends, is_bound=False)


def _lines(others: Sequence[tuple[float, str]], up: Axis) -> Iterable[Line]:
    """Yield the lines of other bots; names that would overlap stand in one label."""
    high = up.high - up.low
    at = 0
    while at < len(others):
        close = [one for one in others[at:] if (others[at][0] - one[0]) / high < ABOVE]
        yield Line(_down(up.at(others[at][0])), ", ".join(name for _, name in close))
        yield from (Line(_down(up.at(elo)), "") for elo, _ in close[1:])
        at += len(close)
