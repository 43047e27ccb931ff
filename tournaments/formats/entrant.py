"""Properties of an entrant besides its bot: a clock of its own, values of its parameters."""

import re
from collections.abc import Mapping, Sequence
from math import exp, isfinite, log
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from arena.sandbox.command import Command
from arena.sealed.module import is_module
from protocol.errors import UserError
from protocol.messages import Clock

# An entrant's own clock, and its text: `200ms`, `1s`, `200ms-bank5s`, `200M`. Pure.


MAX_CLOCK_MS = 86_400_000
"""The longest time for a question, and in the bank, in ms."""
CLOCK_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "M": 1}
"""The units of a clock's text, in ms; M is a million instructions of a sealed bot."""
CLOCK_PATTERN = r"[0-9]{1,8}(ms|s|m|M)(-bank[0-9]{1,8}(ms|s|m|M)?)?"
"""The pattern of a clock in an entrant's name."""
_TEXT = re.compile(r"([0-9.]{1,9})(ms|s|m|M)?(?:-bank([0-9.]{1,9})(ms|s|m|M)?)?")
_WORD = re.compile(r"(.+)@([0-9.]{1,9}(?:ms|s|m|M)(?:-bank.*)?)", re.DOTALL)


class OwnClock(Struct, frozen=True, forbid_unknown_fields=True):
    """The times of an entrant that differ from the event's clock."""

    move_ms: Annotated[int, Meta(ge=1, le=MAX_CLOCK_MS)] | None = None
    """Time for each question, in ms; without one the event's."""
    bank_ms: Annotated[int, Meta(ge=0, le=MAX_CLOCK_MS)] | None = None
    """Reserve for a whole game, in ms; without one as many times `move_ms` as the event's."""
    effort: Annotated[int, Meta(ge=1, le=MAX_CLOCK_MS)] | UnsetType = UNSET
    """Of a sealed bot: work for each question, in million instructions, in place of the times."""
    effort_bank: Annotated[int, Meta(ge=0, le=MAX_CLOCK_MS)] | UnsetType = UNSET
    """Its reserve; without one as many times `effort` as the event's."""

    @property
    def is_effort(self) -> bool:
        """True if it counts instructions."""
        return self.effort is not UNSET

    def complete(self, clock: Clock) -> "OwnClock":
        """Return this clock with both times, those it lacks from the event's clock."""
        if self.effort is not UNSET:
            usual, reserve = sealed_clock(clock), self.effort_bank
            if reserve is UNSET:
                reserve = min(MAX_CLOCK_MS, round(usual.bank_ms * self.effort / usual.move_ms))
            return OwnClock(effort=self.effort, effort_bank=reserve)
        move = clock.move_ms if self.move_ms is None else self.move_ms
        bank = self.bank_ms
        if bank is None:
            bank = min(MAX_CLOCK_MS, round(clock.bank_ms * move / clock.move_ms))
        return OwnClock(move, bank)

    def applied_to(self, clock: Clock) -> Clock:
        """Return the event's clock with these times in it."""
        own_clock = self.complete(clock)
        if own_clock.is_effort:
            return replace(clock, effort=own_clock.effort, effort_bank=own_clock.effort_bank)
        return replace(clock, move_ms=own_clock.move_ms, bank_ms=own_clock.bank_ms)

    def name(self, clock: Clock) -> str:
        """Return its text, as after the @ in an entrant's name; `clock` is the event's."""
        if self.effort is not UNSET:
            return f"{self.effort}M" + (f"-bank{self.effort_bank}M" if self.effort_bank else "")
        bank = "" if self.bank_ms is None else f"-bank{write_time(self.bank_ms)}"
        return write_time(self.complete(clock).move_ms or 0) + bank


def own_or(own_clock: OwnClock | UnsetType | None, clock: Clock, command: Command) -> Clock:
    """Return the clock of an entrant: the event's, with times of its own if it has any."""
    mine = own_clock.applied_to(clock) if own_clock else clock
    if is_module(command.argv):
        return sealed_clock(mine)
    return replace(mine, effort=UNSET, effort_bank=UNSET) if clock.effort else mine


