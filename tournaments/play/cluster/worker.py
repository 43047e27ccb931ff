"""The worker's side of the cluster: the processes of `boneyard worker` and their orders."""

import asyncio
import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import dask
import msgspec
import trio
from distributed import Security, Worker, WorkerPlugin, get_worker
from distributed.comm.addressing import get_address_host, resolve_address
from distributed.utils import get_ip
from msgspec import Struct
from msgspec.structs import replace

from arena.files import temporary_folder
from arena.machine import default_jobs, end_with_parent, machine, usable_cores
from arena.match.bot_pool import BotPool
from arena.match.poller import Poller
from arena.match.referee import Referee
from arena.program import INTERRUPTED, cancelled_by_signals, obey_signals, run_async
from arena.sandbox.command import Command, Confinement, Limits, SandboxMode
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_note, writing_beside
from protocol.codec import decode_json, encode_json, encode_line
from protocol.errors import UserError
from protocol.records import LogRecord, Result
from tournaments.plan.event import Event
from tournaments.plan.schedule import PlannedGame, has_dependent_games, seating, with_values
from tournaments.play.cluster.orders import (
    MOST_S,
    Fate,
    Order,
    OrderPart,
    OrderReply,
    Output,
    Run,
    Unplayed,
    check_worker_name,
    decoded,
    encoded,
    offered_resources,
    parse_cluster_option,
    unpack_bot,
)
from tournaments.play.lanes import Lanes
from tournaments.play.sittings import (
    MACHINE_ERRORS,
    STOPPED,
    InternalGameError,
    RunStoppedError,
    SittingRunner,
    check_greetings,
    keep_bots,
    root_cause,
)

# The order runner of a worker: one poller and one thread, in which all its bots are started.
#
# Bots die with the thread that started them, so this thread takes all orders.


