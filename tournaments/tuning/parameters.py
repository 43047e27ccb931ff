"""The parameters of a bot: their ranges, and their values as words of its command. Pure."""

from collections.abc import Mapping, Sequence
from math import exp, isfinite, log
from typing import Literal

from msgspec import Struct

Values = dict[str, int | float]
"""The value of each parameter, by its name."""
DIGITS = 4
"""Digits of a real value: more would differ between machines, and change no game."""


class Parameter(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A parameter that a tune may change."""

    start: int | float
    """The value to begin with, and to be better than."""
    min: int | float
    max: int | float
    integer: bool = False
    """True if only whole numbers are tried."""
    scale: Literal["linear", "log"] = "linear"
    """log: steps are factors, for parameters that span orders of magnitude."""

    def __post_init__(self) -> None:
        """Refuse a range that is none. Raises ValueError."""
        if not isfinite(self.max - self.min):
            raise ValueError(f"min and max must be finite, not {self.min:g} and {self.max:g}")
        if not self.min < self.max:
            raise ValueError(f"min must be below max, not {self.min:g} and {self.max:g}")
        if not self.min <= self.start <= self.max:
            raise ValueError(
                f"start must be from {self.min:g} to {self.max:g} (min, max), not {self.start:g}"
            )
        if self.integer and any(one % 1 for one in (self.start, self.min, self.max)):
            raise ValueError("an integer has whole numbers as start, min and max")
        if self.scale == "log" and self.min <= 0:
            raise ValueError(f"the log scale begins above 0, not at {self.min:g} (min)")

    def at(self, place: float) -> int | float:
        """Return the value at a place of the range, 0 to 1."""
        low, high = self._ends()
        value = low + min(1.0, max(0.0, place)) * (high - low)
        if self.scale == "log":
            value = exp(value)
        rounded = round(value) if self.integer else float(f"{value:.{DIGITS}g}")
        return min(self.max, max(self.min, rounded))

    def place_of(self, value: float) -> float:
        """Return the place of a value in the range, 0 to 1."""
        low, high = self._ends()
        return ((log(value) if self.scale == "log" else value) - low) / (high - low)

    def _ends(self) -> tuple[float, float]:
        if self.scale == "log":
            return log(self.min), log(self.max)
        return self.min, self.max


Parameters = Mapping[str, Parameter]


def starts(parameters: Parameters) -> Values:
    """Return the values to begin with."""
    return {name: one.start for name, one in parameters.items()}


def fill(words: Sequence[str], values: Values) -> tuple[str, ...]:
    """Return the words of a command with each {name} replaced by its value."""
    filled = tuple(words)
    for name, value in values.items():
        filled = tuple(word.replace(f"{{{name}}}", value_text(value)) for word in filled)
    return filled


def value_text(value: float) -> str:
    """Write a value as a bot and a user read it."""
    return f"{value}" if isinstance(value, int) else f"{value:.10g}"
