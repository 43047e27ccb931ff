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
from tests.support.games import any_of, bob_fouls, log_game, short


# Slow: the playouts of an auction take seconds.
@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except(
        [("draw", 2), ("dutch", 3), ("partnership", 4)],
        [("draw", 2), ("dutch", 3), ("double-draw", 2), ("partnership", 4), ("auction-draw", 3)],
    ),
)
def test_chances_are_shares_of_a_whole_and_exact_at_the_end(name: str, seats: int) -> None:
    game = log_game(short(name), seats, any_of(name))
    chances = replay_chances(Timeline(game))
    sides = count_sides(game.sitting.rules.deal.partners, seats)
    assert len(chances) == len([*frames(walk_log(game), None)])
    for chance in chances:
        assert len(chance.shares) == len(chance.leads) == sides
        assert all(0 <= share <= 1 for share in chance.shares)
        assert sum(chance.shares) == pytest.approx(sides / 2, abs=1e-5)
        assert sum(chance.leads) == pytest.approx(0, abs=1e-9)
    assert game.result
    places = game.result.places[:sides]
    wins = [sum((rank < peer) + (rank == peer) / 2 for peer in places) - 0.5 for rank in places]
    assert chances[-1] == Chance(tuple(count / (sides - 1) for count in wins), (0.0,) * sides)
    assert replay_chances(Timeline(game)) == chances, "They follow from the log alone."


def test_a_game_that_a_foul_decides_is_decided_at_the_foul() -> None:
    game = log_game(find_variant("draw"), 2, bob_fouls)
    moments = [*join_draws(walk_log(game), None)]
    index = [type(step.record) for step, *_ in moments].index(FoulRecord)
    chances = replay_chances(Timeline(game))
    assert isinstance(moments[-1][-1].record, Result)
    assert chances[index].shares == chances[-1].shares == (1.0, 0.0)
    assert 0 < chances[index - 1].shares[0] < 1


def test_a_seat_that_fouls_has_no_chance_while_the_others_play_on() -> None:
    game = log_game(find_variant("dutch"), 3, bob_fouls)
    moments = [*join_draws(walk_log(game), None)]
    index = [type(step.record) for step, *_ in moments].index(FoulRecord)
    chances = replay_chances(Timeline(game))
    assert len(chances) > index + 10
    for chance in chances[index:]:
        assert chance.shares[1] == 0
        assert sum(chance.shares) == pytest.approx(1.5, abs=0.01)
        assert min(chance.shares[0], chance.shares[2]) >= 0.49
    assert chances[index - 1].shares[1] > 0.2


def test_a_game_cut_off_has_chances_to_its_last_moment() -> None:
    game = log_game(short("draw"), 2, any_of(1))
    cut_game = LoggedGame(game.sitting, game.game, game.records[:10], None)
    cut_chances, chances = replay_chances(Timeline(cut_game)), replay_chances(Timeline(game))
    assert cut_chances == chances[: len(cut_chances)]
    assert replay_chances(Timeline(LoggedGame(game.sitting, game.game, (), None))) == ()
