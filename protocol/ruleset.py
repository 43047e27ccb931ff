"""Tiles, and rulesets: groups of closed choices, and their conflicts. `arena.engine` plays them."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.errors import UserError

# Tiles and sets of tiles.


Tile = tuple[int, int]
"""Two pips: (high, low) in a hand or a boneyard, (left, right) in the line."""


@cache
def tile_set(highest_pip: int, doubles: bool = True) -> tuple[Tile, ...]:
    """Return all tiles of a set in ascending order, each (high, low).

    The double-six set has 28 tiles; a double-eight set without doubles has 36 (C Austria).
    """
    return tuple(
        (high, low)
        for high in range(highest_pip + 1)
        for low in range(high + 1)
        if doubles or high != low
    )


def flip(tile: Tile) -> Tile:
    """Return the tile turned round."""
    return tile[1], tile[0]


def high_first(tile: Tile) -> Tile:
    """Return a tile from the line as a hand shows it: (high, low)."""
    return tile if tile[0] >= tile[1] else (tile[1], tile[0])


# Rulesets: groups of closed choices, and their conflicts. `arena.engine` plays them.


Occupant = TypeVar("Occupant")

MOST_SEATS = 8
"""The most seats that a table has."""
SeatCount = Annotated[int, Meta(ge=2, le=MOST_SEATS)]
"""The number of seats at a table."""
DOUBLE_SIX_SEATS = 4
"""The most seats at which the double-six set is used; C uses larger sets for more players."""
SET_NAMES = {
    6: "double-six",
    7: "double-seven",
    8: "double-eight",
    9: "double-nine",
    12: "double-twelve",
    15: "double-fifteen",
    18: "double-eighteen",
}
"""The names of the sets, by their highest pip."""
BOUGHT = (9, 12, 15, 18)
"""The highest pips of the larger sets that shops sell, for suggestions in errors."""

HandSize = Annotated[int, Meta(ge=1, le=64)]
Points = Annotated[int, Meta(ge=1, le=100_000)]
DrawLimit = Annotated[int, Meta(ge=0, le=200)] | Literal["unlimited", "two_at_once"]
MOST_DEALS = 20
"""The most deals in one round; the last one counts whatever it is, so that every round ends."""


class ImpossibleRulesError(UserError):
    """A conflict between choices of a ruleset; the text is a sentence for the user."""


class Group(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of choices that one file of the engine plays."""


class HandSizes(Group, frozen=True):
    """Tiles dealt to each seat, by the number of seats; null: the game has no such table."""

    two: HandSize | None = None
    """Tiles each at a table of two."""
    three: HandSize | None = None
    """Tiles each at a table of three."""
    four: HandSize | None = None
    """Tiles each at a table of four."""
    five: HandSize | UnsetType | None = UNSET
    """Tiles each at a table of five; unset: as many as at a table of four."""
    six: HandSize | UnsetType | None = UNSET
    """Tiles each at a table of six; unset: as many as at a table of four."""
    seven: HandSize | UnsetType | None = UNSET
    """Tiles each at a table of seven; unset: as many as at a table of four."""
    eight: HandSize | UnsetType | None = UNSET
    """Tiles each at a table of eight; unset: as many as at a table of four."""


class Targets(Group, frozen=True):
    """The points that end a game, by the number of seats, and for partners."""

    two: Points
    """Points at a table of two."""
    three: Points
    """Points at a table of three."""
    four: Points
    """Points at a table of four."""
    partners: Points | None = None
    """Points of a side if four play as partners; null: as at a table of four."""
    five: Points | UnsetType = UNSET
    """Points at a table of five; unset: as many as at a table of four."""
    six: Points | UnsetType = UNSET
    """Points at a table of six; unset: as many as at a table of four."""
    seven: Points | UnsetType = UNSET
    """Points at a table of seven; unset: as many as at a table of four."""
    eight: Points | UnsetType = UNSET
    """Points at a table of eight; unset: as many as at a table of four."""


