"""Figures that benchmarks print: each beside a baseline of the same round, and their spread."""

import statistics
import sys
from collections.abc import Iterable, Sequence

from msgspec import Struct
from rich.console import Console
from rich.table import Table

WIDTH = 130
"""Columns of the table where it is not a terminal that shows it."""


class Figure(Struct, frozen=True):
    """One thing that was measured, against something that was measured beside it."""

    name: str
    unit: str
    value: float
    against: str
    """What the ratio is to."""
    ratio: float
    low: float
    high: float
    goal: float | None = None
    """What the ratio should be at most."""
    missing: str = ""
    """How to get what it is compared with, which is not here; nothing was measured."""


def absent(name: str, against: str, missing: str) -> Figure:
    """Return the row of a comparison that was not made."""
    return Figure(name, "", 0.0, against, 0.0, 0.0, 0.0, missing=missing)


def figure(
    name: str,
    unit: str,
    own: Sequence[float],
    base: Sequence[float],
    against: str,
    goal: float | None = None,
) -> Figure:
    """Return the medians of a column of rounds beside its baseline's."""
    ratios = [one / other for one, other in zip(own, base, strict=True)]
    middle = statistics.median(ratios)
    return Figure(
        name, unit, statistics.median(own), against, middle, min(ratios), max(ratios), goal
    )


def show(figures: Iterable[Figure]) -> None:
    columns = ("", "median", "unit", "ratio", "spread", "to", "goal")
    table = Table(*columns, box=None, pad_edge=False)
    for one in figures:
        if one.missing:
            table.add_row(one.name, "", "", "", "", f"{one.against}: {one.missing}")
            continue
        goal = f"{'met' if one.ratio <= one.goal else 'missed'}: {one.goal:g}" if one.goal else ""
        spread = f"{one.low:.2f}-{one.high:.2f}"
        ratio = f"{one.ratio:.2f}"
        table.add_row(one.name, f"{one.value:,.1f}", one.unit, ratio, spread, one.against, goal)
    width = None if sys.stdout.isatty() else WIDTH
    Console(highlight=False, markup=False, width=width).print(table)
