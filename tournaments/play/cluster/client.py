"""The run's side of the cluster: it sends workers what they play, and stores their answers."""

import asyncio
import socket
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import dask
import trio
from distributed import Client, Security
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from arena.logs.catalog import compress_finished
from arena.logs.gamelog import GameLog
from arena.sandbox.command import Confinement
from arena.sealed.module import wasmtime_version
from protocol.errors import UserError
from protocol.records import LogRecord, Result
from tournaments.event.book import Ledger
from tournaments.plan.event import WrittenBot
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
    ClusterAddress,
    Order,
    OrderPart,
    OrderReply,
    Output,
    Run,
    Unplayed,
    answered,
    content_name,
    encoded,
    pack_bot,
    part_records,
    resource,
    results_among,
)
from tournaments.play.cluster.worker import (
    ANSWER_S,
    RECONNECT_S,
    Loop,
    RunPlugin,
    is_cancelled,
    play_order,
    read_certificates,
    silence_logging,
)
from tournaments.play.sittings import RunStoppedError, add_to_ledger, save_crash

# The run's side of the distributed engine: sends orders and receives answers, through any cut.


WORKER_CHECK_S = 1.0
"""Time between two looks at the list of workers, in s."""
LOOKS_IN_VAIN = 11
"""Looks at the list, each without a worker that can play, after which the run says so."""
CONNECT_S = 10.0
"""Time limit for one try to reach the scheduler, in s."""
SCHEDULER_LOSS_S = 600.0
"""Time that a run waits for a scheduler that it has lost, in s."""
FAREWELL_S = 5.0
"""Time that the engine may take to disconnect a run, in s."""
CUT_MESSAGE = "No connection to the scheduler at {}. Is a `dask scheduler` running there? Retrying."
RETURN_MESSAGE = "The scheduler answers; open orders are sent again."
NOBODY_MESSAGE = (
    "Waiting for workers at {}: none of those connected can play this event. "
    "Start some with this version's `boneyard worker`, and for sealed bots with this "
    "machine's version of wasmtime; --sandbox require needs machines that can lock bots in."
)
ORDERS_A_SITTING = 2
"""Orders that are out for each sitting that the workers can play at once: a worker that finishes
one finds the next one waiting."""


class LostError(Exception):
    """Loss of the connection to the scheduler: all orders that are out must be sent again."""


