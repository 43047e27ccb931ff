"""Chances: shares of the game at each moment, exact at the end."""

import pytest

from arena.analysis.frames import frames, join_draws
from arena.analysis.timeline import Timeline, walk_log
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import find_variant
from arena.valuation.luck import Chance, replay_chances
from protocol.records import FoulRecord, Result
from protocol.ruleset import count_sides
from tests.support.fast_run import slow_except
from tests.support.games import any_of, bob_fouls, logged, short


# Slow: the playouts of an auction take seconds.
@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except(
        [("draw", 2), ("dutch", 3), ("partnership", 4)],
        [("draw", 2), ("dutch", 3), ("double-draw", 2), ("partnership", 4), ("auction-draw", 3)],
    ),
)
def test_chances_are_shares_of_a_whole_and_exact_at_the_end(name: str, seats: int) -> None:
    game = logged(short(name), seats, any_of(name))
    found = replay_chances(Timeline(game))
    sides = count_sides(game.sitting.rules.deal.partners, seats)
    assert len(found) == len([*frames(walk_log(game), None)])
    for one in found:
        assert len(one.shares) == len(one.leads) == sides
        assert all(0 <= share <= 1 for share in one.shares)
        assert sum(one.shares) == pytest.approx(sides / 2, abs=1e-5)
        assert sum(one.leads) == pytest.approx(0, abs=1e-9)
    assert game.result
    places = game.result.places[:sides]
    above = [sum((own < other) + (own == other) / 2 for other in places) - 0.5 for own in places]
    assert found[-1] == Chance(tuple(one / (sides - 1) for one in above), (0.0,) * sides)
    assert replay_chances(Timeline(game)) == found, "They follow from the log alone."


def test_a_game_that_a_foul_decides_is_decided_at_the_foul() -> None:
    game = logged(find_variant("draw"), 2, bob_fouls)
    shown = [*join_draws(walk_log(game), None)]
    at = next(at for at, (step, *_) in enumerate(shown) if isinstance(step.record, FoulRecord))
    found = replay_chances(Timeline(game))
    assert isinstance(shown[-1][-1].record, Result)
    assert found[at].shares == found[-1].shares == (1.0, 0.0)
    assert 0 < found[at - 1].shares[0] < 1


def test_a_seat_that_fouls_has_no_chance_while_the_others_play_on() -> None:
    game = logged(find_variant("dutch"), 3, bob_fouls)
    shown = [*join_draws(walk_log(game), None)]
    at = next(at for at, (step, *_) in enumerate(shown) if isinstance(step.record, FoulRecord))
    found = replay_chances(Timeline(game))
    assert len(found) > at + 10
    for one in found[at:]:
        assert one.shares[1] == 0
        assert sum(one.shares) == pytest.approx(1.5, abs=0.01)
        assert min(one.shares[0], one.shares[2]) >= 0.49
    assert found[at - 1].shares[1] > 0.2


def test_a_game_cut_off_has_chances_to_its_last_moment() -> None:
    game = logged(short("draw"), 2, any_of(1))
    cut = LoggedGame(game.sitting, game.game, game.records[:10], None)
    part, whole = replay_chances(Timeline(cut)), replay_chances(Timeline(game))
    assert part == whole[: len(part)]
    assert replay_chances(Timeline(LoggedGame(game.sitting, game.game, (), None))) == ()