class Records:
    """The log of an order's part, in memory: its games count only if the whole answer arrives."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def append(self, records: Sequence[LogRecord]) -> None:
        """Append records."""
        self.lines += map(encode_line, records)


class OrderRunner:
    """A player of orders, side by side, in the thread that made it."""

    def __init__(
        self, poller: Poller, name: str, folder: Path, proven: Sandbox, lanes: Lanes
    ) -> None:
        """`folder`: place to unpack bots. `proven`: the sandbox that this machine proved. `lanes`:
        the sittings that play side by side.
        """
        self.token = trio.lowlevel.current_trio_token()
        self._lanes = lanes
        self._poller = poller
        self._name = name
        self._folder = folder
        self._proven = proven
        self._runs: dict[str, Run] = {}
        self._ready: dict[tuple[str, bool], Command] = {}
        self._preparing = trio.Lock()
        self._going: set[trio.CancelScope] = set()

    def add_run(self, run: str, data: bytes) -> None:
        """Accept orders of this run from now on. Any thread may call this."""
        self._runs[run] = decoded(data, Run)

    def remove_run(self, run: str) -> None:
        """Forget a run that is over. Any thread may call this."""
        self._runs.pop(run, None)

    def cancel_all(self) -> None:
        """Cancel all orders: nobody waits for their answers any more."""
        for scope in self._going:
            scope.cancel()

    async def play(self, data: bytes) -> bytes:
        """Play an order and return the answer. Failures go into the answer and are never raised."""
        answer: OrderReply = Unplayed(self._name, "left", "It was told to leave")
        with trio.CancelScope() as scope:
            self._going.add(scope)
            try:
                answer = await self._played(decoded(data, Order))
            except Exception as error:
                answer = self._unplayed(error)
            finally:
                self._going.discard(scope)
        return encoded(answer)

    async def _played(self, order: Order) -> Output:
        run = self._runs.get(order.run)
        if run is None:
            raise RunStoppedError("It does not know this run")
        sandbox = self._sandbox(run.event)
        began = time.monotonic()
        logs = [Records() for _ in order.parts]
        async with trio.open_nursery() as nursery:
            for part, log in zip(order.parts, logs, strict=True):
                nursery.start_soon(
                    self._sit, run, order.seeds, part, log, logs, sandbox, began + MOST_S
                )
        return Output(
            worker=self._name,
            confinement=sandbox.confinement,
            machine=machine(),
            seconds=time.monotonic() - began,
            logs=tuple(tuple(log.lines) for log in logs),
        )

    async def _sit(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        part: OrderPart,
        log: Records,
        logs: Sequence[Records],
        sandbox: Sandbox,
        end: float,
    ) -> None:
        """Play one of an order's parts, but begin no game after `end` except the order's first."""
        plan = part.plan
        plain = [await self._command(run, seat, sandbox) for seat in plan.seats]
        commands = with_values(run.event, plan.values, plain)
        if not part.games:
            return
        start_ms, keep = run.event.clock.start_ms, plan.boards[0] <= run.stderr_boards
        pool = BotPool(self._poller, commands, start_ms, sandbox, keep_stderr=keep)
        early = not has_dependent_games(run.event)
        async with (
            self._lanes.staffed(pool),
            keep_bots(pool, start=early),
            self._lanes.playing(pool) as rise,
        ):
            try:
                if time.monotonic() < end or not any(other.lines for other in logs):
                    await self._play(run, seeds, part, log, pool, end)
            finally:
                # The worker lives on after an order that fails.
                rise()

    async def _play(
        self,
        run: Run,
        seeds: Mapping[int, bytes],
        part: OrderPart,
        log: Records,
        pool: BotPool,
        end: float,
    ) -> None:
        """Play with these bots; begin no other game after `end`."""
        results = {result.game: result for result in part.results}
        numbers = dict(zip(part.games, part.numbers, strict=True))

        async def report_result(result: Result) -> None:
            results[result.game] = result
            if time.monotonic() >= end:
                sitter.leave_off()

        def referee(game: PlannedGame) -> Referee:
            seed = seeds[game.board]
            seated = seating(run.event, part.plan, game, numbers[game], results, seed)
            return Referee(seated, seed)

        sitter = SittingRunner(self._poller, pool, log, referee, report_result)
        await sitter.play(part.games, several=not has_dependent_games(run.event))

    def _sandbox(self, event: Event) -> Sandbox:
        if event.sandbox == "off":
            return choose_sandbox("off", event.limits, self._folder)
        return Sandbox(self._proven.confinement, event.limits)

    async def _command(self, run: Run, entrant: int, sandbox: Sandbox) -> Command:
        """Return the command of an entrant's bot; unpack, build and greet it the first time.

        Raises UserError, RunStoppedError, OSError.
        """
        bundle = run.bundles[entrant]
        assert bundle, "Who is retired does not play."
        # One bot after the other: each build has the machine to itself.
        async with self._preparing:
            key = bundle.name, sandbox.is_locked
            if key not in self._ready:
                bot = await trio.to_thread.run_sync(unpack_bot, bundle, self._folder)
                entrants = [replace(bot, name=run.event.entrants[entrant].name)]
                start_ms = run.event.clock.start_ms
                await check_greetings(entrants, start_ms, sandbox, at_home=False)
                self._ready[key] = bot.command
            return self._ready[key]

    def _unplayed(self, error: Exception) -> Unplayed:
        """Return the answer that tells the run what went wrong."""
        cause = root_cause(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(cause, (*MACHINE_ERRORS, RunStoppedError, UserError)):
            fate: Fate = "bot" if isinstance(cause, UserError) else "machine"
            return Unplayed(self._name, fate, str(cause).rstrip("."))
        game = str(cause) if isinstance(cause, InternalGameError) else ""
        trace = "".join(traceback.format_exception(error))
        return Unplayed(self._name, "bug", trace, game)


# An asyncio loop in a thread of its own, under trio: cancelled with the task that runs it.


class Loop:
    """A thread with an asyncio loop, in which all calls to the distributed engine are made."""

    def __init__(self) -> None:
        self._runs: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    async def run(
        self,
        main: Callable[[], Awaitable[None]],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run `main` in the loop until it returns; started once `call` works.

        When this is cancelled, it cancels `main` and waits for it. Raises what `main` raises, in a
        group.
        """
        token = trio.lowlevel.current_trio_token()

        async def cancellable() -> None:
            self._runs, self._task = asyncio.get_running_loop(), asyncio.current_task()
            token.run_sync_soon(task_status.started)
            if not self._stopped:
                await main()

        def blocking() -> None:
            try:
                asyncio.run(cancellable())
            except asyncio.CancelledError:
                if not self._stopped:
                    raise

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._stop_when_cancelled)
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(blocking)
            nursery.cancel_scope.cancel()

    def call(self, work: Callable[[], object]) -> None:
        """Call `work` soon in the loop, unless the loop has ended. Any thread may call this."""
        if self._runs and not self._runs.is_closed():
            self._runs.call_soon_threadsafe(work)

    async def _stop_when_cancelled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._stopped = True
            if self._task:
                self.call(self._task.cancel)


