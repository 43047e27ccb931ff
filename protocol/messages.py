"""The messages on the pipe between the referee and a bot, and nothing else.

Field order is part of the protocol: `type` first, `id` second, and in `ask` the options last,
so that a bot without a JSON parser can find them.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.ruleset import Ruleset, Tile

PROTOCOL = 1
"""The major version of the protocol; the referee refuses a bot that speaks another."""
MAX_LINE = 65_536
"""Bytes in a line, either way, its newline included."""
MAX_NOTE = 1024
"""Characters of a bot's note."""
MAX_INFO = 16
"""Numbers of its own that a bot may send with an answer."""

Name = Annotated[str, Meta(min_length=1, max_length=64)]
VersionText = Annotated[str, Meta(max_length=64)]
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
    """The end of the line that it goes to; "lead" if it is the first tile of the round."""


class Draw(Struct, frozen=True, gc=False, tag_field="do", tag="draw"):
    """Draw one tile from the boneyard; the turn continues."""


class Pass(Struct, frozen=True, gc=False, tag_field="do", tag="pass"):
    """Do nothing; the turn moves on."""


class PlayTwo(Struct, frozen=True, gc=False, tag_field="do", tag="play_two"):
    """Play two tiles, one at each end of the line as it is now (E play)."""

    left: Tile
    """The tile for the left end, [high, low]."""
    right: Tile
    """The tile for the right end, [high, low]."""


class Keep(Struct, frozen=True, gc=False, tag_field="do", tag="keep"):
    """Play the hands as they were dealt (C.5)."""


class Refuse(Struct, frozen=True, gc=False, tag_field="do", tag="refuse"):
    """Annul the deal because of the doubles in your hand (C.5)."""


class Guess(Struct, frozen=True, gc=False, tag_field="do", tag="guess"):
    """Guess the total of the tiles drawn for the lead; the seat that is right leads (C.11)."""

    parity: Literal["odd", "even"]


class Bid(Struct, frozen=True, gc=False, tag_field="do", tag="bid"):
    """Bid for the last two tiles of the boneyard (C.26)."""

    chips: int
    """The chips that it offers; 0 is a check."""


class Call(Struct, frozen=True, gc=False, tag_field="do", tag="call"):
    """Call the round blocked: it ends here and the hands are scored (E play)."""


class GoOn(Struct, frozen=True, gc=False, tag_field="do", tag="go_on"):
    """Do not call the round blocked."""


Option = Play | PlayTwo | Draw | Pass | Keep | Refuse | Guess | Bid | Call | GoOn
"""One entry of the list that a question offers."""


class Lot(Struct, frozen=True, gc=False, tag_field="do", tag="lot"):
    """A seat drew a tile for the lead and showed it; the tiles were then shuffled back (C.8)."""

    seat: int
    """The seat that drew."""
    tile: Tile
    """The tile that it showed, [high, low]."""


class Guessed(Struct, frozen=True, gc=False, tag_field="do", tag="guess"):
    """A seat guessed odd or even; the lots that decide follow."""

    seat: int
    parity: Literal["odd", "even"]


class Annulled(Struct, frozen=True, gc=False, tag_field="do", tag="annul"):
    """The deal does not count; the tiles are dealt again, and the same seat leads."""

    seat: int | None
    """The seat whose hand was the reason; null if nobody held the double that must lead."""
    why: Literal["suit", "missing", "doubles"]
    """Too many tiles of one number (C.6), no double to lead, or refused for its doubles (C.5)."""


class TurnedUp(Struct, frozen=True, gc=False, tag_field="do", tag="turn_up"):
    """A tile from the boneyard begins the line (E deal)."""

    tile: Tile
    """The tile as it is in the line, [left, right]."""


class Bade(Struct, frozen=True, gc=False, tag_field="do", tag="bid"):
    """A seat bid for the last two tiles."""

    seat: int
    """The seat that bid."""
    chips: int
    """The chips that it offered; 0 is a check."""


class Called(Struct, frozen=True, gc=False, tag_field="do", tag="call"):
    """A seat called the round blocked."""

    seat: int


class Leads(Struct, frozen=True, gc=False, tag_field="do", tag="leads"):
    """The round begins: this seat leads."""

    seat: int


