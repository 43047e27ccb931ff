"""The questions of a seat follow from the log alone, byte for byte, and its rounds add up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.timeline import Timeline, find_question, opponents, round_ends
from arena.logs.gamelog import DamagedLogError
from arena.rules.variants import derive, find_variant
from protocol.errors import UserError
from protocol.ruleset import Ruleset
from tests.support.fast_run import examples
from tests.support.games import any_of, overheard
from tests.support.rulesets import rules_and_seats

SHORT = derive(find_variant("draw"), "short", {"target": 75})


@examples(20)
@given(rules_and_seats(), st.integers(0, 2**32), st.sampled_from([0.0, 0.02]))
def test_a_timeline_has_the_questions_that_were_sent(
    table: tuple[Ruleset, int], seed: int, foul: float
) -> None:
    compare(*table, seed, foul)


def compare(rules: Ruleset, seats: int, seed: object, foul: float = 0.0) -> None:
    rules = replace(rules, game=replace(rules.game, max_rounds=2))
    logged, lines = overheard(rules, seats, any_of(seed, foul))
    for seat in range(seats):
        questions = (timeline := Timeline(logged)).questions(seat)
        ask_lines = [line for line in lines[seat] if line.startswith(b'{"type":"ask"')]
        assert [timeline.line(question) for question in questions] == ask_lines
        assert [question.number for question in questions] == list(range(1, len(ask_lines) + 1))
        answers = [answer for answer in logged.choices() if answer.seat == seat]
        assert [question.answer for question in questions] == answers
        if questions:
            others = [line for line in lines[seat] if line not in ask_lines]
            earlier = lines[seat][: lines[seat].index(ask_lines[-1])]
            assert timeline.context(questions[-1]) == [line for line in others if line in earlier]
        assert [logged.records[question.index] for question in questions] == answers


def test_a_log_that_cannot_have_happened_is_refused() -> None:
    logged, _ = overheard(SHORT, 2, any_of(5))
    doubled = (*logged.records[:1], *logged.records)
    with pytest.raises(DamagedLogError):
        Timeline(replace(logged, records=doubled))


def test_a_question_is_found_by_its_number_and_by_its_id() -> None:
    logged, _ = overheard(SHORT, 2, any_of(6))
    _, second, *_ = questions = Timeline(logged).questions(0)
    assert find_question(questions, 2) is find_question(questions, second.question.id) is second
    with pytest.raises(UserError, match=rf"no question 9999: this seat was asked {len(questions)}"):
        find_question(questions, 9999)
    with pytest.raises(UserError, match="was not asked any question"):
        find_question([], 1)


@examples(20)
@given(rules_and_seats(), st.integers(0, 2**32))
def test_rounds_add_up_to_the_scores(table: tuple[Ruleset, int], seed: int) -> None:
    logged, _ = overheard(*table, any_of(seed))
    assert logged.result
    for seat in range(table[1]):
        ends = list(round_ends(Timeline(logged), seat))
        assert sum(end.gained for end in ends) == logged.result.scores[seat]
        scores = logged.result.scores
        rivals = [scores[rival] for rival in opponents(table[0], table[1], seat)]
        assert ends[-1].ahead == scores[seat] - max(rivals)
