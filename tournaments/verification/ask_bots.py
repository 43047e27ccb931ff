"""Sealed bots asked again: their answers follow from what they were sent, so all are the same."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import trio
from msgspec.structs import replace

from arena.analysis.reask import ReaskSession
from arena.analysis.replay import repeat_answer, setup_of
from arena.analysis.timeline import Answer
from arena.logs.board_promises import published_seeds
from arena.logs.gamelog import LoggedGame, read_games
from arena.match.bot_pool import BotPool
from arena.match.game_setup import OpenQuestion
from arena.match.piped_process import CannotStartError
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from arena.sealed.module import is_module
from protocol.codec import Fault, encode_line
from protocol.errors import UserError
from protocol.records import FoulRecord
from tournaments.plan.event import Event, files_of
from tournaments.runner.machine import cores
from tournaments.schedule.schedule import PlannedSitting, sittings
from tournaments.storage.folder import Folder, read_event
from tournaments.storage.ledger import load_results
from tournaments.verification.event_check import Checked


class Repeated(NamedTuple):
    """A question of a log as its bot gets it again."""

    lines: Sequence[bytes]
    """All lines since the bot's question before, with this one."""
    question: OpenQuestion
    answer: Answer


def repeated_questions(logged: LoggedGame, seed: bytes) -> Iterator[Repeated]:
    """Yield each answered question of a game, of all seats."""
    referee = Referee(setup_of(logged), seed)
    lines: list[list[bytes]] = [[] for _ in logged.sitting.seats]
    for answer in logged.choices():
        question = referee.awaiting
        assert question, "The game was replayed before."
        for seat, line in referee.take_outgoing():
            lines[seat].append(line)
        yield Repeated(lines[answer.seat], question, answer)
        lines[answer.seat] = []
        repeat_answer(referee, answer)


def ask_bots(folder: Folder) -> Checked[int]:
    """Yield each answer of a sealed bot that differs from its log's; return how many are equal.

    Each game starts with fresh instances. Bots that play no more are left out, for their files may
    be gone. Raises UserError if a bot cannot be started.
    """
    event = read_event(folder)
    sandbox = choose_level(event.sandbox_here, event.limits, folder.path, files_of(event.entrants))
    faults: list[str] = []
    equal = trio.run(_ask_all, folder, event, sandbox, faults)
    yield from faults
    return equal


async def _ask_all(folder: Folder, event: Event, sandbox: Sandbox, faults: list[str]) -> int:
    seeds, poller, equal = published_seeds(folder.seeds), Poller(), 0
    limiter = trio.CapacityLimiter(cores())

    async def ask(plan: PlannedSitting) -> None:
        nonlocal equal
        async with limiter:
            equal += await _ask_sitting(folder, event, plan, seeds, poller, sandbox, faults)

    complaint = ""
    async with trio.open_nursery() as serving:
        serving.start_soon(poller.run)
        try:
            async with trio.open_nursery() as nursery:
                for plan in sittings(event, load_results(folder, event)):
                    nursery.start_soon(ask, plan)
        except* CannotStartError as group:
            complaint = f"A bot cannot be started: {group.exceptions[0]}."
        serving.cancel_scope.cancel()
    if complaint:
        raise UserError(complaint)
    return equal


async def _ask_sitting(
    folder: Folder,
    event: Event,
    plan: PlannedSitting,
    seeds: dict[int, bytes],
    poller: Poller,
    sandbox: Sandbox,
    faults: list[str],
) -> int:
    """Ask the sealed bots of a sitting again; return the number of equal answers."""
    commands = [event.entrants[entrant].command for entrant in plan.seats]
    sealed = [seat for seat, one in enumerate(commands) if is_module(one.argv)]
    pool = BotPool(poller, [commands[seat] for seat in sealed], event.clock.start_ms, sandbox)
    path, equal = folder.log(plan.name), 0
    try:
        for logged in read_games(path) if sealed else ():
            if not logged.result or logged.game.board not in seeds:
                continue
            bots = dict(zip(sealed, await pool.start_missing(), strict=True))
            for one in repeated_questions(logged, seeds[logged.game.board]):
                bot = bots.get(one.question.seat)
                if bot is None:
                    continue
                now = await ReaskSession(poller, bot, one.question, one.lines).ask()
                if isinstance(now, FoulRecord):
                    bot.disqualify(bot.fault or Fault(now.foul, now.detail))
                if _bare(now) == _bare(one.answer):
                    equal += 1
                    continue
                faults.append(f"{path}: {logged.game.game}: {_difference(one.answer, now)}")
                break
    finally:
        await pool.close()
    return equal


def _bare(answer: Answer) -> Answer:
    """Return an answer without what its bot wrote beside it."""
    if isinstance(answer, FoulRecord):
        return replace(answer, stderr="", line="", limit_ms=0, cpu_ms=None)
    return replace(answer, stderr="")


def _difference(logged: Answer, now: Answer) -> str:
    was, answers = (encode_line(one).decode().strip()[:300] for one in (logged, now))
    return f"the log has {was}, but asked again the bot answers {answers}"
