"""What an option comes to under other deals: sums that can be done by hand, and fair deals."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.decisions import decisions
from arena.analysis.what_if import _so_far, heuristic_move, option_values, sampled_deals
from arena.engine import values as engine
from arena.rules.variants import find_variant
from protocol.messages import Draw, Pass, Play
from protocol.ruleset import Ruleset, derive
from tests.support.engine_comparison import snapshot
from tests.support.fast_run import examples
from tests.support.positions import position
from tests.support.rulesets import seated
from tests.support.transcripts import NONSENSE, any_of, overheard

DRAW = derive(find_variant("draw"), "short", {"target": 150})


def test_a_plain_player_plays_its_heaviest_tile_doubles_first() -> None:
    light, heavy, double = (Play(tile, "left") for tile in ((1, 0), (6, 5), (2, 2)))
    assert heuristic_move([Draw(), light, heavy]) == heavy
    assert heuristic_move([light, double, heavy]) == double
    assert heuristic_move([Draw(), Pass()]) == Draw()


def test_going_out_is_worth_what_the_others_hold() -> None:
    """With 2-1 seat 0 goes out, and is paid what the other holds: 5 in one deal, 9 in the other."""
    deals = [
        position("draw", hands=["21", other], line="13 32", stock=stock)
        for other, stock in (("41", "63 64 65"), ("63", "41 64 65"))
    ]
    options = engine.legal(deals[0])
    out = options.index(Play((2, 1), "right"))
    found = option_values(deals, out, random.Random(1))
    assert found[out].lead == 7.0
    assert found[out].half_width == pytest.approx(1.959964 * math.sqrt(8 / 2))
    assert (found[out].beyond, found[out].beyond_half_width) == (0.0, 0.0)
    assert len(found) == len(options) == 3
    for one in found:
        assert one.beyond == pytest.approx(one.lead - found[out].lead)


def test_gains_of_the_other_side_count_against_an_option() -> None:
    """With 2-1 on the left both ends are twos: the other goes out and is paid for 6-6."""
    game = position("draw", hands=["21 66", "22"], line="13 32")
    found = option_values([game, game], 0, random.Random(1))
    assert found[engine.legal(game).index(Play((2, 1), "left"))].lead == -12.0


def test_a_seat_that_fouled_plays_its_first_option_under_other_deals_too() -> None:
    logged, _ = overheard(DRAW, 3, lambda question: NONSENSE if question.seat == 1 else 0)
    late = next(one for one in decisions(logged, 0) if len(one.step.game.playing.line) > 6)
    deal, until = _so_far(logged, late)
    assert {act.seat for act in deal.acts if act.fallback} == {1}
    assert all(act.fallback == (act.seat == 1) for act in deal.acts)
    assert until[1].acts == len(deal.acts)


def test_one_deal_tells_no_interval() -> None:
    (one, *_) = option_values(
        [position("draw", hands=["21", "41"], line="13 32")], 0, random.Random(1)
    )
    assert one.half_width == math.inf


def test_drawing_with_less_in_hand_is_paid_by_the_round_alone() -> None:
    """What was scored before the question does not count."""
    before = [
        position("draw", hands=["21", "41"], line="13 32", scores=scores)
        for scores in (
            (0, 0),
            (50, 20),
        )
    ]
    found = [option_values([game, game], 0, random.Random(1)) for game in before]
    assert found[0] == found[1]


# Slow: every other deal of a what-if leads to the very question.
@pytest.mark.slow
@examples(15)
@given(seated(), st.integers(0, 2**32), st.sampled_from([0.0, 0.02]))
def test_other_deals_ask_the_same_question(
    table: tuple[Ruleset, int], seed: int, foul: float
) -> None:
    logged, _ = overheard(*table, any_of(seed, foul))
    for seat in range(table[1]):
        found = list(decisions(logged, seat))
        for one in found[len(found) // 2 :][:1]:
            (game,) = sampled_deals(logged, one, 1, random.Random(seed))
            assert engine.legal(game) == one.question.options
            assert game.playing.hands[seat] == one.step.game.playing.hands[seat]
            assert game.playing.line == one.step.game.playing.line
            option_values([game], 0, random.Random(seed))


def test_other_deals_are_other_and_the_same_for_the_same_luck() -> None:
    logged, _ = overheard(DRAW, 2, any_of(3))
    one = next(decisions(logged, 1))
    twice = [list(sampled_deals(logged, one, 8, random.Random(5))) for _ in range(2)]
    one_time, other_time = ([snapshot(game) for game in games] for games in twice)
    assert one_time == other_time
    assert len({game.playing.hands[0] for game in twice[0]}) == 8


def test_a_question_without_an_answer_has_other_deals_too() -> None:
    logged, _ = overheard(DRAW, 2, any_of(4))
    begun = replace(logged, records=logged.records[:4], result=None)
    (last,) = [one for seat in (0, 1) for one in decisions(begun, seat) if one.record is None]
    (game,) = sampled_deals(begun, last, 1, random.Random(1))
    assert engine.legal(game) == last.question.options
