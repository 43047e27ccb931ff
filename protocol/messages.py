"""What is said on the pipe between the referee and a bot, and nothing else.

Field order is part of the protocol: `type` first, `id` second, and in `ask` the options last,
so that a bot without a JSON parser can find them.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from protocol.ruleset import Ruleset
from protocol.tiles import Tile

PROTOCOL = 1
"""The major version of the protocol; a bot that speaks another is refused."""
MAX_LINE = 65_536
"""Bytes in a line, either way, its newline included."""
MAX_NOTE = 1024
"""Characters of a bot's note."""

Name = Annotated[str, Meta(min_length=1, max_length=64)]
Version = Annotated[str, Meta(max_length=64)]
QuestionId = Annotated[int, Meta(ge=0, le=2**53)]
End = Literal["left", "right", "lead"]


class RefereeMessage(Struct, frozen=True, kw_only=True, tag_field="type"):
    """A message from the referee; bots ignore fields that they do not know."""


# --- what a seat may do, and what it did: an option, and an event with its seat ---


class Play(Struct, frozen=True, gc=False, tag_field="do", tag="play"):
    """Play one tile."""

    tile: Tile
    """The tile as the hand shows it, [high, low]."""
    end: End
    """Which end of the line it goes to; "lead" when it is the first tile of the round."""


class Draw(Struct, frozen=True, gc=False, tag_field="do", tag="draw"):
    """Take one tile from the boneyard; the turn goes on."""


class Pass(Struct, frozen=True, gc=False, tag_field="do", tag="pass"):
    """Do nothing; the turn moves on."""


class PlayTwo(Struct, frozen=True, gc=False, tag_field="do", tag="play_two"):
    """Play two tiles on opposite ends of the line as it lies now (E play)."""

    left: Tile
    """The tile for the left end, [high, low]."""
    right: Tile
    """The tile for the right end, [high, low]."""


class Keep(Struct, frozen=True, gc=False, tag_field="do", tag="keep"):
    """Play the hands as they were dealt."""


class Refuse(Struct, frozen=True, gc=False, tag_field="do", tag="refuse"):
    """Annul the deal because of the doubles in your hand (C.5)."""


class Guess(Struct, frozen=True, gc=False, tag_field="do", tag="guess"):
    """Say what the total of the tiles drawn for the lead will be; who is right leads (C.11)."""

    parity: Literal["odd", "even"]
    """The guess."""


class Bid(Struct, frozen=True, gc=False, tag_field="do", tag="bid"):
    """Bid for the last two tiles of the boneyard (C.26)."""

    chips: int
    """How many chips; 0 is a check."""


class Call(Struct, frozen=True, gc=False, tag_field="do", tag="call"):
    """Call the round blocked: it ends here and the hands are scored (E play)."""


class GoOn(Struct, frozen=True, gc=False, tag_field="do", tag="go_on"):
    """Do not call."""


Option = Play | PlayTwo | Draw | Pass | Keep | Refuse | Guess | Bid | Call | GoOn
"""One entry of the list that a question offers."""


class Lot(Struct, frozen=True, gc=False, tag_field="do", tag="lot"):
    """A seat drew a tile for the lead and showed it; the tiles were then shuffled back (C.8)."""

    seat: int
    """Who drew."""
    tile: Tile
    """What it showed, [high, low]."""


class Guessed(Struct, frozen=True, gc=False, tag_field="do", tag="guess"):
    """A seat called odd or even; the lots that decide follow."""

    seat: int
    """Who called."""
    parity: Literal["odd", "even"]
    """What it said."""


class Annulled(Struct, frozen=True, gc=False, tag_field="do", tag="annul"):
    """The deal does not count; the tiles are dealt again, and the same seat leads."""

    seat: int | None
    """Whose hand was the reason; null when nobody held the double that must lead."""
    why: Literal["suit", "missing", "doubles"]
    """Too many tiles of one number (C.6), no double to lead, or refused for its doubles (C.5)."""


class TurnedUp(Struct, frozen=True, gc=False, tag_field="do", tag="turn_up"):
    """A tile from the boneyard begins the line (E deal)."""

    tile: Tile
    """The tile as it lies, [left, right]."""


class Bade(Struct, frozen=True, gc=False, tag_field="do", tag="bid"):
    """A seat bid for the last two tiles."""

    seat: int
    """Who bid."""
    chips: int
    """How many chips; 0 is a check."""


class Called(Struct, frozen=True, gc=False, tag_field="do", tag="call"):
    """A seat called the round blocked."""

    seat: int
    """Who called."""


class Leads(Struct, frozen=True, gc=False, tag_field="do", tag="leads"):
    """The round begins: this seat leads."""

    seat: int
    """Who leads."""


class Played(Struct, frozen=True, gc=False, tag_field="do", tag="play"):
    """A tile was played."""

    seat: int
    """Who played."""
    tile: Tile
    """The tile as it lies in the line, [left, right]."""
    end: End
    """The end it was put on; "lead" for the first tile."""


class Drew(Struct, frozen=True, gc=False, tag_field="do", tag="draw", omit_defaults=True):
    """A tile was drawn."""

    seat: int
    """Who drew."""
    tile: Tile | None = None
    """The tile, [high, low]; only the seat that drew it is told."""


