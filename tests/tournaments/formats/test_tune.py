"""Tune: groups of candidates on the same deals, the same after a stop, and an honest answer."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from arena.document.blocks import Code
from arena.sandbox.command import Command
from protocol.errors import UserError
from protocol.records import Result
from tests.support.made_up import play, tune
from tournaments.formats.entrant import Parameter, Values
from tournaments.formats.tune import GROUP, Tune
from tournaments.plan.event import Event
from tournaments.plan.schedule import count_all_games, ledger_order, stages

X = Parameter(start=0.1, min=0, max=1)


def hill(values: Values) -> float:
    """Return the lead over the start; at best, at 0.8, it is 25 points."""
    return 25 - 51 * (values["x"] - 0.8) ** 2


def nothing(_: Values) -> float:
    return 0.0


def play_tune(event: Event, strength: Any, seed: int) -> list[Result]:
    results: dict[str, Result] = {}
    play(event, strength, Random(seed), results)
    return [results[name] for name in ledger_order(event, results)]


def form_of(event: Event) -> Tune:
    assert isinstance(event.format, Tune)
    return event.format


def test_the_candidates_of_a_group_play_the_start_on_the_same_deals_in_both_seats() -> None:
    event = tune(120, x=X)
    results: dict[str, Result] = {}
    play(event, hill, Random(1), results)
    first, second, check = stages(event, results)
    assert {plan.boards for plan in first} == {(1, 2, 3, 4, 5)}
    assert {plan.boards for plan in second} == {(6, 7, 8, 9, 10)}
    seats = {(0, slot) for slot in range(1, GROUP + 1)}
    assert {plan.seats for plan in first} == seats | {(b, a) for a, b in seats}
    assert all(plan.values[plan.seats.index(0)] == {} for plan in first)
    assert {plan.seats for plan in check} == {(0, GROUP + 1), (GROUP + 1, 0)}
    assert {board for plan in check for board in plan.boards} == set(range(11, 35))
    assert event.all_boards == 34
    assert len(results) == count_all_games(event, results) == count_all_games(event, {}) == 288


def test_a_tune_finds_better_values_and_reports_them() -> None:
    event = tune(900, x=X)
    results = play_tune(event, hill, 1)
    verdict = form_of(event).verdict_of_check(event, results)
    assert verdict
    assert verdict.boards == 180
    assert verdict.is_better
    assert 15 < verdict.points < 35
    lead = event.format.describe_lead(event, results, True, "")
    assert lead.startswith("**Better by ")
    search, values = event.format.report(event, results, lambda *_: "")
    assert search.title == "The search"
    paste = [block.text for block in values.blocks if isinstance(block, Code)]
    assert paste[0] == 'run = ["x"]'
    assert paste[1].startswith("[tune]\nx = { start = 0.")
    assert paste[1].endswith(", min = 0, max = 1 }")


def test_a_game_that_a_foul_ended_is_lost() -> None:
    """A value with which a bot crashes never looks good, however far it was ahead."""
    event = tune(60, x=X)
    bot = event.entrants[-1].name
    results = [
        replace(game, scores=(50, 0), places=(2, 1), why="foul") if game.seats[0] == bot else game
        for game in play_tune(event, nothing, 1)
    ]
    verdict = form_of(event).verdict_of_check(event, results)
    assert verdict
    assert verdict.is_worse
    assert "**Worse**: keep the values" in event.format.describe_lead(event, results, True, "")


def test_values_replace_the_words_of_the_command() -> None:
    form = Tune((("x", X),), ("{python}", "-x", "{x}"), "", "cmaes 0")
    command = Command(("/usr/bin/python", "-x", "0.1"), ".")
    assert form.set_values(command, {"x": 0.5}).argv == ("/usr/bin/python", "-x", "0.5")


def test_a_tune_does_not_change_its_boards_or_its_ranges() -> None:
    event = tune(60, x=X)
    assert event.format.why_not_extended(event, event) is None
    for extension in (tune(120, x=X), tune(60, x=replace(X, max=2))):
        assert "cannot change" in str(event.format.why_not_extended(event, extension))


def test_too_few_boards_and_seats_of_three_are_refused() -> None:
    form = form_of(tune(60, x=X))
    with pytest.raises(UserError, match="at least 60 boards, not 59"):
        form.with_boards(59, None)
    with pytest.raises(UserError, match="two sides"):
        replace(tune(60, x=X), seats=3)
