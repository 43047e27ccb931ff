"""Problems: the shipped set is right, a posed problem is the referee's, mistakes are named."""

from functools import cache

import pytest
from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.exam.problems import Candidates, Problem, parse_problems, pose, problem_lines
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import find_variant
from arena.valuation.endgames import exact_leads
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.records import GameRecord
from tests.support.games import any_of, overheard
from tests.support.tables import sitting
from tournaments.cli.exam import SAMPLE_PROBLEMS

CLOCK = Clock()
MOST_BYTES = 900_000


@cache
def sample() -> tuple[Problem, ...]:
    return parse_problems(SAMPLE_PROBLEMS.read_bytes(), "problems.jsonl")


def test_the_sample_set_has_600_endgames_and_400_middle_games_whose_options_differ() -> None:
    kinds = [problem.kind for problem in sample()]
    assert (kinds.count("endgame"), kinds.count("middle game")) == (600, 400)
    assert SAMPLE_PROBLEMS.stat().st_size < MOST_BYTES
    assert all(max(problem.losses) > 0 for problem in sample())
    assert {problem.ruleset.name for problem in sample()} >= {"draw", "dutch", "old-draw", "block"}


def solve_log(problem: Problem) -> tuple[float, ...]:
    """Return the values of an endgame, solved from the referee's records of the game so far."""
    game, *records = pose(problem, CLOCK).records
    assert isinstance(game, GameRecord)
    table = sitting(("a", "b"), (problem.number,), problem.ruleset, CLOCK)
    *_, question = Timeline(LoggedGame(table, game, tuple(records), None)).questions(problem.seat)
    return tuple(map(float, exact_leads(question.game)))


def test_the_values_of_sample_endgames_are_exact() -> None:
    for problem in sample()[:600:60]:
        assert solve_log(problem) == problem.values


def test_a_posed_problem_is_byte_for_byte_what_the_referee_sent(logged: LoggedGame) -> None:
    candidates = Candidates(seed=1)
    candidates.look(logged)
    problems = [*candidates.endgames(1), *candidates.middle_games(1, 8, lambda _: None)]
    assert problems
    for problem in problems:
        posed_problem = pose(replace(problem, number=logged.game.number), logged.sitting.clock)
        timeline = Timeline(logged)
        asks = timeline.questions(problem.seat)
        histories = [(*timeline.context(ask), timeline.line(ask)) for ask in asks]
        assert posed_problem.lines in histories


@pytest.fixture(scope="module")
def logged() -> LoggedGame:
    """Return a long game of random choices, in which the boneyard is used up."""
    return overheard(find_variant("old-draw"), 2, any_of(1), Clock(bank_ms=0)).logged


def test_a_set_is_read_as_it_was_written_and_mistakes_are_told() -> None:
    problems = sample()[:2]
    lines = b"".join(problem_lines(problems))
    assert parse_problems(lines + b"\n", "set") == problems
    worth = problems[0].values
    huge_lines = b"".join(problem_lines([replace(problems[0], values=(1e308, *worth[1:]))]))
    with pytest.raises(UserError, match="must be within 1,000,000 points"):
        parse_problems(huge_lines, "set")
    for bad_lines, part in (
        (lines.replace(b'"kind":"endgame"', b'"kind":"game"', 1), "set, line 1: "),
        (lines.replace(b'"number":2', b'"number":3'), "set, line 2: number must be 2 here, not 3."),
        (lines.replace(b'"errors":[', b'"errors":[1,', 1), "values and errors must have an entry"),
        (b"", "set has no problems"),
        (lines.replace(b'"seats":', b'"seats":9', 1), "has two to eight seats"),
        (lines.replace(b'"rules":"', b'"rules":"x', 1), r"did you mean .*[a-z]\?$"),
    ):
        with pytest.raises(UserError, match=part):
            parse_problems(bad_lines, "set")


@pytest.mark.parametrize(
    "change", [{"choices": (99,)}, {"choices": ()}, {"deals": ()}, {"values": (1.0,) * 50}]
)
def test_a_problem_that_does_not_follow_the_rules_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UserError, match="Problem 1 is not a position of its rules"):
        pose(replace(sample()[0], **change), CLOCK)
