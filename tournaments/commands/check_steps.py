"""The command `check --list`: prints the steps. Starts nothing."""

from arena.conformance.runner import STEPS
from arena.ui.console import print_line

NAMED = 16
"""Columns of a step's name in the list."""


def list_steps() -> None:
    """Print every step."""
    for number, step in enumerate(STEPS, 1):
        print_line(f"{number:>3} {step.name:<{NAMED}} {step.title}  (SPEC.md, {step.promise})")
