"""What a ruleset is: groups of closed choices. What they do lives in `arena.engine`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from protocol.tiles import tile_set
from protocol.usage import UserError, unknown

Seats = Annotated[int, Meta(ge=2, le=4)]
"""How many seats a table has."""

HandSize = Annotated[int, Meta(ge=1, le=64)]
Points = Annotated[int, Meta(ge=1, le=100_000)]
DrawLimit = Annotated[int, Meta(ge=0, le=200)] | Literal["unlimited"]


class ImpossibleRulesError(UserError):
    """Choices that cannot be played together; the text is a sentence for the user."""


class Group(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of choices that one file of the engine owns."""


class HandSizes(Group, frozen=True):
    """Tiles dealt to each seat, by the number of seats."""

    two: HandSize
    """Tiles each at a table of two."""
    three: HandSize
    """Tiles each at a table of three."""
    four: HandSize
    """Tiles each at a table of four."""


class Targets(Group, frozen=True):
    """The points that end a game, by the number of seats."""

    two: Points
    """Points at a table of two."""
    three: Points
    """Points at a table of three."""
    four: Points
    """Points at a table of four."""


class Deal(Group, frozen=True):
    """The set and the hands (C deal)."""

    highest_pip: Literal[6, 7, 8, 9, 12, 15, 18] = 6
    """The highest pip of the set; 6 is the double-six set of 28 tiles."""
    hand: HandSize | HandSizes = HandSizes(two=7, three=7, four=6)
    """Tiles dealt to each seat: one number, or one for each number of seats."""


class Lead(Group, frozen=True):
    """Who begins a round, and with what."""

    first: Literal["random", "highest", "lowest"] = "highest"
    """First round: at random, or whoever draws the highest or lowest tile by lot (C.8, D)."""
    later: Literal["rotate", "same"] = "rotate"
    """Later rounds: the seat after the previous leader, or the same leader (C.9, C.10)."""


class Turn(Group, frozen=True):
    """What the seat to move may do."""

    draw_limit: DrawLimit = "unlimited"
    """Tiles that may be drawn in one turn; 0 is a block game (C.19, C.28)."""
    draw_when_able: bool = True
    """Whether a seat that can play may draw instead (C.22), or must play (C.23)."""
    leader_may_draw: bool = True
    """Whether `draw_when_able` holds before the first tile too (B, C), or not (D)."""


class Boneyard(Group, frozen=True):
    """The tiles that were not dealt."""

    reserve: Annotated[int, Meta(ge=0, le=100)] = 2
    """Tiles that are never drawn: 2 (C.26) or 0 (C.25)."""
    order: Literal["scattered"] = "scattered"
    """How the tiles lie: scattered, each draw takes any of them (C play)."""


class End(Group, frozen=True):
    """When a round ends though nobody went out."""

    blocked: Literal["play_on"] = "play_on"
    """With dead ends the seats must go on drawing while tiles may be drawn (C play)."""


class Score(Group, frozen=True):
    """Who wins a round, and how many points it is worth."""

    double_blank: Literal[0, 13] = 0
    """Pips that 0-0 counts in a hand (C Dutch: 13)."""
    winner: Literal["lowest", "out"] = "lowest"
    """The fewest pips win whoever went out (A-C, E), or going out wins (C.30, C.32)."""
    points_out: Literal["others_minus_own", "others", "one"] = "others_minus_own"
    """Points after somebody went out: C score; C.31; C.30."""
    points_blocked: Literal["others_minus_own", "others", "one"] = "others_minus_own"
    """Points after a blocked round: C.34; C.31; C.30."""
    tie: Literal["nobody"] = "nobody"
    """Who wins a blocked round when the fewest pips are held twice (C.37)."""


class Game(Group, frozen=True):
    """When a game ends."""

    target: Points | Targets = Targets(two=100, three=61, four=61)
    """Points that end the game: one number, or one for each number of seats (C score)."""
    max_rounds: Annotated[int, Meta(ge=1, le=1000)] = 200
    """A game without a winner is cut here: the highest score wins, equal scores tie."""


class Ruleset(Group, frozen=True):
    """Everything that two tables must agree on to play the same game."""

    name: str
    """The name of the game, or of the ruleset it was made from."""
    deal: Deal = Deal()
    """The set and the hands."""
    lead: Lead = Lead()
    """Who begins."""
    turn: Turn = Turn()
    """What the seat to move may do."""
    boneyard: Boneyard = Boneyard()
    """The tiles that were not dealt."""
    end: End = End()
    """When a round is blocked."""
    score: Score = Score()
    """Who wins how much."""
    game: Game = Game()
    """When it is over."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises ImpossibleRulesError.
        """
        if isinstance(self.deal.hand, int):
            check_seats(self, 2)
        else:
            for seats in (2, 3, 4):
                check_seats(self, seats)


def by_seats(choice: int | HandSizes | Targets, seats: int) -> int:
    """What a choice says for this number of seats."""
    if isinstance(choice, int):
        return choice
    match seats:
        case 2:
            return choice.two
        case 3:
            return choice.three
        case 4:
            return choice.four
        case _:
            raise ImpossibleRulesError(f"A table has two to four seats, not {seats}.")


def check_seats(rules: Ruleset, seats: int) -> None:
    """Refuse a table for which the set is too small.

    Raises ImpossibleRulesError.
    """
    tiles = len(tile_set(rules.deal.highest_pip))
    hand = by_seats(rules.deal.hand, seats)
    if seats * hand > tiles:
        raise ImpossibleRulesError(
            f"{seats} hands of {hand} need {seats * hand} tiles, but the set has {tiles}: "
            f"deal fewer (hand) or use a larger set (highest_pip)."
        )


def choices() -> dict[str, str]:
    """Every choice's name and the group that owns it; names are unique."""
    return {
        choice.name: group.name
        for group in msgspec.structs.fields(Ruleset)
        if isinstance(group.type, type) and issubclass(group.type, Group)
        for choice in msgspec.structs.fields(group.type)
    }


def varied(base: Ruleset, name: str, differs: Mapping[str, Any]) -> Ruleset:
    """A ruleset that differs from its base in these choices.

    Raises UserError for an unknown choice or value, ImpossibleRulesError for a conflict.
    """
    owners = choices()
    plain: dict[str, Any] = msgspec.to_builtins(base)
    for choice, value in differs.items():
        if choice not in owners:
            raise unknown("choice of rules", choice, owners)
        _check_value(owners[choice], choice, value)
        plain[owners[choice]][choice] = value
    try:
        return msgspec.convert({**plain, "name": name}, Ruleset)
    except msgspec.ValidationError as error:
        raise error.__cause__ or error from None


def _check_value(group: str, choice: str, value: object) -> None:
    kinds = get_type_hints(type(getattr(Ruleset(name=""), group)), include_extras=True)
    try:
        msgspec.convert(value, kinds[choice])
    except msgspec.ValidationError as error:
        known = get_args(kinds[choice])
        if known and all(isinstance(one, str) for one in known):
            raise unknown(f"value of {choice}", str(value), known) from None
        raise UserError(f"{choice} cannot be {value!r}: {error}.") from None
