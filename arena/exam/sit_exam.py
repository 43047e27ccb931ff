"""An exam: problems put to a bot, each as a game of its own, and what its answers cost."""

from collections.abc import Callable, Iterable

import trio
from msgspec import Struct

from arena.analysis.reask import ask_once, monitored
from arena.analysis.timeline import Answer
from arena.engine import view
from arena.exam.problems import PosedProblem, Problem
from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import Fault, encode_line
from protocol.messages import Clock
from protocol.records import ChoiceRecord, FoulClass, FoulRecord

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
    left, poller = iter(posed), Poller()

    async def ask_all() -> None:
        """Take problems until none is left, and ask one process, or the one that replaces it."""
        async with monitored(poller, command, clock, sandbox) as pool:
            for problem, one in left:
                fouls = sum(answer.foul is not None for answer in answers.values())
                result = None if fouls >= MOST_FOULS else await _ask(poller, pool, problem, one)
                answers[problem.number] = _answer(problem, result)
                tell(len(answers))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async with trio.open_nursery() as lanes:
            for _ in range(jobs):
                lanes.start_soon(ask_all)
        nursery.cancel_scope.cancel()
    return [answers[number] for number in sorted(answers)]


async def _ask(poller: Poller, pool: BotPool, problem: Problem, posed: PosedProblem) -> Answer:
    result, bot = await ask_once(poller, pool, posed.question, posed.lines)
    if isinstance(result, FoulRecord):
        # Another process answers the next problem.
        bot.disqualify(bot.fault or Fault(result.foul, result.detail))
    else:
        seats = problem.seats
        bot.send(encode_line(view.game_over(problem.number, "foul", (0,) * seats, (1,) * seats)))
    bot.set_listener(None)
    return result


def _answer(problem: Problem, result: Answer | None) -> ExamAnswer:
    """Return an answer and its cost; without a result the bot was asked no more."""
    ms = round(result.ms, 3) if result else 0.0
    if not isinstance(result, ChoiceRecord):
        foul = result.foul if result else "forfeit"
        return ExamAnswer(problem.number, None, max(problem.losses), 0.0, foul, ms)
    loss, error = problem.losses[result.choice], problem.errors[result.choice]
    return ExamAnswer(problem.number, result.choice, round(loss, 3), error, None, ms)
