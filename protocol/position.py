"""A position: a question to a seat as one line, for people to copy and for programs to read.

A line has what the asked seat knows: its own tiles, and what everybody saw of the round. An open
line has all tiles too. Nothing stands in it twice: the table follows by the rules of the game.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal, cast, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from protocol.errors import UserError
from protocol.messages import MAX_LINE, Drew, Event
from protocol.records import MAX_COUNT
from protocol.ruleset import MOST_SEATS, LeadMethod, Tile

AskedPhase = Literal["guess", "keep", "play", "call", "auction"]
"""The subject of a question."""

POSITION_PREFIX = "bone1"
"""The first field of a line; the number is the version of this form."""
BETWEEN_FIELDS = "@"
"""No field, shell or name of a game needs this character; a line is one word everywhere."""
ABSENT = "-"
"""A field without events."""
FIELDS = ("rules", "round", "scores", "pot", "method", "events", "deals", "question")
"""The fields after the first, in order."""
PIP_DIGITS = "0123456789abcdefghi"
"""The digit of each number of pips."""
DIGITS_OF = {(a, b): PIP_DIGITS[a] + PIP_DIGITS[b] for a in range(19) for b in range(19)}
"""The two digits of each tile, either way round."""
EVENT_LETTERS: dict[str, dict[str, Any]] = {
    "l": {"do": "play", "end": "left"},
    "r": {"do": "play", "end": "right"},
    "f": {"do": "play", "end": "lead"},
    "d": {"do": "draw"},
    "p": {"do": "pass"},
    "s": {"do": "leads"},
    "t": {"do": "lot"},
    "u": {"do": "turn_up"},
    "o": {"do": "guess", "parity": "odd"},
    "e": {"do": "guess", "parity": "even"},
    "a": {"do": "annul", "why": "suit"},
    "m": {"do": "annul", "why": "missing"},
    "n": {"do": "annul", "why": "doubles"},
    "b": {"do": "bid"},
    "c": {"do": "call"},
}
"""The letter of each event, and its fields besides the seat, the tile and the chips."""
MAX_TEXT_SHOWN = 40
"""Characters of a wrong part of a line that an error shows."""

_NUMBER = re.compile(r"-?[0-9]{1,9}")
_TILES = re.compile(r"(?:[0-9a-i]{2})*")
_EVENT = re.compile(r"(?P<seat>[0-7-])(?P<letter>[a-z])(?P<rest>[0-9a-z]*)")
_QUESTION = re.compile(rf"(?P<seat>[0-7])(?P<phase>{'|'.join(get_args(AskedPhase))})")


class DealtTiles(Struct, frozen=True):
    """The tiles of a deal; before odd or even is called, the lots in place of hands."""

    hands: tuple[tuple[Tile, ...], ...]
    """The tiles dealt to each seat, in order; those that the asked seat does not know are missing.
    """
    stock: tuple[Tile, ...] = ()
    """The boneyard: its rows, one after the other; none where it is hidden or empty."""


class Position(Struct, frozen=True):
    """A question to a seat: what it knows, or the whole truth."""

    rules: str
    """The game's name, and after each "+" a choice in which the rules differ: CHOICE=VALUE."""
    round: int
    """The round's number in the game, from 1."""
    scores: tuple[int, ...]
    """Points of each seat as the round began."""
    pot: int
    """Points in the pot as the round began."""
    method: LeadMethod
    """The method that decided who leads this round."""
    events: tuple[Event, ...]
    """The round so far, as the asked seat saw it."""
    deals: tuple[DealtTiles, ...]
    """The deals of the round, annulled ones first."""
    seat: int
    """The asked seat."""
    phase: AskedPhase
    """The subject of the question."""

    @property
    def is_open(self) -> bool:
        """True if all tiles are known."""
        return all(hand for deal in self.deals for hand in deal.hands)

    def as_seen(self) -> "Position":
        """Return the position without the tiles that the asked seat does not know."""
        deals = tuple(self._seen_tiles(deal) for deal in self.deals)
        return replace(self, deals=deals)

    def _seen_tiles(self, deal: DealtTiles) -> DealtTiles:
        # Lots are shown only after the guess.
        known_seats = () if self.phase == "guess" else (self.seat,)
        hands = (hand if seat in known_seats else () for seat, hand in enumerate(deal.hands))
        return DealtTiles(tuple(hands))


# --- writing ---


def tile_digits(tiles: Sequence[Tile]) -> str:
    """Return tiles as text, two digits each: "6453" is 6-4 and 5-3."""
    return "".join(map(DIGITS_OF.__getitem__, tiles))


def write_position(position: Position) -> str:
    """Return the line of a position."""
    fields = (
        POSITION_PREFIX,
        position.rules,
        f"{position.round}",
        ",".join(map(str, position.scores)),
        f"{position.pot}",
        position.method,
        ".".join(map(_event_text, position.events)) or ABSENT,
        write_deals(position.deals),
        f"{position.seat}{position.phase}",
    )
    return BETWEEN_FIELDS.join(fields)


