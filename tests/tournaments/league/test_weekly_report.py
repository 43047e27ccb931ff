"""Tests of `tournaments.league.weekly_report` and of the weeks that it is about."""

import random
from datetime import date

import pytest

from protocol.records import SeatFoul
from tests.support.leagues import admitted, everybody_meets, league_of, played_round
from tests.support.results import game
from tournaments.league.read import LeagueData
from tournaments.league.records import AnyEntry, Benched, Refused, Withdrawn
from tournaments.league.weekly_report import days_of, league_at_end, week_before, weekly_report

OLD = {"greedy": 0.0, "random": -150.0, "mine": 200.0, "other": 50.0}
NEW = {"greedy": 0.0, "random": -150.0, "mine@2": -150.0, "other": 50.0, "late": 0.0}
TUESDAY = "2026-11-10T10:00:00Z"
EVIL = "no build:\n[x](http://evil) `rm`\n# Heading <img src=x>\n| a |" + " x" * 500


@pytest.fixture(scope="module")
def report() -> str:
    """Return the report of a week with everything in it."""
    return weekly_report(_league(), "2026-W46")


def _league() -> LeagueData:
    rng = random.Random(1)
    rounds = [everybody_meets(rng, OLD, one, "2026-11-05") for one in (1, 2, 3)]
    rounds += [everybody_meets(rng, NEW, one, "2026-11-12") for one in (4, 5, 6)]
    foul = game(1, ("other", "late"), (0, 1), (SeatFoul(0, "late"),))
    rounds.append(played_round(7, "2026-11-13", {("other", "late"): [foul]}))
    rounds.append(everybody_meets(rng, OLD, 8, "2026-11-16"))
    register: list[AnyEntry] = [
        *map(admitted, OLD),
        admitted("mine@2", "2026-11-10"),
        admitted("late", "2026-11-11"),
        Refused(time=TUESDAY, bot="evil", fingerprint="", why="first"),
        Refused(time=TUESDAY, bot="evil", fingerprint="", why=EVIL),
        Withdrawn(time=TUESDAY, bot="old", version="old@3"),
        Benched(time=TUESDAY, bot="other", version="other", division="draw", why="fouled a lot"),
        admitted("future", "2026-11-17"),
    ]
    return league_of(rounds, register)


def test_report_tells_all_that_moved(report: str) -> None:
    """Standings with ranks that moved, new versions, losses, fouls, benches and refusals."""
    assert report.startswith("# League\n\nWeek 2026-W46, 9 November to 15 November 2026. ")
    assert "301 games, 4 rounds,\n2 new versions and 2 refused pushes." in report
    assert "- **mine@2 is worse than mine: 9" in report
    assert "** (of 1 new version compared)\n" in report
    for line in ("other fouled in 1 game", "other fouled a lot", "old@3 was withdrawn"):
        assert f"- {line}\n" in report
    assert "- evil: 2 pushes were refused, the last because `no build: " in report
    assert "155 of 1,000 boards of the week were played" in report
    rows = [line for line in report.split("\n") if line.startswith("| ")]
    moved = {row.split("|")[2].strip(): row.split("|")[5].strip() for row in rows[2:]}
    assert moved["late"] == "new"
    assert moved["mine@2"].startswith("-")
    assert "future" not in report


def test_report_reads_well_as_plain_text(report: str) -> None:
    """Bars of a table stand below each other, and lines of our own words end before column 80."""
    rows = [line for line in report.split("\n") if line.startswith("|")]
    assert len({tuple(at for at, c in enumerate(row) if c == "|") for row in rows}) == 1
    assert all(len(line) < 80 for line in report.split("\n") if "`" not in line)


def test_words_of_an_author_are_neither_marks_nor_long(report: str) -> None:
    """A reason with links, marks and lines of its own stands in one line as code."""
    (line,) = (line for line in report.split("\n") if "evil" in line)
    assert line.count("`") == 2
    assert line.endswith("…`")
    assert len(line) < 230
    assert "\n# Heading" not in report


def test_report_of_a_past_week_stays_the_same(report: str) -> None:
    """Later events change no report."""
    later = _league()
    past = league_at_end(later, "2026-W46")
    assert len(past.divisions["draw"].rounds) == 7
    assert weekly_report(past, "2026-W46") == report


def test_league_that_has_not_begun_has_a_report() -> None:
    """Without games there is a sentence instead of a table."""
    text = weekly_report(league_of([], [admitted("greedy")]), "2026-W44")
    assert "No game was played yet." in text
    assert "0 new versions" in " ".join(text.split())  # A house bot is none.


def test_weeks_have_days_over_the_new_year() -> None:
    """Week 53 begins in one year and ends in the next."""
    assert days_of("2026-W53") == (date(2026, 12, 28), date(2027, 1, 3))
    assert week_before("2027-W01") == "2026-W53"