class Passed(Struct, frozen=True, gc=False, tag_field="do", tag="pass"):
    """A seat did nothing."""

    seat: int
    """Who passed."""


Event = Guessed | Lot | Annulled | Leads | TurnedUp | Played | Drew | Passed | Bade | Called
"""One entry of the history of a round."""


# --- referee to bot ---


class Hello(RefereeMessage, frozen=True, tag="hello"):
    """The first line on the pipe; answer with a hello of your own."""

    protocol: int
    """The protocol's major version."""
    referee: str
    """The referee's name and version."""


class Clock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a bot is asked, and how long it may think, in ms of the referee's monotonic clock."""

    start_ms: Annotated[int, Meta(ge=1, le=600_000)] = 10_000
    """From the start of the process to its hello."""
    move_ms: Annotated[int, Meta(ge=1, le=86_400_000)] = 1_000
    """For each question."""
    bank_ms: Annotated[int, Meta(ge=0, le=86_400_000)] = 5_000
    """For a whole game; used up only by what exceeds move_ms."""
    forced: Literal["skip", "ask"] = "skip"
    """An only option: taken without a question, or asked so that the moments tell no hands."""


class GameStarts(RefereeMessage, frozen=True, tag="game"):
    """A game begins."""

    game: int
    """The game's number on this pipe."""
    seat: int
    """Your seat, counted clockwise from 0."""
    seats: int
    """How many seats the table has."""
    partners: bool
    """Whether seats 0 and 2 play against 1 and 3."""
    rules: Ruleset
    """The whole ruleset."""
    target: int
    """Points that end the game at this table."""
    clock: Clock
    """How long you may think."""


class Stock(Struct, frozen=True, gc=False):
    """The boneyard as everybody sees it."""

    tiles: int
    """Tiles that lie in it."""
    drawable: int
    """How many of them may still be drawn."""


class Ask(RefereeMessage, frozen=True, tag="ask"):
    """This seat must choose. Everything that it may know is here."""

    id: int
    """The question's number; repeat it in the answer."""
    game: int
    """The game's number on this pipe."""
    round: int
    """The round's number in this game, from 1."""
    time_ms: int
    """How long you may think about this question: move_ms and what is left in the bank."""
    seat: int
    """Your seat."""
    hand: tuple[Tile, ...]
    """Your tiles, each [high, low]."""
    line: tuple[Tile, ...]
    """The line as it lies, from left to right, each tile [left, right]."""
    ends: tuple[int, ...]
    """The pips to match, left then right; empty before the first tile."""
    boneyard: Stock
    """What is left to draw."""
    hands: tuple[int, ...]
    """How many tiles each seat holds."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    pot: int
    """Points in the pot; 0 where nothing is paid."""
    events: list[Event]
    """This round so far; tiles that others drew are not named."""
    options: tuple[Option, ...]
    """What you may do; answer with an index into this list."""


WhyRound = Literal["out", "blocked"]
WhyGame = Literal["target", "rounds", "max_rounds", "foul"]


class RoundOver(RefereeMessage, frozen=True, tag="round"):
    """A round is over and all hands are shown."""

    game: int
    """The game's number on this pipe."""
    round: int
    """The round's number in this game, from 1."""
    why: WhyRound
    """Somebody went out, or nobody could go on."""
    hands: tuple[tuple[Tile, ...], ...]
    """The tiles that each seat still held, the highest first, whenever they were drawn."""
    pips: tuple[int, ...]
    """What those tiles count."""
    points: tuple[int, ...]
    """Points that the round brought each seat."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    events: list[Event]
    """The whole round; tiles that others drew are not named."""


class GameOver(RefereeMessage, frozen=True, tag="end"):
    """The game is over."""

    game: int
    """The game's number on this pipe."""
    why: WhyGame
    """The target was reached, the rounds were played, too many were, or a foul ended it."""
    scores: tuple[int, ...]
    """Points of each seat."""
    places: tuple[int, ...]
    """Place of each seat, 1 is best; equal numbers are tied."""


class Bye(RefereeMessage, frozen=True, tag="bye", omit_defaults=True):
    """No more games; stdin closes after this line. Leave in time."""

    why: str = ""
    """Set when something went wrong: a sentence for the author."""


# --- bot to referee ---


class Answer(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """A message from a bot; unknown fields are a foul."""


class BotHello(Answer, frozen=True, tag="hello"):
    """The bot's first line."""

    name: Name
    """What the bot calls itself."""
    version: Version
    """Its version."""
    author: Annotated[str, Meta(max_length=128)] = ""
    """Who wrote it."""
    tables: Annotated[int, Meta(ge=1, le=1024)] = 1
    """How many games it can play at once; it may be given fewer."""
    protocol: Annotated[int, Meta(ge=0, le=1000)] = PROTOCOL
    """The protocol's major version that it speaks."""


class Choose(Answer, frozen=True, tag="choose"):
    """The answer to an ask."""

    id: QuestionId
    """The number of the question."""
    choice: Annotated[int, Meta(ge=0, le=65_535)]
    """Index into the question's options, from 0."""
    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    """Anything for the log, at most 1,024 characters; nobody else at the table sees it."""


ToBot = Hello | GameStarts | Ask | RoundOver | GameOver | Bye
FromBot = BotHello | Choose
