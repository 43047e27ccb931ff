"""The plan before and after a run: its arithmetic against fits of whole events, and real bots."""

import json
import math
import random
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from statistics import mean

import pytest
from msgspec.structs import replace

from arena.rules.load import load_ruleset
from protocol.errors import UserError
from protocol.records import Result
from tests.support.events import SHORT, boneyard
from tests.support.made_up import ELO, figure, game, only_pool, played
from tests.support.planned_events import event
from tests.support.tables import children
from tournaments.cli import plan as calibrate
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.plan.forecast import Trial, forecast, forecast_text, trial_of
from tournaments.plan.schedule import count_all_games, sittings, stages
from tournaments.play.sittings import SittingRunner
from tournaments.rating import statistics
from tournaments.rating.likelihood_ratio import walk
from tournaments.rating.ratings import fit
from tournaments.rating.sprt import (
    MAX_EVENT_BOARDS,
    Separation,
    Sprt,
    lead_text,
    outcomes,
    separation_text,
    separations,
)

NOTHING = Trial(
    jobs=1,
    seconds=1.0,
    sittings=1,
    games=0,
    questions=None,
    game_s=None,
    sitting_s=None,
    saved=None,
    elo={},
)


def simulate(plan: Event, strength: dict[str, float], seed: int) -> list[Result]:
    """Return the event's games by the rating model."""
    rng = random.Random(seed)
    names = [entrant.name for entrant in plan.entrants]
    partners = plan.rules.deal.partners
    results: dict[str, Result] = {}
    for sitting in chain.from_iterable(stages(plan, results)):
        seats = [names[entrant] for entrant in sitting.seats]
        for planned_game in sitting.games:
            worth = [strength[name] / ELO - math.log(-math.log(rng.random())) for name in seats]
            if partners:
                sides = [sum(strength[name] for name in seats[s::2]) / 2 / ELO for s in (0, 1)]
                worth = [side - math.log(-math.log(rng.random())) for side in sides] * 2
            scores = [round(10000 * value) for value in worth]
            results[planned_game.name] = game(planned_game.board, seats, scores)
    return list(results.values())


def like(seats: int, entrants: int, boards: int) -> Event:
    return event(entrants, seats, boards, 5)


PARTNERS = replace(like(4, 4, 60), rules=load_ruleset("partnership", Path()))


# Before a run


def test_the_forecast_of_two_equal_bots_equals_one_by_hand() -> None:
    estimate = forecast(like(2, 2, 50), 1, NOTHING)
    # Each of 100 games tells a quarter; Student's t has 49 degrees of freedom.
    error = ELO * math.sqrt(4 / 100)
    assert estimate.lead_half_width == pytest.approx(2.00958 * error, abs=0.01)
    assert estimate.elo_half_width == pytest.approx(estimate.lead_half_width / 2, abs=0.01)
    assert estimate.boards_for_10_elo == pytest.approx(50 * (2.00958 * error / 10) ** 2, abs=1)
    assert (estimate.sittings, estimate.games) == (20, 100)
    assert estimate.questions is estimate.minutes is None


@pytest.mark.parametrize(
    "plan", [like(2, 6, 40), like(3, 4, 60), like(4, 5, 40), PARTNERS], ids=["2", "3", "4", "2+2"]
)
def test_the_forecast_interval_is_that_of_the_event(plan: Event) -> None:
    partners = plan.rules.deal.partners
    names = [entrant.name for entrant in plan.entrants]
    strength = {name: 150.0 - 70 * place for place, name in enumerate(names)}
    results = simulate(plan, strength, 1)
    pool = only_pool(results, partners=partners)
    trial = trial_of(plan, results, ends={}, jobs=1, seconds=1.0, sittings=1, questions=None)
    estimate = forecast(plan, 1, trial)
    assert estimate.games == pool.games
    wide = [figure(rating.half_width) for rating in pool.entrants]
    assert estimate.elo_half_width == pytest.approx(mean(wide), rel=0.12)
    size = len(names)
    errors = [figure(pool.errors[i][j]) for i in range(size) for j in range(i)]
    t = statistics.t_quantile(0.975, plan.boards - 1)
    assert estimate.lead_half_width == pytest.approx(t * mean(errors), rel=0.12)


