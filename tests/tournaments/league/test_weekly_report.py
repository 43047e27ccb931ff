"""Tests of `tournaments.league.ratings` and of the weeks that it is about."""

import random

import pytest
from syrupy.assertion import SnapshotAssertion

from arena.document.blocks import Document, to_markdown
from protocol.records import SeatFoul
from tests.support.made_up import admitted, everybody_meets, game, league_of, played_round
from tournaments.league.ratings import league_at_end, week_blocks
from tournaments.league.state import AnyEntry, LeagueData, Refused, Withdrawn

OLD = {"greedy": 0.0, "random": -150.0, "mine": 200.0, "other": 50.0}
NEW = {"greedy": 0.0, "random": -150.0, "mine@2": -150.0, "other": 50.0, "late": 0.0}
FOULED = (("other", "late"), ("other", "greedy"), ("other", "random"))
TUESDAY = "2026-11-10T10:00:00Z"
EVIL = "no build:\n[x](http://evil) `rm`\n# Heading <img src=x>\n| a |" + " x" * 500


def weekly_report(league: LeagueData, week: str) -> str:
    return to_markdown(Document(week, week_blocks(league, week)))


@pytest.fixture(scope="module")
def report() -> str:
    """Return the report of a week with everything in it."""
    return weekly_report(_league(), "2026-W46")


def _league() -> LeagueData:
    rng = random.Random(1)
    rounds = [everybody_meets(rng, OLD, one, "2026-11-05") for one in (1, 2, 3)]
    rounds += [everybody_meets(rng, NEW, one, "2026-11-12") for one in (4, 5, 6)]
    fouls = [game(1, seats, (0, 1), (SeatFoul(0, "late"),)) for seats in FOULED]
    rounds.append(played_round(7, "2026-11-13", {("other", "late"): fouls}))
    rounds.append(everybody_meets(rng, OLD, 8, "2026-11-16"))
    register: list[AnyEntry] = [
        *map(admitted, OLD),
        admitted("mine@2", "2026-11-10"),
        admitted("late", "2026-11-11"),
        Refused(time=TUESDAY, bot="evil", fingerprint="", why="first"),
        Refused(time=TUESDAY, bot="evil", fingerprint="", why=EVIL),
        Withdrawn(time=TUESDAY, bot="old", version="old@3"),
        admitted("future", "2026-11-17"),
    ]
    return league_of(rounds, register)


def test_report_tells_all_that_moved(report: str, snapshot: SnapshotAssertion) -> None:
    """Ranks, new versions, losses, fouls, benches and refusals; no word of an author is a mark."""
    assert report == snapshot
    assert weekly_report(league_of([], [admitted("greedy")]), "2026-W44") == snapshot(name="empty")


def test_report_of_a_past_week_stays_the_same(report: str) -> None:
    """Later events change no report."""
    later = _league()
    past = league_at_end(later, "2026-W46")
    assert len(past.divisions["draw"].rounds) == 7
    assert weekly_report(past, "2026-W46") == report