class Deal(Group, frozen=True):
    """The table, the set and the hands (C deal)."""

    highest_pip: Literal[6, 7, 8, 9, 12, 15, 18] = 6
    """The highest pip of the set; 6 is the double-six set of 28 tiles."""
    doubles: bool = True
    """True if the set has doubles; without them an 8-8 set has 36 tiles (C Austria)."""
    hand: HandSize | HandSizes | Literal["eight_minus_seats"] = HandSizes(two=7, three=7, four=6)
    """Tiles dealt to each seat: one number, one for each table size, or 8 minus the seats (C.2)."""
    partners: bool = False
    """True if seats 0 and 2 play against 1 and 3; then a table has four seats."""
    direction: Literal["clockwise", "counter_clockwise"] = "clockwise"
    """The direction of play: the turn passes to seat + 1, or to seat - 1."""
    starter: bool = False
    """True if one tile is turned up from the boneyard to begin the line (E deal)."""
    refuse_doubles: Annotated[int, Meta(ge=0, le=30)] = 0
    """The number of doubles in a hand with which a seat may annul the deal; 0: none may (C.5)."""
    annul_suit: Annotated[int, Meta(ge=0, le=30)] = 0
    """The number of tiles of one suit in a hand that annuls the deal; 0: none does (C.6)."""


ByLot = Literal["random", "lowest", "highest", "count", "odd_even"]
ByDouble = Literal["highest_double", "double_six"]
FirstLead = Literal[ByLot, ByDouble]
LeadMethod = FirstLead | Literal["rotate", "same", "winner"]
"""The method that decides the leader of a round."""
LaterLead = Literal["rotate", "same", "winner", "lot", ByDouble]
"""The next leader: the next seat in turn (C.10), the same seat (C.9), the winner of the round
before, a new lot, or a double."""
NextLead = Literal["as_later", LaterLead]
BY_DOUBLE: tuple[ByDouble, ...] = ("highest_double", "double_six")


class Lead(Group, frozen=True):
    """The seat that begins a round, and the tile with which it begins (C.7-C.16)."""

    first: FirstLead = "highest"
    """The first round: at random; by lot (C.8, C.11, D); or by a double in hand (C.12, C.13)."""
    later: LaterLead = "rotate"
    """Later rounds: see `LaterLead`; for a lot see `later_lot`."""
    after_blocked: NextLead = "as_later"
    """The round after a blocked one: as any later round, or another choice (C.7)."""
    after_tie: NextLead = "as_later"
    """The round after one that nobody won, blocked or not: as any later round, or another choice
    (C.7)."""
    tile: Literal["any", "set_double", "highest"] = "any"
    """The first tile: any (C.15); the double that won the lead; or the heaviest in hand (C.16)."""
    missing: Literal["next_double", "redeal", "draw_for_it"] = "next_double"
    """The remedy if nobody holds the double that leads: the next double leads, the tiles are dealt
    again, or the seats draw until one has it (C.3, C.13)."""


class Turn(Group, frozen=True):
    """The legal options of the seat to move."""

    tiles: Literal[1, 2] = 1
    """Tiles played in one turn: one, or two on opposite ends (E play)."""
    draw_limit: DrawLimit = "unlimited"
    """Tiles that may be drawn in one turn; 0 is a block game (C.19, C.28). With "two_at_once"
    a seat that draws one tile draws a second too, even if the first fits (A, C Dutch)."""
    draw_when_able: bool = True
    """True if a seat that can play may draw instead (C.22); else it must play (C.23)."""
    leader_may_draw: bool = True
    """True if `draw_when_able` holds before the first tile too (B, C); else it does not (D)."""
    draw_ends_turn: bool = False
    """True if drawing a tile is the whole turn (E play); else the seat continues until it plays."""
    draw_optional: bool = False
    """True if a seat that cannot play may pass instead of drawing (C.27)."""


