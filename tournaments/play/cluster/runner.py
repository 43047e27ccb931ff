"""Play an event on workers: cut sittings into orders and store the answers, each game once."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from itertools import chain
from typing import Protocol

import trio

from arena.logs.catalog import compress_finished
from arena.logs.gamelog import GameLog
from arena.sandbox.command import Confinement
from protocol.errors import UserError
from protocol.records import LogRecord, Result
from tournaments.event.book import Book, Ledger
from tournaments.plan.schedule import (
    PlannedGame,
    PlannedSitting,
    Stage,
    has_dependent_games,
    numbers,
    sitting,
)
from tournaments.play.cluster.orders import (
    ORDER_S,
    BrokenAnswerError,
    Order,
    OrderPart,
    OrderReply,
    Output,
    Unplayed,
    encoded,
    part_records,
    results_among,
)
from tournaments.play.sittings import RunStoppedError, add_to_ledger, save_crash

FIRST_ORDER_GAMES = 4
"""Games of an order while no game's duration is known."""
LEARN = 0.25
"""Weight of the latest order in the estimate of a game's duration."""
MAX_REFUSALS = 3
"""Workers that may refuse an order before the run stops."""
DEATHS = 10
"""Times that an order may be lost with its worker before the run stops."""


class Workers(Protocol):
    """The workers: a distributed engine, or a fake in tests."""

    places: trio.CapacityLimiter
    """One place for each order that may be out."""

    def played(self, order: bytes) -> AbstractAsyncContextManager[OrderReply]:
        """Have an order played; its answer is safe when the block ends."""

    def dismiss(self, worker: str) -> None:
        """Send no more orders to a useless worker."""


class Pace:
    """Size of orders, from the duration of earlier ones."""

    def __init__(self) -> None:
        self._game_s: float | None = None

    def learn(self, played: Output, games: int) -> None:
        """Take account of an order that was played."""
        latest = played.seconds / games
        before = latest if self._game_s is None else self._game_s
        self._game_s = before + LEARN * (latest - before)

    @property
    def games(self) -> int:
        """Games of the next order."""
        return FIRST_ORDER_GAMES if self._game_s is None else max(1, int(ORDER_S / self._game_s))


class Logs:
    """The logs of sittings with orders that are out; each is opened at its first answer."""

    def __init__(self, book: Book) -> None:
        self._folder, self._event = book.folder, book.event
        self._open: dict[str, GameLog] = {}
        self._out: Counter[str] = Counter()

    def expect(self, plan: PlannedSitting) -> None:
        """Expect one more order with games of this sitting."""
        self._out[plan.name] += 1

    def append(self, plan: PlannedSitting, played: Output, games: Sequence[LogRecord]) -> None:
        """Write games down; they are safe when this returns. Blocks. Raises OSError."""
        origin = played.machine, played.worker
        record = sitting(self._event, plan, played.confinement, *origin)
        log = self._open.get(plan.name)
        if log is None:
            log = self._open[plan.name] = GameLog(self._folder.log(plan.name), record)
        log.begin_sitting(record)
        log.append(games)
        log.sync()

    async def done(self, plan: PlannedSitting) -> None:
        """Expect one order less; after the last, close the log and compress it if finished."""
        self._out[plan.name] -= 1
        if self._out[plan.name]:
            return
        del self._out[plan.name]
        if log := self._open.pop(plan.name, None):
            log.close()
            # A log that cannot be compressed now stays readable, and the next run tries again.
            with suppress(OSError):
                await trio.to_thread.run_sync(compress_finished, self._folder.log(plan.name))

    def close(self) -> None:
        """Close all open logs."""
        for log in self._open.values():
            log.close()


