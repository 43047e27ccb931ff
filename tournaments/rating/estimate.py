"""A value with its 95 % interval, or a bound of it, and the one way to write it. Pure."""

from typing import NamedTuple, Protocol

from arena.document.blocks import UNKNOWN, Cell
from tournaments.rating.tables import Bound


class Estimate(NamedTuple):
    """A value with half the width of its 95 % interval, or a bound."""

    value: float | None
    """The value or the bound; None if it is not known."""
    half_width: float | None = None
    """None if it is not known, and for a bound."""
    bound: Bound = ""

    @property
    def low(self) -> float:
        """The lower end of the interval; the value itself if its width is not known."""
        return (self.value or 0.0) - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """The upper end of the interval; the value itself if its width is not known."""
        return (self.value or 0.0) + (self.half_width or 0.0)

    def cell(self, decimals: int = 0, sign: str = "+") -> Cell:
        """Write a value as +12, a bound as >+120, and the half width as small print."""
        if self.value is None:
            return Cell(self.bound or UNKNOWN)
        # A value that rounds to 0 has no minus.
        text = f"{self.bound}{round(self.value, decimals) + 0.0:{sign}.{decimals}f}"
        return Cell(text, "" if self.half_width is None else f"{self.half_width:.{decimals}f}")

    def text(self, decimals: int = 0, sign: str = "+") -> str:
        """Write both in a sentence: +12 ± 3."""
        cell = self.cell(decimals, sign)
        return f"{cell.text} ± {cell.detail}" if cell.detail else cell.text


class _HasElo(Protocol):
    @property
    def elo(self) -> float | None: ...
    @property
    def half_width(self) -> float | None: ...
    @property
    def bound(self) -> Bound: ...


def elo_of(one: _HasElo) -> Estimate:
    """Return the rating of a line of a table, in Elo, or its bound."""
    return Estimate(one.elo, one.half_width, one.bound)
