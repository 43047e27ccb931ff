"""Tests of `tournaments.league.ratings`: standings, histories and regressions of a division."""

import random

import pytest
from msgspec.structs import replace

from tests.support.made_up import admitted, everybody_meets, league_of, played_round, table_results
from tournaments.league.ratings import CHANCE, DivisionTable, rate_division, title_of, widened
from tournaments.league.state import FINAL_METHOD, AnyEntry, LeagueData, Withdrawn

OLD = {"greedy": 0.0, "random": -150.0, "mine": 200.0, "other": 50.0}
NEW = {"greedy": 0.0, "random": -150.0, "mine@2": -100.0, "other": 50.0}


def standings(league: LeagueData) -> DivisionTable:
    return rate_division(league.divisions["draw"], league)


@pytest.fixture(scope="module")
def worse() -> LeagueData:
    """Return a league in which the second version of a bot is far worse than the first."""
    rng = random.Random(1)
    rounds = [everybody_meets(rng, OLD, number, "2026-11-02") for number in (1, 2, 3, 4)]
    rounds += [everybody_meets(rng, NEW, number, "2026-11-03") for number in (5, 6, 7, 8)]
    register = [admitted(name) for name in (*OLD, "new")] + [admitted("mine@2", "2026-11-03")]
    return league_of(rounds, register)


def test_standings_hold_present_versions_over_the_anchor(worse: LeagueData) -> None:
    """The anchor has 0 Elo; old versions stand in the whole table only, newcomers at its end.

    House bots stand where they are, and have no rank.
    """
    table = standings(worse)
    names = ["other", "greedy", "mine@2", "random", "new"]
    assert [row.name for row in table.standings] == names
    assert [row.rank for row in table.standings] == [1, None, 2, None, None]
    elo = {row.name: row.elo for row in table.all_versions}
    assert elo["greedy"] == 0
    assert elo["new"] is None
    (old,) = (row for row in table.all_versions if not row.is_active)
    assert (old.name, old.rank, old.bot, old.since) == ("mine", None, "mine", "2026-11-01")
    assert all(row.is_house == (row.bot in ("greedy", "random")) for row in table.standings)


def test_history_has_the_version_of_each_day(worse: LeagueData) -> None:
    """A bot's rating on a day is that of the version that played then, from the one fit."""
    table = standings(worse)
    assert table.history["mine"] == {"2026-11-02": "mine", "2026-11-03": "mine@2"}
    assert table.history["other"] == {"2026-11-02": "other", "2026-11-03": "other"}


def test_worse_version_is_flagged_in_words(worse: LeagueData) -> None:
    """A loss of 300 Elo is flagged against the version before; the other bots are not compared."""
    table = standings(worse)
    (regression,) = table.regressions
    assert (regression.name, regression.before, table.comparisons) == ("mine@2", "mine", 1)
    assert regression.worse is not None
    assert regression.flag == f"mine@2 is worse than mine: {100 * regression.worse:.0f} %"
    assert 0.95 < regression.worse < 1
    assert regression.gain.value is not None
    assert regression.gain.value < -150


def test_a_version_that_hardly_played_hides_no_loss(worse: LeagueData) -> None:
    """A bot that becomes worse by two quick pushes is compared with the version before both."""
    rng = random.Random(2)
    pushes = [f"mine@{number}" for number in (2, 3)]
    weak = {"greedy": 0.0, "random": -150.0, "other": 50.0} | {"mine@3": -300.0}
    rounds = worse.divisions["draw"].rounds[:4]
    meeting = table_results(rng, {"mine@2": 0, "other": 0}, ("mine@2", "other"))
    rounds.append(played_round(5, "2026-11-03", {("mine@2", "other"): meeting}))
    rounds += [everybody_meets(rng, weak, number, "2026-11-03") for number in (6, 7, 8, 9)]
    register = [*worse.register[:-1], *(admitted(push, "2026-11-03") for push in pushes)]
    (row,) = standings(league_of(rounds, register)).regressions
    assert (row.name, row.before) == ("mine@3", "mine")


