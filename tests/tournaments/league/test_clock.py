"""Tests of `tournaments.league.loop`: the time of a turn that is wrong, or may be."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol.errors import UserError
from tournaments.league.loop import begin_turn
from tournaments.league.state import Admitted, append_entry, read_league, write_utc

FRIDAY = datetime(2026, 11, 20, 10, tzinfo=UTC)
SATURDAY = datetime(2026, 11, 21, 10, tzinfo=UTC)
LATE = datetime(2036, 1, 1, tzinfo=UTC)


def test_a_clock_that_leaps_stops_the_turn_until_somebody_confirms_it(tmp_path: Path) -> None:
    """One turn with a clock in 2036 stopped the league until 2036."""
    (tmp_path / "league.toml").write_text('[[divisions]]\nname = "draw"\n')
    league = read_league(tmp_path)
    for now in (FRIDAY, SATURDAY):
        begin_turn(league, now, confirmed=False)
    with pytest.raises(UserError, match=r"than a day after .* 2026-11-21T10:00:00Z.* confirm it"):
        begin_turn(league, LATE, confirmed=False)
    begin_turn(league, SATURDAY, confirmed=False)
    begin_turn(league, LATE, confirmed=True)
    league.folder.turn.unlink()
    begin_turn(league, LATE, confirmed=False)


def test_a_clock_behind_the_files_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text('[[divisions]]\nname = "draw"\n')
    for bot, time in (("a", FRIDAY), ("b", LATE), ("c", LATE)):
        entry = Admitted(time=write_utc(time), bot=bot, version=bot, fingerprint="0" * 64)
        append_entry(tmp_path / "register.jsonl", entry)
    with pytest.raises(UserError, match=r"has it: 2 lines at the end of register\.jsonl\."):
        begin_turn(read_league(tmp_path), SATURDAY, confirmed=True)
    assert not (tmp_path / ".turn").exists()
