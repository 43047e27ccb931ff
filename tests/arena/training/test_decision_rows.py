"""Rows of decisions hold what the seat was sent, and the environment's numbers."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.training.encoding import Encoding, decision_rows
from protocol.codec import decode_from_referee
from protocol.messages import Ask
from protocol.records import ChoiceRecord
from protocol.ruleset import Ruleset
from tests.support.fast_run import examples
from tests.support.games import any_of, overheard
from tests.support.rulesets import rules_and_seats


@examples(20)
@given(rules_and_seats(), st.integers(0, 2**32), st.sampled_from([0.0, 0.05]))
def test_rows_are_the_lines_in_every_game(
    table: tuple[Ruleset, int], seed: int, foul: float
) -> None:
    compare(*table, seed, foul)


def compare(rules: Ruleset, seats: int, seed: object, foul: float = 0.0) -> None:
    """Encode each line that was sent, as a bot would, and compare it with the row."""
    rules = replace(rules, game=replace(rules.game, max_rounds=2))
    logged, _ = overheard(rules, seats, any_of(seed, foul))
    code, timeline = Encoding(rules, seats), Timeline(logged)
    rows = [*decision_rows(timeline, code, range(seats))]
    assert [row.answer for row in rows] == [*logged.choices()]
    for question, answer, vector, mask, action in rows:
        ask = decode_from_referee(timeline.line(question))
        assert isinstance(ask, Ask)
        assert vector.tobytes() == code.vector(ask).tobytes()
        assert mask.tolist() == code.actions.mask(ask.options).tolist()
        assert (question.round, question.question.id) == (ask.round, ask.id)
        assert question.options == ask.options
        option = ask.options[answer.choice] if isinstance(answer, ChoiceRecord) else None
        assert action == (option and code.actions.numbers.get(option))
    for seat in range(seats):
        seat_indexes = [row.question.index for row in decision_rows(timeline, code, {seat})]
        assert seat_indexes == [row.question.index for row in rows if row.question.seat == seat]
