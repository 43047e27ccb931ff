"""Charts as SVG, marks at values on two axes, and the charts of a report. Pure.

Places are percentages of a chart's width and height, so that it fits any screen and neither its
text nor its dots stretch; only curves do. The styles decide the looks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, inf, isinf, log10
from typing import NamedTuple

from markupsafe import Markup

from arena.document.blocks import minus
from tournaments.formats.entrant import value_text
from tournaments.formats.tune import Way
from tournaments.formats.versus import subsample
from tournaments.rating.sprt import Sprt, SprtStep
from tournaments.rating.statistics import Estimate, elo_of
from tournaments.rating.tables import Pool
from tournaments.report.scaling import Scaling, ScalingPoint

TICKS = 5
"""The approximate number of ticks of an axis."""
MARGIN = 0.04
"""Share of an axis that stays free at either end."""
STRETCHED = 1000
"""Units of a curve's own drawing, which is stretched."""
EDGES = (-inf, inf)
"""The range from one edge of a chart to the other."""


class Axis(NamedTuple):
    """A range of values."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Return the place of a value as a share of the axis; of an infinite one the edge's."""
        if isinf(value):
            return float(value > 0)
        return min(max((value - self.low) / (self.high - self.low), -1.0), 2.0)

    def ticks(self) -> list[float]:
        """Return round values within the range."""
        step = nice((self.high - self.low) / TICKS)
        return [step * n for n in range(floor(self.low / step) + 1, floor(self.high / step) + 1)]


def axis(values: Iterable[float], free: float = MARGIN) -> Axis:
    """Return an axis that holds all these values well inside."""
    low, high = min(values := [*values]), max(values)
    margin = free / (1 - 2 * free) * (high - low) or 1.0
    return Axis(low - margin, high + margin)


class Axes(NamedTuple):
    """The two axes of a chart."""

    x: Axis
    y: Axis = Axis(0, 1)

    def place_of(self, x: float, y: float) -> tuple[str, str]:
        """Return the place of a point."""
        return percent(self.x.share(x)), percent(1 - self.y.share(y))


class Stroke(NamedTuple):
    """A straight line."""

    kind: str
    x: tuple[float, float]
    y: tuple[float, float] = EDGES

    def svg(self, axes: Axes) -> Markup:
        """Draw it."""
        ends = *axes.place_of(self.x[0], self.y[0]), *axes.place_of(self.x[1], self.y[1])
        return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(self.kind, *ends)


class Dot(NamedTuple):
    """A point."""

    kind: str
    x: float
    y: float
    radius: int = 4

    def svg(self, axes: Axes) -> Markup:
        """Draw it."""
        tag = Markup('<circle class="{}" cx="{}" cy="{}" r="{}"/>')
        return tag.format(self.kind, *axes.place_of(self.x, self.y), self.radius)


class Bar(NamedTuple):
    """A rectangle."""

    kind: str
    x: tuple[float, float]
    y: tuple[float, float]

    def svg(self, axes: Axes) -> Markup:
        """Draw it."""
        width, height = (
            percent(axis.share(high) - axis.share(low))
            for axis, (low, high) in zip(axes, (self.x, self.y), strict=True)
        )
        tag = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
        return tag.format(self.kind, *axes.place_of(self.x[0], self.y[1]), width, height)


class Curve(NamedTuple):
    """A line through points, or the area within them."""

    kind: str
    points: Sequence[tuple[float, float]]
    is_area: bool = False

    def svg(self, axes: Axes) -> Markup:
        """Draw it."""
        places = " ".join(
            f"{round(STRETCHED * axes.x.share(x))},{round(STRETCHED * (1 - axes.y.share(y)))}"
            for x, y in self.points
        )
        tag = Markup(
            '<svg viewBox="0 0 {0} {0}" preserveAspectRatio="none" width="100%" height="100%">'
            '<{1} class="{2}" points="{3}"/></svg>'
        )
        return tag.format(STRETCHED, "polygon" if self.is_area else "polyline", self.kind, places)


class Label(NamedTuple):
    """A text, moved by some pixels."""

    text: str
    x: float
    y: float
    anchor: str = "middle"
    dx: int = 0
    dy: int = 0

    def svg(self, axes: Axes) -> Markup:
        """Draw it."""
        tag = Markup('<text class="{}" x="{}" y="{}" dx="{}" dy="{}">{}</text>')
        return tag.format(self.anchor, *axes.place_of(self.x, self.y), self.dx, self.dy, self.text)


ChartMark = Stroke | Dot | Bar | Curve | Label


