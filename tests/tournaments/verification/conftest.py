"""An event that is played once for each module of these tests, and a copy for each test."""

from pathlib import Path

import pytest

from tests.support.events import copied


@pytest.fixture
def folder(event: Path, tmp_path: Path) -> Path:
    return copied(event, tmp_path)