def test_unfinished_rounds_and_withdrawn_bots_do_not_count() -> None:
    """A round that is still played rates nobody; a withdrawn bot keeps its place among all."""
    rng = random.Random(3)
    rounds = [everybody_meets(rng, OLD, 1, "2026-11-02")]
    fresh = table_results(rng, {"greedy": 0, "new": 0}, ("greedy", "new"))
    playing = played_round(2, "2026-11-03", {("greedy", "new"): fresh}, over=False)
    register: list[AnyEntry] = [
        *(admitted(name) for name in (*OLD, "new")),
        Withdrawn(time="2026-11-03T08:00:00Z", bot="other", version="other"),
    ]
    table = standings(league_of([*rounds, playing], register))
    (new,) = (row for row in table.standings if row.name == "new")
    assert (new.games, new.elo, new.rank) == (0, None, None)
    assert "new" not in table.history
    (withdrawn,) = (row for row in table.all_versions if row.name == "other")
    assert withdrawn.elo is not None
    assert not withdrawn.is_active


def test_regression_takes_wider_errors() -> None:
    """A likelihood of 96 % does not do, 99.5 % makes 96 %."""
    assert widened(0.96) < CHANCE < widened(0.995)
    assert round(widened(0.995), 2) == 0.96


def test_a_version_that_played_little_has_a_rating_and_no_rank() -> None:
    """Copies would else be first now and then: the least known of equals often leads."""
    rng = random.Random(1)
    strong = OLD | {"new": 900.0}
    rounds = [everybody_meets(rng, OLD, number, "2026-11-02") for number in range(1, 9)]
    rounds.append(everybody_meets(rng, strong, 9, "2026-11-03"))
    register = [admitted(name) for name in strong]
    rows = {row.name: row for row in standings(league_of(rounds, register)).standings}
    assert rows["new"].boards < min(10, rows["mine"].boards / 2)
    assert (rows["new"].rank, rows["mine"].rank) == (None, 1)
    rounds += [everybody_meets(rng, strong, number, "2026-11-03") for number in range(10, 14)]
    (first, *_) = standings(league_of(rounds, register)).standings
    assert (first.name, first.rank) == ("new", 1)
    # In a new league, all have played little.
    (first, *_) = standings(league_of(rounds[8:9], register)).standings
    assert first.rank == 1


def title(strength: dict[str, float], seed: int) -> tuple[str, ...]:
    """Return who has the title after a final of three meetings on each board."""
    rng = random.Random(seed)
    parts = [everybody_meets(rng, strength, number, "2026-11-02") for number in (1, 2, 3)]
    results = [replace(r, board=r.board + part.first_board) for part in parts for r in part.results]
    plan = replace(parts[0].plan, method=FINAL_METHOD)
    final = replace(parts[0], plan=plan, results=results)
    champions, verdict = title_of(league_of([final], []).divisions["draw"])
    assert all(name in verdict for name in champions)
    assert ("is the champion" in verdict) == (len(champions) == 1)
    return champions


def test_title_is_shared_unless_the_final_decides() -> None:
    """A bot far ahead has it alone; of equal bots one final in twenty may leave any out."""
    assert title({"a": 0, "b": 600, "c": 50}, 1) == ("b",)
    equal = dict.fromkeys("abcd", 0.0)
    assert sum(len(title(equal, seed)) < 4 for seed in range(20)) <= 1


def test_no_title_before_the_final_is_over() -> None:
    """A final that was closed without a whole board has none either."""
    round = everybody_meets(random.Random(1), OLD, 1, "2026-11-02", over=False)
    final = replace(round, plan=replace(round.plan, method=FINAL_METHOD))
    for rounds, verdict in (
        ([round], ""),
        ([final], ""),
        ([replace(final, is_over=True, results=[])], "The final was closed before any board was"),
    ):
        champions, words = title_of(league_of(rounds, []).divisions["draw"])
        assert not champions
        assert words.startswith(verdict)
        assert bool(words) == bool(verdict)