def test_all_rounds_of_a_swiss_and_a_knockout_are_forecast() -> None:
    swiss, cup = event(6, 2, 3, form=Swiss(4)), event(8, 2, 6, form=Knockout(2))
    assert forecast(swiss, 1, NOTHING).games == count_all_games(swiss, {}) == 4 * 3 * 3 * 2
    assert forecast(cup, 1, NOTHING).games == count_all_games(cup, {}) == 7 * 6 * 2
    assert "Games      about 72" in forecast_text(forecast(swiss, 1, NOTHING))
    # Three rounds make one table of all; after one, only those who met can be compared.
    even = {entrant.name: 0.0 for entrant in swiss.entrants}
    trial = replace(NOTHING, elo=even, elo_errors=dict.fromkeys(even, 0.001))
    short, long = (forecast(event(6, 2, 3, form=Swiss(n)), 1, trial) for n in (1, 3))
    pair = forecast(event(2, 2, 3), 1, NOTHING)
    assert short.lead_half_width == pytest.approx(pair.lead_half_width, rel=0.001)
    assert long.lead_half_width < pair.lead_half_width


def test_versus_is_forecast_as_long_as_it_is_likely_to_take() -> None:
    plan = event(2, 2, 2000, 10, form=Versus(Sprt(max_boards=2000)))
    assert forecast(plan, 1, NOTHING).games == 4000
    results = simulate(like(2, 2, 400), {"bot0": 60.0, "bot1": 0.0}, 1)
    trial = trial_of(plan, results, ends={}, jobs=1, seconds=1, sittings=1, questions=None)
    estimate = forecast(plan, 1, trial)
    steps = walk(Sprt(), outcomes(Sprt(), results, lost_by=100))
    assert estimate.boards == trial.answer
    assert 0.5 * len(steps) < estimate.boards < 2 * len(steps) < 800
    assert (estimate.games, estimate.most_boards) == (2 * estimate.boards, 2000)
    assert f"about {estimate.boards} boards, at most 2,000" in forecast_text(estimate)[1]


def time_games(plan: Event, jobs: int, game_s: float, sitting_s: float) -> dict[str, float]:
    """When each game ends if games and sittings always take that long."""
    free, ends = [0.0] * jobs, {}
    for sitting in sittings(plan, {}):
        player = free.index(min(free))
        for planned_game in sitting.games:
            free[player] += game_s + sitting_s * (planned_game == sitting.games[0])
            ends[planned_game.name] = free[player]
    assert max(free) == min(free)
    return ends


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_the_time_is_made_of_games_and_sittings(jobs: int) -> None:
    plan = like(2, 4, 20)
    ends = time_games(plan, jobs, 0.25, 1.5)
    results = simulate(plan, {f"bot{n}": 0.0 for n in range(4)}, 3)
    trial = trial_of(
        plan, results, ends=ends, jobs=jobs, seconds=max(ends.values()), sittings=48, questions=50.5
    )
    assert (trial.game_s, trial.sitting_s) == pytest.approx((0.25, 1.5))
    longer = replace(plan, boards=200, boards_a_sitting=25)
    estimate = forecast(longer, jobs, trial)
    assert (estimate.sittings, estimate.games) == (96, 2400)
    assert estimate.questions == round(50.5 * 2400)
    assert estimate.minutes == pytest.approx((96 * 1.5 + 2400 * 0.25) / jobs / 60, abs=0.01)


def test_the_forecast_is_described() -> None:
    trial = replace(
        NOTHING, seconds=8.0, games=10, questions=55.0, game_s=60.0, sitting_s=0.5, saved=1.25
    )
    words = "\n".join(forecast_text(forecast(like(2, 3, 50), 1, trial)))
    assert "Sittings   60" in words
    assert "Games      300" in words
    assert "Questions  about 16,500" in words
    assert "about 5.0 hours at --jobs 1" in words
    assert (
        "60000 ms a game, 500 ms to start and end a sitting; replaying boards makes a game "
        "tell as much as 1.25" in words
    )
    unknown = "\n".join(forecast_text(forecast(like(2, 3, 50), 1, NOTHING)))
    assert "longer than the calibration" in unknown
    assert "measure for longer" in unknown


# After a run


