"""The event that most tests read: three bots, two boards, twelve short games in six logs."""

from pathlib import Path

import pytest

from tests.support.library import finished


@pytest.fixture(scope="session")
def event() -> Path:
    """Return the event, to be read only."""
    return finished("round-robin")
