"""The faults that a check finds, and what it has checked, in words."""

from typing import TypeVar

from arena.rules.english import count_in_digits
from arena.ui.console import print_line
from tournaments.verification.event_check import Checked, Verified

T = TypeVar("T")

PLANS_SHOWN = 3
"""Earlier plans of an extended event that are told one by one."""


def print_faults(checked: Checked[T], in_json: bool) -> tuple[list[str], T]:
    """Print all faults and their number; return them, and what the check returns."""
    faults: list[str] = []
    while True:
        try:
            faults.append(next(checked))
        except StopIteration as end:
            if faults and not in_json:
                print_line(count_in_digits(len(faults), "problem found.", "problems found."))
            verified: T = end.value
            return faults, verified
        if not in_json:
            print_line(faults[-1])


def describe_extent(of: Verified) -> str:
    """Return the extent of a check in words."""
    if not of.games:
        return "no game can be replayed yet"
    deals = "1 board's deals" if of.boards == 1 else f"{of.boards:,} boards' deals"
    games = f"{of.games:,} {'game' if of.games == 1 else 'games'}"
    equal = f"{', ratings equal' * of.ratings}{', luck equal' * of.luck}"
    return f"{games} replayed, {deals} recomputed{equal}"
