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
    reference: str
    """The baseline of the ratio."""
    ratio: float
    low: float
    high: float
    goal: float | None = None
    """The most that the ratio should be."""
    missing: str = ""
    """The way to get the missing baseline; nothing was measured."""


def absent(name: str, reference: str, missing: str) -> Figure:
    """Return the row of a comparison that was not made."""
    return Figure(name, "", 0.0, reference, 0.0, 0.0, 0.0, missing=missing)


def figure(
    name: str,
    unit: str,
    column: Sequence[float],
    base: Sequence[float],
    reference: str,
    goal: float | None = None,
) -> Figure:
    """Return the medians of a column of rounds beside its baseline's."""
    ratios = [measure / baseline for measure, baseline in zip(column, base, strict=True)]
    middle = statistics.median(ratios)
    return Figure(
        name, unit, statistics.median(column), reference, middle, min(ratios), max(ratios), goal
    )


def show(figures: Iterable[Figure]) -> None:
    columns = ("", "median", "unit", "ratio", "spread", "to", "goal")
    table = Table(*columns, box=None, pad_edge=False)
    for row in figures:
        if row.missing:
            table.add_row(row.name, "", "", "", "", f"{row.reference}: {row.missing}")
            continue
        goal = f"{'met' if row.ratio <= row.goal else 'missed'}: {row.goal:g}" if row.goal else ""
        spread = f"{row.low:.2f}-{row.high:.2f}"
        ratio = f"{row.ratio:.2f}"
        table.add_row(row.name, f"{row.value:,.1f}", row.unit, ratio, spread, row.reference, goal)
    width = None if sys.stdout.isatty() else WIDTH
    Console(highlight=False, markup=False, width=width).print(table)
