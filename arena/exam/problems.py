"""Problem sets: positions of games with the value of every option; bots sit them, and get marks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from random import Random
from typing import Literal, NamedTuple

import numpy as np
import trio
from msgspec import Struct

from arena.analysis.reask import ask_once, monitored
from arena.analysis.timeline import AnswerRecord, AskedQuestion, Timeline
from arena.engine import view
from arena.engine.deal import deal_tiles, is_seed
from arena.engine.shuffle import SEED, RandomWords
from arena.engine.state import Dealt, Hand
from arena.logs.gamelog import LoggedGame
from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.match.referee import GameSetup, OpenQuestion, Referee
from arena.rules.variants import VARIANTS, find_variant
from arena.sandbox.command import Command
from arena.sandbox.process import Sandbox
from arena.valuation.decision_loss import standard_error, try_options
from arena.valuation.endgames import exact_leads, is_open
from protocol.codec import DamagedRecordError, Fault, decode_json, encode_json, encode_line
from protocol.errors import UserError
from protocol.messages import Choose, Clock, Lot
from protocol.records import ChoiceRecord, DealRecord, FoulClass, FoulRecord, LogRecord
from protocol.ruleset import ImpossibleRulesError, Ruleset, check_seats, set_of_tiles

# Problem sets: positions of games, each with the value of every option, a line of JSON each. Pure.
#
# A problem has the deals and the choices of its game up to a question, so that the referee itself
# makes everything that the bot is sent.


MOST_BYTES = 1 << 26
MOST_PROBLEMS = 2000
"""The most problems of a set: a game's number on a bot's pipe is at most that."""
MOST_POINTS = 1_000_000
"""The most points of a value: far more than any round has, so that sums fit."""
ProblemKind = Literal["endgame", "middle game"]
"""An endgame is solved: its values are exact. Those of a middle game are estimates."""


class ProblemDeal(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A deal of a problem's game."""

    round: int
    leader: int
    """The seat that leads, unless a double decides, or that guesses."""
    tiles: str
    """The order of the tiles, as a seed sets it (DEALS.md), in hex; empty: lots only."""
    deal: int = 1
    """The deal's number in the round, from 1; 0: only lots."""
    lots: tuple[Lot, ...] = ()
    """Tiles that seats drew and showed for the lead."""


def problem_deal(record: DealRecord, rules: Ruleset) -> ProblemDeal:
    """Return a logged deal as a problem has it."""
    tiles = set_of_tiles(rules.deal)
    order = bytes(tiles.index(tile) for tile in chain(*record.hands, *record.stock))
    return ProblemDeal(record.round, record.leader, order.hex(), record.deal, record.lots)


