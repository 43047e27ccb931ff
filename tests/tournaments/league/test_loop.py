"""A league from the command line: made, run, stopped and continued."""

from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from threading import Event

import pytest

from protocol.codec import decode_json
from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.league import loop, pairing
from tournaments.league.loop import Turns
from tournaments.league.push import FolderBots
from tournaments.league.ratings import title_of
from tournaments.league.settings import LeagueFolder
from tournaments.league.state import Journal, read_league
from tournaments.plan.scaffold import make_bot
from tournaments.site.view import PublicSnapshot

SETTINGS = """\
house = ["first", "greedy"]
sandbox = "off"
every_s = 1

[[divisions]]
name = "short"
rules = { base = "draw", target = 10 }
boards_a_table = 1
boards_a_week = 28

[[divisions]]
name = "three"
rules = { base = "draw", target = 10 }
seats = 3
boards_a_table = 1
"""
NOW = ("--now", "2026-11-22T10:00")
SUNDAY = datetime(2026, 11, 22, 10, tzinfo=UTC)


def make(place: Path, settings: str = SETTINGS) -> Path:
    place.mkdir()
    (place / "league.toml").write_text(settings)
    return place


def test_one_pass_plays_what_the_day_allows(tmp_path: Path) -> None:
    """Two rounds of a board each; a division without enough bots waits; next week it goes on.

    A pass that plays nothing shows the end of the last round.
    """
    place = make(tmp_path / "club", f"delay_s = 0\n{SETTINGS}")
    output = boneyard("league", str(place), "--once", *NOW)
    assert "2026-11-22 10:00:00 begun     short round 1: 1 table, 1 board" in output
    assert "short round 2: 2 games in" in output
    assert "round 3" not in output
    assert (place / "league.log").read_text().splitlines()[0].endswith("first (house bot)")
    league = read_league(place)
    assert [len(division.rounds) for division in league.divisions.values()] == [2, 0]
    assert boneyard("league", str(place), "--once", *NOW) == ""
    live = place / "site" / "live"
    snapshot = decode_json((live / "live.json").read_bytes(), PublicSnapshot)
    assert snapshot.name.endswith("round 2")
    assert (snapshot.complete, snapshot.played) == (True, 2)
    assert '<a href="../index.html">' in (live / "index.html").read_text()
    boneyard("league", str(place), "--rounds", "1", "--now", "2026-11-23T10:00")
    third = read_league(place).divisions["short"].rounds[-1]
    assert (third.plan.number, third.week) == (3, "2026-W48")
    assert {result.board + third.first_board for result in third.results} == {3}
    assert (place / "site" / "weeks" / "2026-W47.html").exists()
    # Times in disorder could never be verified.
    assert "behind 2026-11-23T10:00:00Z" in boneyard("league", str(place), "--once", *NOW, code=2)


