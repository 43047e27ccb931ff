"""Worlds: hidden tiles dealt anew so that a seat could not tell, for many questions at once."""

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial
from hashlib import sha256, shake_256
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.alternative_deals import StopAt, alternative_deals
from arena.analysis.frames import with_ends
from arena.analysis.timeline import AskedQuestion
from arena.engine import view
from arena.engine.deal import lead_weight, next_leader
from arena.engine.state import Dealt, Game
from arena.engine.tables import Bit, Mask
from arena.engine.turn import drawable
from arena.valuation.batch import RoundBatch
from arena.valuation.endgames import is_open
from protocol.messages import Annulled, Drew, Event, Leads, Passed, Played, TurnedUp
from protocol.ruleset import BY_DOUBLE, Tile, high_first

# Hidden tiles of a question: the places where they lie, and what the asked seat knows of them.
#
# Every hidden tile lies in a place: among those that another seat was dealt, in one of its draws,
# or in the boneyard. What everybody saw says of each place which tiles it may hold; where a turn
# plays two tiles, or many tiles of one number annul a deal, it says something of several places
# together (`Limit`, `TileOrder`).


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
    """A fact about several places: fewer than `tile_count` of their tiles show either number.

    More may do so if none of them shows the one number, or none the other.
    """

    places: tuple[HiddenPlace, ...]
    suit: Mask
    """All tiles of one number."""
    other: Mask
    """All tiles of the other number."""
    tile_count: int
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
        unseen = self.unseen
        return [(unseen | place.played) & ~place.excluded for place in self.places]


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
        self.last: Event | None = None
        self.stock = len(game.settings.table.tiles) - sum(map(len, self.dealt))
        self.has_begun = False
        if game.rules.deal.annul_suit:
            self._no_strong_hand()

    def _no_strong_hand(self) -> None:
        """Note that no hand had so many tiles of one number that it annuls the deal (C.6)."""
        count = self.game.rules.deal.annul_suit
        for seat, places in enumerate(self.places):
            if seat != self.seat:
                suits = self.state.table.suits
                self.limits += [Limit(tuple(places), suit, suit, count) for suit in suits]

    def follow(self, event: Event, ends: tuple[int, ...]) -> None:
        """Note what an event tells, at these ends of the line. Raises UncoveredError."""
        before, self.last = self.last, event
        match event:
            case Played():
                self._play(event, ends)
            case Drew(seat=seat, tile=tile):
                settings = self.game.settings
                # Of two draws at once the second tells nothing: the first tile may fit.
                is_second = settings.two_at_once and isinstance(before, Drew)
                if self.has_begun and not (settings.draw_when_able or is_second):
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
                self._infer_from_lead(event.seat)
                self.has_begun = True
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
            tiles = (high_first(play.tile) for play in (before, event))
            self.orders.append(TileOrder(*map(self.state.table.bit.__getitem__, tiles)))

    def _unable(self, seat: int, ends: tuple[int, ...]) -> None:
        if seat == self.seat:
            return
        suits, played = self.state.table.suits, self.played[seat]
        left, right = (suits[end] & ~played for end in ends)
        is_dry = not drawable(self.game.rules.boneyard, self.game.rules.turn, self.stock)
        hand = len(self.places[seat]) - played.bit_count()
        if self.game.settings.two_tiles and not (is_dry and hand == 1):
            self.limits.append(Limit(tuple(self.places[seat]), left, right, 2))
        else:
            self._exclude(self.places[seat], left | right)

    def _exclude(self, places: Sequence[HiddenPlace], tiles: Mask) -> None:
        for place in places:
            place.excluded |= tiles

    def _infer_from_lead(self, leader: int) -> None:
        """Note what it says of the hands that this seat leads (C.12-C.16)."""
        method, rules = self.state.phase.method, self.game.rules.lead
        everywhere = list(chain(*self.places))
        if method not in BY_DOUBLE:
            if rules.tile == "highest" and (led := self._led()):
                self._exclude(self.places[leader], self._find_stronger(led))
            return
        drawn = sum(map(len, self.drawn))
        if drawn:
            # The last tile drawn is the first double that anybody got; all drew in turn from
            # `began` on, so the leader drew last.
            last = self.places[leader][-1]
            table = self.state.table
            doubles = [bit for tile, bit in table.bit.items() if tile[0] == tile[1]]
            wanted = sum(doubles) if method == "highest_double" else doubles[-1]
            self._exclude([place for place in everywhere if place is not last], wanted)
            self._exclude([last], ~wanted)
        elif leader == self.seat:
            hand = tuple(map(self.state.table.tile.__getitem__, self.dealt[leader]))
            self._exclude(everywhere, self._find_stronger(next_leader((hand,))[1]))
        elif rules.tile != "any" and (led := self._led()):
            self._exclude(everywhere, self._find_stronger(led))
        else:
            raise UncoveredError

    def _led(self) -> Tile | None:
        plays = (event.tile for event in self.state.history if isinstance(event, Played))
        first = next(plays, None)
        return first and high_first(first)

    def _find_stronger(self, tile: Tile) -> Mask:
        """Return the tiles that would have led before this one."""
        best = _strength(tile)
        return sum(bit for other, bit in self.state.table.bit.items() if _strength(other) > best)