class Boneyard(Group, frozen=True):
    """The tiles that were not dealt."""

    reserve: Annotated[int, Meta(ge=0, le=100)] = 2
    """The number of tiles that no turn draws: 2 (C.26) or 0 (C.25)."""
    order: Literal["scattered", "row"] = "scattered"
    """The order of the tiles: each draw takes any of them, or all draw from one end (C Egypt)."""
    auction: bool = False
    """True if the last two tiles are auctioned (C.26)."""


class Stakes(Group, frozen=True):
    """Payments besides the points for rounds."""

    fee: Annotated[int, Meta(ge=0, le=1000)] = 0
    """Points that each drawn tile costs, off the drawer's score (C.27)."""
    pot: bool = False
    """True if payments go into a pot that a round's winner takes; else nobody gets them."""
    ante: Annotated[int, Meta(ge=0, le=1000)] = 0
    """Points that each seat, or with partners each side, pays into the pot in each round."""
    chips: Annotated[int, Meta(ge=0, le=1000)] = 0
    """Chips with which each seat, or with partners each side, begins; it cannot pay more.

    0: the game has no chips, and scores may go below 0.
    """


class End(Group, frozen=True):
    """The end of a round in which nobody went out."""

    blocked: Literal["play_on", "at_once", "call"] = "play_on"
    """Dead ends: draw on (C play); score at once (C.20); or score if a seat calls (E play)."""


Formula = Literal["others_minus_own", "others", "everybody", "difference", "one", "nothing"]


class Score(Group, frozen=True):
    """The winner of a round, and the points that the round is worth."""

    double_blank: Literal[0, 13] = 0
    """Pips that 0-0 counts in a hand (C Dutch: 13)."""
    winner: Literal["lowest", "out"] = "lowest"
    """The winner: the seat with the fewest pips, whoever went out (A-C, E), or the seat that went
    out (C.30, C.32)."""
    points_out: Formula = "others_minus_own"
    """Points after somebody went out (C score, C.30, C.31, C.33, C.35); for partners the hands
    of a side count together (C.36)."""
    points_blocked: Formula = "others_minus_own"
    """Points after a blocked round (C.30, C.31, C.33, C.34, C.35, C.36)."""
    tie: Literal["nobody", "blocker", "fewest_tiles", "lowest_end", "outsider"] = "nobody"
    """The winner of a blocked round in which two or more tie for the fewest pips (C.37)."""
    bonus: tuple[Annotated[int, Meta(ge=0, le=100_000)], ...] = ()
    """Extra points for the winner of the first, second, … round of a game."""
    capicu: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """Extra points for a last tile, not a double, that fitted both ends."""
    out_with_blank: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """Extra points for going out with 0-0."""


class Game(Group, frozen=True):
    """The end of a game."""

    target: Points | Targets = Targets(two=100, three=61, four=61, partners=100)
    """Points that end the game: one number, or one for each table (C score, E scoring)."""
    rounds: Annotated[int, Meta(ge=0, le=1000)] = 0
    """A fixed number of rounds instead of a target; 0: play to the target."""
    max_rounds: Annotated[int, Meta(ge=1, le=1000)] = 200
    """The most rounds of a game: after them the highest score wins, and equal scores tie."""


class Ruleset(Group, frozen=True):
    """Everything that two tables must agree on to play the same game."""

    name: str
    """The name of the game, or of the ruleset it was made from."""
    deal: Deal = Deal()
    """The table, the set and the hands."""
    lead: Lead = Lead()
    """The leader of each round."""
    turn: Turn = Turn()
    """The legal options of the seat to move."""
    boneyard: Boneyard = Boneyard()
    """The tiles that were not dealt."""
    stakes: Stakes = Stakes()
    """Payments besides the points for rounds."""
    end: End = End()
    """The end of a round in which nobody went out."""
    score: Score = Score()
    """The winner of a round, and its points."""
    game: Game = Game()
    """The end of a game."""

    def __post_init__(self) -> None:
        """Refuse choices that cannot be played together. Raises ImpossibleRulesError."""
        for is_impossible, sentence in _conflicts(self):
            if is_impossible:
                raise ImpossibleRulesError(sentence)
        if not playable_seat_counts(self):
            check_seats(self, 4 if self.deal.partners else 2)


