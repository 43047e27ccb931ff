"""The records: the lines of a game log and of a ledger, and nothing else."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.messages import MAX_NOTE, Clock, Info, Lot, Usage, WhyGame, WhyRound
from protocol.ruleset import Ruleset, Tile

LOG_FORMAT = 1

FoulClass = Literal[
    "late", "illegal", "malformed", "overlong", "gone", "no_hello", "flooding", "memory", "forfeit"
]
"""Every way in which a bot can break the protocol; the list is closed."""


Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
"""32 bytes in lower-case hex."""
Seed = Annotated[
    str,
    Meta(
        pattern=r"^([0-9a-f]{2}){32,}$", description="64 or more hex digits in lower case, in pairs"
    ),
]
"""A board's seed in lower-case hex: 32 bytes, and after them the tiles that its deals set."""


WorkerName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
"""A worker's name."""


MAX_COUNT = 2**27
"""The largest count, board or score; eight such scores still add up within 32 bits."""
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
"""A count, or a number counted from 0 or 1."""
SeatScore = Annotated[int, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
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
    """The cost of a foul, which the event decides."""

    lose: Literal["game", "sitting"] = "game"
    """The loss of the entrant that fouls: that game, or also the rest of the sitting."""
    after: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Fouls with which an entrant loses the rest of the sitting, if `lose` is "sitting"."""
    others: Literal["play_on", "stop"] = "play_on"
    """The other seats at a table of three or more: they play on, and the referee takes the first
    legal option for the seat that fouled; or the game stops, and the scores then decide the places.
    """


class Record(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """One line of a log."""


class Sitting(Record, frozen=True, tag="sitting"):
    """First line of a game log: fresh processes sat down to play these games.

    If a user adds boards later, or new processes continue elsewhere or confined otherwise,
    the same log continues after another line of this type, which has the old boards first and
    then the new ones, if there are any.
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
    """The event's clock in full."""
    sandbox: str
    """The confinement of the bots: sealed if all are, locked, or off."""
    missing: tuple[str, ...]
    """The promises that the sandbox could not keep, each a sentence."""
    machine: str = ""
    """The machine: its system, processor, cores and Python; empty if they are not known."""
    fouls: FoulPolicy = FoulPolicy()
    """The cost of a foul."""
    worker: WorkerName | None = None
    """The worker that played the games after this line; null: the machine of the event's folder."""
    clocks: tuple[Clock, ...] | UnsetType = UNSET
    """The clock of each seat; left out unless one of them has a clock of its own."""
    values: tuple[dict[str, int | float], ...] | UnsetType = UNSET
    """In a tune, the values of the parameters of the bot in each seat; left out in other events."""
    position: str | UnsetType = UNSET
    """The position from which each game goes on; left out where games begin with a deal."""
    host: str | UnsetType = UNSET
    """The version and configuration of sealed bots' host; left out where no bot is sealed."""

    def __post_init__(self) -> None:
        """Refuse clocks that are not one for each seat. Raises ValueError."""
        if self.clocks is not UNSET and len(self.clocks) != len(self.seats):
            raise ValueError(f"{len(self.clocks)} clocks for {len(self.seats)} seats")

    @property
    def seat_clocks(self) -> tuple[Clock, ...]:
        """The clock of each seat."""
        return self.clocks or (self.clock,) * len(self.seats)


class GameRecord(Record, frozen=True, tag="game"):
    """A game begins; a game without a result was cut off and does not count."""

    game: str
    """The game's name in the event."""
    number: Count
    """The game's number on the bots' pipes; see DEALS.md."""
    board: Count
    """The board whose deals are played."""
    commitment: Hex32
    """The commitment to the board's seed, published before the first game; see DEALS.md."""
    forfeited: tuple[Seat, ...] = ()
    """Seats that lost this game by earlier fouls in the sitting; no bot sits there."""
    chances: tuple[Hex32, ...] | UnsetType = UNSET
    """The seeds of sealed bots' chance, by seat; left out where no bot is sealed. See DEALS.md."""


class DealRecord(Record, frozen=True, tag="deal"):
    """A deal; `verify` recomputes it from the board's seed."""

    round: Count
    """The round's number in the game, from 1."""
    deal: Count
    """The deal's number in the round, from 1; 0: only lots, before tiles are dealt."""
    leader: Seat
    """The seat that leads, unless a double decides; with deal 0 the seat that guesses."""
    lots: tuple[Lot, ...]
    """Tiles that seats drew and showed for the lead; they were shuffled back."""
    hands: tuple[tuple[Tile, ...], ...]
    """The tiles dealt to each seat."""
    stock: tuple[tuple[Tile, ...], ...]
    """The boneyard as the engine draws from it: rows, each drawn from both ends."""


class ChoiceRecord(Record, frozen=True, tag="choice", omit_defaults=True):
    """A bot's accepted answer."""

    seat: Seat
    """The seat that answered."""
    id: QuestionNumber
    """The question's number on the bot's pipe."""
    choice: Count
    """The index it chose."""
    ms: Milliseconds
    """The time charged, in ms."""
    given_back_ms: Milliseconds = 0.0
    """The time by which its deadline was moved because the referee did not look at its pipe, in ms;
    the bot is not charged for it."""
    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    """The bot's note."""
    usage: Usage | UnsetType = UNSET
    """The cost of the answer, as the bot stated it."""
    info: Info | UnsetType = UNSET
    """The bot's own numbers."""
    stderr: str = ""
    """The last lines of the bot's stderr since its answer before, cut and escaped; with
    `--keep-stderr` only."""


class FoulRecord(Record, frozen=True, tag="foul", omit_defaults=True):
    """A foul of a bot, with all evidence."""

    seat: Seat
    """The seat that fouled."""
    foul: FoulClass
    """The class of the foul."""
    detail: str
    """A sentence for the bot's author."""
    ms: Milliseconds = 0.0
    """The time charged, in ms."""
    given_back_ms: Milliseconds = 0.0
    """The time by which its deadline was moved because the referee did not look at its pipe, in ms.
    """
    line: str = ""
    """The offending line, cut and escaped."""
    stderr: str = ""
    """The last lines of the bot's stderr, cut and escaped."""
    stdout: str | UnsetType = UNSET
    """Stdout from the offending line on, at most 2 KiB, escaped; only if the process then ended."""
    limit_ms: int = 0
    """With `late`: the time that the bot had for the question, in ms."""
    cpu_ms: float | None = None
    """With `late`: CPU time that the bot used since the question, or since up to 0.1 s before it,
    in ms, to 10 ms; left out if it is not known."""


class InfoSum(Struct, frozen=True, array_like=True):
    """The numbers of one name that a bot sent in a game."""

    count: Count
    """Answers with the number."""
    total: float
    """Their sum."""
    least: float
    most: float


class SpentRecord(Record, frozen=True, tag="spent"):
    """The time that a finished game took. It decides nothing, and differs each time."""

    questions: tuple[Count, ...]
    """Questions that each seat answered; a foul counts as an answer."""
    ms: tuple[Milliseconds, ...]
    """Time charged to each seat, in ms."""
    worst_ms: tuple[Milliseconds, ...]
    """The most time charged to each seat for one question, in ms."""
    given_back_ms: tuple[Milliseconds, ...]
    """Time given back to each seat because the referee did not look while it was asked, in ms."""
    cpu_ms: tuple[float | None, ...]
    """CPU time that each seat's process used since its hello or the end of its last game, in ms, to
    10 ms; null if it is not known."""
    worst_lag_ms: float
    """The longest time for which the referee did not look while it waited for an answer, in ms;
    less than 5 ms is not measured."""
    paused_ms: Milliseconds | UnsetType = UNSET
    """Time for which the program was stopped while it waited for an answer, in ms; its question
    then began anew. Left out if it was not stopped."""
    voids: tuple[Count, ...] | UnsetType = UNSET
    """Starts of each seat's bot before this game that did not count, because the bot said that it
    was unavailable; left out if all counted."""
    info: tuple[dict[str, InfoSum], ...] | UnsetType = UNSET
    """Each seat's own numbers, by name: of the first 16 names; left out if no seat sent any."""


class RoundRecord(Record, frozen=True, tag="round"):
    """The outcome of a round."""

    round: Count
    """The round's number in the game, from 1."""
    why: WhyRound
    """The way in which it ended."""
    points: tuple[SeatScore, ...]
    """Points that each seat gained or lost in it."""
    scores: tuple[SeatScore, ...]
    """Points of each seat after it."""


class SentRecord(Record, frozen=True, tag="sent"):
    """Fingerprints of all bytes that the game sent; replaying the game must reproduce them."""

    sha256: tuple[str, ...]
    """SHA-256 of the bytes sent to each seat."""


class SeatFoul(Struct, frozen=True, forbid_unknown_fields=True):
    """A foul in a result."""

    seat: Seat
    """The seat that fouled."""
    foul: FoulClass
    """The class of the foul."""


Sum = Annotated[int, Meta(ge=0, le=2**53)]


class UsageSum(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The cost of a seat's answers in a game, as its bot stated it."""

    tokens_in: Sum = 0
    """Tokens that a model read."""
    tokens_out: Sum = 0
    """Tokens that a model wrote."""
    cents: Annotated[float, Meta(ge=0, le=2**53)] = 0.0
    """The price, in US cents, to 6 decimals."""
    retries: Sum = 0
    """Requests that were made again."""
    failures: Sum = 0
    """Requests that got no answer, or none that could be read."""
    model_choices: Sum = 0
    """Choices that were the model's."""
    fallbacks: Sum = 0
    """Choices that the bot made itself because the model named no option."""

    def plus(self, more: "Usage | UsageSum") -> "UsageSum":
        """Return the sum with another cost added."""
        return UsageSum(
            tokens_in=self.tokens_in + more.tokens_in,
            tokens_out=self.tokens_out + more.tokens_out,
            cents=round(self.cents + more.cents, 6),
            retries=self.retries + more.retries,
            failures=self.failures + more.failures,
            model_choices=self.model_choices + more.model_choices,
            fallbacks=self.fallbacks + more.fallbacks,
        )


class Result(Record, frozen=True, tag="result"):
    """The result of a game: its last line in its log, and a line of the ledger."""

    game: str
    """The game's name in the event."""
    board: Count
    """The board that was played."""
    seats: Annotated[tuple[str, ...], Meta(min_length=2, max_length=8)]
    """The entrant in each seat."""
    scores: tuple[SeatScore, ...]
    """Points of each seat."""
    places: tuple[Place, ...]
    """Place of each seat, 1 is best; equal numbers are tied."""
    rounds: Count
    """Rounds that were played."""
    why: WhyGame
    """The reason why it ended."""
    fouls: tuple[SeatFoul, ...] = ()
    """Fouls in the order in which they happened."""
    usage: tuple[UsageSum, ...] | UnsetType = UNSET
    """The cost of each seat's answers; left out if no bot stated any."""


class SittingOver(Record, frozen=True, tag="sitting_over"):
    """Last line of a game log: every game of the sitting has its result, until boards are added.

    Without it nobody could tell that whole lines were cut off the end.
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
    """The commitment to a board's deals, published before the first game."""

    board: Count
    sha256: Hex32
    """SHA-256 of a label and the board's seed."""


class Reveal(Struct, frozen=True, forbid_unknown_fields=True):
    """The seed of a board, published when every game on the board is over."""

    board: Count
    seed: Seed
    """The board's seed; it must match the commitment."""
