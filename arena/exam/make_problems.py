"""Problems made from game logs: endgames that are solved, and middle games that are estimated."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from random import Random
from typing import NamedTuple

import numpy as np

from arena.analysis.timeline import AskedQuestion, Timeline
from arena.exam.problems import Problem, ProblemKind, problem_deal, rules_of
from arena.logs.gamelog import LoggedGame
from arena.valuation.decision_loss import standard_error, try_options
from arena.valuation.endgames import exact_leads, is_open
from protocol.records import ChoiceRecord, DealRecord, FoulRecord

WORLDS = 512
"""The worlds in which the options of a middle game are tried."""
CLEAR = 4.0
"""The standard errors by which the worst option of a middle game must be below the best one."""
DIGITS = 3
AT_ONCE = 10
"""Middle games that are tried together."""


class _Candidate(NamedTuple):
    logged: LoggedGame
    asked: AskedQuestion


class Candidates:
    """At most one endgame and one middle game of each logged game."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._found: dict[tuple[ProblemKind, str], list[_Candidate]] = defaultdict(list)

    def look(self, logged: LoggedGame) -> None:
        """Look for problems in a game, unless it had fouls or was cut off.

        Raises DamagedLogError.
        """
        fouled = any(isinstance(record, FoulRecord) for record in logged.records)
        # With questions about single options the choices would not be those of an exam.
        forced = logged.sitting.clock.forced == "ask"
        if fouled or forced or logged.game.forfeited or not logged.result:
            return
        endgames, middle = list[AskedQuestion](), list[AskedQuestion]()
        timeline = Timeline(logged)
        for seat in range(len(logged.sitting.seats)):
            for asked in timeline.questions(seat):
                if len(asked.options) > 1 and asked.game.playing.layout:
                    (endgames if is_open(asked.game) else middle).append(asked)
        self._rng.shuffle(endgames)
        self._rng.shuffle(middle)
        name = logged.sitting.rules.name
        solved = (one for one in endgames if len(set(exact_leads(one.game))) > 1)
        if good := next(solved, None):
            self._found["endgame", name].append(_Candidate(logged, good))
        if middle:
            self._found["middle game", name].append(_Candidate(logged, middle[0]))

    def endgames(self, many: int) -> Iterator[Problem]:
        """Yield so many endgames, or all, in turn from each ruleset."""
        found = filter(None, chain.from_iterable(zip_longest(*self._shuffled("endgame"))))
        for one in islice(found, many):
            leads = exact_leads(one.asked.game)
            yield _problem(one, "endgame", leads, [0.0] * len(leads))

    def middle_games(
        self, many: int, worlds: int, tell: Callable[[int], None]
    ) -> Iterator[Problem]:
        """Yield so many middle games, or all, in turn from each ruleset."""
        makers = [_clear(found, worlds) for found in self._shuffled("middle game")]
        found = filter(None, chain.from_iterable(zip_longest(*makers)))
        for made, problem in enumerate(islice(found, many), start=1):
            tell(made)
            yield problem

    def _shuffled(self, wanted: ProblemKind) -> list[list[_Candidate]]:
        """Return the candidates of each ruleset."""
        found = [some for (kind, _), some in sorted(self._found.items()) if kind == wanted]
        for candidates in found:
            self._rng.shuffle(candidates)
        return found


def _clear(found: Sequence[_Candidate], worlds: int) -> Iterator[Problem]:
    """Yield the middle games of a ruleset whose worst option is clearly worse than the best."""
    for start in range(0, len(found), AT_ONCE):
        some = found[start : start + AT_ONCE]
        tried = try_options([one.asked for one in some], worlds)
        for one, options in zip(some, tried, strict=True):
            means = options.leads.mean(axis=1)
            beyond = options.leads[int(means.argmax())] - options.leads
            errors = standard_error(beyond).tolist()
            losses = beyond.mean(axis=1)
            worst = int(np.argmax(losses))
            if losses[worst] > max(1.0, CLEAR * errors[worst]):
                yield _problem(one, "middle game", means.tolist(), errors)


def _problem(
    one: _Candidate, kind: ProblemKind, values: Iterable[float], errors: Iterable[float]
) -> Problem:
    logged, asked = one
    before = logged.records[: asked.index]
    return Problem(
        number=0,
        kind=kind,
        rules=rules_of(logged.sitting.rules),
        seats=len(logged.sitting.seats),
        seat=asked.seat,
        deals=tuple(
            problem_deal(record, logged.sitting.rules)
            for record in before
            if isinstance(record, DealRecord)
        ),
        choices=tuple(record.choice for record in before if isinstance(record, ChoiceRecord)),
        values=tuple(round(float(value), DIGITS) for value in values),
        errors=tuple(round(float(error), DIGITS) for error in errors),
        source=f"{logged.sitting.event}, {logged.game.game}",
    )