def _strength(tile: Tile) -> tuple[bool, tuple[int, int]]:
    return tile[0] == tile[1], lead_weight(tile)


def hidden_tiles(game: Game, dealt: Dealt) -> HiddenTiles:
    """Return what the seat to move does not see, and what it knows of that.

    `dealt`: the deal that is being played.
    Raises UncoveredError where other facts are public too: odd or even, an annulled deal, an
    auction, a lead that an unknown double won.
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
    others = [seat for seat in range(game.seats) if seat != state.turn]
    places = [place for seat in others for place in facts.places[seat]]
    tiles = [bit for seat in others for bit in (*facts.dealt[seat], *facts.drawn[seat])]
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
    facts = state.number, state.turn, hand, state.sizes, view.history(state, state.turn)
    return sha256(repr(facts).encode()).digest()


# Worlds: hidden tiles dealt anew so that a seat could not tell, for many questions at once.
#
# Where the seat knows only who played what, a world is a shuffle of the unseen tiles. Else worlds
# are drawn by a Markov chain that moves tiles in small circles from place to place and begins with
# the real world; every permitted world is equally likely in the long run (Metropolis). Where a
# limit says that a seat lacked one number or the other, no small change leads from the one to the
# other without breaking it. So there a chain makes excursions: it may break bounds, each at a
# quarter of the chance, and goes back to where it left if it has not mended them by the excursion's
# end.


MIXING_ROUNDS = 96
"""The rounds in which all tiles may move, from the real world to one that is used."""
BOUND_ROUNDS = 400
"""Rounds where many limits and orders hold: worlds lie apart, and chains find their way slowly."""
MANY_BOUNDS = 4
"""Limits and orders that count as many."""
EXCURSION = 8
"""Rounds after which a world must break no bound; the numbers of rounds are multiples of it."""
THREES = 4
"""Every fourth round moves tiles in circles of three: swaps alone cannot reach every world."""
CIRCLES_PER_TRY = 2
"""The number of circles that are tried together where a limit or an order may forbid them."""

TileNumbers = NDArray[np.uint8]
"""Numbers of tiles: their places in `set_of_tiles`."""


def worlds(hidden: Sequence[HiddenTiles], count: int) -> RoundBatch:
    """Return `count` worlds for each question; all are of one ruleset and number of seats.

    Which worlds a question gets depends on it alone, not on those beside it.
    """
    samples = [tiles.T.astype(np.int16) for tiles in sampled_tiles(hidden, count)]
    games, orders = [question.game for question in hidden], list[Any]()
    for question, tiles in zip(hidden, samples, strict=True):
        orders.append(tiles[:, [place.holder is None for place in question.places]])
    batch = RoundBatch.in_orders(games, orders)
    parts = [_hands(question, tiles) for question, tiles in zip(hidden, samples, strict=True)]
    wide = max(hand.shape[-1] for part in parts for hand in part.values())
    hands = {seat: np.full((len(batch), wide), -1, np.int16) for seat in parts[0]}
    for index, part in enumerate(parts):
        for seat, hand in part.items():
            hands[seat][index * count : (index + 1) * count, : hand.shape[-1]] = hand
    batch.set_hands(hands)
    return batch


def sampled_tiles(hidden: Sequence[HiddenTiles], count: int) -> list[TileNumbers]:
    """Return for each question the tile in each place (a row) of each world (a column)."""
    tiles: dict[int, TileNumbers] = {}
    kinds = defaultdict[tuple[bool, int], list[int]](list)
    for row, question in enumerate(hidden):
        if question.is_free:
            tiles[row] = _shuffled(question, count)
        else:
            kinds[question.is_bound, _rounds(question)].append(row)
    for rows in kinds.values():
        sampled = _Chains([hidden[row] for row in rows], count).sampled()
        tiles |= {row: sampled[: len(hidden[row].places), index] for index, row in enumerate(rows)}
    return [tiles[row] for row in range(len(hidden))]


def _rounds(hidden: HiddenTiles) -> int:
    """Return the rounds after which the worlds of a question are used."""
    return BOUND_ROUNDS if len(hidden.limits) + len(hidden.orders) >= MANY_BOUNDS else MIXING_ROUNDS


def _shuffled(hidden: HiddenTiles, count: int) -> TileNumbers:
    """Return worlds where nothing is known but who played what: all unseen tiles change places."""
    mask, numbers = hidden.unseen, [bit.bit_length() - 1 for bit in hidden.tiles]
    tiles = np.array(numbers, np.uint8)[:, None].repeat(count, axis=1)
    unseen = np.flatnonzero([bit & mask != 0 for bit in hidden.tiles])
    keys = np.frombuffer(shake_256(hidden.seed).digest(4 * count * len(unseen)), "<u4")
    tiles[unseen] = tiles[unseen, 0][keys.reshape(count, -1).T.argsort(axis=0, kind="stable")]
    return tiles


def _mirrored(number: int) -> int:
    """Return the round whose circles move: the second half of an excursion goes back through them.

    So each excursion is as likely as its reverse.
    """
    return number + min(0, EXCURSION - 1 - 2 * (number % EXCURSION))


def _hands(hidden: HiddenTiles, tiles: NDArray[np.int16]) -> dict[int, NDArray[np.int16]]:
    """Return all hands in each world, given the tile in each place of each."""
    unseen, state = (
        np.where(_row(hidden.unseen, 256)[tiles], tiles, np.int16(-1)),
        hidden.game.playing,
    )
    holders = np.array([-1 if place.holder is None else place.holder for place in hidden.places])
    hands = {seat: unseen[:, holders == seat] for seat in range(hidden.game.seats)}
    hand = [bit.bit_length() - 1 for bit in state.hand_bits[state.turn]]
    return {**hands, state.turn: np.array(hand, np.int16)}


@lru_cache(maxsize=1024)
def _row(mask: Mask, width: int) -> NDArray[np.bool_]:
    """Return a mask as an array of truth values, one a tile."""
    data = np.frombuffer(mask.to_bytes(width // 8, "little"), np.uint8)
    return np.unpackbits(data, bitorder="little").astype(bool)


class _Chains:
    """Markov chains over the worlds of some questions, all moved on together.

    Arrays have a row for each place, a column for each question, and a layer for each world.
    """

    def __init__(self, hidden: Sequence[HiddenTiles], count: int) -> None:
        self.hidden, self.count = hidden, count
        self.columns = np.arange(len(hidden))
        self.size = size = len(hidden[0].game.settings.table.tiles)
        self.tiles = np.full((size, len(hidden), count), size, np.uint8)
        """The tile in each place; after the last place, one that may move nowhere."""
        permitted = np.zeros((size, len(hidden), 256), bool)
        for column, question in enumerate(hidden):
            pairs = zip(question.tiles, question.allowed(), strict=True)
            for place, (bit, mask) in enumerate(pairs):
                self.tiles[place, column] = bit.bit_length() - 1
                permitted[place, column] = _row(mask, 256)
        self.permitted = permitted.ravel()
        self.begins = np.arange(permitted.size, step=256, dtype=np.int32).reshape(size, -1, 1)
        self.bounds = _Bounds(hidden, self.tiles) if hidden[0].is_bound else None
        self.rounds = _rounds(hidden[0])

    def sampled(self) -> TileNumbers:
        """Return the tile in each place after all rounds."""
        sizes = [len(question.places) for question in self.hidden]
        coins = self._coins(b"", sizes)
        leave = self._coins(b"1", sizes) & self._coins(b"2", sizes) if self.bounds else coins
        circles = partial(_circles, self.size)
        orders = {
            length: np.stack([circles(size, length)[: self.rounds] for size in sizes], axis=-1)
            for length in (2, 3)
        }
        for number in range(self.rounds):
            index = _mirrored(number) if self.bounds else number
            length = 2 if index % THREES else 3
            circle_count = max(sizes) // length
            step = CIRCLES_PER_TRY if self.bounds else circle_count
            for begin in sorted(range(0, circle_count, step), reverse=index < number):
                end = min(begin + step, circle_count)
                group = orders[length][index, :, begin:end]
                self._move(group, coins[number, begin:end], leave[number, begin])
            if self.bounds and number % EXCURSION == EXCURSION - 1:
                self.tiles = self.bounds.mended(self.tiles)
        return self.tiles

    def _coins(self, purpose: bytes, sizes: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each round, circle and question a coin for each world."""
        coins = np.zeros((self.rounds, max(sizes) // 2, len(sizes), self.count), bool)
        for column, (question, size) in enumerate(zip(self.hidden, sizes, strict=True)):
            shape = self.rounds, size // 2, -(-self.count // 8)
            bits = shake_256(question.seed + purpose).digest(math.prod(shape))
            drawn = np.frombuffer(bits, np.uint8).reshape(shape)
            coins[:, : size // 2, column] = np.unpackbits(drawn, axis=2, count=self.count)
        return coins

    def _move(
        self, circles: NDArray[np.intp], coins: NDArray[np.bool_], leave: NDArray[np.bool_]
    ) -> None:
        """Let the tiles of each circle of places move on by one where the world permits it.

        Two tiles change places or stay, as the coin falls; three go round one way or the other. So
        each change is as likely as its reverse. `leave`: the worlds in which a bound may be broken.
        """
        index = circles, self.columns
        tiles = self.tiles[index]
        reverse = tiles if len(circles) == 2 else tiles[[2, 0, 1]]
        moved = np.where(coins, tiles[[*range(1, len(tiles)), 0]], reverse)
        fit = self.permitted.take(self.begins[index] + moved).all(axis=0)
        moved = np.where(fit, moved, tiles)
        if self.bounds:
            moved = self.bounds.keep(circles, tiles, moved, leave)
        self.tiles[index] = moved


class _Bounds:
    """The limits and orders of some questions, with what they speak of in each world.

    Arrays have a row for each question, a column for each bound, and a layer for each world.
    """

    def __init__(self, hidden: Sequence[HiddenTiles], tiles: TileNumbers) -> None:
        self.rows = np.arange(len(hidden))
        shape = len(hidden), max(len(question.limits) for question in hidden), 1
        self.suit, self.other = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        self.tile_counts = np.ones(shape, np.uint8)
        self.held_tiles = np.zeros((*shape[:2], tiles.shape[2]), np.uint64)
        """The tiles in the places of each limit."""
        self.member = np.zeros((len(tiles), *shape), np.uint64)
        """For each place: all bits where a limit speaks of it, else none."""
        shape = len(hidden), max(len(question.orders) for question in hidden), 1
        self.ordered = np.full((2, *shape), MOST_BOUND, np.uint8)
        """The first and the second tile of each order; where there is none, no tile."""
        self.came = np.zeros((2, *shape[:2], tiles.shape[2]), np.uint8)
        """The places of both."""
        self.came[1] = 1
        self.broken = np.zeros((len(hidden), tiles.shape[2]), np.int8)
        """The number of bounds that each world breaks."""
        self.left = tiles.copy(), self.held_tiles, self.came
        """The worlds as they were when the excursion began, with what the bounds speak of."""
        for number, question in enumerate(hidden):
            for row, limit in enumerate(question.limits):
                places = [n for n, place in enumerate(question.places) if place in limit.places]
                self.suit[number, row], self.other[number, row] = limit.suit, limit.other
                self.tile_counts[number, row] = limit.tile_count
                self.member[places, number, row] = ~np.uint64(0)
                self.held_tiles[number, row] = sum(question.tiles[place] for place in places)
            for row, order in enumerate(question.orders):
                for index, tile in enumerate(order):
                    self.ordered[index, number, row] = tile.bit_length() - 1
                    self.came[index, number, row] = question.tiles.index(tile)

    def keep(
        self,
        circles: NDArray[np.intp],
        tiles: TileNumbers,
        moved: TileNumbers,
        leave: NDArray[np.bool_],
    ) -> TileNumbers:
        """Return the moved tiles, or those of now in a world in which they may not move.

        They may if they break no more bounds than before, or one more where `leave` says so, and
        mend at most one.
        """
        places = circles.reshape(-1, len(self.rows))
        changed = _as_bits(tiles, moved)[:, :, None] & self.member[places, self.rows]
        held_tiles = self.held_tiles ^ np.bitwise_xor.reduce(changed, axis=0)
        left, right = held_tiles & self.suit, held_tiles & self.other
        limits_broken = self._find_excess(left | right) & (left != 0) & (right != 0)
        came = self.came.copy()
        for place, tile in zip(places, moved.reshape(-1, *moved.shape[2:]), strict=True):
            now = place.astype(np.uint8)[:, None, None]
            np.copyto(came, now, where=self.ordered == tile[:, None])
        broken = (limits_broken.sum(axis=1) + (came[0] > came[1]).sum(axis=1)).astype(np.int8)
        more = broken - self.broken
        stays = (np.abs(more) > 1) | ((more == 1) & ~leave)
        self.held_tiles = np.where(stays[:, None], self.held_tiles, held_tiles)
        self.came = np.where(stays[:, None], self.came, came)
        self.broken = np.where(stays, self.broken, broken)
        return np.where(stays, tiles, moved)

    def mended(self, tiles: TileNumbers) -> TileNumbers:
        """End an excursion: return the worlds, those that break a bound as they were before it."""
        before, held_tiles, came = self.left
        is_broken = self.broken > 0
        self.held_tiles = np.where(is_broken[:, None], held_tiles, self.held_tiles)
        self.came = np.where(is_broken[:, None], came, self.came)
        self.broken[:] = 0
        mended = np.where(is_broken, before, tiles)
        self.left = mended.copy(), self.held_tiles, self.came
        return mended

    def _find_excess(self, tiles: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell where so many tiles are held that the limit is broken."""
        for count in range(1, int(self.tile_counts.max(initial=1))):
            tiles = np.where(self.tile_counts > count, tiles & (tiles - np.uint64(1)), tiles)
        excess: NDArray[np.bool_] = tiles != 0
        return excess


def _as_bits(old_tiles: TileNumbers, moved: TileNumbers) -> NDArray[np.uint64]:
    """Return for each place the bits of the tile that leaves it and of that which comes."""
    unit, last = np.uint64(1), np.uint8(MOST_BOUND - 1)
    was, now = (np.minimum(tiles, last).astype(np.uint64) for tiles in (old_tiles, moved))
    bits = (unit << was) ^ (unit << now)
    return bits.reshape(-1, *old_tiles.shape[2:])


@cache
def _circles(size: int, places: int, length: int) -> NDArray[np.intp]:
    """Return for each round the circles of places that may move; they are the same everywhere.

    Where a set of this size has more places, their circles are of the last, which never move.
    """
    drawn = np.frombuffer(shake_256(b"boneyard worlds 1").digest(BOUND_ROUNDS * size * 8), "<u8")
    orders = np.argsort(drawn.reshape(BOUND_ROUNDS, size)[:, :places], axis=1)
    count = places // length
    circles = np.full((BOUND_ROUNDS, length, size // length), size - 1)
    circles[:, :, :count] = orders[:, : length * count].reshape(BOUND_ROUNDS, length, count)
    return circles


# The worlds that may be behind the questions to a seat in a logged game.


STRIDE = 60
"""Changes of the general chain between two worlds that are used."""
MAX_CHAIN_WORLDS = 12
"""The most worlds of a reviewed question that the general chain gives: it is slow."""


class Worlds(NamedTuple):
    """The worlds of some questions, as many of each."""

    questions: list[int]
    """The places of the questions among those that were asked for."""
    each: int
    rounds: RoundBatch
    """All worlds of the first question, then of the next."""
    games: Sequence[Game] = ()
    """The same as games, where options are not always those of arrays."""


def question_worlds(questions: Sequence[AskedQuestion], count: int, slow: int) -> Iterator[Worlds]:
    """Yield `count` worlds of each question, at most `slow` where the general chain finds them.

    A table without hidden tiles has one world, and is itself. The questions are of one ruleset and
    number of seats.
    """
    open_rows = [index for index, question in enumerate(questions) if is_open(question.game)]
    if open_rows:
        games = [questions[index].game for index in open_rows]
        yield Worlds(open_rows, 1, RoundBatch.from_games(games))
    others = {*range(len(questions))}.difference(open_rows)
    hidden = {index: _hidden(questions[index]) for index in others}
    covered = {index: tiles for index, tiles in hidden.items() if tiles}
    if covered:
        yield Worlds([*covered], count, worlds([*covered.values()], count))
    for index in hidden.keys() - covered.keys():
        games = _general_worlds(questions[index], min(count, slow))
        yield Worlds([index], len(games), RoundBatch.from_games(games), games)


def _hidden(question: AskedQuestion) -> HiddenTiles | None:
    """Return what the asked seat cannot see; None if only the general chain knows it.

    A seat that has fouled plays its first option, which tells of the order of its hand.
    """
    if any(move.fallback for move in question.history.acts):
        return None
    try:
        return hidden_tiles(question.game, question.history.deals[-1])
    except UncoveredError:
        return None


def _general_worlds(question: AskedQuestion, count: int) -> list[Game]:
    """Return worlds of any question, a few changes of the deal between one and the next."""
    phase = question.game.playing.phase.name
    until = StopAt(question.seat, len(question.history.acts), phase)
    rng = random.Random(seed_of(question.game))
    chain = alternative_deals(question.history, question.seat, rng, until)
    used = islice(chain, STRIDE - 1, count * STRIDE, STRIDE)
    return [world.game for world in used]
