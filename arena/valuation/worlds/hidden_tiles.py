"""Hidden tiles of a question: the places where they lie, and what the asked seat knows of them.

Every hidden tile lies in a place: among those that another seat was dealt, in one of its draws, or
in the boneyard. What everybody saw says of each place which tiles it may hold; where a turn plays
two tiles, or many tiles of one number annul a deal, it says something of several places together
(`Limit`, `TileOrder`).
"""

from collections.abc import Sequence
from hashlib import sha256
from itertools import chain
from typing import NamedTuple

from arena.analysis.line import with_ends
from arena.engine import boneyard, view
from arena.engine.lead import lead_weight, next_leader
from arena.engine.state import Game
from arena.engine.structs import Bit, Dealt, Mask
from protocol.messages import Annulled, Drew, Event, Leads, Passed, Played, TurnedUp
from protocol.ruleset import BY_DOUBLE
from protocol.tiles import Tile, high_first

MOST_BOUND = 64
"""The most tiles in a set with limits or orders: they are counted as bits of a machine word."""


class HiddenPlace:
    """A place of a hidden tile."""

    def __init__(self, holder: int | None) -> None:
        self.holder = holder
        """The seat that was dealt the tile or drew it; None: it lies in the boneyard."""
        self.played: Mask = 0
        """Tiles that the holder has played since: they may have come from here."""
        self.excluded: Mask = 0
        """Tiles that cannot be here: the holder would have shown them."""


class Limit(NamedTuple):
    """A fact about several places: fewer than `many` of their tiles show either number.

    Unless all these tiles show one of the numbers only, and it is not the other.
    """

    places: tuple[HiddenPlace, ...]
    one: Mask
    """All tiles of one number."""
    other: Mask
    """All tiles of the other number."""
    many: int
    """The number of tiles that would have been seen."""


class TileOrder(NamedTuple):
    """A fact about two tiles of a seat: it has had one for longer than the other.

    Two tiles played on equal ends are named in the order in which the seat received them.
    """

    first: Bit
    """The tile that it had first."""
    second: Bit


class HiddenTiles(NamedTuple):
    """The hidden tiles of a question, and all that the asked seat knows of them."""

    game: Game
    """The table as it really is."""
    places: tuple[HiddenPlace, ...]
    """The places: of each other seat in the order of arrival, then of the boneyard."""
    tiles: tuple[Bit, ...]
    """The tile that really is in each place."""
    limits: tuple[Limit, ...]
    """The facts about several places together."""
    orders: tuple[TileOrder, ...]
    """The facts about the order in which tiles came."""
    seed: bytes
    """A hash of what the seat saw: all that decides which worlds are drawn."""

    @property
    def is_bound(self) -> bool:
        """True if places alone do not say everything."""
        return bool(self.limits or self.orders)

    @property
    def is_free(self) -> bool:
        """True if each place may hold any tile that nobody has shown."""
        return not (self.is_bound or any(place.excluded for place in self.places))

    @property
    def unseen(self) -> Mask:
        """Return the tiles that no seat has shown and the asked one does not hold."""
        state = self.game.playing
        stock = sum(chain(*state.stock_rows))
        return (state.held_mask | stock) & ~state.hand_masks[state.turn]

    def allowed(self) -> list[Mask]:
        """Return for each place the tiles that may be there."""
        return [(self.unseen | place.played) & ~place.excluded for place in self.places]


class UncoveredError(Exception):
    """A public fact that tells more of the hidden tiles than places and limits can say."""


