"""An event that is played once for each module of these tests, and a copy for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.events import copied, small_event, untouched


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with untouched(small_event(tmp_path_factory.mktemp("event"))) as folder:
        yield folder


@pytest.fixture
def folder(event: Path, tmp_path: Path) -> Path:
    return copied(event, tmp_path)