class Problem(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of a game, and the value of each option."""

    number: int
    """The problem's number in its set, from 1."""
    kind: ProblemKind
    rules: str | Ruleset
    seats: int
    seat: int
    deals: tuple[ProblemDeal, ...]
    choices: tuple[int, ...]
    """The answers of all seats so far, each an index into the options."""
    values: tuple[float, ...]
    """The lead that each option brings to the round's end, in points."""
    errors: tuple[float, ...]
    """The standard error of each option's loss against the best one; 0 if it is exact."""
    source: str
    """The event and the game from which it was taken."""

    @property
    def ruleset(self) -> Ruleset:
        """The whole ruleset."""
        return find_variant(self.rules) if isinstance(self.rules, str) else self.rules

    @property
    def losses(self) -> tuple[float, ...]:
        """The points that each option costs against the best one."""
        best = max(self.values)
        return tuple(best - value for value in self.values)


def _dealt(problem: Problem, deal: ProblemDeal) -> Dealt:
    no_hands: tuple[Hand, ...] = ((),) * problem.seats
    if not deal.tiles:
        return Dealt(deal.round, deal.deal, deal.leader, deal.lots, no_hands, ())
    seed = bytes(SEED) + bytes.fromhex(deal.tiles)
    if not is_seed(problem.ruleset, seed):
        raise ValueError("The tiles are not a set.")
    words = RandomWords(seed, deal.round, "tiles")
    hands, stock = deal_tiles(problem.ruleset, problem.seats, words, seed[SEED:])
    return Dealt(deal.round, deal.deal, deal.leader, deal.lots, hands, stock)


class PosedProblem(NamedTuple):
    """A problem as the referee poses it."""

    question: OpenQuestion
    lines: tuple[bytes, ...]
    """The lines for the seat, without earlier questions; the last is the question."""
    records: tuple[LogRecord, ...]
    """The records of the game so far, as a log has them."""


def pose(problem: Problem, clock: Clock) -> PosedProblem:
    """Play a problem's game up to its question. Raises UserError if it cannot be played so."""
    names = tuple("examinee" if n == problem.seat else "other" for n in range(problem.seats))
    number = problem.number
    setup = GameSetup(f"{number}", number, number, names, problem.ruleset, clock)
    dealt = iter(problem.deals)

    def next_deal(*_: object) -> Dealt:
        return _dealt(problem, next(dealt))

    lines: list[bytes] = []
    try:
        referee = Referee(setup, b"", next_deal)
        for choice in (*problem.choices, None):
            lines_to_seat = [line for seat, line in referee.take_outgoing() if seat == problem.seat]
            if (question := referee.awaiting) is None or choice is None:
                break
            # The last line to the seat that is asked is an earlier question.
            lines += lines_to_seat[:-1] if question.seat == problem.seat else lines_to_seat
            answer = Choose(id=question.id, choice=choice)
            referee.receive(question.seat, b"", 0.0, 0.0, answer)
    except (StopIteration, IndexError, ValueError, ImpossibleRulesError) as error:
        raise _unplayable(problem) from error
    if (
        question is None
        or question.seat != problem.seat
        or len(question.options) != len(problem.values)
    ):
        raise _unplayable(problem)
    return PosedProblem(question, (*lines, *lines_to_seat), tuple(referee.take_records()))


def _unplayable(problem: Problem) -> UserError:
    return UserError(f"Problem {problem.number} is not a position of its rules: make the set anew.")


def rules_of(rules: Ruleset) -> str | Ruleset:
    """Return the name of a named game, or the whole ruleset of any other."""
    return rules.name if rules.name in VARIANTS and find_variant(rules.name) == rules else rules


def problem_lines(problems: Iterable[Problem]) -> Iterator[bytes]:
    """Yield the lines of a problem set."""
    return (encode_json(problem) + b"\n" for problem in problems)


def parse_problems(content: bytes, place: str) -> tuple[Problem, ...]:
    """Return the problems of a set. Raises UserError with the line."""
    problems: list[Problem] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            problem = decode_json(line, Problem)
            _check(problem, problems)
        except (DamagedRecordError, UserError) as error:
            end = "" if f"{error}".endswith((".", "?")) else "."
            raise UserError(f"{place}, line {number}: {error}{end}") from None
        problems.append(problem)
    if not problems:
        raise UserError(f"{place} has no problems.")
    return tuple(problems)


def _check(problem: Problem, before: Sequence[Problem]) -> None:
    if problem.number != len(before) + 1 or problem.number > MOST_PROBLEMS:
        raise UserError(f"number must be {len(before) + 1} here, not {problem.number}")
    if not len(problem.values) == len(problem.errors) > 1:
        raise UserError("values and errors must have an entry for each of two or more options")
    if max(map(abs, (*problem.values, *problem.errors))) > MOST_POINTS:
        raise UserError(f"values and errors must be within {MOST_POINTS:,} points")
    check_seats(problem.ruleset, problem.seats)
    if not 0 <= problem.seat < problem.seats:
        raise UserError(f"seat must be from 0 to {problem.seats - 1}, not {problem.seat}")


# Problems made from game logs: endgames that are solved, and middle games that are estimated.


CLEAR = 4.0
"""The standard errors by which the worst option of a middle game must be below the best one."""
VALUE_DECIMALS = 3
CANDIDATES_AT_ONCE = 10
"""Middle games that are tried together."""


class _Candidate(NamedTuple):
    logged: LoggedGame
    question: AskedQuestion


class Candidates:
    """At most one endgame and one middle game of each logged game."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._candidates: dict[tuple[ProblemKind, str], list[_Candidate]] = defaultdict(list)

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
            for question in timeline.questions(seat):
                if len(question.options) > 1 and question.game.playing.layout:
                    (endgames if is_open(question.game) else middle).append(question)
        self._rng.shuffle(endgames)
        self._rng.shuffle(middle)
        name = logged.sitting.rules.name
        solved = (question for question in endgames if len(set(exact_leads(question.game))) > 1)
        if good := next(solved, None):
            self._candidates["endgame", name].append(_Candidate(logged, good))
        if middle:
            self._candidates["middle game", name].append(_Candidate(logged, middle[0]))

    def endgames(self, count: int) -> Iterator[Problem]:
        """Yield `count` endgames, or all, in turn from each ruleset."""
        candidates = filter(None, chain.from_iterable(zip_longest(*self._shuffled("endgame"))))
        for candidate in islice(candidates, count):
            leads = exact_leads(candidate.question.game)
            yield _problem(candidate, "endgame", leads, [0.0] * len(leads))

    def middle_games(
        self, count: int, worlds: int, tell: Callable[[int], None]
    ) -> Iterator[Problem]:
        """Yield `count` middle games, or all, in turn from each ruleset."""
        makers = [_clear(candidates, worlds) for candidates in self._shuffled("middle game")]
        problems = filter(None, chain.from_iterable(zip_longest(*makers)))
        for number, problem in enumerate(islice(problems, count), start=1):
            tell(number)
            yield problem

    def _shuffled(self, wanted: ProblemKind) -> list[list[_Candidate]]:
        """Return the candidates of each ruleset."""
        groups = [group for (kind, _), group in sorted(self._candidates.items()) if kind == wanted]
        for candidates in groups:
            self._rng.shuffle(candidates)
        return groups


def _clear(candidates: Sequence[_Candidate], worlds: int) -> Iterator[Problem]:
    """Yield the middle games of a ruleset whose worst option is clearly worse than the best."""
    for start in range(0, len(candidates), CANDIDATES_AT_ONCE):
        batch = candidates[start : start + CANDIDATES_AT_ONCE]
        tried = try_options([candidate.question for candidate in batch], worlds)
        for candidate, options in zip(batch, tried, strict=True):
            means = options.leads.mean(axis=1)
            gaps = options.leads[int(means.argmax())] - options.leads
            errors = standard_error(gaps).tolist()
            losses = gaps.mean(axis=1)
            worst = int(np.argmax(losses))
            if losses[worst] > max(1.0, CLEAR * errors[worst]):
                yield _problem(candidate, "middle game", means.tolist(), errors)


def _problem(
    candidate: _Candidate, kind: ProblemKind, values: Iterable[float], errors: Iterable[float]
) -> Problem:
    logged, question = candidate
    before = logged.records[: question.index]
    return Problem(
        number=0,
        kind=kind,
        rules=rules_of(logged.sitting.rules),
        seats=len(logged.sitting.seats),
        seat=question.seat,
        deals=tuple(
            problem_deal(record, logged.sitting.rules)
            for record in before
            if isinstance(record, DealRecord)
        ),
        choices=tuple(record.choice for record in before if isinstance(record, ChoiceRecord)),
        values=tuple(round(float(value), VALUE_DECIMALS) for value in values),
        errors=tuple(round(float(error), VALUE_DECIMALS) for error in errors),
        source=f"{logged.sitting.event}, {logged.game.game}",
    )


# An exam: problems put to a bot, each as a game of its own, and what its answers cost.


MOST_FOULS = 20
"""Fouls after which a bot is asked no more: all further problems are lost too."""


class ExamAnswer(Struct, frozen=True):
    """A bot's answer to a problem, and its cost."""

    number: int
    choice: int | None
    """The chosen option, counted from 0; None: a foul."""
    loss: float
    """Points that the choice costs against the best option; a foul costs as much as the worst."""
    error: float
    """The standard error of `loss`; 0 if it is exact."""
    foul: FoulClass | None
    ms: float


async def sit_exam(
    command: Command,
    problems: Iterable[tuple[Problem, PosedProblem]],
    clock: Clock,
    sandbox: Sandbox,
    jobs: int,
    tell: Callable[[int], None],
) -> list[ExamAnswer]:
    """Put posed problems to `jobs` processes of a bot side by side; return its answers in order.

    `tell`: called with the number of answers so far. Raises CannotStartError, LagError.
    """
    answers: dict[int, ExamAnswer] = {}
    left, poller = iter(problems), Poller()

    async def ask_all() -> None:
        """Take problems until none is left, and ask one process, or the one that replaces it."""
        async with monitored(poller, command, clock, sandbox) as pool:
            for problem, posed in left:
                fouls = sum(answer.foul is not None for answer in answers.values())
                result = None if fouls >= MOST_FOULS else await _ask(poller, pool, problem, posed)
                answers[problem.number] = _answer(problem, result)
                tell(len(answers))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async with trio.open_nursery() as lanes:
            for _ in range(jobs):
                lanes.start_soon(ask_all)
        nursery.cancel_scope.cancel()
    return [answers[number] for number in sorted(answers)]


async def _ask(
    poller: Poller, pool: BotPool, problem: Problem, posed: PosedProblem
) -> AnswerRecord:
    result, bot = await ask_once(poller, pool, posed.question, posed.lines)
    if isinstance(result, FoulRecord):
        # Another process answers the next problem.
        bot.disqualify(bot.fault or Fault(result.foul, result.detail))
    else:
        seats = problem.seats
        bot.send(encode_line(view.game_over(problem.number, "foul", (0,) * seats, (1,) * seats)))
    bot.set_listener(None)
    return result


def _answer(problem: Problem, result: AnswerRecord | None) -> ExamAnswer:
    """Return an answer and its cost; without a result the bot was asked no more."""
    ms = round(result.ms, 3) if result else 0.0
    if not isinstance(result, ChoiceRecord):
        foul = result.foul if result else "forfeit"
        return ExamAnswer(problem.number, None, max(problem.losses), 0.0, foul, ms)
    loss, error = problem.losses[result.choice], problem.errors[result.choice]
    return ExamAnswer(problem.number, result.choice, round(loss, 3), error, None, ms)


# Marks of an exam: how much a bot lost, by kind of problem and by game. Pure.


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
    answers_by_number = {answer.number: answer for answer in answers}
    groups: dict[tuple[str, str], list[ExamAnswer]] = {}
    for problem in problems:
        kind = problem.kind
        for group in (("", ""), (kind, ""), (kind, problem.ruleset.name)):
            groups.setdefault(group, []).append(answers_by_number[problem.number])
    return [_mark(kind, rules, members) for (kind, rules), members in sorted(groups.items())]


def compare_answers(
    problems: Iterable[Problem], answers: Iterable[ExamAnswer], other: Iterable[ExamAnswer]
) -> list[tuple[str, float, float]]:
    """Return how much more one bot lost than another, with half of the 95 % interval, by kind.

    The problems are the same, so what is hard for both leaves the interval.
    """
    theirs = {answer.number: answer.loss for answer in other}
    more = {answer.number: answer.loss - theirs[answer.number] for answer in answers}
    groups: dict[str, list[float]] = {}
    for problem in problems:
        for kind in ("", problem.kind):
            groups.setdefault(kind, []).append(more[problem.number])
    return [(kind, *_mean(group)) for kind, group in sorted(groups.items())]


def _mean(values: Sequence[float]) -> tuple[float, float]:
    array = np.array(values)
    return round(float(array.mean()), 3), round(1.96 * float(standard_error(array)), 3)


def _mark(kind: str, rules: str, answers: Sequence[ExamAnswer]) -> Mark:
    losses = [answer.loss for answer in answers]
    mean, half_width = _mean(losses)
    return Mark(
        kind=kind,
        rules=rules,
        problems=len(losses),
        best=sum(answer.foul is None and answer.loss <= 2 * answer.error for answer in answers),
        loss=mean,
        half_width=half_width,
        worst=round(max(losses), 3),
        fouls=sum(answer.foul is not None for answer in answers),
    )