def is_cancelled() -> bool:
    """Tell whether the present task was told to end.

    The engine swallows the cancellation where it closes, and a group of tasks, one of which fails
    at the same moment, raises that failure instead.
    """
    task = asyncio.current_task()
    return bool(task and task.cancelling())


# Inside a process of the distributed engine: its task, its plugin and its worker.


LET_GO = ("scheduler-close", "scheduler-close-worker")
"""The engine's reasons for closing a worker that the scheduler told to leave. After any other
reason the connection was cut, and the worker looks for the scheduler again."""
RECONNECT_S = 0.5
"""Time before another try to reach the scheduler, in s."""
SCHEDULER_CHECK_S = 5.0
"""Time between two questions whether the scheduler still answers, in s."""
ANSWER_S = 15.0
"""Time that the scheduler may take to answer, in s; after it the worker connects again."""
CUT_ERRORS = (OSError, TimeoutError, RuntimeError)
"""Errors that the engine raises over a cut connection: RuntimeError while it connects, or if it
noticed the cut before we asked."""
DASK_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.daemon": True,
    "distributed.comm.timeouts.connect": "5s",
}
"""Settings of the engine: its profiler would interrupt the worker a hundred times a second."""


def play_order(order: bytes) -> bytes:
    """Have the order runner's thread play an order; return its answer: the task."""
    worker = get_worker()
    assert isinstance(worker, OrderWorker)
    runner = worker.order_runner
    return trio.from_thread.run(runner.play, order, trio_token=runner.token)


class RunPlugin(WorkerPlugin):
    """A plugin that brings a run with its bots to every worker, also to latecomers."""

    def __init__(self, run: str, data: bytes) -> None:
        self.name = run
        self.data = data

    def setup(self, worker: Worker) -> None:
        """Add the run when a worker joins."""
        # One of another version cannot read the run; it offers no resource for it either.
        if isinstance(worker, OrderWorker):
            with suppress(msgspec.DecodeError):
                worker.order_runner.add_run(self.name, self.data)

    def teardown(self, worker: Worker) -> None:
        """Remove the run when it is over, or when the worker leaves."""
        if isinstance(worker, OrderWorker):
            worker.order_runner.remove_run(self.name)


class OrderWorker(Worker):
    """The engine's worker, with an order runner."""

    def __init__(self, address: str, *, order_runner: OrderRunner, **settings: Any) -> None:
        self.order_runner = order_runner
        self.why = ""
        super().__init__(address, **settings)

    def start_http_server(self, *_: object, **__: object) -> None:
        """Listen nowhere: the engine's web server has no TLS."""

    async def close(  # type: ignore[override]
        self, *, reason: str = "worker-close", **options: Any
    ) -> str | None:
        """Leave, and cancel all play: nobody waits for its results any more."""
        self.why = self.why or reason
        with suppress(trio.RunFinishedError):
            self.order_runner.token.run_sync_soon(self.order_runner.cancel_all)
        return await super().close(reason=reason, **options)


