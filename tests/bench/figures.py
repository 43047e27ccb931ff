"""What benchmarks print and keep: figures beside a baseline of the same round, and their spread."""

import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table

WIDTH = 130
"""Columns of the table where it is not a terminal that shows it."""


class Figure(Struct, frozen=True):
    """One thing that was measured, against something that was measured beside it."""

    name: str
    """What."""
    unit: str
    """The unit of `value`."""
    value: float
    """The median over the rounds."""
    against: str
    """What the ratio is to."""
    ratio: float
    """The median over the rounds."""
    low: float
    """The lowest ratio."""
    high: float
    """The highest ratio."""
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


def show(figures: Iterable[Figure], before: dict[str, Figure]) -> None:
    """Print a table; with the ratios of an earlier one where there are any."""
    columns = ("", "median", "unit", "ratio", "spread", "to", "goal", *(["before"] * bool(before)))
    table = Table(*columns, box=None, pad_edge=False)
    for one in figures:
        goal = (
            ""
            if one.goal is None
            else f"{'met' if one.ratio <= one.goal else 'missed'}: {one.goal:g}"
        )
        was = before.get(one.name)
        if one.missing:
            table.add_row(one.name, "", "", "", "", f"{one.against}: {one.missing}")
            continue
        row = [
            one.name, f"{one.value:,.1f}", one.unit, f"{one.ratio:.2f}",
            f"{one.low:.2f}-{one.high:.2f}", one.against, goal,
        ]  # fmt: skip
        table.add_row(*row, *([f"{was.ratio:.2f}"] if was else []))
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDTH).print(
        table
    )


def keep(path: Path, figures: Sequence[Figure]) -> None:
    """Write them, to be compared with at another commit."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=1) + b"\n")


def kept(path: Path | None) -> dict[str, Figure]:
    """Return the stored figures, by name."""
    if path is None:
        return {}
    return {one.name: one for one in msgspec.json.decode(path.read_bytes(), type=list[Figure])}
