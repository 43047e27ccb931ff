"""Plays an event on workers: cuts sittings into orders, keeps what comes back, each game once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Protocol

import trio

from arena.engine.chance import board_seed
from arena.gamelog import GameLog
from arena.logs import pack_full
from arena.sandbox.limits import called
from protocol.codec import decode_record
from protocol.records import GameRecord, LogRecord, Result
from protocol.usage import UserError
from tournaments.cluster.orders import Answer, Order, Played, Unplayed, encoded
from tournaments.event import Event
from tournaments.folder import Folder, secret_of
from tournaments.ledger import Ledger
from tournaments.run import crashed
from tournaments.schedule import PlannedGame, PlannedSitting
from tournaments.seating import in_turn, sitting
from tournaments.sitting import StoppedError

ORDER_S = 5.0
"""How long an order should take: long beside what it costs to give it, short beside what is lost
when a worker dies."""
FIRST_GAMES = 4
"""Games of an order while it is not known how long a game takes."""
LEARN = 0.25
"""How much the last order says about that, beside those before it."""
REFUSALS = 3
"""How many workers may refuse an order before the run stops."""
DEATHS = 10
"""How often an order is given again that was lost with its worker."""


class Workers(Protocol):
    """Who plays orders: a distributed engine, or in tests whoever they like."""

    places: trio.CapacityLimiter
    """One for each order that should be out."""

    def played(self, order: bytes) -> AbstractAsyncContextManager[Answer]:
        """Have an order played; when the block ends its answer is safe."""

    def dismiss(self, worker: str) -> None:
        """A worker is of no use."""


class Pace:
    """How many games make an order, from how long those before took."""

    def __init__(self) -> None:
        self._game_s: float | None = None

    def learn(self, played: Played, games: int) -> None:
        """An order was played."""
        latest = played.seconds / games
        before = latest if self._game_s is None else self._game_s
        self._game_s = before + LEARN * (latest - before)

    @property
    def games(self) -> int:
        """Games of the next order."""
        return FIRST_GAMES if self._game_s is None else max(1, int(ORDER_S / self._game_s))


class Logs:
    """The logs of sittings of which orders are out: opened with the first answer."""

    def __init__(self, folder: Folder, event: Event) -> None:
        self._folder = folder
        self._event = event
        self._open: dict[str, GameLog] = {}

    def append(self, plan: PlannedSitting, played: Played, games: Sequence[LogRecord]) -> None:
        """Write what was played; it is safe when this returns. Blocks. Raises OSError."""
        where = played.machine, played.worker
        record = sitting(self._event, plan, played.level, played.missing, *where)
        log = self._open.get(plan.name)
        if log is None:
            log = self._open[plan.name] = GameLog(self._folder.log(plan.name), record)
        log.sit(record)
        log.append(games)
        log.sync()

    def close(self, plan: PlannedSitting) -> None:
        """No order of this sitting is out any more."""
        if log := self._open.pop(plan.name, None):
            log.close()


class ClusterRunner:
    """What the orders of one run share."""

    def __init__(
        self,
        folder: Folder,
        event: Event,
        ledger: Ledger,
        workers: Workers,
        run: str,
        finished: trio.MemorySendChannel[Result],
        tell: Callable[[str], None],
    ) -> None:
        self._tell = tell
        self._event = event
        self._folder = folder
        self._ledger = ledger
        self._workers = workers
        self._run = run
        self._finished = finished
        self._secret = secret_of(folder)
        self._logs = Logs(folder, event)
        self._keeping = trio.Lock()
        self._pace = Pace()
        self._known: set[tuple[str, tuple[str, ...]]] = set()

    async def play(self) -> None:
        """Play what the ledger misses; each game goes to `finished`.

        The next stage begins when the results of the one before are there.
        Cancel it to stop. Raises StoppedError, UserError, OSError.
        """
        async with self._finished:
            await self._call_roll()
            while stage := self._ledger.stage:
                async with trio.open_nursery() as nursery:
                    for plan in stage:
                        if missing := self._ledger.missing(plan):
                            await self._hand_out(plan, missing, nursery)

    async def _call_roll(self) -> None:
        """Have every bot greet on some worker before the first game.

        Raises UserError when one does not.
        """
        playing = (n for n, one in enumerate(self._event.entrants) if not one.retired)
        plan, reason = PlannedSitting("roll-call", tuple(playing), (), ""), ""
        for attempt in range(REFUSALS + DEATHS):
            async with self._workers.played(self._order(plan, (), attempt)) as answer:
                pass
            if isinstance(answer, Played):
                return
            if answer.fate == "bot":
                raise UserError(f"On worker {answer.worker}: {answer.reason}.")
            self._refused(answer)
            reason = answer.reason
        raise StoppedError(f"The run stopped before the first game: {reason}.")

    async def _hand_out(
        self, plan: PlannedSitting, missing: Sequence[PlannedGame], nursery: trio.Nursery
    ) -> None:
        """Order the games of a sitting, in as many parts as take a good while each."""
        size = len(missing) if in_turn(self._event) else self._pace.games
        parts = [tuple(missing[first : first + size]) for first in range(0, len(missing), size)]
        out = [len(parts)]
        for part in parts:
            await self._workers.places.acquire_on_behalf_of(part)
            nursery.start_soon(self._part, plan, part, out)

    async def _part(
        self, plan: PlannedSitting, games: Sequence[PlannedGame], out: list[int]
    ) -> None:
        try:
            await self._ordered(plan, games)
        finally:
            self._workers.places.release_on_behalf_of(games)
            out[0] -= 1
            if not out[0]:
                self._logs.close(plan)
        if not out[0]:
            # What cannot be packed now can still be read, and the next run tries again.
            with suppress(OSError):
                await trio.to_thread.run_sync(pack_full, self._folder.log(plan.name))

    async def _ordered(self, plan: PlannedSitting, games: Sequence[PlannedGame]) -> None:
        """Have the games played, by another worker if one cannot."""
        refusals = deaths = 0
        reason = ""
        while refusals < REFUSALS and deaths < DEATHS:
            order = self._order(plan, games, refusals + deaths)
            async with self._workers.played(order) as answer:
                if isinstance(answer, Played):
                    return await self._keep(plan, games, answer)
            self._refused(answer)
            reason = answer.reason
            refusals += answer.fate != "left"
            deaths += answer.fate == "left"
        raise StoppedError(f"The run stopped in sitting {plan.name}: {reason}.")

    def _order(self, plan: PlannedSitting, games: Sequence[PlannedGame], attempt: int) -> bytes:
        known = (self._ledger.results.get(game.name) for game in plan.games)
        order = Order(
            run=self._run,
            attempt=attempt,
            plan=plan,
            games=tuple(games),
            seeds={
                game.board: board_seed(self._secret, self._event.name, game.board) for game in games
            },
            results=tuple(filter(None, known)) if in_turn(self._event) else (),
        )
        return encoded(order)

    async def _keep(
        self, plan: PlannedSitting, games: Sequence[PlannedGame], played: Played
    ) -> None:
        """Write the games down, then count them; one that has a result already is dropped."""
        self._pace.learn(played, len(games))
        self._warn(played)
        async with self._keeping:
            had = self._ledger.results
            records = [
                record
                for name, game in games_in(played.lines)
                if name not in had
                for record in game
            ]
            write = partial(self._logs.append, plan, played, records)
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(write)
            results = [record for record in records if isinstance(record, Result)]
            for result in results:
                self._ledger.add(result)
        for result in results:
            await self._finished.send(result)

    def _warn(self, played: Played) -> None:
        """Say once what workers of a level do not keep."""
        level = played.level, played.missing
        if level not in self._known:
            self._known.add(level)
            for sentence in played.missing:
                self._tell(f"Sandbox {called(played.level)} on {played.worker}: {sentence}")

    def _refused(self, answer: Unplayed) -> None:
        """Somebody could not play an order: whoever cannot play one gets no more.

        Raises StoppedError for a bug of ours.
        """
        if answer.fate == "bug":
            where = f"on worker {answer.worker}"
            if answer.game:
                where = f"in game {answer.game} {where}"
            raise StoppedError(crashed(self._folder, answer.reason, where))
        if answer.fate != "left":
            self._tell(f"Worker {answer.worker} gets no more sittings: {answer.reason}.")
            self._workers.dismiss(answer.worker)


def games_in(lines: Iterable[bytes]) -> Iterator[tuple[str, list[LogRecord]]]:
    """The games that a worker played, by name, a void one too; each begins with its GameRecord."""
    name, game = "", list[LogRecord]()
    for record in map(decode_record, lines):
        if isinstance(record, GameRecord):
            if game:
                yield name, game
            name, game = record.game, []
        game.append(record)
    if game:
        yield name, game
