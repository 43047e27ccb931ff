"""A bot that withdraws in the middle of an event of any format; others play on as if planned so."""

from collections import defaultdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from protocol.errors import UserError
from protocol.records import Result
from tests.support.fast_run import examples
from tests.support.planned_events import drawn_result, event, mixed, next_stage, result, teams
from tournaments.event.grow import incompatibility
from tournaments.formats.knockout import Knockout, bracket
from tournaments.formats.swiss import Swiss, round_of, standings
from tournaments.formats.tables import Gauntlet, Ladder, Matches, RoundRobin
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.plan.schedule import all_played, count_all_games, ledger_order, stages

CONTESTS = [
    event(5, 2, 3),
    event(6, 3, 2),
    event(9, 3, 2),
    mixed(5, 2),
    teams(2),
    event(6, 2, 2, form=Gauntlet(("bot1", "bot3"))),
    event(5, 2, 2, form=Ladder()),
    event(4, 2, 2, form=Matches((("bot0", "bot1"), ("bot2", "bot3"), ("bot1", "bot2")))),
    event(7, 2, 3, form=Swiss(4)),
    event(8, 3, 2, form=Swiss(4)),
    teams(2, Swiss(3)),
    event(6, 2, 2, form=Knockout(2)),
    teams(2, Knockout(2)),
]


def play(event: Event, results: dict[str, Result], rng: Random, most: int) -> None:
    """Play so many games at most, those of a stage in any order, as several jobs do."""
    for stage in stages(event, results):
        left = [(plan, n) for plan in stage for n, game in enumerate(plan.games)]
        rng.shuffle(left)
        for plan, n in left:
            if plan.games[n].name not in results and most > 0:
                most -= 1
                results[plan.games[n].name] = drawn_result(event, plan, n, rng)


def withdraw(event: Event, name: str, results: dict[str, Result]) -> Event:
    last = max((result.board for result in results.values()), default=0)
    entrants = [
        replace(bot, retired=True, withdrawn_after=last) if bot.name == name else bot
        for bot in event.entrants
    ]
    return replace(event, entrants=tuple(entrants))


@given(st.sampled_from(CONTESTS), st.integers(0, 9999), st.floats(0, 1))
@examples(150)
def test_nothing_is_lost_and_all_others_play_to_the_end(old: Event, luck: int, part: float) -> None:
    rng, results = Random(luck), dict[str, Result]()
    play(old, results, rng, int(part * count_all_games(old, results)))
    leaver, before = rng.choice(old.entrants).name, dict(results)
    new = withdraw(old, leaver, results)
    assert incompatibility(old, new) is None
    assert before.keys() <= set(ledger_order(new, results))
    play(new, results, rng, 10**9)
    assert all(all_played(stage, results) for stage in stages(new, results))
    assert sorted(ledger_order(new, results)) == sorted(results)
    assert len(results) == count_all_games(new, results)
    leavers = {leaver, *(name for team in old.teams if leaver in team for name in team)}
    assert all(leavers.isdisjoint(results[game].seats) for game in results.keys() - before.keys())
    if isinstance(old.format, Knockout):
        later = bracket(new, old.format, [*results.values()])
        first = bracket(old, old.format, [*before.values()])
        for matches, later_matches in zip(first, later, strict=False):
            pairs = zip(matches, later_matches, strict=True)
            assert all(match.winner in (None, last.winner) for match, last in pairs)
        assert old.format.find_winner(new, [*results.values()], True)
    if old.format.IS_STATIC:
        # Each table without it plays all that it was to play.
        everybody = dict[str, Result]()
        play(old, everybody, rng, 10**9)
        games = {game for game, result in everybody.items() if leavers.isdisjoint(result.seats)}
        assert games <= results.keys()


