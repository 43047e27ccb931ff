"""The decisions that mattered: only of lost rounds, only facts of the log, the heaviest first."""

from collections.abc import Iterator

import pytest

from arena.analysis.decisions import Decision, RoundEnd, decisions, round_ends
from arena.analysis.key_decisions import MOST, KeyDecision, key_decisions
from arena.rules.variants import find_variant
from protocol.messages import Drew, Play
from protocol.records import ChoiceRecord
from protocol.ruleset import derive
from tests.support.transcripts import any_of, overheard

GAME = derive(find_variant("draw"), "short", {"target": 150})


def lost_rounds(seed: int) -> Iterator[tuple[list[Decision], list[RoundEnd]]]:
    logged, _ = overheard(GAME, 2, any_of(seed))
    for seat in (0, 1):
        yield list(decisions(logged, seat)), list(round_ends(logged, seat))


@pytest.mark.parametrize("seed", range(4))
def test_every_named_decision_is_of_a_lost_round_and_what_it_says_is_in_the_log(seed: int) -> None:
    for found, ends in lost_rounds(seed):
        by_round = {end.round: end for end in ends}
        named = key_decisions(found, ends)
        assert 1 <= len(named) <= MOST
        assert [one.number for one in named] == sorted(one.number for one in named)
        for one in named:
            end, decision = by_round[one.round], found[one.number - 1]
            assert end.swing < 0
            assert isinstance(decision.record, ChoiceRecord)
            options = decision.question.options
            if one.left:
                assert one.left in end.hand
                assert one.left in [play.tile for play in options if isinstance(play, Play)]
            later = [other for other in found[one.number :] if other.round == one.round]
            events = [event for other in later for event in other.step.events]
            assert one.drew <= sum(isinstance(event, Drew) for event in events)


def test_a_winner_of_every_round_has_none() -> None:
    for found, ends in lost_rounds(1):
        assert key_decisions(found, [end for end in ends if end.swing >= 0]) == ()


def test_a_decision_is_described_by_what_followed() -> None:
    one = KeyDecision(12, 3, "[1|0] left", (6, 5), 4, 1)
    assert one.describe() == (
        "Question 12, round 3: it chose [1|0] left and kept [6|5], which it could have played, to "
        "the end; then it drew 4 tiles and passed 1 time."
    )
    assert KeyDecision(1, 1, "draw", None, 0, 2).describe() == (
        "Question 1, round 1: it chose draw; then it passed 2 times."
    )