class Played(Struct, frozen=True, gc=False, tag_field="do", tag="play"):
    """A seat played a tile."""

    seat: int
    """The seat that played."""
    tile: Tile
    """The tile as it is in the line, [left, right]."""
    end: End
    """The end of the line on which it was put; "lead" for the first tile."""


class Drew(Struct, frozen=True, gc=False, tag_field="do", tag="draw", omit_defaults=True):
    """A seat drew a tile."""

    seat: int
    """The seat that drew."""
    tile: Tile | None = None
    """The tile, [high, low]; only the seat that drew it sees it."""


class Passed(Struct, frozen=True, gc=False, tag_field="do", tag="pass"):
    """A seat passed."""

    seat: int
    """The seat that passed."""


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
    """The time limits of a bot, in ms of the referee's monotonic clock; for a sealed bot each ms is
    a million instructions of its own."""

    start_ms: Annotated[int, Meta(ge=1, le=600_000)] = 10_000
    """The time from the start of the process to its hello, in ms."""
    move_ms: Annotated[int, Meta(ge=1, le=86_400_000)] = 1_000
    """The time for each question, in ms."""
    bank_ms: Annotated[int, Meta(ge=0, le=86_400_000)] = 5_000
    """The reserve for a whole game, in ms; only time beyond move_ms uses it up."""
    forced: Literal["skip", "ask"] = "skip"
    """A seat with one option only: "skip" plays it without a question; "ask" asks all the same, so
    that the moments of the questions tell nothing about hands."""
    effort: Annotated[int, Meta(ge=1, le=86_400_000)] | UnsetType = UNSET
    """The work of a sealed bot for each question, in million instructions; without it as many as
    move_ms. A seat has it if its bot is sealed."""
    effort_bank: Annotated[int, Meta(ge=0, le=86_400_000)] | UnsetType = UNSET
    """Its reserve for a whole game, in million instructions; without it as many as bank_ms, or as
    many times effort."""


class GameStarts(RefereeMessage, frozen=True, tag="game"):
    """A game begins."""

    game: int
    """The game's number on this pipe."""
    seat: int
    """Your seat, counted clockwise from 0."""
    seats: int
    """The number of seats at the table."""
    partners: bool
    """True if seats 0 and 2 play against 1 and 3."""
    rules: Ruleset
    """The whole ruleset."""
    target: int
    """The points that end the game at this table."""
    clock: Clock
    """The time limits."""
    seed: str | UnsetType = UNSET
    """A sealed bot's: the seed of its chance, in hex, made from the board's secret seed."""


class Stock(Struct, frozen=True, gc=False):
    """The boneyard as everybody sees it."""

    tiles: int
    drawable: int
    """The number of tiles that may still be drawn."""


class Ask(RefereeMessage, frozen=True, tag="ask"):
    """A question: your seat must choose. Everything that it may know is here."""

    id: int
    """The question's number; repeat it in the answer."""
    game: int
    """The game's number on this pipe."""
    round: int
    """The round's number in this game, from 1."""
    time_ms: int
    """The time for this question, in ms: move_ms and what is left of bank_ms."""
    seat: int
    """Your seat."""
    hand: tuple[Tile, ...]
    """Your tiles, each [high, low]."""
    line: tuple[Tile, ...]
    """The line from left to right, each tile [left, right]."""
    ends: tuple[int, ...]
    """The pips to match, left then right; empty before the first tile."""
    boneyard: Stock
    """The boneyard as everybody sees it."""
    hands: tuple[int, ...]
    """The number of tiles that each seat holds."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    pot: int
    """Points in the pot; 0 if the rules have no pot."""
    events: list[Event]
    """This round so far; tiles that other seats drew are not named."""
    options: tuple[Option, ...]
    """Your legal options; answer with an index into this list."""


WhyRound = Literal["out", "blocked"]
WhyGame = Literal["target", "rounds", "max_rounds", "foul"]


class RoundOver(RefereeMessage, frozen=True, tag="round"):
    """A round is over, and the referee shows all hands."""

    game: int
    """The game's number on this pipe."""
    round: int
    """The round's number in this game, from 1."""
    why: WhyRound
    """The reason: a seat went out, or the round was blocked."""
    hands: tuple[tuple[Tile, ...], ...]
    """The tiles that each seat still held, sorted, the highest first; not in order of arrival."""
    pips: tuple[int, ...]
    """The pips that each of these hands counts."""
    points: tuple[int, ...]
    """Points that each seat gained or lost in the round."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    events: list[Event]
    """The whole round; tiles that other seats drew are not named."""


class GameOver(RefereeMessage, frozen=True, tag="end"):
    """The game is over."""

    game: int
    """The game's number on this pipe."""
    why: WhyGame
    """The reason: the target or the number of rounds was reached, the round limit, or a foul."""
    scores: tuple[int, ...]
    """Points of each seat."""
    places: tuple[int, ...]
    """Place of each seat, 1 is best; equal numbers are tied."""


