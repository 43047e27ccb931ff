"""What is written down: the lines of a game log and of a ledger, and nothing else."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from protocol.messages import Clock, Lot, WhyGame, WhyRound
from protocol.ruleset import Ruleset
from protocol.tiles import Tile

LOG_FORMAT = 1

FoulClass = Literal[
    "late",
    "illegal",
    "malformed",
    "overlong",
    "gone",
    "no_hello",
    "flooding",
    "memory",
    "forfeit",
]
"""Every way in which a bot can break the protocol; the list is closed."""


Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
"""32 bytes in lower-case hex."""


WorkerName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
"""What a worker is called."""


LARGEST = 2**27
"""No count, board or score is larger; four seats of such scores can still be summed in 32 bits."""
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
"""How many of something, or which one, counted from 0 or 1."""
Score = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
"""Points of a seat."""
Seat = Annotated[int, Meta(ge=0, le=7)]
"""A seat's number."""
Place = Annotated[int, Meta(ge=1, le=8)]
"""A seat's place in a game."""
QuestionNumber = Annotated[int, Meta(ge=0, le=2**53)]
"""The number of a question on a bot's pipe; every language can hold it exactly."""
Milliseconds = Annotated[float, Meta(ge=0)]
"""A span of time, in ms."""


class FoulPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a foul costs, which is the event's to say."""

    lose: Literal["game", "sitting"] = "game"
    """Whether the entrant that fouls loses that game, or also the rest of the sitting."""
    after: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Fouls of an entrant in a sitting that lose it the rest, when `lose` is "sitting"."""
    others: Literal["play_on", "stop"] = "play_on"
    """At a table of three or more: play on, with the first legal option for the seat that fouled,
    or end the game at once, the others placed by their scores at that moment."""


class Record(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """One line of a log."""


class Sitting(Record, frozen=True, tag="sitting"):
    """First line of a game log: fresh processes sat down to play these games.

    When boards are added to it later, or fresh processes go on elsewhere or at another sandbox
    level, they do so in the same log after a further such line, which has the old boards first
    and then the new ones, if there are any.
    """

    format: int
    """Version of the log's format."""
    boneyard: str
    """Version of the program that wrote it."""
    event: str
    """The event's name."""
    seats: Annotated[tuple[str, ...], Meta(min_length=2, max_length=8)]
    """The entrant in each seat."""
    boards: Annotated[tuple[Count, ...], Meta(min_length=1)]
    """The boards to be played, in the order of the ledger."""
    rules: Ruleset
    """The ruleset in full."""
    clock: Clock
    """The clock in full."""
    sandbox: str
    """The sandbox level at which the bots ran: A, B, C, D or off."""
    missing: tuple[str, ...]
    """The promises that this level does not keep, in sentences."""
    machine: str = ""
    """Where it is played: system, processor, cores and Python; empty if it is not known."""
    fouls: FoulPolicy = FoulPolicy()
    """What a foul costs."""
    worker: WorkerName | None = None
    """The worker on which the games after this line were played; null: where the event's folder
    is."""


class GameRecord(Record, frozen=True, tag="game"):
    """A game begins; one that has no result was cut off, and does not count."""

    game: str
    """The game's name in the event."""
    number: Count
    """The game's number on the bots' pipes; see DEALS.md."""
    board: Count
    """The board whose deals are played."""
    commitment: Hex32
    """What was published about the board's seed before the first game; see DEALS.md."""
    forfeited: tuple[Seat, ...] = ()
    """Seats that have lost this game by earlier fouls in the sitting; no bot sits there."""


class DealRecord(Record, frozen=True, tag="deal"):
    """What was dealt; recomputed by `verify` from the board's seed."""

    round: Count
    """The round's number in the game, from 1."""
    deal: Count
    """Which deal of the round, from 1; 0: only lots, before anything is dealt."""
    leader: Seat
    """The seat that leads, unless a double decides; with deal 0 the seat that guesses."""
    lots: tuple[Lot, ...]
    """Tiles that were drawn and shown for the lead, and shuffled back."""
    hands: tuple[tuple[Tile, ...], ...]
    """The tiles dealt to each seat."""
    stock: tuple[tuple[Tile, ...], ...]
    """The boneyard as the engine draws from it: rows, each drawn from both ends."""