class Chart(NamedTuple):
    """A drawing of marks on two axes."""

    kind: str
    axes: Axes
    marks: Sequence[ChartMark]
    words: str = ""
    """The same in words; empty where the text beside it says it."""
    feet: Sequence[tuple[float, str, str]] = ()
    """Values along the bottom, each with its text and its anchor."""
    height: int = 100
    """Height of the marks in percent; the rest is room for the texts along the bottom."""

    def __html__(self) -> str:
        """Return the drawing for a template."""
        foot = Axes(self.axes.x, Axis(0, 1))
        marks = Markup("").join(mark.svg(self.axes) for mark in self.marks)
        if self.height < 100:
            tag = Markup('<svg width="100%" height="{}%">{}</svg>')
            marks = tag.format(self.height, marks)
        feet = Markup("").join(Label(text, x, 0.02, end).svg(foot) for x, text, end in self.feet)
        read = Markup('role="img" aria-label="{}"').format(self.words)
        hidden = Markup('aria-hidden="true"')
        tag = Markup('<svg class="{}" {}>{}{}</svg>')
        return tag.format(self.kind, read if self.words else hidden, marks, feet)


def grid_across(
    scale: Axis, x: float, anchor: str, dx: int = 0, dy: int = 0
) -> Iterator[ChartMark]:
    """Yield a level line at each tick, and its value at this x."""
    for value in scale.ticks():
        yield Stroke("grid", EDGES, (value, value))
        yield Label(write_tick(value), x, value, anchor, dx, dy)


def percent(share: float) -> str:
    """Format a share in percent, short."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def nice(step: float) -> float:
    """Return the next step up that people count in: 1, 2, 5, 10."""
    power = 10.0 ** floor(log10(step))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step * 0.999)


def write_tick(value: float) -> str:
    """Format a value on an axis: +20, −0.5, 0."""
    return minus(f"{value:+g}") if abs(value) > 1e-12 else "0"


WALK_POINTS = 400
"""Points of a walk that are drawn."""
TICK_GAP = 0.09
"""Share of the width that two labels of the time axis need."""
NAME_GAP = 0.07
"""Share of the height that two labels of other bots need."""
FREE_WIDTH = 0.12
"""Share of the width that is free of points at either end: the labels of Elo stand there."""

# --- ratings ---


class Forest(NamedTuple):
    """Ratings with their intervals on one axis."""

    axis: Chart
    rows: list[Chart]


def forest_of(ratings: Sequence[Estimate], *, grid: bool = True) -> Forest:
    """Return the intervals of these ratings, one known at least; of a bound all beyond it."""
    scale = axis(end for elo in ratings if elo.value is not None for end in (elo.low, elo.high))
    labels = [Label(write_tick(value), value, 0.15) for value in scale.ticks()]
    lines = [*(Stroke("grid", (value, value)) for value in scale.ticks()), Stroke("zero", (0, 0))]
    axes = Axes(scale)
    rows = [Chart("forest", axes, [*(lines if grid else ()), *_interval(elo)]) for elo in ratings]
    return Forest(Chart("axis", axes, labels), rows)


def open_ends(elo: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; those of a bound, or of an unknown value, are open."""
    if elo.value is None:
        return EDGES
    return (-inf if elo.bound == "<" else elo.low), (inf if elo.bound == ">" else elo.high)


def _interval(elo: Estimate) -> Iterator[ChartMark]:
    yield Stroke("interval", open_ends(elo), (0.5, 0.5))
    if elo.value is not None and not elo.bound:
        yield Dot("rating", elo.value, 0.5)


# --- a sequential test, and a search ---


def sprt_walk(settings: Sprt, steps: Sequence[SprtStep], answer: str) -> Chart:
    """Return the walk so far; there must be a step."""
    low, high = settings.bounds
    drawn = subsample(steps, WALK_POINTS)
    scale, ratios = Axis(0, drawn[-1].boards), [step.llr for step in drawn]
    marks: list[ChartMark] = [
        Stroke("bound", EDGES, (high, high)),
        Stroke("grid", EDGES, (0, 0)),
        Stroke("bound", EDGES, (low, low)),
        Curve("path", [(0, 0.0), *((step.boards, step.llr) for step in drawn)]),
        Label(minus(f"H1 is accepted at {high:.2f}"), 0, high, "start", dy=-4),
        Label(minus(f"H0 is accepted at {low:.2f}"), 0, low, "start", dy=14),
    ]
    words = f"The log-likelihood ratio, board by board. {answer}"
    axes = Axes(scale, axis((low, high, *ratios)))
    return Chart("walk", axes, marks, words, _counts(scale), 88)


def _counts(scale: Axis) -> list[tuple[float, str, str]]:
    """Return the ticks of an axis of boards."""
    return [(value, write_tick(value).lstrip("+"), "middle") for value in scale.ticks()]


class Course(NamedTuple):
    """A value along a search."""

    title: str
    summary: str
    """The value at the beginning and at the end, in words."""
    chart: Chart