def _conflicts(rules: Ruleset) -> Iterator[tuple[bool, str]]:
    """Yield for each impossible combination: true if these rules have it, and the remedy."""
    deal, lead, turn = rules.deal, rules.lead, rules.turn
    stakes, score = rules.stakes, rules.score
    leads = (lead.first, lead.later, lead.after_blocked, lead.after_tie)
    yield (
        any(choice in BY_DOUBLE for choice in leads) and not deal.doubles,
        "A set without doubles has none to lead with: choose another lead (first, later, "
        "after_blocked, after_tie) or a set with doubles (doubles = true).",
    )
    yield (
        deal.refuse_doubles > 0 and not deal.doubles,
        "A set without doubles gives no reason to refuse a deal: leave refuse_doubles at 0.",
    )
    yield (
        deal.starter and lead.tile != "any",
        "With a starter on the table no first tile can be required: leave tile at any.",
    )
    yield (
        deal.starter and lead.missing == "draw_for_it",
        "Drawing for the double may empty the boneyard, and no starter is left: "
        "set missing = next_double.",
    )
    yield (
        turn.tiles == 2 and not deal.starter,
        "Two tiles need a line with two ends to begin with: set starter = true.",
    )
    yield (
        turn.draw_ends_turn and turn.draw_when_able,
        "If drawing ends the turn, a seat that can play must play: set draw_when_able = false.",
    )
    yield (
        turn.draw_limit == "two_at_once" and (turn.draw_ends_turn or turn.draw_optional),
        "Two tiles at once are a part of a turn, and whoever cannot play must draw them: set "
        "draw_ends_turn = false and draw_optional = false.",
    )
    yield (
        deal.partners
        and score.winner == "out"
        and score.points_out in ("others_minus_own", "difference"),
        "Where going out wins, the winners' total may be the higher one: set points_out = others.",
    )
    yield (stakes.ante > 0 and not stakes.pot, "An ante is paid into a pot: set pot = true.")
    yield (
        rules.boneyard.auction and (stakes.chips == 0 or not stakes.pot),
        "An auction needs chips to bid and a pot to pay them into: set chips and pot = true.",
    )
    yield (
        rules.boneyard.auction and rules.boneyard.reserve != 2,
        "The auction is for the two tiles of the reserve: set reserve = 2.",
    )
    yield (
        rules.boneyard.auction and turn.tiles == 2,
        "An auction goes with one tile a turn: set tiles = 1.",
    )
    yield (
        stakes.chips > 0 and stakes.fee > 0 and not turn.draw_optional,
        "A seat without chips could not draw: set draw_optional = true.",
    )
    yield (
        lead.first == "odd_even" and 2 not in playable_seat_counts(rules),
        "Odd or even is called at a table of two: choose another first lead (first).",
    )


def target(rules: Ruleset, seats: int) -> int:
    """Return the points that end a game at a table of this many seats."""
    points = rules.game.target
    if isinstance(points, int):
        return points
    if rules.deal.partners and points.partners is not None:
        return points.partners
    more = points.five, points.six, points.seven, points.eight
    value = (points.two, points.three, points.four, *more)[seats - 2]
    return points.four if value is UNSET else value


def count_sides(partners: bool, seats: int) -> int:
    """Count the sides of a game: two where partners play (`Deal.partners`), else its seats."""
    return 2 if partners else seats


def side_of(partners: bool, seat: int) -> int:
    """Find a seat's side: seats 0 and 2 against 1 and 3 where partners play, else each its own."""
    return seat % 2 if partners else seat


def rotations(seats: tuple[Occupant, ...]) -> tuple[tuple[Occupant, ...], ...]:
    """Return each rotation of a table once: a table A B A B has two rotations, not four."""
    return tuple(dict.fromkeys([seats[turn:] + seats[:turn] for turn in range(len(seats))]))


