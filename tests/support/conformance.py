"""Walks of the conformance check that take no longer than a test may."""

from collections.abc import Sequence

from arena.conformance.connection import Budget, StepResult
from arena.conformance.runner import STEPS

QUICK = Budget(total_s=3_000, step_s=600, pause_ms=20, quiet_ms=20, is_full=False)


def failed(outcomes: Sequence[StepResult]) -> list[StepResult]:
    """Return the steps that failed or were not reached."""
    assert len(outcomes) == len(STEPS)
    return [
        one for one in outcomes if one.finding or (one.state == "skip" and one.name != "tables")
    ]
