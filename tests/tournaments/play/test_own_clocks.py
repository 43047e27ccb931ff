"""Real bots with clocks of their own: played, verified, grown, and what a changed clock does."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.messages import Clock
from tests.support.events import boneyard, fits, games_of, report, run
from tournaments.event.combine import check_no_overlap, open_source

SCALED = ("first@50ms", "first@1m-bank0", "--set", "target=30")


# Slow: it plays whole events, and other tests play one for this module.
@pytest.mark.slow
def test_one_bot_at_two_clocks_is_two_entrants(tmp_path: Path) -> None:
    out, second = tmp_path / "out", tmp_path / "other"
    run(out, *SCALED, "--boards", "1")
    clocks = {"first@50ms": Clock(move_ms=50, bank_ms=250)}
    clocks["first@1m-bank0"] = Clock(move_ms=60_000, bank_ms=0)
    games = games_of(out)
    assert len(games) == 2
    for game in games:
        assert game.sitting.seat_clocks == tuple(clocks[name] for name in game.sitting.seats)
    assert "first@50ms: 50 ms and 250 ms in the bank." in report(out)
    assert "same bot" not in report(out)
    entrants = json.loads((out / "results.json").read_text())["entrants"]
    assert [entrant["clock"]["move_ms"] for entrant in entrants] == [50, 60_000]
    assert "Elo against time" in report(out)
    assert 'class="scaling"' in (out / "report.html").read_text()
    assert "a doubling of the time is" in boneyard("show", str(out))
    assert fits(out)
    words = ("explain", str(out), games[0].game.game, "1", "--", "first@1s")
    assert "A logged question keeps its clock." in boneyard(*words, code=2)
    run(out, *SCALED, "first", "--boards", "1")
    assert len(games_of(out)) == 6
    assert fits(out)
    run(second, "first@60ms", *SCALED[1:], "--boards", "1")
    check_no_overlap([open_source(out), open_source(second)])


def test_another_clock_than_the_plans_is_found(tmp_path: Path) -> None:
    run(tmp_path, *SCALED, "--boards", "1")
    sitting = games_of(tmp_path)[0].sitting
    with pytest.raises(ValueError, match="1 clocks for 2 seats"):
        replace(sitting, clocks=sitting.seat_clocks[:1])
    event = tmp_path / "event.json"
    event.write_text(event.read_text().replace('"move_ms": 50,', '"move_ms": 70,'))
    assert "the rules, the clock or the cost" in boneyard("verify", str(tmp_path), code=1)