async def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Return the scheduler's description of its workers, by address.

    Raises TimeoutError if the scheduler does not answer: a cut may go unnoticed otherwise.
    """
    assert client.scheduler
    async with asyncio.timeout(ANSWER_S):
        identity = await client.scheduler.identity()
    workers: dict[str, dict[str, Any]] = identity["workers"]
    return workers


class DaskClient:
    """A sender of orders to workers; trio calls its public methods, the loop the others."""

    def __init__(
        self,
        address: str,
        security: Security,
        *,
        run: str,
        data: bytes,
        resource: str,
        tell: Callable[[str], None],
    ) -> None:
        """Prepare a client. `data`: the run, for its workers. `resource`: what they must offer."""
        self.places = trio.CapacityLimiter(1)
        """One place for each order that may be out: more workers, more places."""
        self._address = address
        self._security = security
        self._run = run
        self._data = data
        self._resource = resource
        self._tell = tell
        self._token = trio.lowlevel.current_trio_token()
        self._loop = Loop()
        self._wanted: dict[str, tuple[bytes, trio.MemorySendChannel[OrderReply]]] = {}
        """The orders that wait for answers, by name, each with the channel that receives it."""
        self._news: asyncio.Queue[str] = asyncio.Queue()
        self._leaving: asyncio.Queue[str] = asyncio.Queue()
        self._connected_at = time.monotonic()
        self._cut = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the connection until cancelled.

        Raises RunStoppedError, in a group, if the scheduler stays away for too long.
        """
        await self._loop.run(self._connections, task_status=task_status)

    async def play(self, order: bytes) -> OrderReply:
        """Have an order played; return the answer."""
        sender, receiver = trio.open_memory_channel[OrderReply](1)
        self._loop.call(partial(self._want, order, sender))
        return await receiver.receive()

    def dismiss(self, worker: str) -> None:
        """Make a useless worker leave the cluster."""
        self._loop.call(partial(self._leaving.put_nowait, worker))

    def _want(self, order: bytes, reply: trio.MemorySendChannel[OrderReply]) -> None:
        name = content_name(order)
        self._wanted[name] = order, reply
        self._news.put_nowait(name)

    async def _connections(self) -> None:
        """Connect again after each cut."""
        silence_logging()
        with dask.config.set({"distributed.comm.timeouts.connect": f"{CONNECT_S} s"}):
            while not is_cancelled():
                try:
                    await self._connection()
                except* (OSError, TimeoutError, LostError) as group:
                    self._report_loss(group)
                await asyncio.sleep(RECONNECT_S)

    def _report_loss(self, group: BaseExceptionGroup[Exception]) -> None:
        waited = time.monotonic() - self._connected_at
        if waited > SCHEDULER_LOSS_S:
            reason = f"no scheduler at {self._address} for {SCHEDULER_LOSS_S:.0f} s"
            raise RunStoppedError(f"The run stopped: {reason}.") from group
        if not self._cut:
            self._cut = True
            self._say(CUT_MESSAGE.format(self._address))

    async def _connection(self) -> None:
        """Send all orders until the connection is cut."""
        async with self._client() as client:
            await client.register_plugin(RunPlugin(self._run, self._data), self._run)
            if self._cut:
                self._say(RETURN_MESSAGE)
            self._cut = False
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._look(client))
                    group.create_task(self._dismissals(client))
                    await self._orders(client, group)
            finally:
                # The workers forget the run, if there is still a scheduler to tell them.
                with suppress(Exception):
                    leave = client.unregister_worker_plugin(self._run)  # type: ignore[no-untyped-call]
                    await asyncio.wait_for(leave, FAREWELL_S)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        """Connect to the scheduler; raise LostError without a connection."""
        client = Client(  # type: ignore[no-untyped-call]
            self._address,
            asynchronous=True,
            set_as_default=False,
            security=self._security,
            timeout=CONNECT_S,
        )
        try:
            try:
                await client
            except Exception as error:
                # Cut during the TLS handshake, the engine may raise any exception.
                raise LostError from error
            try:
                yield client
            except Exception as error:
                # The engine also raises if it is asked while it closes after a timeout.
                if client.status in ("closing", "closed"):
                    raise LostError from error
                raise
        finally:
            # Any error here was already raised while the engine itself looked for the scheduler.
            with suppress(Exception):
                await client.close()  # type: ignore[no-untyped-call]

    async def _orders(self, client: Client, group: asyncio.TaskGroup) -> None:
        """Send the orders that wait already, then each new one."""
        self._news = asyncio.Queue()
        for name in self._wanted:
            self._news.put_nowait(name)
        while True:
            group.create_task(self._order(client, await self._news.get()))

    async def _order(self, client: Client, name: str) -> None:
        order, reply = self._wanted[name]
        future = client.submit(
            play_order, order, key=name, resources={self._resource: 1}, pure=False
        )
        try:
            answer = answered(await future)
        except FutureCancelledError as error:
            raise LostError from error
        except KilledWorker as error:
            answer = Unplayed("", "left", f"{error.allowed_failures + 1} workers died playing it")
        except (OSError, TimeoutError):
            raise
        except Exception as error:
            # The engine failed in some other way: other workers may try, but not for ever.
            answer = Unplayed("", "left", f"it came back as {error!r}")
        del self._wanted[name]
        self._soon(partial(reply.send_nowait, answer))
        future.release()  # type: ignore[no-untyped-call]

    async def _look(self, client: Client) -> None:
        """Count the sittings that the present workers can play at once, again and again.

        Say that workers are missing, once, and again whenever all of them have left.
        """
        looks_in_vain = 0
        while True:
            workers = await workers_of(client)
            offers = (worker["resources"].get(self._resource) for worker in workers.values())
            jobs = int(sum(filter(None, offers)))
            self._connected_at = time.monotonic()
            self._soon(partial(self._open_places, jobs))
            looks_in_vain = 0 if jobs else looks_in_vain + 1
            if looks_in_vain == LOOKS_IN_VAIN:
                self._say(NOBODY_MESSAGE.format(self._address))
            await asyncio.sleep(WORKER_CHECK_S)

    async def _dismissals(self, client: Client) -> None:
        while True:
            name = await self._leaving.get()
            workers = await workers_of(client)
            await client.retire_workers(
                [
                    address
                    for address, worker in workers.items()
                    if str(worker["name"]).partition("@")[0] == name
                ]
            )

    def _open_places(self, jobs: int) -> None:
        self.places.total_tokens = max(1, ORDERS_A_SITTING * jobs)

    def _say(self, text: str) -> None:
        self._soon(partial(self._tell, text))

    def _soon(self, work: Callable[[], None]) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(work)