def search_courses(way: Way) -> list[Course]:
    """Return the charts of a search, its gain first; it must have a lead."""
    done, size = len(way.means), way.boards_a_step
    leads = [(step * size, lead) for step in range(1, done + 1) if (lead := way.lead(step))]
    last = leads[-1][1]
    middle = [(x, lead.value or 0.0) for x, lead in leads]
    # The first intervals rest on few groups: they may leave the figure.
    scale = axis((0.0, *(value for _, value in middle), last.low, last.high))
    band = [(x, lead.low) for x, lead in leads] + [(x, lead.high) for x, lead in leads[::-1]]
    area = [(x, min(max(value, scale.low), scale.high)) for x, value in band]
    marks = [Curve("band", area, is_area=True), *_course(middle, 0.0)]
    ends = write_tick(round(scale.high, 1)), write_tick(round(scale.low, 1))
    gain = f"{last.text(1)} at the end"
    courses = [_drawn("Gain in points a game", minus(gain), marks, scale, ends, done * size)]
    for name, parameter in way.parameters.items():
        values = [step.best[name] for step in way.steps]
        places = [(index * size, parameter.place_of(value)) for index, value in enumerate(values)]
        words = f"{value_text(values[0])} → {value_text(values[-1])}"
        marks = _course(places, parameter.place_of(parameter.start))
        ends = value_text(parameter.max), value_text(parameter.min)
        courses.append(_drawn(name, words, marks, Axis(0, 1), ends, done * size))
    return courses


def _course(points: Sequence[tuple[float, float]], level: float) -> list[ChartMark]:
    return [Stroke("level", EDGES, (level, level)), Curve("path", points)]


def _drawn(
    title: str,
    summary: str,
    marks: Sequence[ChartMark],
    scale: Axis,
    ends: tuple[str, str],
    boards: int,
) -> Course:
    scale_x = Axis(0, boards)
    corners = zip(ends, EDGES[::-1], strict=True)
    labels = [Label(text, 0, y, "start", dy=11) for text, y in corners]
    words = f"{title}: {summary}"
    chart = Chart("line", Axes(scale_x, scale), [*marks, *labels], words, _counts(scale_x), 84)
    return Course(title, summary, chart)


# --- Elo against time ---


def scaling_chart(curves: Sequence[Scaling], pool: Pool) -> Chart:
    """Return the Elo of these bots by their clocks, and the other bots of their pool nearby."""
    points = [point for curve in curves for point in curve.points]
    elos = [elo_of(point) for point in points if point.elo is not None]
    low = min((elo.low for elo in elos), default=0.0)
    high = max((elo.high for elo in elos), default=0.0)
    drawn = {point.name for point in points}
    near = [
        (rating.elo, rating.name)
        for rating in pool.entrants
        if rating.name not in drawn
        and rating.elo is not None
        and not rating.bound
        and low - (high - low) <= rating.elo <= high + (high - low)
    ]
    up = axis((low, high, *(elo for elo, _ in near)))
    times = dict(sorted({point.move_ms: point.time for point in points}.items()))
    time_axis = axis((log10(min(times)), log10(max(times))), FREE_WIDTH)
    marks = [*grid_across(up, -inf, "start", dy=-3)]
    marks += [Stroke("grid", (log10(ms), log10(ms))) for ms in times]
    marks += _others(sorted(near, reverse=True), up)
    for number, curve in enumerate(curves):
        marks += _curve(curve.points, number % 8)
    marks.append(Stroke("ground", EDGES, (-inf, -inf)))
    names = " and ".join(curve.entrant for curve in curves)
    words = f"Elo of {names} against the time for a question, with 95 % intervals"
    words += "; the table has the numbers."
    return Chart("scaling", Axes(time_axis, up), marks, words, [*_times(times, time_axis)], 90)


def _times(times: Mapping[int, str], scale: Axis) -> Iterator[tuple[float, str, str]]:
    before = -inf
    for ms, words in times.items():
        place = log10(ms)
        if scale.share(place) - before >= TICK_GAP:
            before = scale.share(place)
            yield place, words, "middle"


def _curve(points: Sequence[ScalingPoint], colour: int) -> Iterator[ChartMark]:
    before: ScalingPoint | None = None
    for point in points:
        x, rating = log10(point.move_ms), elo_of(point)
        is_bound = point.elo is None or bool(point.bound)
        if before and not is_bound:
            ends = (log10(before.move_ms), x), (before.elo or 0.0, point.elo or 0.0)
            yield Stroke(f"curve c{colour}", *ends)
        kind = "beyond" if is_bound else "interval"
        yield Stroke(f"{kind} c{colour}", (x, x), open_ends(rating))
        if not is_bound:
            yield Dot(f"rating c{colour}", x, point.elo or 0.0, 5)
        before = None if is_bound else point


def _others(others: Sequence[tuple[float, str]], up: Axis) -> Iterator[ChartMark]:
    """Yield the lines of other bots; names that would overlap stand in one label."""
    position = 0
    while position < len(others):
        top = others[position][0]
        close = [pair for pair in others[position:] if up.share(top) - up.share(pair[0]) < NAME_GAP]
        yield from (Stroke("other", EDGES, (elo, elo)) for elo, _ in close)
        yield Label(", ".join(name for _, name in close), inf, top, "end", dy=-6)
        position += len(close)


# The HTML page of an event: its values, its template, its script and its styles.


def link_to_games(*names: str) -> str:
    """Return the link to the page's part about an entrant, or to the games of several of them."""
    return ("#games/" if len(names) > 1 else "#bot/") + "/".join(names)
