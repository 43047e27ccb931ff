"""Messages between a run and its workers: the run, orders to play games, and answers.

Of the event's secrets only the seeds of an order's boards travel.
"""

import hashlib
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from arena.sandbox.limits import Confinement, SandboxMode
from arena.sealed.module import wasmtime_version
from protocol import __version__
from protocol.records import Result, WorkerName
from tournaments.cluster.bundles import Bundle
from tournaments.plan.event import Event
from tournaments.schedule.schedule import PlannedGame, PlannedSitting

T = TypeVar("T")

ORDER_S = 5.0
"""Time that an order should take, in s: long beside the cost of sending it, short beside the loss
when a worker dies."""
MOST_S = 2 * ORDER_S
"""Time after which a worker starts no other game of an order but sends its results, in s."""


class Run(Struct, frozen=True):
    """A run, with all that a worker needs to play for it."""

    event: Event
    """The plan; its entrants' commands are those of the run's machine."""
    bundles: tuple[Bundle | None, ...]
    """The bot of each entrant; None if it is retired."""
    keep_stderr: bool = False
    """True if the logs keep what bots write to stderr, with their answers."""


class OrderPart(Struct, frozen=True):
    """Games of one sitting that fresh processes play."""

    plan: PlannedSitting
    """The whole sitting."""
    games: tuple[PlannedGame, ...]
    """The games to play, in this order; without any, the bots only have to greet."""
    numbers: tuple[int, ...]
    """Numbers by which bots know the games."""
    results: tuple[Result, ...] = ()
    """Earlier results of the sitting, if a game depends on the games before it."""


class Order(Struct, frozen=True):
    """Games that one worker plays one after the other."""

    run: str
    """Name of the run."""
    attempt: int
    """Number of earlier attempts at this order."""
    parts: tuple[OrderPart, ...]
    """Parts of several sittings, if one alone would be too short."""
    seeds: dict[int, bytes]
    """Seeds of the boards."""


class Output(Struct, frozen=True, tag=True):
    """Answer to an order: its games were played, or as many as time allowed."""

    worker: WorkerName
    confinement: Confinement
    """Promises that this sandbox does not keep there, in sentences."""
    machine: str
    """System, processor, cores and Python of the worker's machine."""
    seconds: float
    """Time that the games took, in s; includes starting and ending the processes."""
    lines: tuple[bytes, ...]
    """Records of the games, as lines of a log without checksums."""


Fate = Literal["bot", "machine", "bug", "left"]
"""Cause of a failure: the bot cannot be started there; the worker's machine; a bug of ours; or the
worker left because it was told to."""


class Unplayed(Struct, frozen=True, tag=True):
    """An answer without any result that counts."""

    worker: str
    """Name of the worker; empty if unknown."""
    fate: Fate
    """Cause of the failure."""
    reason: str
    """A sentence; for a bug the traceback."""
    game: str = ""
    """For a bug the game that it spoilt."""


Answer = Output | Unplayed


def encoded(message: Run | Order | Answer) -> bytes:
    """Encode a message."""
    return msgspec.msgpack.encode(message)


def decoded(data: bytes, kind: type[T]) -> T:
    """Decode a message. Raises msgspec.ValidationError."""
    return msgspec.msgpack.decode(data, type=kind)


def answered(data: bytes) -> Answer:
    """Decode an answer. Raises msgspec.ValidationError."""
    return msgspec.msgpack.decode(data, type=Answer)  # type: ignore[no-any-return]


def content_name(data: bytes) -> str:
    """Name a message by its content: the same order is always the same task."""
    return f"boneyard-{hashlib.sha256(data).hexdigest()[:40]}"


def resource(wish: SandboxMode, wasmtime: str = "") -> str:
    """Return the resource of a worker that can play an event with this sandbox mode.

    It contains our version: games of another version would not replay here. `wasmtime`: the version
    of the package that counts instructions, if bots are sealed: another may count differently.
    """
    return f"boneyard-{__version__}-{wish}" + (f"-wasmtime-{wasmtime}" if wasmtime else "")


def offered_resources(mode: SandboxMode, confinement: Confinement, jobs: int) -> dict[str, float]:
    """Return the resources of a worker that was started in this mode, and what it proved."""
    wishes: list[SandboxMode] = ["off"]
    wishes += ["auto"] if mode != "off" else []
    wishes += ["require"] if confinement.is_locked else []
    return {resource(wish, one): jobs for wish in wishes for one in {"", wasmtime_version()}}