def test_an_even_match_is_called_level() -> None:
    even = Separation(one="a", other="b", elo=0.2, half_width=451, played=4, needed_range=(9, None))
    assert lead_text(even) == "a and b are equal so far (± 451 Elo)"
    assert lead_text(replace(even, elo=9)) == "a is 9 ± 451 Elo ahead of b"


def test_neighbours_are_separated_unless_a_pair_is_named() -> None:
    results = played(random.Random(2), {"a": 300.0, "b": 0.0, "c": -30.0}, 200)
    ratings = fit(results)
    first, second = separations(ratings, 200)
    assert (first.one, first.other, first.is_apart) == ("a", "b", True)
    assert "they are separated." in separation_text(first)
    assert not second.is_apart
    assert second.needed
    least, most = second.needed_range
    assert 200 < least < second.needed
    assert most is None
    assert f"{least:,} or more boards for each pairing" in separation_text(second)
    closer = replace(second, needed_range=(620, 9000))
    assert "620 to 9,000 boards for each pairing" in separation_text(closer)
    (pair,) = separations(ratings, 200, ("c", "a"))
    assert (pair.one, pair.other) == ("a", "c")


def test_level_entrants_are_never_separated() -> None:
    results = [game(board, seats, (1, 1)) for board in range(9) for seats in ("ab", "ba")]
    (separation,) = separations(fit(results), 9)
    assert (separation.elo, separation.needed, separation.is_apart) == (0, None, False)
    assert "a million boards would probably not" in separation_text(separation)
    assert MAX_EVENT_BOARDS == 10**6


@pytest.mark.parametrize(
    ("pair", "part"),
    [(("a", "bb"), "Unknown entrant 'bb'"), (("a", "x"), "No games connect"), (("a", "a"), "No")],
)
def test_inseparable_entrants_are_the_users_mistake(pair: tuple[str, str], part: str) -> None:
    results = [game(1, "ab", (1, 0)), game(1, "xy", (1, 0))]
    with pytest.raises(UserError, match=part):
        separations(fit(results), 1, pair)


# Real bots


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder where calibrations play; nothing may be left there."""
    path = tmp_path / "scratch"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    yield path
    assert not list(path.iterdir())
    assert not children()


PATIENT = ("--seconds", "100", "--sandbox", "off")


# Slow: the forecast is made from games of the real bots.
@pytest.mark.slow
@pytest.mark.usefixtures("scratch")
def test_a_plan_is_made_with_real_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    # It ends by them, however slow the machine is.
    monkeypatch.setattr(calibrate, "MAX_CALIBRATION_GAMES", 66)
    bots = ("first", "greedy", "random")
    words = ("run", "--plan", *bots, *SHORT, "--boards", "100", "--jobs", "2", *PATIENT)
    estimate = json.loads(boneyard(*words, "--json"))
    assert (estimate["sittings"], estimate["games"]) == (24, 600)
    assert estimate["trial"]["jobs"] == 2
    assert estimate["trial"]["games"] == 66
    # Whole boards may be too few to tell, as many as the machine played at the same time.
    assert estimate["trial"].get("saved", 1.0) > 0
    assert sorted(estimate["trial"]["elo"]) == ["first", "greedy", "random"]
    assert estimate["minutes"] > 0
    assert 20 < estimate["questions"] / 600 < 2000
    assert 5 < estimate["elo_half_width"] < 80


@pytest.mark.usefixtures("scratch")
def test_a_bot_that_does_not_greet_is_the_users_mistake(tmp_path: Path) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text("raise SystemExit('no such model')")
    assert "no such model" in boneyard("run", "--plan", "greedy", str(bot), *PATIENT, code=2)


@pytest.mark.usefixtures("scratch")
def test_faults_of_the_machine_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(_self: SittingRunner, *_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SittingRunner, "_play_game", full)
    output = boneyard("run", "--plan", "greedy", "first", *PATIENT, code=1)
    assert "The calibration stopped" in output
    assert "No space left" in output


def test_deals_that_boards_repeat_are_forecast_as_one_board() -> None:
    plan = event(2, 2, 40)
    repeats = tuple((board, 1 + (board - 1) % 10) for board in range(11, 41))
    short, long = (forecast(contest, 1, NOTHING) for contest in (event(2, 2, 10), plan))
    assert forecast(replace(plan, repeats=repeats), 1, NOTHING).elo_half_width == (
        short.elo_half_width
    )
    assert long.elo_half_width < short.elo_half_width
