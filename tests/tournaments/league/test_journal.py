"""The log of a league: no line twice, and bounded."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tournaments.league import state as journals
from tournaments.league.state import Journal

NOW = datetime(2026, 11, 22, 20, 0, 5, tzinfo=UTC)


def test_a_state_that_lasts_is_one_line_until_it_is_over(tmp_path: Path) -> None:
    """A broken league.toml is logged once, and once more when it breaks again."""
    lines: list[str] = []
    journal = Journal(tmp_path / "league.log", lambda: NOW, lines.append)
    for words in ("a", "a", "b", "", "b"):
        journal.note_state("settings", words)
    assert [line[-1] for line in lines] == ["a", "b", "b"]


def test_a_full_log_stays_beside_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One earlier log is kept; a log that cannot be written stops nothing."""
    monkeypatch.setattr(journals, "MAX_LOG_BYTES", 60)
    journal = Journal(tmp_path / "league.log", lambda: NOW, lambda _: None)
    for number in range(5):
        journal.note("over", f"round {number}")
    assert (tmp_path / "league.log").read_text().endswith("round 4\n")
    assert "round 3" in (tmp_path / "league.log.1").read_text()
    Journal(tmp_path, lambda: NOW, lambda _: None).note("over", "a folder is no file")
