"""What travels between a run and its workers: the run, orders to play games, what came of them.

Nothing of the event's secret travels but the seeds of the boards that an order names.
"""

import hashlib
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from arena.sandbox.limits import REQUIRED, SandboxMode
from protocol import __version__
from protocol.records import Result, WorkerName
from tournaments.cluster.bundles import Bundle
from tournaments.plan.event import Event
from tournaments.schedule.schedule import PlannedGame, PlannedSitting

T = TypeVar("T")

ORDER_S = 5.0
"""How long an order should take: long beside what it costs to give it, short beside what is lost
when a worker dies."""
MOST_S = 2 * ORDER_S
"""After how long a worker begins no other game of an order, but sends what there is."""


class Run(Struct, frozen=True):
    """What a worker must know of a run before it can play for it."""

    event: Event
    """The plan; the commands of its entrants are those of another machine."""
    bundles: tuple[Bundle | None, ...]
    """Each entrant's bot; None: retired."""


class Part(Struct, frozen=True):
    """Games of one sitting, to be played by fresh processes."""

    plan: PlannedSitting
    """The whole sitting."""
    games: tuple[PlannedGame, ...]
    """Which of its games, in the order of play; none: only call the roll of its bots."""
    numbers: tuple[int, ...]
    """By which numbers bots know them."""
    results: tuple[Result, ...] = ()
    """The results that the sitting has already, where a game depends on those before it."""


class Order(Struct, frozen=True):
    """Games for one worker to play one after the other."""

    run: str
    """Which run."""
    attempt: int
    """How often this was ordered before, from 0."""
    parts: tuple[Part, ...]
    """Of several sittings, where one alone is over at once."""
    seeds: dict[int, bytes]
    """The seeds of their boards."""


class Played(Struct, frozen=True, tag=True):
    """Games of an order were played: all, or as many as there was time for."""

    worker: WorkerName
    """Where."""
    level: str
    """The sandbox level."""
    missing: tuple[str, ...]
    """The promises that it does not keep there, in sentences."""
    machine: str
    """System, processor, cores and Python there."""
    seconds: float
    """How long the games took, processes started and ended included, in s."""
    lines: tuple[bytes, ...]
    """The records of the games as lines of a log, not sealed."""


Fate = Literal["bot", "machine", "bug", "left"]
"""bot: it cannot be started there; machine: the worker's doing; bug: ours; left: it was told to
leave."""


class Unplayed(Struct, frozen=True, tag=True):
    """Nothing of an order counts."""

    worker: str
    """Where; empty: nobody knows."""
    fate: Fate
    """Whose doing that is."""
    reason: str
    """A sentence; with a bug the trace."""
    game: str = ""
    """With a bug the game that it spoilt."""


Answer = Played | Unplayed


def encoded(message: Run | Order | Answer) -> bytes:
    """As it travels."""
    return msgspec.msgpack.encode(message)


def decoded(data: bytes, kind: type[T]) -> T:
    """What has travelled.

    Raises msgspec.ValidationError.
    """
    return msgspec.msgpack.decode(data, type=kind)


def answered(data: bytes) -> Answer:
    """What has come back.

    Raises msgspec.ValidationError.
    """
    return msgspec.msgpack.decode(data, type=Answer)  # type: ignore[no-any-return]


def named(data: bytes) -> str:
    """A name that only this message has: the same order is the same task, whoever asks again."""
    return f"boneyard-{hashlib.sha256(data).hexdigest()[:40]}"


def resource(wish: SandboxMode) -> str:
    """What a worker offers that can play an event with this wish for a sandbox.

    It names our version: another one's games would not replay here.
    """
    return f"boneyard-{__version__}-{wish}"


def offered(level: str | None, jobs: int) -> dict[str, float]:
    """What a worker offers whose machine proves this level; None: nothing was tried."""
    wishes: list[SandboxMode] = ["off"]
    wishes += ["auto"] if level else []
    wishes += ["require"] if level in REQUIRED else []
    return {resource(wish): jobs for wish in wishes}