def sealed_clock(clock: Clock) -> Clock:
    """Return the clock of a sealed bot: each of its ms is a million instructions."""
    effort = clock.effort or clock.move_ms
    bank = clock.effort_bank
    if bank is UNSET:
        bank = min(MAX_CLOCK_MS, round(clock.bank_ms * effort / clock.move_ms))
    return replace(clock, move_ms=effort, bank_ms=bank, effort=effort, effort_bank=bank)


def parse_clock(text: str, option: str) -> OwnClock:
    """Read a clock's text; a number without a unit is in ms. Raises UserError, with the option."""
    read = _TEXT.fullmatch(text)
    move = _ms(read[1], read[2]) if read else None
    bank = _ms(read[3], read[4]) if read and read[3] else None
    units = {unit == "M" for unit in (read[2], read[4]) if unit} if read else set()
    if not read or not move or (read[3] and bank is None) or len(units) > 1:
        raise UserError(
            f"{option}: a clock is the time for each question, as in 200ms, 1s or 200ms-bank5s, "
            f"up to a day, or of a sealed bot its million instructions, as in 200M, not {text!r}."
        )
    if "M" in (read[2], read[4]):
        return OwnClock(effort=move, effort_bank=UNSET if bank is None else bank)
    return OwnClock(move, bank)


def split_clock(word: str) -> tuple[str, OwnClock | None]:
    """Split `mine@200ms` into the bot and its clock; None without a clock. Raises UserError."""
    read = _WORD.fullmatch(word)
    return (read[1], parse_clock(read[2], word)) if read else (word, None)


def _ms(number: str, unit: str | None) -> int | None:
    """Return a time in whole ms; None if it is not one, or too long."""
    try:
        ms = float(number) * CLOCK_UNITS[unit or "ms"]
    except ValueError:
        return None
    return int(ms) if ms.is_integer() and ms <= MAX_CLOCK_MS else None


def write_time(ms: int) -> str:
    """Write a time in the largest unit of which it is a multiple; 0 without one."""
    unit = next((name for name in ("m", "s") if ms % CLOCK_UNITS[name] == 0), "ms")
    return f"{ms // CLOCK_UNITS[unit]}{unit}" if ms else "0"


# The parameters of a bot: their ranges, and their values as words of its command. Pure.


Values = dict[str, int | float]
"""The value of each parameter, by its name."""
PARAMETER_DIGITS = 4
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
        """Refuse an impossible range. Raises ValueError."""
        if not isfinite(self.max - self.min):
            raise ValueError(f"min and max must be finite, not {self.min:g} and {self.max:g}")
        if not self.min < self.max:
            raise ValueError(f"min must be below max, not {self.min:g} and {self.max:g}")
        if not self.min <= self.start <= self.max:
            raise ValueError(
                f"start must be from {self.min:g} to {self.max:g} (min, max), not {self.start:g}"
            )
        if self.integer and any(value % 1 for value in (self.start, self.min, self.max)):
            raise ValueError("an integer has whole numbers as start, min and max")
        if self.scale == "log" and self.min <= 0:
            raise ValueError(f"the log scale begins above 0, not at {self.min:g} (min)")

    def value_at(self, place: float) -> int | float:
        """Return the value at a place of the range, 0 to 1."""
        low, high = self._ends()
        value = low + min(1.0, max(0.0, place)) * (high - low)
        if self.scale == "log":
            value = exp(value)
        rounded = round(value) if self.integer else float(f"{value:.{PARAMETER_DIGITS}g}")
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
    return {name: parameter.start for name, parameter in parameters.items()}


def fill(words: Sequence[str], values: Values) -> tuple[str, ...]:
    """Return the words of a command with each {name} replaced by its value."""
    filled = tuple(words)
    for name, value in values.items():
        filled = tuple(word.replace(f"{{{name}}}", value_text(value)) for word in filled)
    return filled


def value_text(value: float) -> str:
    """Write a value as a bot and a user read it."""
    return f"{value}" if isinstance(value, int) else f"{value:.10g}"
