"""The figures of the report as numbers: the place of each line and bar. Pure.

Places are percentages of a figure's width and height, so that it fits any screen and its text does
not stretch. Templates and styles decide the looks.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.document.html import minus
from tournaments.formats.answers.sprt_text import subsample
from tournaments.formats.answers.tune_text import Way
from tournaments.rating.sprt import SprtStep
from tournaments.rating.sprt_settings import Sprt
from tournaments.rating.statistics import Floats
from tournaments.report.html.forest import Axis, Tick, axis, label, nice, percent
from tournaments.tuning.parameters import value_text

BINS = 21
"""Bars of a histogram; the middle one is about 0."""
REGULAR = 99
"""Percentage of all margins that lie between the outermost bars."""
POINTS = 400
"""Points of a walk that are drawn."""


class Bar(NamedTuple):
    """A bar of a histogram; it stands on the figure's bottom."""

    x: str
    width: str
    y: str
    height: str
    side: int
    """-1: lost by so much, 1: won, 0: about level."""


class Histogram(NamedTuple):
    """The distribution of an entrant's margins."""

    bars: list[Bar]
    """Those that are not empty."""
    said: str
    """The same in words."""


class Histograms(NamedTuple):
    """Histograms of several entrants on one axis."""

    ends: tuple[str, str]
    """Points at which the outermost bars begin, which hold all that lies beyond."""
    of: dict[str, Histogram]
    """By entrant."""


def histograms(margins: dict[str, Floats]) -> Histograms:
    """Return the distribution of each entrant's margins, in points; none may be empty.

    Each is as tall as its tallest bar.
    """
    everything = np.abs(np.concatenate(list(margins.values())))
    width = nice(max(1.0, float(np.percentile(everything, REGULAR)) * 2 / (BINS - 2)))
    counts = {name: _counts(values, width) for name, values in margins.items()}
    of = {
        name: Histogram(_bars(count / count.max()), _said(margins[name]))
        for name, count in counts.items()
    }
    far = width * (BINS - 2) / 2
    return Histograms((label(-far), label(far)), of)


def _counts(values: Floats, width: float) -> Floats:
    middle = BINS // 2
    # Away from 0, so that a margin and its opposite are in opposite bars.
    place = np.sign(values) * np.ceil(np.abs(values) / width - 0.5)
    within = np.clip(place, -middle, middle) + middle
    return np.bincount(within.astype(np.int64), minlength=BINS).astype(np.float64)


def _bars(heights: Floats) -> list[Bar]:
    middle, wide = BINS // 2, 1 / BINS
    return [
        Bar(
            percent(at * wide + wide * 0.06),
            percent(wide * 0.88),
            percent(1 - height),
            percent(height),
            int(np.sign(at - middle)),
        )
        for at, height in enumerate(heights.tolist())
        if height
    ]


def _said(values: Floats) -> str:
    low, middle, high = (f"{value:+.0f}" for value in np.percentile(values, (25, 50, 75)))
    if len(values) == 1:
        return minus(f"One game: {middle}.")
    return minus(f"{len(values)} games, half of them from {low} to {high}; median {middle}.")


class Walk(NamedTuple):
    """The path of a sequential test; x and y run from 0 to 1000, y downwards."""

    path: str
    """Points of the ratio, board by board."""
    bounds: tuple[int, int, int]
    """The heights of H1's bound, of 0 and of H0's bound."""
    accepted_at: tuple[str, str]
    """The ratios at which H1 and H0 are accepted."""
    boards: int
    """Boards at the right end."""
    ticks: list[Tick]
    """Boards, along the bottom."""


def sprt_walk(settings: Sprt, steps: Sequence[SprtStep]) -> Walk:
    """Return the walk so far; there must be a step."""
    low, high = settings.bounds
    drawn = subsample(steps, POINTS)
    scale = axis(min(low, *(one.llr for one in drawn)), max(high, *(one.llr for one in drawn)))
    last = drawn[-1].boards
    along = Axis(0, last)

    def height(value: float) -> int:
        return round(1000 * (scale.high - value) / (scale.high - scale.low))

    points = [(0, height(0.0)), *((round(1000 * s.boards / last), height(s.llr)) for s in drawn)]
    ticks = [tick._replace(label=tick.label.lstrip("+")) for tick in along.ticks()]
    path = " ".join(f"{x},{y}" for x, y in points)
    bounds = height(high), height(0.0), height(low)
    return Walk(path, bounds, (minus(f"{high:.2f}"), minus(f"{low:.2f}")), last, ticks)


class Line(NamedTuple):
    """A value along a search; x and y run from 0 to 1000, y downwards."""

    title: str
    said: str
    """The value at the beginning and at the end, in words."""
    path: str
    """Points of the value."""
    band: str
    """Corners of its 95 % intervals; empty if there are none."""
    level: int
    """The height of the start value, or of no gain."""
    ends: tuple[str, str]
    """The values at the top and at the bottom."""


class TuningLines(NamedTuple):
    """The way of a search: the gain, and each parameter."""

    gain: Line
    parameters: list[Line]
    ticks: list[Tick]
    """Boards, along the bottom."""


def tuning_lines(way: Way) -> TuningLines:
    """Return the way of a search; there must be a lead."""
    done = len(way.means)
    along = Axis(0, done * way.boards_a_step)
    ticks = [tick._replace(label=tick.label.lstrip("+")) for tick in along.ticks()]
    leads = [(step, lead) for step in range(1, done + 1) if (lead := way.lead(step))]
    # The first intervals rest on few groups: they may leave the figure.
    middle = [lead.points for _, lead in leads]
    last = leads[-1][1]
    scale = axis(min(0.0, *middle, last[0] - last[1]), max(0.0, *middle, last[0] + last[1]))

    def points(rows: Sequence[tuple[int, float]], on: Axis) -> str:
        return " ".join(f"{round(1000 * step / done)},{_height(on, value)}" for step, value in rows)

    low = [(step, lead.points - lead.half_width) for step, lead in leads]
    high = [(step, lead.points + lead.half_width) for step, lead in reversed(leads)]
    gain = Line(
        "Gain in points a game",
        minus(f"{last.points:+.1f} ± {last.half_width:.1f} at the end"),
        points([(step, lead.points) for step, lead in leads], scale),
        points([*low, *high], scale),
        _height(scale, 0.0),
        (label(round(scale.high, 1)), label(round(scale.low, 1))),
    )
    lines = []
    for name, one in way.parameters.items():
        values = [step.best[name] for step in way.steps]
        places = [(at, one.place_of(value)) for at, value in enumerate(values)]
        whole = Axis(0.0, 1.0)
        lines.append(
            Line(
                name,
                f"{value_text(values[0])} → {value_text(values[-1])}",
                points(places, whole),
                "",
                _height(whole, one.place_of(one.start)),
                (value_text(one.max), value_text(one.min)),
            )
        )
    return TuningLines(gain, lines, ticks)


def _height(scale: Axis, value: float) -> int:
    return round(1000 * min(1.0, max(0.0, (scale.high - value) / (scale.high - scale.low))))
