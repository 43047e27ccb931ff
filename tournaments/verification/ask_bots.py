"""Sealed bots asked again: their answers follow from what they were sent, so all are the same."""

from collections.abc import Iterator, Sequence

import trio
from msgspec import UnsetType
from msgspec.structs import replace

from arena.analysis.reask import ReaskSession
from arena.analysis.timeline import AnswerRecord, repeat_answer, setup_of, without_evidence
from arena.logs.catalog import published_seeds
from arena.logs.gamelog import LoggedGame, read_games
from arena.machine import cores
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess, CannotStartError
from arena.match.clock import LagError
from arena.match.poller import Poller
from arena.match.referee import OpenQuestion, Referee
from arena.program import run_async
from arena.sandbox.select import choose_sandbox
from arena.sealed.module import host_name, is_module
from protocol.codec import Fault
from protocol.errors import UserError
from protocol.records import ChoiceRecord, FoulRecord, LogRecord
from tournaments.event.book import Book
from tournaments.event.folder import Folder, read_event
from tournaments.plan.schedule import PlannedSitting, sittings
from tournaments.verification.event import Checked


def repeated_questions(
    logged: LoggedGame, seed: bytes
) -> Iterator[tuple[Sequence[bytes], OpenQuestion, AnswerRecord]]:
    """Yield each answered question of a game, of all seats.

    Each comes with the lines to its bot from its previous question up to it, and its answer.
    """
    referee = Referee(setup_of(logged, seed), seed)
    lines: list[list[bytes]] = [[] for _ in logged.sitting.seats]
    for answer in logged.choices():
        question = referee.awaiting
        assert question, "The game was replayed before."
        for seat, line in referee.take_outgoing():
            lines[seat].append(line)
        yield lines[answer.seat], question, answer
        lines[answer.seat] = []
        repeat_answer(referee, answer)


def ask_bots(folder: Folder) -> Checked[int]:
    """Yield each answer of a sealed bot that differs from its log's; return how many are equal.

    Each game starts with fresh instances. Bots that play no more are left out: their files may be
    gone. Raises UserError if a bot cannot be started, or differs where another host played it.
    """
    asker = _Asker(folder)
    run_async(asker.ask_all)
    yield from asker.faults
    if asker.foreign:
        raise UserError(asker.foreign)
    return asker.equal


def _answer(record: LogRecord) -> LogRecord:
    """Return what a bot must do again: of a foul all but its times, which are the machine's."""
    record = without_evidence(record)
    is_foul = isinstance(record, FoulRecord)
    return replace(record, ms=0.0, given_back_ms=0.0) if is_foul else record


def _words(record: LogRecord) -> str:
    """Return an answer in our words alone: those of a stranger's bot may show a file of ours."""
    if isinstance(record, ChoiceRecord):
        return f"choice {record.choice}"
    return f"the foul {record.foul!r}" if isinstance(record, FoulRecord) else "nothing"


class _Asker:
    def __init__(self, folder: Folder) -> None:
        event, self._folder = read_event(folder), folder
        self._event = event
        self._sandbox = choose_sandbox(event.sandbox_here, event.limits, folder.path)
        self._seeds, self._poller = published_seeds(folder.seeds), Poller()
        self.faults, self.equal, self.foreign = list[str](), 0, ""

    async def ask_all(self) -> None:
        limiter, complaint = trio.CapacityLimiter(cores()), ""
        async with trio.open_nursery() as serving:
            serving.start_soon(self._poller.run)
            try:
                async with trio.open_nursery() as nursery:
                    for plan in sittings(self._event, Book(self._folder, self._event).results):
                        nursery.start_soon(self._ask_sitting, plan, limiter)
            except* (CannotStartError, LagError) as group:
                complaint = f"A bot cannot be asked again: {group.exceptions[0]}."
            serving.cancel_scope.cancel()
        if complaint:
            raise UserError(complaint)

    async def _ask_sitting(self, plan: PlannedSitting, limiter: trio.CapacityLimiter) -> None:
        commands = [self._event.entrants[entrant].command for entrant in plan.seats]
        sealed = {seat: command for seat, command in enumerate(commands) if is_module(command.argv)}
        start_ms, path = self._event.clock.start_ms, self._folder.log(plan.name)
        pool = BotPool(self._poller, [*sealed.values()], start_ms, self._sandbox)
        async with limiter:
            try:
                for logged in read_games(path) if sealed else ():
                    if logged.result and logged.game.board in self._seeds:
                        bots = dict(zip(sealed, await pool.start_missing(), strict=True))
                        if difference := await self._ask_game(logged, bots):
                            differs = f"{path}: {logged.game.game}: {difference}"
                            self._note_difference(differs, logged.sitting.host)
            finally:
                await pool.close()

    def _note_difference(self, difference: str, host: str | UnsetType) -> None:
        """Accuse an event only of answers that this machine's host must give again."""
        if host == host_name():
            self.faults.append(difference)
        else:
            self.foreign = (
                f"{difference}. Another host of sealed bots played it ({host or 'unnamed'}); this "
                f"machine has {host_name()}, which may count otherwise."
            )

    async def _ask_game(self, logged: LoggedGame, bots: dict[int, BotProcess | None]) -> str:
        for lines, question, was in repeated_questions(logged, self._seeds[logged.game.board]):
            if bot := bots.get(question.seat):
                now = await ReaskSession(self._poller, bot, question, lines).ask()
                if isinstance(now, FoulRecord):
                    bot.disqualify(bot.fault or Fault(now.foul, now.detail))
                if _answer(now) != _answer(was):
                    old, new = (_words(reply) for reply in (was, now))
                    return f"the log has {old}, but asked again the bot answers {new}"
                self.equal += 1
        return ""
