"""Tests of `boneyard league DIR status`."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol.codec import encode_json
from tests.support.events import boneyard
from tests.support.made_up import admitted
from tournaments.league.state import Admitted, AnyEntry, Refused
from tournaments.league.status import LeagueStatus, read_league_status

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOSTILE = "no bot.toml\x1b[2J\n" + "x" * 1000
REGISTER: list[AnyEntry] = [
    admitted("greedy"),
    admitted("mine"),
    Refused(time="2026-11-21T10:00:00Z", bot="mine", fingerprint="", why=HOSTILE),
    Refused(time="2026-11-21T10:00:00Z", bot="good", fingerprint="", why="no"),
    admitted("good", "2026-11-22"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a league that has a register and no round."""
    (tmp_path / "league.toml").write_text('title = "Club"\nhouse = ["greedy"]\n')
    (tmp_path / "register.jsonl").write_bytes(
        b"".join(encode_json(one) + b"\n" for one in REGISTER)
    )
    return tmp_path


def test_status_tells_what_waits_and_why(place: Path) -> None:
    """Refusals that stand are named, and news the newest first."""
    found = read_league_status(place, NOW)
    assert (found.title, found.week, found.running) == ("Club", "2026-W47", False)
    (division,) = found.divisions
    assert (division.bots, division.rounds, division.playing) == (3, 0, None)
    assert (division.boards, division.boards_left) == (0, 1000)
    assert [one.bot for one in found.refused] == ["mine"]
    assert [type(one) for one in found.pushes[:2]] == [Admitted, Refused]
    assert found.free_mib > 0


def test_words_of_authors_cannot_steer_the_terminal(place: Path) -> None:
    """A reason stands on one line, cut, without control characters."""
    said = boneyard("league", str(place), "status", "--now", "2026-11-22T12:00")
    assert "Club is not running" in said
    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) < 300
    assert "Refused" in said


def test_status_is_json_for_programs(place: Path) -> None:
    """The JSON has all that the text has."""
    from protocol.codec import decode_json

    said = boneyard("league", str(place), "status", "--json", "--now", "2026-11-22T12:00")
    assert decode_json(said.encode(), LeagueStatus).title == "Club"


def test_json_is_for_status_only(place: Path) -> None:
    """A run has no JSON."""
    assert "--json is for `status`" in boneyard("league", str(place), "--json", code=2)
