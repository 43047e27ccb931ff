"""Other deals that a seat cannot tell apart: all of them, each as often as the next."""

import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.analysis.alternative_deals import (
    InconsistentDealError,
    PublicMove,
    alternative_deals,
    public,
    replay_round,
)
from arena.engine import values
from arena.rules.variants import find_variant
from protocol.messages import Clock, Pass
from protocol.ruleset import Ruleset
from tests.support.fast_run import examples
from tests.support.games import questions, random_game
from tests.support.rulesets import rules_and_seats


@examples(15)
@given(rules_and_seats(), st.integers(0, 2**32))
def test_every_world_leads_to_the_same_question(table: tuple[Ruleset, int], number: int) -> None:
    # Chance as hypothesis would choose it changes hardly anything.
    rng = random.Random(number)
    seed = number.to_bytes(32, "big")
    for deal in random_game(*table, seed, rng):
        for moment in list(questions(deal, 0, Clock()))[-1:]:
            *_, turn = replay_round(deal, moment)
            knowledge = public(turn.game, 0), values.legal(turn.game)
            for world in islice(alternative_deals(deal, 0, rng, moment), 10):
                assert (public(world.game, 0), values.legal(world.game)) == knowledge
        *_, end = replay_round(deal)
        for world in islice(alternative_deals(deal, 0, rng), 10):
            assert public(world.game, 0) == public(end.game, 0)


# --- rounds so small that every deal can be counted ---


def test_acts_that_cannot_be_played_are_refused() -> None:
    (deal, *_) = random_game(find_variant("draw"), 2, bytes(32), random.Random(1))
    (moment, *_) = questions(deal, 0, Clock())
    impossible_deal = deal._replace(acts=(PublicMove(0, Pass()), *deal.acts))
    with pytest.raises(InconsistentDealError):
        next(alternative_deals(impossible_deal, 0, random.Random(1), moment._replace(acts=2)))
