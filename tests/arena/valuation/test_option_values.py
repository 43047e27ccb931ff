"""Values of options: sums that can be done by hand, and the same deals for the same question."""

import pytest

from arena.analysis.alternative_deals import RoundHistory
from arena.analysis.text import OptionValue
from arena.analysis.timeline import AskedQuestion, Timeline
from arena.engine import values
from arena.engine.state import Game
from arena.match.referee import OpenQuestion
from arena.rules.variants import derive, find_variant
from arena.valuation.batch import RoundBatch
from arena.valuation.decision_loss import (
    WorldValues,
    _leads,
    _played_gains,
    option_values,
    try_options,
)
from arena.valuation.policy import play_out
from arena.valuation.worlds import Worlds
from protocol.messages import Draw, Play
from tests.support.games import any_of, overheard
from tests.support.positions import position

DRAW = derive(find_variant("draw"), "short", {"target": 150})


def leads(*worlds: Game) -> WorldValues:
    """Return what each option of a question gains in each of these worlds."""
    game = worlds[0]
    history = RoundHistory(game, (), ())
    open_question = OpenQuestion(game.playing.turn, 1, values.legal(game), 1000)
    question = AskedQuestion(open_question, game, (), 0, None, history)
    in_arrays, in_games = (
        list(_played_gains([question], [Worlds([0], len(worlds), batch, games)], ()))
        for batch, games in [(RoundBatch.from_games(worlds), group) for group in ((), worlds)]
    )
    assert (in_arrays[0] == in_games[0]).all()
    return _leads(question, in_arrays[0], exact=False)


def test_going_out_is_worth_what_the_others_hold() -> None:
    """With 2-1 seat 0 goes out, and is paid what the other holds: 5 in one deal, 9 in the other."""
    deals = [
        position("draw", hands=["21", hand], line="13 32", stock=stock)
        for hand, stock in (("41", "63 64 65"), ("63", "41 64 65"))
    ]
    out = values.legal(deals[0]).index(Play((2, 1), "right"))
    assert leads(*deals)[out].tolist() == [5, 9]


def test_gains_of_the_other_side_count_against_an_option() -> None:
    """With 2-1 on the left both ends are twos: the other goes out and is paid for 6-6."""
    game = position("draw", hands=["21 66", "22"], line="13 32")
    assert leads(game)[values.legal(game).index(Play((2, 1), "left"))] == [-12]


def test_a_draw_by_choice_is_followed_by_another_choice() -> None:
    """The draw gains a point that playouts miss: the seat then chooses better than they do."""
    able, unable = (
        position("old-draw", hands=[hand, "41 66"], line="13 32", stock="64 65")
        for hand in ("21 55", "44 55")
    )
    drawn_game = values.act(able, Draw())
    gains = play_out(RoundBatch.from_games([drawn_game]))[0]
    assert leads(able)[values.legal(able).index(Draw())] == [gains[0] - gains[1] + 1]
    assert values.legal(unable) == (Draw(),)
    gains = play_out(RoundBatch.from_games([unable]))[0]
    assert leads(unable)[0] == [gains[0] - gains[1]]


@pytest.mark.parametrize(("score", "percents"), [(95, [100, 100, 100]), (80, [100, 90, 100])])
def test_near_the_target_chances_are_not_points(score: int, percents: list[float]) -> None:
    """All three plays win, one of them 4 points less, which only sometimes matter."""
    scene = position("draw", hands=["21 22", "66 54"], line="13 32", scores=[score, 50])
    open_question = OpenQuestion(0, 1, values.legal(scene), 1000)
    question = AskedQuestion(open_question, scene, (), 0, None, RoundHistory(scene, (), ()))
    (trial,) = try_options([question], 16)
    assert trial.leads[:, 0].tolist() == [21, 17, 21]
    assert trial.percents[:, 0].round(-1).tolist() == percents


def values_of(question: AskedQuestion) -> tuple[OptionValue, ...]:
    return option_values(question, 1, 16)


def test_the_same_question_gets_the_same_deals() -> None:
    logged, _ = overheard(DRAW, 2, any_of(3))
    question = Timeline(logged).questions(1)[0]
    estimates = values_of(question)
    assert estimates == values_of(question)
    assert len(estimates) == len(question.question.options)
    assert (estimates[1].beyond, estimates[1].beyond_half_width) == (0, 0)
    assert all(option.beyond == option.lead - estimates[1].lead for option in estimates)
    assert estimates[0].half_width > 0
