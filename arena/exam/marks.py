"""Marks of an exam: how much a bot lost, by kind of problem and by game. Pure."""

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from arena.exam.problems import Problem
from arena.exam.sit_exam import ExamAnswer
from arena.valuation.decision_loss import standard_error


class Mark(Struct, frozen=True):
    """The losses of a bot on problems of a kind."""

    kind: str
    """The kind; empty: all problems."""
    rules: str
    """The ruleset's name; empty: all of them."""
    problems: int
    best: int
    """Answers that cost nothing; of a middle game, nothing within two standard errors."""
    loss: float
    """Points that an answer cost, in the mean."""
    half_width: float
    """Half of the 95 % interval of `loss`, for other problems of the same kind."""
    worst: float
    fouls: int


def mark_answers(problems: Sequence[Problem], answers: Iterable[ExamAnswer]) -> list[Mark]:
    """Return the marks of all problems, of each kind, and of each kind in each game."""
    given = {one.number: one for one in answers}
    groups: dict[tuple[str, str], list[ExamAnswer]] = {}
    for problem in problems:
        kind = problem.kind
        for group in (("", ""), (kind, ""), (kind, problem.ruleset.name)):
            groups.setdefault(group, []).append(given[problem.number])
    return [_mark(kind, rules, found) for (kind, rules), found in sorted(groups.items())]


def compare_answers(
    problems: Iterable[Problem], one: Iterable[ExamAnswer], other: Iterable[ExamAnswer]
) -> list[tuple[str, float, float]]:
    """Return how much more one bot lost than another, with half of the 95 % interval, by kind.

    The problems are the same, so what is hard for both leaves the interval.
    """
    theirs = {answer.number: answer.loss for answer in other}
    more = {answer.number: answer.loss - theirs[answer.number] for answer in one}
    groups: dict[str, list[float]] = {}
    for problem in problems:
        for kind in ("", problem.kind):
            groups.setdefault(kind, []).append(more[problem.number])
    return [(kind, *_mean(found)) for kind, found in sorted(groups.items())]


def _mean(values: Sequence[float]) -> tuple[float, float]:
    many = np.array(values)
    return round(float(many.mean()), 3), round(1.96 * float(standard_error(many)), 3)


def _mark(kind: str, rules: str, answers: Sequence[ExamAnswer]) -> Mark:
    losses = [one.loss for one in answers]
    mean, half_width = _mean(losses)
    return Mark(
        kind=kind,
        rules=rules,
        problems=len(losses),
        best=sum(one.foul is None and one.loss <= 2 * one.error for one in answers),
        loss=mean,
        half_width=half_width,
        worst=round(max(losses), 3),
        fouls=sum(one.foul is not None for one in answers),
    )
