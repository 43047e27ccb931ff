"""The chart of a bot's rating over time. Pure."""

from collections.abc import Mapping
from datetime import date
from itertools import groupby

from arena.document.html import minus
from tournaments.league.ratings import StandingRow
from tournaments.report.html.charts import (
    EDGES,
    Axes,
    Axis,
    Bar,
    Chart,
    Dot,
    Label,
    Stroke,
    axis,
    grid_across,
    open_ends,
)

DATES = 5
"""The largest number of dates along the bottom."""
ROOMY = 1 / 15
"""Share of the width that the number of a version needs."""


def history_chart(played: Mapping[str, StandingRow], bot: str) -> Chart | None:
    """Return a bot's versions, each over the days on which it played; None without a rating."""
    rated = [(day, row) for day, row in played.items() if row.elo is not None]
    if not rated:
        return None
    scale = axis(end for _, row in rated for end in (row.rating.low, row.rating.high))
    days = [date.fromisoformat(day).toordinal() for day, _ in rated]
    along = Axis(days[0], days[-1] + 1)
    marks = [*grid_across(scale, along.low, "end", dx=-8, dy=4)]
    dated = zip(days, (row for _, row in rated), strict=True)
    runs = [next(run) for _, run in groupby(dated, lambda one: one[1].name)]
    labelled = -1.0
    ends = [*(start for start, _ in runs[1:]), days[-1] + 1]
    for (start, row), end in zip(runs, ends, strict=True):
        middle, value = (start + end) / 2, row.elo or 0.0
        if end - start == 1:  # A line of a single day looks like a bar.
            marks.append(Stroke("step", (middle, middle), open_ends(row.rating)))
            marks += [] if row.bound else [Dot("step", middle, value)]
        else:
            marks.append(Bar("band", (start, end), open_ends(row.rating)))
            marks += [] if row.bound else [Stroke("step", (start, end), (value, value))]
        if start > days[0]:
            marks.append(Stroke("change", (start, start)))
        if labelled < 0 or along.share(start) - labelled > ROOMY:
            labelled = along.share(start)
            number = row.name.rpartition("@")[2] if "@" in row.name else "1"
            marks.append(Label(f"@{number}", start, EDGES[1], "start", dx=4, dy=11))
    step = max(1, -(-(days[-1] + 1 - days[0]) // DATES))
    feet = [
        (day + 0.5, date.fromordinal(day).strftime("%-d %b"), "middle")
        for day in range(days[0], days[-1] + 1, step)
    ]
    versions = f", {len(runs)} versions" if len(runs) > 1 else ""
    (first, old), (last, new) = rated[0], rated[-1]
    words = (
        f"Rating of {bot} from {first} to {last}{versions}: from {old.rating.cell().text} to "
        f"{new.rating.cell().text} Elo. The table of versions has the numbers."
    )
    return Chart("history", Axes(along, scale), marks, minus(words), feet, 88)