# Play an event on the workers: cut sittings into orders and store the answers, each game once.


FIRST_ORDER_GAMES = 4
"""Games of an order while no game's duration is known."""
LEARN = 0.25
"""Weight of the latest order in the estimate of a game's duration."""
MAX_REFUSALS = 3
"""Workers that may refuse an order before the run stops."""
DEATHS = 10
"""Times that an order may be lost with its worker before the run stops."""


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


class ClusterRunner:
    """State that the orders of one run share."""

    def __init__(
        self,
        ledger: Ledger,
        workers: DaskClient,
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
        self._logs: dict[str, GameLog] = {}
        """The open logs, by sitting."""
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
                for log in self._logs.values():
                    log.close()

    async def _check_greetings(self) -> None:
        """Have every bot greet on some worker before the first game.

        Raises UserError if one does not.
        """
        playing = (n for n, entrant in enumerate(self._event.entrants) if not entrant.retired)
        plan, reason = PlannedSitting("greeting", tuple(playing), (), ""), ""
        for attempt in range(MAX_REFUSALS + DEATHS):
            order = self._order([OrderPart(plan, (), ())], attempt)
            answer = await self._workers.play(encoded(order))
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
        for part in self._cut(stage):
            parts.append(part)
            games = sum(len(part.games) for part in parts)
            # Towards the end no order has more than its share, so that all workers end together.
            if games >= min(self._pace.games, left / self._workers.places.total_tokens):
                await nursery.start(self._play_parts, parts)
                left, parts = left - games, []
        if parts:
            await nursery.start(self._play_parts, parts)

    def _cut(self, stage: Stage) -> Iterator[OrderPart]:
        """Yield what a stage lacks of each sitting, long ones in parts; cut only when needed."""
        for plan in stage:
            numbered = numbers(plan.names, plan.boards, self._seed)
            missing = sorted(self._ledger.playable(plan), key=lambda game: numbered[game.board])
            while missing:
                size = len(missing) if has_dependent_games(self._event) else self._pace.games
                yield self._part(plan, missing[:size])
                missing = missing[size:]

    def _part(self, plan: PlannedSitting, games: Sequence[PlannedGame]) -> OrderPart:
        numbered = numbers(plan.names, plan.boards, self._seed)
        game_numbers = tuple(numbered[game.board] for game in games)
        results = (self._ledger.results.get(game.name) for game in plan.games)
        had = tuple(filter(None, results)) if has_dependent_games(self._event) else ()
        return OrderPart(plan, tuple(games), game_numbers, had)

    async def _play_parts(
        self, parts: Sequence[OrderPart], *, task_status: trio.TaskStatus[None]
    ) -> None:
        """Have the games played, by another worker if one cannot; begin when there is a place."""
        refusals = deaths = 0
        async with self._workers.places:
            task_status.started()
            while parts:
                order = self._order(parts, refusals + deaths)
                answer = await self._workers.play(encoded(order))
                if isinstance(answer, Output):
                    answer = await self._store(order, answer)
                if isinstance(answer, Unplayed):
                    self._refused(answer)
                    refusals += answer.fate != "left"
                    deaths += answer.fate == "left"
                    if refusals == MAX_REFUSALS or deaths == DEATHS:
                        place = f"in sitting {parts[0].plan.name}"
                        raise RunStoppedError(f"The run stopped {place}: {answer.reason}.")
                parts = [rest for part in parts if (rest := self._rest_of(part)).games]

    def _rest_of(self, part: OrderPart) -> OrderPart:
        playable = {*self._ledger.playable(part.plan)}
        return self._part(part.plan, [game for game in part.games if game in playable])

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
            for part in order.parts:
                if not self._ledger.missing(part.plan):
                    await self._finish_log(part.plan)
        self._warn(played)
        self._pace.learn(played, len(results))
        for result in results:
            await self._finished.send(result)
        return played

    def _write(self, order: Order, played: Output, games: Sequence[Sequence[LogRecord]]) -> None:
        """Write games down; they are safe when this returns. Blocks. Raises OSError."""
        origin = played.confinement, played.machine, played.worker
        for part, records in zip(order.parts, games, strict=True):
            if records:
                record, name = sitting(self._event, part.plan, *origin), part.plan.name
                if name not in self._logs:
                    self._logs[name] = GameLog(self._folder.log(name), record)
                self._logs[name].begin_sitting(record)
                self._logs[name].append(records)
                self._logs[name].sync()

    async def _finish_log(self, plan: PlannedSitting) -> None:
        """Close the log of a sitting that has all its games, and compress it."""
        if log := self._logs.pop(plan.name, None):
            log.close()
            # A log that cannot be compressed now stays readable, and the next run tries again.
            with suppress(OSError):
                await trio.to_thread.run_sync(compress_finished, self._folder.log(plan.name))

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


# Open a cluster for a run and give its workers all that they need.


PlayOnCluster = Callable[[trio.MemorySendChannel[Result]], Awaitable[None]]
"""A function that plays what a ledger lacks and sends each result into the channel."""
BotSource = tuple[WrittenBot, Path]
"""A bot as written, and the folder where its paths start."""


@asynccontextmanager
async def connect(
    place: ClusterAddress,
    ledger: Ledger,
    sources: Mapping[str, BotSource],
    tell: Callable[[str], None],
    *,
    stderr_boards: int = 0,
) -> AsyncIterator[PlayOnCluster]:
    """Yield a function that plays the event on this cluster.

    `sources`: the bot of each active entrant, by fingerprint. `stderr_boards`: see
    `LoggedSittings`. Raises UserError.
    """
    folder, event = ledger.book.folder, ledger.book.event
    bundles = {name: pack_bot(*source) for name, source in sources.items()}
    bots = (None if bot.retired else bundles[bot.fingerprint] for bot in event.entrants)
    data = encoded(Run(event, tuple(bots), stderr_boards))
    # The event of another folder, or on another machine, is another run.
    run = content_name(f"{socket.gethostname()} {folder.path} ".encode() + data)
    async with trio.open_nursery() as nursery:
        engine = DaskClient(
            place.address,
            read_certificates(place.tls),
            run=run,
            data=data,
            resource=resource(event.sandbox_here, event.is_sealed(any) * wasmtime_version()),
            tell=tell,
        )
        await nursery.start(engine.run)

        async def play(finished: trio.MemorySendChannel[Result]) -> None:
            await ClusterRunner(ledger, engine, run, finished, tell).play()

        yield play
        nursery.cancel_scope.cancel()