class WorkerProcess(Struct, frozen=True):
    """The argument of one of a worker's processes."""

    address: str
    tls: str
    name: str
    folder: str
    """The folder to unpack and build bots in, which the processes share."""
    temporary: str
    patience: int
    sandbox: SandboxMode
    confinement: Confinement
    jobs: int | None
    """Sittings side by side; None: it follows from the bots' CPU time."""
    core: int
    """The core to which it keeps with bots that are quick."""


class SchedulerConnection:
    """Connection of an order runner to a scheduler; it survives cuts."""

    def __init__(
        self, process: WorkerProcess, order_runner: OrderRunner, tell: Callable[[str], None]
    ) -> None:
        """`tell` is called in the order runner's thread."""
        self._process = process
        self._order_runner = order_runner
        self._tell = tell
        self._token = trio.lowlevel.current_trio_token()
        self._security = read_certificates(Path(process.tls))
        self._met_at = time.monotonic()

    async def serve(self) -> None:
        """Serve until the scheduler lets us go; OSError if it cannot be reached for too long."""
        silence_logging()
        with dask.config.set(DASK_SETTINGS):
            connected = True
            while connected and not is_cancelled():
                connected = await self._connected()

    async def _connected(self) -> bool:
        """Serve over one connection; tell whether to look for another one."""
        process, jobs = self._process, self._process.jobs or 1
        worker = OrderWorker(
            process.address,
            order_runner=self._order_runner,
            # The scheduler may not have noticed yet that the last connection is cut.
            name=f"{process.name}@{token_hex(4)}",
            host=own_host(process.address),
            nthreads=jobs,
            resources=offered_resources(process.sandbox, process.confinement, jobs),
            local_directory=process.temporary,
            security=self._security,
            memory_limit=0,
            dashboard=False,
            death_timeout=process.patience,
        )
        try:
            if not await self._met(worker):
                return True
            await self._served(worker)
            self._met_at = time.monotonic()
        finally:
            # Also if we are told to end: the scheduler then gives our orders to others at once.
            await asyncio.shield(worker.close())
        let_go = worker.why in LET_GO
        self._say("the scheduler let it go" if let_go else "the connection is cut")
        return not let_go

    async def _met(self, worker: OrderWorker) -> bool:
        """Say hello to the scheduler; tell whether it answered.

        Raises OSError if it could not be reached for too long.
        """
        try:
            await worker
        except CUT_ERRORS as error:
            # If the connection is cut during the greeting, the engine raises RuntimeError at once.
            waited = time.monotonic() - self._met_at
            address, patience_s = self._process.address, self._process.patience
            if not isinstance(error, RuntimeError) or waited > patience_s:
                reason = f"No scheduler at {address} for {patience_s} s"
                raise OSError(reason) from error
            await asyncio.sleep(RECONNECT_S)
            return False
        self._say(f"connected with {self._process.address}")
        return True

    async def _served(self, worker: OrderWorker) -> None:
        """Serve until the connection ends or the scheduler stops answering."""
        end = asyncio.ensure_future(worker.finished())  # type: ignore[no-untyped-call]
        try:
            while not (await asyncio.wait({end}, timeout=SCHEDULER_CHECK_S))[0]:
                try:
                    async with asyncio.timeout(ANSWER_S):
                        await worker.scheduler.echo(data=b"")
                except CUT_ERRORS:
                    return
        finally:
            end.cancel()

    def _say(self, text: str) -> None:
        self._token.run_sync_soon(self._tell, text)


def read_certificates(folder: Path) -> Security:
    """Return the certificates of a folder. Raises UserError if they cannot be used."""
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    try:
        # The engine would take a mistake in them for a scheduler that is away. It asks nobody for
        # the password of a key.
        ssl.create_default_context(cafile=ca).load_cert_chain(cert, key, password="")
    except OSError as error:
        raise UserError(f"--tls {folder}: its certificates cannot be used: {error}.") from None
    return Security(  # type: ignore[no-untyped-call]
        tls_ca_file=ca,
        tls_client_cert=cert,
        tls_client_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
        require_encryption=True,
    )


def own_host(address: str) -> str:
    """Return the address of this machine at which the scheduler's machine can reach us."""
    host = get_address_host(resolve_address(address))
    if not host.startswith("127."):
        host = str(get_ip(host))  # type: ignore[no-untyped-call]
    return f"[{host}]" if ":" in host else host