class ChoiceRecord(Record, frozen=True, tag="choice", omit_defaults=True):
    """A bot's accepted answer."""

    seat: Seat
    """Who answered."""
    id: QuestionNumber
    """The question's number on the bot's pipe."""
    choice: Count
    """The index it chose."""
    ms: Milliseconds
    """The time charged, in ms."""
    given_back_ms: Milliseconds = 0.0
    """By how much its deadline was moved, for the referee did not look meanwhile, in ms; that time
    is not charged."""
    note: str = ""
    """What it noted."""


class FoulRecord(Record, frozen=True, tag="foul", omit_defaults=True):
    """A bot broke the protocol. All that is known about it stands here."""

    seat: Seat
    """Who."""
    foul: FoulClass
    """What."""
    detail: str
    """A sentence for the bot's author."""
    ms: Milliseconds = 0.0
    """The time charged, in ms."""
    given_back_ms: Milliseconds = 0.0
    """By how much its deadline was moved, for the referee did not look meanwhile, in ms."""
    line: str = ""
    """The offending line, cut and escaped."""
    stderr: str = ""
    """The last lines of the bot's stderr, cut and escaped."""
    limit_ms: int = 0
    """With `late`: how long the question might have taken, in ms."""
    cpu_ms: float | None = None
    """With `late`: CPU time that the bot used since the question, or since up to 0.1 s before it,
    in ms, to 10 ms; left out when it is not known."""


class SpentRecord(Record, frozen=True, tag="spent"):
    """What a finished game took of time. It decides nothing, and differs each time."""

    questions: tuple[Count, ...]
    """Questions that each seat was asked and answered, a foul being an answer too."""
    ms: tuple[Milliseconds, ...]
    """Time charged to each seat, in ms."""
    worst_ms: tuple[Milliseconds, ...]
    """The most that was charged to each seat for one question, in ms."""
    given_back_ms: tuple[Milliseconds, ...]
    """Time in which the referee did not look while each seat was asked, and that was given back to
    it, in ms."""
    cpu_ms: tuple[float | None, ...]
    """CPU time that each seat's process used since it greeted or its last game ended, in ms, to
    10 ms; null where it is not known."""
    worst_lag_ms: float
    """The longest time for which the referee did not look while a seat was asked, in ms; what is
    below 5 is not measured."""


class RoundRecord(Record, frozen=True, tag="round"):
    """A round's outcome."""

    round: Count
    """The round's number in the game, from 1."""
    why: WhyRound
    """How it ended."""
    points: tuple[Score, ...]
    """Points that it brought each seat."""
    scores: tuple[Score, ...]
    """Points of each seat after it."""


class SentRecord(Record, frozen=True, tag="sent"):
    """Fingerprint of every byte that the game sent; replaying the game must reproduce it."""

    sha256: tuple[str, ...]
    """SHA-256 of the bytes sent to each seat."""


class SeatFoul(Struct, frozen=True, forbid_unknown_fields=True):
    """A foul in a result."""

    seat: Seat
    """Who."""
    foul: FoulClass
    """What."""


class Result(Record, frozen=True, tag="result"):
    """How a game ended; the last line of a game in its log, and a line of the ledger."""

    game: str
    """The game's name in the event."""
    board: Count
    """The board that was played."""
    seats: Annotated[tuple[str, ...], Meta(min_length=2, max_length=8)]
    """The entrant in each seat."""
    scores: tuple[Score, ...]
    """Points of each seat."""
    places: tuple[Place, ...]
    """Place of each seat, 1 is best; equal numbers are tied."""
    rounds: Count
    """Rounds that were played."""
    why: WhyGame
    """Why it ended."""
    fouls: tuple[SeatFoul, ...] = ()
    """Fouls in the order in which they happened."""


class SittingOver(Record, frozen=True, tag="sitting_over"):
    """Last line of a game log: every game of the sitting has its result, until boards are added.

    Without it nobody could tell whether whole lines were cut off the end.
    """

    games: int
    """Results in the log."""
    records: int
    """Lines before this one."""


LogRecord = (
    Sitting
    | GameRecord
    | DealRecord
    | ChoiceRecord
    | FoulRecord
    | RoundRecord
    | SentRecord
    | SpentRecord
    | Result
    | SittingOver
)


class Commitment(Struct, frozen=True, forbid_unknown_fields=True):
    """Published before the first game: the deals of this board are fixed."""

    board: Count
    """The board."""
    sha256: Hex32
    """SHA-256 of a label and the board's seed."""


class Reveal(Struct, frozen=True, forbid_unknown_fields=True):
    """Published when every game on the board is over."""

    board: Count
    """The board."""
    seed: Hex32
    """The board's seed; it must match the commitment."""