class _Facts:
    """The public facts of a round, followed event by event for the seat to move."""

    def __init__(self, game: Game, dealt: Dealt) -> None:
        self.game, self.state = game, game.playing
        self.seat = self.state.turn
        seats = range(game.seats)
        bit = self.state.table.bit
        self.dealt = [[bit[tile] for tile in hand] for hand in dealt.hands]
        self.places = [[HiddenPlace(seat) for _ in self.dealt[seat]] for seat in seats]
        self.drawn: list[list[Bit]] = [[] for _ in seats]
        self.played = [0 for _ in seats]
        self.limits: list[Limit] = []
        self.orders: list[TileOrder] = []
        self.on_left: Played | None = None
        self.stock = len(game.settings.table.tiles) - sum(map(len, self.dealt))
        self.begun = False
        if game.rules.deal.annul_suit:
            self._no_strong_hand()

    def _no_strong_hand(self) -> None:
        """Note that no hand had so many tiles of one number that it annuls the deal (C.6)."""
        many = self.game.rules.deal.annul_suit
        for seat, places in enumerate(self.places):
            if seat != self.seat:
                suits = self.state.table.suits
                self.limits += [Limit(tuple(places), suit, suit, many) for suit in suits]

    def follow(self, event: Event, ends: tuple[int, ...]) -> None:
        """Note what an event tells, at these ends of the line. Raises UncoveredError."""
        match event:
            case Played():
                self._play(event, ends)
            case Drew(seat=seat, tile=tile):
                if self.begun and not self.game.settings.draw_when_able:
                    self._unable(seat, ends)
                assert tile is not None, "In a state nothing is hidden."
                self.places[seat].append(HiddenPlace(seat))
                self.drawn[seat].append(self.state.table.bit[tile])
                self.stock -= 1
            case Passed(seat=seat):
                self._unable(seat, ends)
            case TurnedUp():
                self.stock -= 1
            case Leads():
                self._lead(event.seat)
                self.begun = True
            case Annulled():
                raise UncoveredError
            case _:
                pass

    def _play(self, event: Played, ends: tuple[int, ...]) -> None:
        self._order(event, ends)
        bit = self.state.table.bit[high_first(event.tile)]
        self.played[event.seat] |= bit
        for place in self.places[event.seat]:
            place.played |= bit

    def _order(self, event: Played, ends: tuple[int, ...]) -> None:
        """Note which of two tiles came first, if a seat plays both on equal ends."""
        if not self.game.settings.two_tiles or event.seat == self.seat:
            return
        before, self.on_left = self.on_left, None
        if event.end == "left" and ends[0] == ends[1]:
            self.on_left = event
        elif event.end == "right" and before and before.seat == event.seat:
            tiles = (high_first(one.tile) for one in (before, event))
            self.orders.append(TileOrder(*map(self.state.table.bit.__getitem__, tiles)))

    def _unable(self, seat: int, ends: tuple[int, ...]) -> None:
        if seat == self.seat:
            return
        suits, gone = self.state.table.suits, self.played[seat]
        left, right = (suits[end] & ~gone for end in ends)
        alone = not boneyard.drawable(self.game.rules.boneyard, self.game.rules.turn, self.stock)
        hand = len(self.places[seat]) - gone.bit_count()
        if self.game.settings.two_tiles and not (alone and hand == 1):
            self.limits.append(Limit(tuple(self.places[seat]), left, right, 2))
        else:
            self._exclude(self.places[seat], left | right)

    def _exclude(self, places: Sequence[HiddenPlace], tiles: Mask) -> None:
        for place in places:
            place.excluded |= tiles

    def _lead(self, leader: int) -> None:
        """Note what it says of the hands that this seat leads (C.12-C.16)."""
        how, rules = self.state.phase.how, self.game.rules.lead
        everywhere = list(chain(*self.places))
        if how not in BY_DOUBLE:
            if rules.tile == "highest" and (led := self._led()):
                self._exclude(self.places[leader], self._above(led))
            return
        drawn = sum(map(len, self.drawn))
        if drawn:
            # The last tile drawn is the first double that anybody got; all drew in turn from
            # `began` on, so the leader drew last.
            last = self.places[leader][-1]
            table = self.state.table
            doubles = [bit for tile, bit in table.bit.items() if tile[0] == tile[1]]
            wanted = sum(doubles) if how == "highest_double" else doubles[-1]
            self._exclude([place for place in everywhere if place is not last], wanted)
            self._exclude([last], ~wanted)
        elif leader == self.seat:
            own = tuple(map(self.state.table.tile.__getitem__, self.dealt[leader]))
            self._exclude(everywhere, self._above(next_leader((own,))[1]))
        elif rules.tile != "any" and (led := self._led()):
            self._exclude(everywhere, self._above(led))
        else:
            raise UncoveredError

    def _led(self) -> Tile | None:
        plays = (one.tile for one in self.state.history if isinstance(one, Played))
        first = next(plays, None)
        return first and high_first(first)

    def _above(self, tile: Tile) -> Mask:
        """Return the tiles that would have led before this one."""
        best = _strength(tile)
        return sum(bit for one, bit in self.state.table.bit.items() if _strength(one) > best)


def _strength(tile: Tile) -> tuple[bool, tuple[int, int]]:
    return tile[0] == tile[1], lead_weight(tile)


def hidden_tiles(game: Game, dealt: Dealt) -> HiddenTiles:
    """Return what the seat to move does not see, and what it knows of that.

    `dealt`: the deal that is being played.
    Raises UncoveredError where other facts are public too: odd or even, an annulled deal, an
    auction, the highest double with an unknown leader's tile.
    """
    state, settings = game.playing, game.settings
    if settings.auction or state.phase.name not in ("play", "call", "keep"):
        raise UncoveredError
    if state.phase.name == "call" and not state.drawable:
        raise UncoveredError  # Somebody can play, but nobody knows who.
    facts = _Facts(game, dealt)
    for event, ends in with_ends(state.history):
        facts.follow(event, ends)
    if (facts.limits or facts.orders) and len(settings.table.tiles) > MOST_BOUND:
        raise UncoveredError
    others = [other for other in range(game.seats) if other != state.turn]
    places = [place for other in others for place in facts.places[other]]
    tiles = [bit for other in others for bit in (*facts.dealt[other], *facts.drawn[other])]
    stock = list(chain(*state.stock_rows))
    return HiddenTiles(
        game,
        (*places, *(HiddenPlace(None) for _ in stock)),
        (*tiles, *stock),
        tuple(facts.limits),
        tuple(facts.orders),
        seed_of(game),
    )


def seed_of(game: Game) -> bytes:
    """Return a hash of what the seat to move has seen of the round; names do not count."""
    state = game.playing
    hand = sorted(state.hand(state.turn))
    seen = state.number, state.turn, hand, state.sizes, view.history(state, state.turn)
    return sha256(repr(seen).encode()).digest()