def silence_logging() -> None:
    """Silence the engine's own log: whatever matters we say ourselves."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    for name in ("scheduler", "worker", "core", "http.proxy", "client", "comm"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)


# The processes of `boneyard worker`: they play sittings for runs on other machines.
#
# As in a run, a process keeps to one core, with its bots while they are quick. One core stays free.


WORKER_CODE = "from tournaments.play.cluster.worker import play_part; play_part()"


def default_name() -> str:
    """Return the default name of a worker, made of its machine and process."""
    host = re.sub("[^a-zA-Z0-9-]", "-", socket.gethostname()[:40]).strip("-")
    return f"{host or 'worker'}-{os.getpid()}"


def work(
    address: str,
    *,
    jobs: int | None,
    name: str | None,
    folder: Path | None,
    patience: int,
    sandbox: SandboxMode,
    tls: Path | None,
) -> int:
    """Play for a scheduler until it lets us go; return the exit code. Raises UserError.

    The arguments are those of the command. `folder`: None for a temporary one.
    """
    name = default_name() if name is None else check_worker_name(name)
    scheduler = parse_cluster_option(address, tls)
    read_certificates(scheduler.tls)
    places = jobs or default_jobs()
    with temporary_folder("worker", shared=True) as temporary:
        bot_folder = (folder or temporary).resolve()
        bot_folder.mkdir(parents=True, exist_ok=True)
        proven = choose_sandbox(sandbox, Limits(), bot_folder)
        more = "" if jobs else ", more if bots are quick"
        state = proven.confinement.description
        _tell(name, f"sandbox {state}, sittings side by side: {places}{more}")
        used = sorted(usable_cores())[:places]
        parts = [
            WorkerProcess(
                address=scheduler.address,
                tls=str(scheduler.tls),
                name=check_worker_name(f"{name}.{number}") if len(used) > 1 else name,
                folder=str(bot_folder),
                temporary=str(temporary),
                patience=patience,
                sandbox=sandbox,
                confinement=proven.confinement,
                jobs=jobs and len(range(number, jobs + 1, len(used))),
                core=core,
            )
            for number, core in enumerate(used, 1)
        ]
        if len(parts) == 1:
            with writing_beside():
                return run_async(_play, parts[0])
        args = [
            (sys.executable, "-P", "-c", WORKER_CODE, encode_json(part).decode()) for part in parts
        ]
        return run_async(_wait_for, [subprocess.Popen(command) for command in args])


async def _wait_for(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until all leave, or a signal asks to end; return the exit code.

    The kernel asks them to leave if this process is killed.
    """
    with cancelled_by_signals() as scope:
        for process in processes:
            await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    for process in processes:
        process.terminate()
    codes = [process.wait() for process in processes]
    return INTERRUPTED if scope.cancelled_caught else STOPPED if any(codes) else 0


def play_part() -> None:
    """Be one of several processes of a worker; the argument says which."""
    end_with_parent(signal.SIGTERM)
    obey_signals()
    with writing_beside():
        code = run_async(_play, decode_json(sys.argv[1], WorkerProcess))
    sys.exit(code)


async def _play(process: WorkerProcess) -> int:
    """Play until the scheduler lets this process go; return the exit code."""
    code = 0
    poller = Poller()
    proven = Sandbox(process.confinement, Limits())
    lanes = Lanes(process.jobs, core=process.core)
    runner = OrderRunner(poller, process.name, Path(process.folder), proven, lanes)
    connection = SchedulerConnection(process, runner, partial(_tell, process.name))
    with cancelled_by_signals() as scope:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(poller.run)
                await Loop().run(connection.serve)
                nursery.cancel_scope.cancel()
        except* OSError as group:
            _tell(process.name, f"{root_cause(group)}.")
            code = STOPPED
    return INTERRUPTED if scope.cancelled_caught else code


def _tell(name: str, text: str) -> None:
    print_note(f"Worker {name}: {text}")