@given(st.integers(3, 12), st.integers(2, 3), st.integers(0, 999), st.floats(0, 1))
@examples(60)
def test_a_swiss_pairs_all_others_later(entrants: int, seats: int, luck: int, part: float) -> None:
    old = event(max(entrants, seats + 1), seats, 2, form=Swiss(4))
    rng, results = Random(luck), dict[str, Result]()
    play(old, results, rng, int(part * count_all_games(old, results)))
    last_round = max((round_of(old, result.board) for result in results.values()), default=0)
    new = withdraw(old, rng.choice(old.entrants).name, results)
    play(new, results, rng, 10**9)
    tables = defaultdict[int, set[frozenset[str]]](set)
    for outcome in results.values():
        tables[round_of(new, outcome.board)].add(frozenset(outcome.seats))
    for number in range(last_round + 1, 5):
        present = [name for table in tables[number] for name in table]
        assert len(present) == len(set(present)) == (len(new.entrants) - 1) // seats * seats


def test_who_meets_a_leaver_in_its_open_round_has_a_bye_and_it_has_no_more_points() -> None:
    cup = event(4, 2, 1, form=Swiss(3))
    first = next_stage(cup, [])
    results = [result(cup, plan, 0, (1, 2)) for plan in first]
    # Each game was won from seat 0: two ties. Of the second round only a game of bot0 is played.
    second = next_stage(cup, results)
    (plan,) = [plan for plan in second if plan.seats[0] == 0]
    results.append(result(cup, plan, 0, (1, 2)))
    (partner,) = {*plan.seats} - {0}
    left = withdraw(cup, "bot0", {outcome.game: outcome for outcome in results})
    assert {frozenset(plan.seats) for plan in next_stage(left, results)} == {
        frozenset({1, 2, 3} - {partner})
    }
    results += [result(cup, plan, 0, (1, 2)) for plan in next_stage(left, results)]
    points = {line.unit[0]: line.points for line in standings(left, results)}
    assert points == {0: 1, partner: 3} | dict.fromkeys({1, 2, 3} - {partner}, 2)
    third = next_stage(left, results)
    assert third
    assert all(0 not in plan.seats for plan in third)


def test_a_knockout_lets_those_on_who_were_to_meet_a_leaver() -> None:
    form = Knockout(0)
    cup = event(4, 2, 1, form=form)
    # The better seed wins each game of the first round, and one game of the final.
    results = [
        result(cup, plan, 0, (1, 2) if plan.seats[0] < plan.seats[1] else (2, 1))
        for plan in next_stage(cup, [])
    ]
    final_plan = next_stage(cup, results)[0]
    results.append(result(cup, final_plan, 0, (1, 2) if final_plan.seats == (0, 1) else (2, 1)))
    left = withdraw(cup, "bot0", {outcome.game: outcome for outcome in results})
    assert not next_stage(left, results)
    assert form.find_winner(left, results, True) == ("bot1", "has won the knockout.")
    semifinals, (final,) = bracket(left, form, results)
    assert [match.winner for match in semifinals] == [(0,), (1,)]
    assert final.walkover
    (section,) = form.report(left, results, lambda *_: "")
    assert "bot1 wins, because the other has withdrawn" in str(section)


@pytest.mark.parametrize("event", [event(2), event(2, form=Versus()), event(3, 3)])
def test_a_withdrawal_that_leaves_too_few_is_refused(event: Event) -> None:
    with pytest.raises(UserError, match="too few for a table"):
        withdraw(event, "bot0", {})


@pytest.mark.parametrize("form", [RoundRobin(), Swiss(3), Knockout()])
def test_a_withdrawn_bot_cannot_come_back(form: RoundRobin | Swiss | Knockout) -> None:
    contest = event(4, form=form)
    left = withdraw(contest, "bot0", {})
    assert "cannot come back" in (incompatibility(left, contest) or "")


def test_a_round_of_which_nothing_was_played_is_over_without_its_only_table() -> None:
    cup = event(3, 2, 1, form=Swiss(2))
    assert {frozenset(plan.seats) for plan in next_stage(cup, [])} == {frozenset({0, 1})}
    bots = [replace(cup.entrants[0], retired=True, withdrawn_after=1), *cup.entrants[1:]]
    left = replace(cup, entrants=tuple(bots))
    second = next_stage(left, [])
    assert {frozenset(plan.seats) for plan in second} == {frozenset({1, 2})}
    results = [result(left, plan, 0, (1, 2)) for plan in second]
    assert [len(line.rounds) for line in standings(left, results)] == [2, 2, 2]
