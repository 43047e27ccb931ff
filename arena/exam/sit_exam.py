"""An exam: problems put to a bot, each as a game of its own, and what its answers cost."""

from collections.abc import Callable, Iterable, Iterator

import trio
from msgspec import Struct

from arena.analysis.reask import ReaskResult, ReaskSession
from arena.engine import view
from arena.exam.problems import PosedProblem, Problem
from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault, encode_line
from protocol.messages import Clock
from protocol.records import FoulClass

MOST_FOULS = 20
"""Fouls after which a bot is asked no more: all further problems are lost too."""


class ExamAnswer(Struct, frozen=True):
    """A bot's answer to a problem, and its cost."""

    number: int
    """The problem's number."""
    choice: int | None
    """The chosen option, counted from 0; None: a foul."""
    loss: float
    """Points that the choice costs against the best option; a foul costs as much as the worst."""
    error: float
    """The standard error of `loss`; 0 if it is exact."""
    foul: FoulClass | None
    ms: float
    """The time charged, in ms."""


async def sit_exam(
    command: Command,
    posed: Iterable[tuple[Problem, PosedProblem]],
    clock: Clock,
    sandbox: Sandbox,
    jobs: int,
    tell: Callable[[int], None],
) -> list[ExamAnswer]:
    """Put posed problems to so many processes of a bot side by side; return its answers in order.

    `tell`: called with the number of answers so far. Raises CannotStartError, LagError.
    """
    answers: dict[int, ExamAnswer] = {}
    left = iter(posed)
    examiner = _Examiner(command, clock, sandbox, answers, tell)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(examiner.poller.run)
        async with trio.open_nursery() as lanes:
            for _ in range(jobs):
                lanes.start_soon(examiner.ask_all, left)
        nursery.cancel_scope.cancel()
    return [answers[number] for number in sorted(answers)]


class _Examiner:
    """State that the processes of one bot share."""

    def __init__(
        self,
        command: Command,
        clock: Clock,
        sandbox: Sandbox,
        answers: dict[int, ExamAnswer],
        tell: Callable[[int], None],
    ) -> None:
        self.poller = Poller()
        self._command, self._start_ms, self._sandbox = command, clock.start_ms, sandbox
        self._answers = answers
        self._fouls = 0
        self._tell = tell

    async def ask_all(self, posed: Iterator[tuple[Problem, PosedProblem]]) -> None:
        """Take problems until none is left, and ask one process, or the one that replaces it."""
        pool = BotPool(self.poller, [self._command], self._start_ms, self._sandbox)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(pool.monitor)
                for problem, one in posed:
                    answer = await self._ask(pool, problem, one)
                    self._answers[problem.number] = answer
                    self._tell(len(self._answers))
                nursery.cancel_scope.cancel()
        finally:
            await pool.close()

    async def _ask(self, pool: BotPool, problem: Problem, posed: PosedProblem) -> ExamAnswer:
        worst = max(problem.losses)
        if self._fouls >= MOST_FOULS:
            return ExamAnswer(problem.number, None, worst, 0.0, "forfeit", 0.0)
        (bot,) = await pool.start_missing()
        assert bot, "Somebody sits there."
        session = ReaskSession(self.poller, bot, posed.question, posed.lines)
        result: ReaskResult = await session.ask()
        if session.error:
            raise session.error
        if result.foul:
            self._fouls += 1
            # Another process answers the next problem.
            bot.disqualify(bot.fault or Fault(result.foul, result.detail))
        else:
            seats = problem.seats
            over = view.game_over(problem.number, "foul", (0,) * seats, (1,) * seats)
            bot.send(encode_line(over))
        bot.set_listener(None)
        if result.choice is None:
            return ExamAnswer(problem.number, None, worst, 0.0, result.foul, round(result.ms, 3))
        loss, error = problem.losses[result.choice], problem.errors[result.choice]
        return ExamAnswer(
            problem.number, result.choice, round(loss, 3), error, None, round(result.ms, 3)
        )