def later_lot(lead: Lead) -> ByLot:
    """Return the lot of a later round: that of the first round, or the highest tile (C.8)."""
    match lead.first:
        case "highest_double" | "double_six":
            return "highest"
        case _:
            return lead.first


def hand_size(deal: Deal, seats: int) -> int | None:
    """Return the tiles dealt to each of this many seats; None if the game has no such table."""
    hand = deal.hand
    if isinstance(hand, int):
        return hand
    if hand == "eight_minus_seats":
        return 8 - seats or None
    size = (hand.two, hand.three, hand.four, hand.five, hand.six, hand.seven, hand.eight)[seats - 2]
    return hand.four if size is UNSET else size


def set_of_tiles(deal: Deal) -> tuple[Tile, ...]:
    """Return all tiles of the set with which the game is played."""
    return tile_set(deal.highest_pip, deal.doubles)


@lru_cache(maxsize=256)
def playable_seat_counts(rules: Ruleset) -> tuple[int, ...]:
    """Return the numbers of seats at which this game can be played."""
    return tuple(seats for seats in range(2, MOST_SEATS + 1) if _objection(rules, seats) is None)


def check_seats(rules: Ruleset, seats: int) -> None:
    """Refuse a table at which the game cannot be played. Raises ImpossibleRulesError."""
    objection = _objection(rules, seats)
    if objection:
        raise ImpossibleRulesError(objection)


def _objection(rules: Ruleset, seats: int) -> str | None:
    """Return why the game has no such table, and a remedy; None if it has one."""
    if not 2 <= seats <= MOST_SEATS:
        return f"A table has two to eight seats, not {seats}."
    if rules.deal.partners and seats != 4:
        return f"Partners need a table of four, not {seats} (seats = 4)."
    if rules.lead.first == "odd_even" and seats != 2:
        return f"Odd or even is called at a table of two, not {seats} (first)."
    hand = hand_size(rules.deal, seats)
    if hand is None:
        return f"{rules.name} has no table of {seats}. Give a hand for it (hand)."
    return _too_few_tiles(rules, seats, hand)


def _too_few_tiles(rules: Ruleset, seats: int, hand: int) -> str | None:
    """Return that the set is too small, if it is.

    More than four seats need a larger set (C deal), and tiles must be left if a turn may draw.
    """
    deal, tiles = rules.deal, len(set_of_tiles(rules.deal))
    is_crowded = seats > DOUBLE_SIX_SEATS
    small = is_crowded and SET_NAMES[deal.highest_pip] == "double-six"
    rest = rules.boneyard.reserve + 1 if is_crowded and rules.turn.draw_limit != 0 else 0
    dealt = seats * hand + deal.starter
    if dealt + rest <= tiles and not small:
        return None
    text = f"{seats} seats × {hand} tiles need {dealt} tiles"
    if deal.starter:
        text += " with the starter"
    if dealt <= tiles < dealt + rest:
        text += f" and {rest} to draw from"
    if small and dealt + rest <= tiles:
        text += ", and more than four seats a larger set"
    most = 0 if small else (tiles - rest - deal.starter) // seats
    set_name = f"{SET_NAMES[deal.highest_pip]}{'' if deal.doubles else ' without doubles'}"
    return f"{text}; {set_name} has {tiles}: {_remedy(deal, dealt + rest, most)}."


def _remedy(deal: Deal, need: int, most: int) -> str:
    """Return a set that is large enough, and the largest hand for which this set is enough."""
    larger = [pip for pip in BOUGHT if pip > deal.highest_pip]
    fit = [pip for pip in larger if len(tile_set(pip, deal.doubles)) >= need]
    ways = [f"take {SET_NAMES[pip]} (highest_pip = {pip})" for pip in fit[:1]]
    ways += [f"deal {most} at most (hand)"] * (most > 0)
    return " or ".join(ways) or "take fewer seats (seats)"
