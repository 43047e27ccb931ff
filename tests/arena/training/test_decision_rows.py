"""Rows of decisions hold what the seat was sent, and the environment's numbers."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.training.encoding import Encoding
from arena.training.episode import decision_rows
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
    code = Encoding(rules, seats)
    timeline = Timeline(logged)
    every = [*decision_rows(timeline, code, range(seats))]
    assert [row.answer for row in every] == [*logged.choices()]
    for asked, answer, vector, mask, action in every:
        ask = decode_from_referee(timeline.line(asked))
        assert isinstance(ask, Ask)
        assert vector.tobytes() == code.vector(ask).tobytes()
        assert mask.tolist() == code.actions.mask(ask.options).tolist()
        assert (asked.round, asked.question.id, asked.options) == (ask.round, ask.id, ask.options)
        chosen = ask.options[answer.choice] if isinstance(answer, ChoiceRecord) else None
        assert action == (chosen and code.actions.numbers.get(chosen))
    for seat in range(seats):
        own = [row.question.index for row in decision_rows(timeline, code, {seat})]
        assert own == [row.question.index for row in every if row.question.seat == seat]
