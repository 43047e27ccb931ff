"""The chart of a bot's rating over time as numbers: the place of each line. Pure.

Places are as in `tournaments.report.html.charts`: percentages for what must not stretch, and for
paths whole numbers from 0 to 1000, y downwards.
"""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from arena.document.html import minus
from tournaments.league.ratings.standings import TimelinePoint
from tournaments.report.html.forest import Axis, Tick, axis, percent

DATES = 5
"""The largest number of dates along the bottom."""


class Span(NamedTuple):
    """The days of one version: a version has one rating."""

    version: str
    label: str
    """Its number, such as @3, where there is room for it; or empty."""
    start: str
    """The places where it begins"""
    end: str
    """and ends,"""
    width: str
    y: str
    """the place of its rating; empty if it has only a bound,"""
    top: str
    """and of the upper end of its interval."""
    height: str
    """The height of its interval."""


class HistoryChart(NamedTuple):
    """The ratings of a bot's versions, each over the days on which it played."""

    spans: list[Span]
    elo: list[Tick]
    """The axis from top to bottom."""
    days: list[Tick]
    """The axis from left to right."""
    words: str
    """The same in words."""


def history_chart(points: Sequence[TimelinePoint], bot: str) -> HistoryChart | None:
    """Return the chart of a bot; None if no day has a rating."""
    rated = [one for one in points if one.elo is not None]
    if not rated:
        return None
    ends = [
        end
        for one in rated
        for end in ((one.elo or 0) - (one.half_width or 0), (one.elo or 0) + (one.half_width or 0))
    ]
    scale = axis(min(ends), max(ends))
    first = date.fromisoformat(rated[0].day).toordinal()
    last = date.fromisoformat(rated[-1].day).toordinal() + 1
    along = Axis(first, last)
    runs = [list(run) for _, run in groupby(rated, key=lambda one: one.version)]
    starts = [date.fromisoformat(run[0].day).toordinal() for run in runs]
    spans, labelled = [], -1.0
    for run, start, end in zip(runs, starts, [*starts[1:], last], strict=True):
        roomy = (start - labelled) / (last - first) > 1 / 15 or labelled < 0
        labelled = start if roomy else labelled
        spans.append(_span(run[-1], scale, along, start, end, roomy))
    marks = [tick._replace(at=percent(1 - float(tick.at[:-1]) / 100)) for tick in scale.ticks()]
    return HistoryChart(spans, marks, _dates(along, first, last), _words(bot, rated, len(runs)))


def _span(
    one: TimelinePoint, scale: Axis, along: Axis, start: int, end: int, labelled: bool
) -> Span:
    def place(value: float) -> float:
        return min(1.0, max(0.0, (scale.high - value) / (scale.high - scale.low)))

    elo = one.elo or 0.0
    low, high = place(elo - (one.half_width or 0)), place(elo + (one.half_width or 0))
    if one.bound:  # All that it leaves open.
        low, high = (low, 0.0) if one.bound == ">" else (1.0, high)
    number = one.version.rpartition("@")[2] if "@" in one.version else "1"
    return Span(
        version=one.version,
        label=f"@{number}" if labelled else "",
        start=along.at(start),
        end=along.at(end),
        width=percent((end - start) / (along.high - along.low)),
        y="" if one.bound else percent(place(elo)),
        top=percent(high),
        height=percent(low - high),
    )


def _dates(along: Axis, first: int, last: int) -> list[Tick]:
    step = max(1, -(-(last - first) // DATES))
    return [
        Tick(along.at(day + 0.5), date.fromordinal(day).strftime("%-d %b"))
        for day in range(first, last, step)
    ]


def _words(bot: str, rated: Sequence[TimelinePoint], runs: int) -> str:
    first, last = rated[0], rated[-1]
    versions = f", {runs} versions" if runs > 1 else ""
    return minus(
        f"Rating of {bot} from {first.day} to {last.day}{versions}: from {_elo(first)} to "
        f"{_elo(last)} Elo. The table of versions has the numbers."
    )


def _elo(one: TimelinePoint) -> str:
    return f"{one.bound}{one.elo:+.0f}"