def write_deals(deals: Iterable[DealtTiles]) -> str:
    """Return the field of a line that has the tiles of its deals."""
    return "+".join("-".join(map(tile_digits, (*deal.hands, deal.stock))) for deal in deals)


@lru_cache(maxsize=4096)
def _event_text(event: Event) -> str:
    seat, tile = getattr(event, "seat", None), getattr(event, "tile", None)
    values = msgspec.to_builtins(event).items()
    letter = next(letter for letter, fields in EVENT_LETTERS.items() if fields.items() <= values)
    rest = tile_digits([tile]) if tile else f"{getattr(event, 'chips', '')}"
    return f"{ABSENT if seat is None else seat}{letter}{rest}"


# --- reading ---


def is_position(text: str) -> bool:
    """Tell whether a user means a position by a word, right or wrong."""
    return text.startswith(f"{POSITION_PREFIX}{BETWEEN_FIELDS}")


def read_position(line: str) -> Position:
    """Return the position in a line; its rules are not read, and its tiles not compared.

    Raises UserError with the field that is wrong.
    """
    prefix, *fields = line[:MAX_LINE].split(BETWEEN_FIELDS)
    if prefix != POSITION_PREFIX or len(fields) != len(FIELDS) or len(line) >= MAX_LINE:
        names = BETWEEN_FIELDS.join((POSITION_PREFIX, *map(str.upper, FIELDS)))
        raise UserError(f"A position is one line of {len(FIELDS) + 1} fields: {names}.")
    rules, number, scores, pot, method, events, deals, question = fields
    asked = _QUESTION.fullmatch(question)
    if not asked:
        raise _fault("question", question, "a seat and a phase, as 0play")
    points = tuple(_number(text, "scores") for text in scores.split(","))
    if not 2 <= len(points) <= MOST_SEATS:
        raise _fault("scores", scores, f"the points of 2 to {MOST_SEATS} seats, with commas")
    methods = [name for kind in get_args(LeadMethod) for name in get_args(kind) or (kind,)]
    if method not in methods:
        raise _fault("method", method, f"one of {', '.join(methods)}")
    position = Position(
        rules=rules,
        round=_number(number, "round"),
        scores=points,
        pot=_number(pot, "pot"),
        method=cast(LeadMethod, method),
        events=tuple(map(_event, events.split("."))) if events != ABSENT else (),
        deals=tuple(_deal(text, len(points)) for text in deals.split("+")),
        seat=int(asked["seat"]),
        phase=cast(AskedPhase, asked["phase"]),
    )
    seats = [position.seat, *(getattr(event, "seat", 0) or 0 for event in position.events)]
    if max(seats) >= len(points):
        raise _fault("seat", f"{max(seats)}", f"one of 0 to {len(points) - 1}, as the scores say")
    for event in position.events:
        if isinstance(event, Drew) and (event.tile is None) == (event.seat == position.seat):
            wanted = "draws with the asked seat's own tiles, and no others"
            raise _fault("events", _event_text(event), wanted)
    return position


def _fault(field: str, text: str, wanted: str) -> UserError:
    shown = text if len(text) <= MAX_TEXT_SHOWN else f"{text[:MAX_TEXT_SHOWN]}…"
    return UserError(f"In the position, {field} must be {wanted}, not {shown!r}.")


def _number(text: str, field: str) -> int:
    if not _NUMBER.fullmatch(text) or abs(int(text)) > MAX_COUNT:
        raise _fault(field, text, "a whole number")
    return int(text)


def _tiles(text: str, field: str) -> tuple[Tile, ...]:
    if not _TILES.fullmatch(text):
        raise _fault(field, text, f"tiles of two digits each, {PIP_DIGITS[0]} to {PIP_DIGITS[-1]}")
    pips = [*map(PIP_DIGITS.index, text)]
    return tuple(zip(pips[::2], pips[1::2], strict=True))


def _deal(text: str, seats: int) -> DealtTiles:
    *hands, stock = (_tiles(part, "deals") for part in text.split("-"))
    if len(hands) != seats:
        raise _fault("deals", text, f"{seats} hands and the boneyard, a - after each hand")
    return DealtTiles(tuple(hands), stock)


def _event(text: str) -> Event:
    parts = _EVENT.fullmatch(text)
    if parts and (known := EVENT_LETTERS.get(parts["letter"])):
        fields: dict[str, Any] = {**known}
        fields["seat"] = None if parts["seat"] == ABSENT else int(parts["seat"])
        if fields["do"] == "bid":
            fields["chips"] = _number(parts["rest"], "events")
        elif parts["rest"]:
            fields["tile"] = (*_tiles(parts["rest"], "events"),)[0]
        with suppress(msgspec.ValidationError):
            event: Event = msgspec.convert(fields, Event)
            if _event_text(event) == text:
                return event
    raise _fault("events", text, "events with dots between them, as 0s.0f64.1p")
