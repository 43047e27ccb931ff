"""Versus: it ends with the answer."""

from random import Random

from tests.support.planned_events import event, next_stage, played_through
from tournaments.formats.versus import Versus
from tournaments.rating.sprt import Sprt


def test_versus_ends_with_the_block_in_which_the_answer_is_known() -> None:
    match = event(2, 2, 500, 10, form=Versus(Sprt(max_boards=500)))
    results = played_through(match, Random(0), upset=0)
    boards = max(result.board for result in results.values())
    assert boards % 10 == 0
    assert 20 <= boards < 100
    assert next_stage(match, list(results.values())) == ()