def test_folders_that_are_no_league_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty folder, a missing folder, broken settings, and words without a meaning."""
    monkeypatch.chdir(tmp_path)
    assert "`boneyard new league club` makes one." in boneyard("league", "club", code=2)
    assert "league.toml is missing" in boneyard("league", code=2)
    make(tmp_path / "late", f'closes = "in May"\n{SETTINGS}')
    assert "closes: a time is written as" in boneyard("league", "late", "--once", code=2)
    make(tmp_path / "club", SETTINGS.replace('"greedy"]', '"gredy"]'))
    assert "greedy" in boneyard("league", "club", "--once", code=2)
    assert "--now is for --once" in boneyard("league", "club", *NOW, code=2)
    assert "as 2026-11-22T10:00" in boneyard("league", "club", "--once", "--now", "noon", code=2)
    assert "status" in boneyard("league", "club", "statsu", code=2)
    assert "gredy" in boneyard("league", "club/league.toml", code=2)


def test_a_new_league_has_settings_and_a_bot_to_copy(tmp_path: Path) -> None:
    """All its settings are read; a league is never overwritten."""
    place = tmp_path / "class"
    output = boneyard("new", "league", str(place))
    assert "league.toml" in output
    league = read_league(place)
    assert list(league.divisions) == ["draw"]
    bot = place / "bots" / "example"
    assert {path.name for path in bot.iterdir()} == {"bot.py", "bot.toml", "README.md"}
    assert (bot.parent / ".gitignore").read_text().split() == ["bots.toml", "runs/"]
    assert "has a league already" in boneyard("new", "league", str(place), code=2)
    lines = [
        line.removeprefix("# ").split("  #")[0]
        for line in (place / "league.toml").read_text().splitlines()[3:]
    ]
    (place / "league.toml").write_text("\n".join(lines))
    assert list(read_league(place).divisions) == ["draw", "four"]


# Slow: newcomers play their boards, then a final.
@pytest.mark.slow
def test_a_closing_league_plays_a_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newcomers play their boards first; then the first bots meet, and the command ends by itself.

    Whoever forges its entrants is found.
    """
    monkeypatch.setattr(pairing, "NEWCOMER_BOARDS", {"lesson": 2, "week": 1})
    lines = (
        'closes = "2026-11-22T12:00"\nzone = "Europe/Berlin"\nfinal_bots = 2\nfinal_boards = 3\n'
    )
    place = make(tmp_path / "club", lines + SETTINGS.partition('[[divisions]]\nname = "three')[0])
    (place / "bots").mkdir()
    for name in ("ada", "ben", "carl"):
        make_bot("python", name, place / "bots")
    monkeypatch.setattr(FolderBots, "time", lambda *_: SUNDAY.timestamp())
    text = boneyard("league", str(place), "--once", *NOW)
    assert "final" not in text
    text = boneyard("publish", str(place), str(tmp_path / "kept"), code=2)
    assert "is not over" in text
    assert "Closes on 22 Nov 2026, 12:00 CET" in (place / "site" / "index.html").read_text()
    text = boneyard("league", str(place), "--rounds", "99", "--now", "2026-11-22T11:00")
    assert "closed    short: The league is closed. " in text
    data = read_league(place).divisions["short"]
    *rounds, final = data.rounds
    assert (final.plan.is_final, final.plan.boards, len(final.results)) == (True, 3, 6)
    assert "not among the first 2" in final.plan.held.values()
    for name in ("ada", "ben", "carl"):
        boards = sum(r.plan.boards for r in rounds for t in r.plan.tables if name in t.entrants)
        assert boards >= 2
    verdict = title_of(data)[1]
    assert verdict in unescape((place / "site" / "index.html").read_text())
    assert boneyard("league", str(place), "--once", "--now", "2026-11-22T11:30").count("\n") == 1
    assert "OK: " in boneyard("verify", str(place))
    boneyard("publish", str(place), str(tmp_path / "kept"))
    assert "OK: " in boneyard("verify", str(tmp_path / "kept"))
    names = {path.name for path in (tmp_path / "kept").rglob("*")}
    assert names >= {"index.html", "league.json", "register.jsonl", "round.json", "seeds.jsonl"}
    assert not names & {"private", "league.toml", "grades", "versions"}
    assert "new folder outside" in boneyard("publish", str(place), str(tmp_path / "kept"), code=2)
    (loser,) = {"ada", "ben", "carl"} - {*final.plan.active}
    path = place / "rounds" / "short" / f"{final.plan.number:04}" / "round.json"
    path.write_text(path.read_text().replace(final.plan.active[0], loser))
    assert "others than the first of the standings play" in boneyard("verify", str(place), code=1)


def test_pushes_are_read_beside_the_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that takes long holds up no round, and who is late in it fails the next turn."""
    place = make(tmp_path / "club")
    journal = Journal(place / "league.log", lambda: SUNDAY, lambda _: None)
    turns = Turns(LeagueFolder(place), journal, lambda: SUNDAY, None, ends=False, confirmed=True)
    turns.admit()
    turns._look_over.wait()
    gate = Event()

    def wait(*_: object) -> None:
        gate.wait()
        raise UserError("late")

    monkeypatch.setattr(loop, "update_register", wait)
    monkeypatch.setattr(loop, "LOOK_S", 0.0)
    turns.admit()
    assert turns.play()
    assert not turns._look_over.is_set()
    assert not turns._look_failures
    gate.set()
    turns._look_over.wait()
    with pytest.raises(UserError, match="late"):
        turns.admit()
    turns._look_over.wait()


def test_a_bug_of_ours_stops_no_league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug that an author finds, in a push perhaps, stops neither the rounds nor the site."""
    done: list[str] = []

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    def play(_: Turns) -> bool:
        done.append("play")
        return len(done) < 4

    monkeypatch.setattr(Turns, "admit", fail)
    monkeypatch.setattr(Turns, "play", play)
    monkeypatch.setattr(Turns, "publish", lambda *_, **__: done.append("publish"))
    place = make(tmp_path / "club")
    output = boneyard("league", str(place), "--once", code=1)
    assert done == ["play", "publish", "play", "publish", "play", "publish"]
    assert output.count("Boneyard itself failed in a turn of the league") == 1
    assert "ZeroDivisionError" in (place / "private" / "crash.txt").read_text()
