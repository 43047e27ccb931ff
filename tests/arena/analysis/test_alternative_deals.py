"""Other deals that a seat cannot tell apart: all of them, each as often as the next."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.alternative_deals import (
    InconsistentDealError,
    PublicMove,
    RoundHistory,
    StopAt,
    alternative_deals,
    public,
    replay_round,
)
from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Clock, Pass
from protocol.ruleset import Ruleset, derive
from protocol.tiles import Tile
from tests.support.fast_run import examples
from tests.support.random_rounds import played, questions
from tests.support.rulesets import rules_and_seats


@examples(15)
@given(rules_and_seats(), st.integers(0, 2**32))
def test_every_world_leads_to_the_same_question(table: tuple[Ruleset, int], number: int) -> None:
    # Chance as hypothesis would choose it changes hardly anything.
    rng = random.Random(number)
    seed = number.to_bytes(32, "big")
    for deal in played(*table, seed, rng):
        for moment in list(questions(deal, 0, Clock()))[-1:]:
            *_, here = replay_round(deal, moment)
            known = public(here.game, 0), values.legal(here.game)
            for world in islice(alternative_deals(deal, 0, rng, moment), 10):
                assert (public(world.game, 0), values.legal(world.game)) == known
        *_, end = replay_round(deal)
        for world in islice(alternative_deals(deal, 0, rng), 10):
            assert public(world.game, 0) == public(end.game, 0)


# --- rounds so small that every deal can be counted ---

TIGHT = derive(find_variant("draw"), "tight", {"hand": 13})
"""Of all tiles only two are not in a hand, and nobody may draw them: a world is named by them."""
Left = frozenset[Tile]


def left(game: Game) -> Left:
    return frozenset(tile for row in game.playing.stock for tile in row)


def possible(deal: RoundHistory, until: StopAt) -> set[Left]:
    """By trying every two tiles that the seat does not see: what may lie in the boneyard."""
    seat = until.seat
    *_, here = replay_round(deal, until)
    known, (dealt,) = public(here.game, seat), deal.deals
    other, found = dealt.hands[1 - seat], set[Left]()
    for pair in combinations([*other, *dealt.stock[0]], 2):
        # Who lies in the boneyard changes places with who must not.
        rest = [tile for tile in (*other, *dealt.stock[0]) if tile not in pair]
        hands = (dealt.hands[seat], tuple(rest))
        changed = replace(dealt, hands=hands if seat == 0 else hands[::-1], stock=(pair,))
        with suppress(InconsistentDealError):
            *_, there = replay_round(deal._replace(deals=(changed,)), until)
            if public(there.game, seat) == known:
                found.add(frozenset(pair))
    return found


def tight_questions() -> Iterator[tuple[RoundHistory, StopAt, set[Left]]]:
    """Questions to seat 0: one early, and all after the other had to pass and so told something."""
    for number in (13, 14):
        (deal, *_) = played(TIGHT, 2, bytes([number]) * 32, random.Random(number))
        for moment in questions(deal, 0, Clock()):
            cut = deal._replace(acts=deal.acts[: moment.acts])
            passed = any(act == PublicMove(1, Pass()) for act in cut.acts)
            if passed or (number, moment.acts) == (14, 9):
                yield cut, moment, possible(cut, moment)


# Slow: other worlds come as often as chance would deal them, which a what-if rests on.
@pytest.mark.slow
def test_in_the_long_run_every_deal_comes_and_as_often_as_the_next() -> None:
    sizes = []
    for deal, until, expected in tight_questions():
        sizes.append(len(expected))
        chain = alternative_deals(deal, 0, random.Random(1), until)
        found = Counter(left(one.game) for one in islice(chain, 0, 600 * len(expected), 30))
        assert set(found) <= expected
        chi = sum((found[one] - 20) ** 2 / 20 for one in expected)
        free = len(expected) - 1
        assert chi < free + 4 * (2 * free) ** 0.5, f"{found} of {expected}"
    assert min(sizes) < 10 < max(sizes), sizes


def test_acts_that_cannot_be_played_are_refused() -> None:
    (deal, *_) = played(find_variant("draw"), 2, bytes(32), random.Random(1))
    (moment, *_) = questions(deal, 0, Clock())
    impossible = deal._replace(acts=(PublicMove(0, Pass()), *deal.acts))
    with pytest.raises(InconsistentDealError):
        next(alternative_deals(impossible, 0, random.Random(1), moment._replace(acts=2)))