class Bye(RefereeMessage, frozen=True, tag="bye", omit_defaults=True):
    """No more games: the referee closes stdin after this line, and the bot must exit."""

    why: str = ""
    """A sentence for the bot's author if something went wrong; else empty."""


# --- bot to referee ---


class Answer(Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """A message from a bot; an unknown field is a foul."""


class BotHello(Answer, frozen=True, tag="hello"):
    """The bot's first line."""

    name: Name
    """The bot's name."""
    version: VersionText
    """The bot's version."""
    author: Annotated[str, Meta(max_length=128)] = ""
    """The bot's author."""
    tables: Annotated[int, Meta(ge=1, le=1024)] = 1
    """The most games that the bot can play at once; the referee may give it fewer."""
    protocol: Annotated[int, Meta(ge=0, le=1000)] = PROTOCOL
    """The major version of the protocol that the bot speaks."""


class Unavailable(Answer, frozen=True, tag="unavailable"):
    """The bot's first line in place of a hello: a service that it needs does not answer."""

    why: Annotated[str, Meta(max_length=200)]
    """The reason, for the event's organiser."""


Tokens = Annotated[int, Meta(ge=0, le=10_000_000)]


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The cost of one answer, as the bot itself states it: nobody can check it."""

    tokens_in: Tokens = 0
    """Tokens that a model read."""
    tokens_out: Tokens = 0
    """Tokens that a model wrote."""
    cents: Annotated[float, Meta(ge=0, le=10_000)] = 0.0
    """The price, in US cents."""
    retries: Annotated[int, Meta(ge=0, le=1_000)] = 0
    """Requests that were made again."""
    failures: Annotated[int, Meta(ge=0, le=1_001)] = 0
    """Requests that got no answer, or none that could be read."""
    model_choices: Annotated[int, Meta(ge=0, le=1)] = 0
    """1 if the choice is the model's."""
    fallbacks: Annotated[int, Meta(ge=0, le=1)] = 0
    """1 if the bot made the choice itself because the model named no option."""


INFO_NAME = "[a-z][a-z0-9_]{0,31}"
# As a pattern of msgspec it would take 1 µs a name: the codec looks at all at once.
InfoName = Annotated[str, Meta(max_length=32, extra_json_schema={"pattern": f"^{INFO_NAME}$"})]
InfoNumber = Annotated[float, Meta(ge=-1e15, le=1e15)]
Info = Annotated[dict[InfoName, InfoNumber], Meta(max_length=MAX_INFO)]
"""Numbers of a bot's own, by name: nobody can check them."""


class Choose(Answer, frozen=True, tag="choose"):
    """The answer to an ask."""

    id: QuestionId
    """The question's number."""
    choice: Annotated[int, Meta(ge=0, le=65_535)]
    """Index into the question's options, from 0."""
    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    """Any text for the log, at most 1,024 characters; no other seat sees it."""
    usage: Usage | UnsetType = UNSET
    """The cost of the answer, if it has one; no other seat sees it."""
    info: Info | UnsetType = UNSET
    """Numbers for the log, such as a depth or the expected lead; no other seat sees them."""


ToBot = Hello | GameStarts | Ask | RoundOver | GameOver | Bye
FromBot = BotHello | Choose | Unavailable


class UnknownMessage(Struct, frozen=True):
    """A message that this version cannot read; a bot must ignore it."""

    type: str
    """The message's own name for itself."""
    id: int = 0
    """The question's number, if the message is a question."""