class ClusterRunner:
    """State that the orders of one run share."""

    def __init__(
        self,
        ledger: Ledger,
        workers: Workers,
        run: str,
        finished: trio.MemorySendChannel[Result],
        tell: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._event, self._folder = ledger.book.event, ledger.book.folder
        self._ledger = ledger
        self._workers = workers
        self._run = run
        self._finished = finished
        self._seed = ledger.book.seed_of
        self._logs = Logs(ledger.book)
        self._keeping = trio.Lock()
        self._pace = Pace()
        self._known = set[Confinement]()

    async def play(self) -> None:
        """Play what the ledger lacks; send each result to `finished`.

        The next stage begins when all results of the stage before have come. Cancel this to stop.
        Raises RunStoppedError, UserError, OSError.
        """
        async with self._finished:
            try:
                await self._check_greetings()
                while stage := self._ledger.stage:
                    async with trio.open_nursery() as nursery:
                        await self._hand_out(stage, nursery)
                    if self._ledger.stage is stage and self._ledger.stopped:
                        self._ledger.skip_stopped()
                        break
            finally:
                self._logs.close()

    async def _check_greetings(self) -> None:
        """Have every bot greet on some worker before the first game.

        Raises UserError if one does not.
        """
        playing = (n for n, entrant in enumerate(self._event.entrants) if not entrant.retired)
        plan, reason = PlannedSitting("greeting", tuple(playing), (), ""), ""
        for attempt in range(MAX_REFUSALS + DEATHS):
            order = self._order([OrderPart(plan, (), ())], attempt)
            async with self._workers.played(encoded(order)) as answer:
                pass
            if isinstance(answer, Output):
                return
            if answer.fate == "bot":
                raise UserError(f"On worker {answer.worker}: {answer.reason}.")
            self._refused(answer)
            reason = answer.reason
        raise RunStoppedError(f"The run stopped before the first game: {reason}.")

    async def _hand_out(self, stage: Stage, nursery: trio.Nursery) -> None:
        """Order what a stage lacks, in orders of a useful size."""
        left, parts = sum(self._ledger.left.values()), list[OrderPart]()
        for part in self._cut(stage, nursery):
            parts.append(part)
            games = sum(len(part.games) for part in parts)
            # Towards the end no order has more than its share, so that all workers end together.
            if games >= min(self._pace.games, left / self._workers.places.total_tokens):
                await self._give(parts, nursery)
                left, parts = left - games, []
        if parts:
            await self._give(parts, nursery)

    def _cut(self, stage: Stage, nursery: trio.Nursery) -> Iterator[OrderPart]:
        """Yield what a stage lacks of each sitting, long ones in parts; cut only when needed."""
        for plan in stage:
            numbered = numbers(plan.names, plan.boards, self._seed)
            missing = sorted(self._ledger.playable(plan), key=lambda game: numbered[game.board])
            self._logs.expect(plan)
            while missing:
                size = len(missing) if has_dependent_games(self._event) else self._pace.games
                yield self._part(plan, missing[:size])
                missing = missing[size:]
            nursery.start_soon(self._logs.done, plan)

    def _part(self, plan: PlannedSitting, games: Sequence[PlannedGame]) -> OrderPart:
        numbered = numbers(plan.names, plan.boards, self._seed)
        game_numbers = tuple(numbered[game.board] for game in games)
        results = (self._ledger.results.get(game.name) for game in plan.games)
        had = tuple(filter(None, results)) if has_dependent_games(self._event) else ()
        return OrderPart(plan, tuple(games), game_numbers, had)

    async def _give(self, parts: Sequence[OrderPart], nursery: trio.Nursery) -> None:
        """Send an order as soon as there is a place for it."""
        place = object()
        for part in parts:
            self._logs.expect(part.plan)
        await self._workers.places.acquire_on_behalf_of(place)
        nursery.start_soon(self._run_order, place, parts)

    async def _run_order(self, place: object, parts: Sequence[OrderPart]) -> None:
        try:
            await self._ordered(parts)
        finally:
            self._workers.places.release_on_behalf_of(place)
        for part in parts:
            await self._logs.done(part.plan)

    async def _ordered(self, parts: Sequence[OrderPart]) -> None:
        """Have the games played, by another worker if one cannot."""
        refusals = deaths = 0
        while parts:
            order = self._order(parts, refusals + deaths)
            async with self._workers.played(encoded(order)) as answer:
                if isinstance(answer, Output):
                    answer = await self._store(order, answer)
            if isinstance(answer, Unplayed):
                self._refused(answer)
                refusals += answer.fate != "left"
                deaths += answer.fate == "left"
                if refusals == MAX_REFUSALS or deaths == DEATHS:
                    place = f"in sitting {parts[0].plan.name}"
                    raise RunStoppedError(f"The run stopped {place}: {answer.reason}.")
            parts = [self._part(plan, left) for plan, left in self._lacking(parts) if left]

    def _lacking(
        self, parts: Iterable[OrderPart]
    ) -> Iterator[tuple[PlannedSitting, list[PlannedGame]]]:
        for part in parts:
            left = {game.name for game in self._ledger.playable(part.plan)}
            yield part.plan, [game for game in part.games if game.name in left]

    def _order(self, parts: Sequence[OrderPart], attempt: int) -> Order:
        boards = {game.board for part in parts for game in part.games}
        seeds = {board: self._seed(board) for board in sorted(boards)}
        return Order(self._run, attempt, tuple(parts), seeds)

    async def _store(self, order: Order, played: Output) -> OrderReply:
        """Store the games, then count them.

        An answer that cannot belong to the order counts as the worker's refusal.
        """
        async with self._keeping:
            try:
                games = part_records(order, played)
            except BrokenAnswerError as error:
                return Unplayed(played.worker, "machine", f"its answer is wrong: {error}")
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._write, order, played, games)
            results = results_among(chain.from_iterable(games))
            for result in results:
                await add_to_ledger(self._ledger, result)
        self._warn(played)
        self._pace.learn(played, len(results))
        for result in results:
            await self._finished.send(result)
        return played

    def _write(self, order: Order, played: Output, games: Sequence[Sequence[LogRecord]]) -> None:
        for part, records in zip(order.parts, games, strict=True):
            if records:
                self._logs.append(part.plan, played, records)

    def _warn(self, played: Output) -> None:
        """Say once which promises workers that confine bots alike do not keep."""
        confinement = played.confinement
        if confinement not in self._known:
            self._known.add(confinement)
            for sentence in confinement.missing:
                self._tell(f"Sandbox {confinement.state} on {played.worker}: {sentence}")

    def _refused(self, answer: Unplayed) -> None:
        """Send no more orders to a worker that could not play one.

        Raises RunStoppedError for a bug of ours.
        """
        if answer.fate == "bug":
            place = f"on worker {answer.worker}"
            if answer.game:
                place = f"in game {answer.game} {place}"
            raise RunStoppedError(save_crash(self._folder, answer.reason, place))
        if answer.fate != "left":
            self._tell(f"Worker {answer.worker} gets no more sittings: {answer.reason}.")
            self._workers.dismiss(answer.worker)
