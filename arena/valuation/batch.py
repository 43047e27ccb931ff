"""The rules of play for rounds side by side, changed in place: arrays around `kernel.c`."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import addressof, c_ubyte
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime
from numpy.typing import DTypeLike, NDArray

from arena import engine
from arena.engine import scoring
from arena.engine.state import Game, Method, Round
from arena.engine.tables import Settings
from arena.machine import has_bounded_addresses
from arena.valuation.terms import MAX_SET_TILES, why_no_values
from protocol.errors import UserError
from protocol.messages import Bid, Call, Draw, GoOn, Option, Pass, Play, PlayTwo
from protocol.ruleset import BY_DOUBLE, MOST_SEATS, Ruleset, Tile, hand_size, set_of_tiles

# A set of tiles, and the rules, as the kernel knows them.


Ints = NDArray[np.signedinteger]
"""Integers of a kind that may differ: masks, or small numbers in as few bytes as they need."""
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
"""Places in a table, or numbers of rounds in a batch."""
PointsArray = NDArray[np.int32]
Structs = NDArray[np.void]
"""Structs of the kernel."""

LEFT_END, RIGHT_END, HIGHER = range(3)
"""The end for a tile. `HIGHER`: that with the higher number if the tile fits it, else the other."""
END_NUMBER = {"left": LEFT_END, "right": RIGHT_END, "lead": HIGHER}
PLAY_MOVE, DRAW_MOVE, ANSWER_MOVE = range(3)
"""Kinds of moves; a pass plays no tile."""
NO_TILE = -1
MOST_ROWS = 4
"""The most rows of a boneyard."""
TIE_BREAKS = "nobody", "blocker", "fewest_tiles", "lowest_end", "outsider"
FORMULAS = "others_minus_own", "others", "everybody", "difference", "one", "nothing"
"""Choices of the rules in the kernel's order."""


def _fields(names: str, kind: DTypeLike, *room: int | tuple[int, ...]) -> list[tuple[Any, ...]]:
    return [(name, kind, *room) for name in names.split()]


RULES_STRUCT = np.dtype(
    _fields("all doubles blank", np.int64)
    + _fields("suits", np.int64, 16)
    + _fields("seats numbers tiles rows last_place stride is_simple", np.int32)
    + _fields("two_tiles two_at_once draw_limit draw_when_able leader_may_draw", np.int32)
    + _fields("draw_ends_turn draw_optional dead_ends_to_end dead_ends_to_call step", np.int32)
    + _fields("partners fee chips pot ante starter must_lead highest_leads", np.int32)
    + _fields("draws_for_double winner_out tie points_out points_blocked", np.int32)
    + _fields("capicu out_with_blank", np.int32)
    + _fields("after own_row from_back side", np.int32, MOST_SEATS)
    + _fields("pips", np.int32, MAX_SET_TILES)
    + _fields("pairs", np.int8, (MAX_SET_TILES, 2))
)
POLICY_STRUCT = np.dtype(
    _fields("fits safe both kinds blocks left place is_stuck", np.int32)
    + _fields("shed", np.int32, MAX_SET_TILES)
)
MOVE_STRUCT = np.dtype(_fields("kind first end second", np.int8))
"""A move of the seat to move: tiles are ranks, or `NO_TILE`; an answer with a tile is a call."""
PLAY_STRUCT = np.dtype(_fields("row worth", np.int32) + _fields("first end second spare", np.int8))
"""A play: of the batch's round `row`, the tiles and the end of the first; the second goes right."""
CHOICE_STRUCT = np.dtype([("plays", np.int64, 3), ("draws", np.int64), ("passes", np.int64)])


def rank(tile: Tile) -> tuple[int, int, int]:
    """Return the rank of a tile, (high, low): doubles first, then more pips, then the higher."""
    return int(tile[0] == tile[1]), sum(tile), tile[0]


class MaskTables:
    """The tables of one ruleset at a table with a number of seats."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        self.rules, self.seats, self.settings = rules, seats, Settings(rules, seats)
        tiles = set_of_tiles(rules.deal)
        self.tiles = tuple(sorted(tiles, key=rank, reverse=True))
        """The tiles in the plain player's order; a tile's place here is its rank."""
        self.ranks = np.array([self.tiles.index(tile) for tile in tiles], np.int8)
        """The rank of each tile by its number in `set_of_tiles`."""
        self.bits = 1 << np.arange(len(tiles))
        """The mask of each tile by its rank."""
        table = self.settings.table
        self.rank_of_bit = {table.bit[tile]: rank for rank, tile in enumerate(self.tiles)}
        """The rank of each tile by its bit in the engine."""
        self.rows = max(self.settings.own_row) + 1
        """The rows of the boneyard."""
        self.round = self._round()
        """The type of a round: the kernel's struct, with as many seats and tiles as there are."""
        self.bytes = np.dtype((np.void, self.round.itemsize))
        """The same without fields, each of which would be copied on its own."""
        self.constants = self._constants()
        """The rules for the kernel."""

    def _round(self) -> np.dtype[np.void]:
        """Return the kernel's struct, in which fields have room for more seats."""
        small = "left right turn ask_count drawn passes last_seat last_tile drawable"
        fields = [
            *_fields("hands", np.int64, self.seats, MOST_SEATS),
            *_fields("points", np.int32, self.seats, MOST_SEATS),
            *_fields("line must", np.int64),
            *_fields("bonus pot", np.int32),
            *_fields("front back", np.int8, self.rows, MOST_ROWS),
            *_fields(small, np.int8),
            *_fields("is_over credited", np.bool_),
            *_fields("spare", np.int8, 5, 5),
            *_fields("stock order", np.int8, len(self.tiles), len(self.tiles)),
        ]
        types = [np.dtype((kind, tuple(sizes[:1]))) for _, kind, *sizes in fields]
        rooms = [np.dtype((kind, tuple(sizes[1:]))).itemsize for _, kind, *sizes in fields]
        offsets = np.cumsum([0, *rooms]).tolist()
        # Rounds begin at multiples of 8 bytes.
        size = -(-offsets.pop() // 8) * 8
        names = [name for name, *_ in fields]
        return np.dtype({"names": names, "formats": types, "offsets": offsets, "itemsize": size})

    def _constants(self) -> Structs:
        rules, settings = self.rules, self.settings
        has = [[pip in tile for tile in self.tiles] for pip in range(rules.deal.highest_pip + 1)]
        others = (self.seats - 1) * (hand_size(rules.deal, self.seats) or 0)
        score, lead = rules.score, rules.lead
        facts: dict[str, Any] = {
            name: getattr(settings, name)
            for name in RULES_STRUCT.names or ()
            if hasattr(settings, name)
        }
        facts |= {
            "all": self.bits.sum(),
            "doubles": self.bits[[high == low for high, low in self.tiles]].sum(),
            "blank": self.bits[[not high for high, _ in self.tiles]].sum(),
            "suits": [self.bits[fits].sum() for fits in has],
            "seats": self.seats,
            "numbers": len(has),
            "tiles": len(self.tiles),
            "rows": self.rows,
            "last_place": len(self.tiles) - others - 1,
            "stride": self.round.itemsize,
            "is_simple": self._is_simple(),
            "partners": rules.deal.partners,
            "pot": rules.stakes.pot,
            "ante": rules.stakes.ante,
            "starter": rules.deal.starter,
            "must_lead": lead.tile != "any",
            "highest_leads": lead.tile == "highest",
            "draws_for_double": lead.missing == "draw_for_it",
            "winner_out": score.winner == "out",
            "tie": TIE_BREAKS.index(score.tie),
            "points_out": FORMULAS.index(score.points_out),
            "points_blocked": FORMULAS.index(score.points_blocked),
            "capicu": score.capicu,
            "out_with_blank": score.out_with_blank,
            "side": [side[0] for side in settings.sides],
            "pips": [settings.pips[bit] for bit in self.rank_of_bit],
            "pairs": self.tiles,
        }
        constants = np.zeros((), RULES_STRUCT)
        for name in RULES_STRUCT.names or ():
            field = constants[name]
            field[tuple(map(slice, np.shape(facts[name])))] = facts[name]
        return constants

    def _is_simple(self) -> bool:
        """Tell whether none of the rules is there that the kernel calls rare."""
        settings, score = self.settings, self.rules.score
        is_odd = settings.fee or settings.two_at_once or settings.draw_ends_turn
        return settings.plain_turns and not (is_odd or score.capicu or score.out_with_blank)

    def sizes(self, masks: Ints) -> NDArray[np.int32]:
        """Return the number of tiles in these hands."""
        return np.bitwise_count(masks).astype(np.int32)


@lru_cache(maxsize=64)
def mask_tables(rules: Ruleset, seats: int) -> MaskTables:
    """Return the tables of a ruleset. Raises UserError for rules that arrays do not play."""
    if why := why_no_values(rules):
        raise UserError(
            f"There are no values for the rules {rules.name}: {why}. Leave out luck and reviews."
        )
    return MaskTables(rules, seats)


# The kernel: a WebAssembly module, whose memory holds some rounds at a time.


PART = 2048
"""The most rounds that the kernel's memory holds."""
MOST_PLAYS = 128
"""The most plays of a round."""
NOISES = 1 << 14
"""Noises in the kernel's table; a power of two."""


@cache
def _compiled() -> tuple[wasmtime.Engine, wasmtime.Module]:
    config = wasmtime.Config()
    if has_bounded_addresses():
        # Else a kernel takes 4 GiB of them, so that no access is checked: reviews take 9 % less.
        config.memory_reservation = config.memory_guard_size = 0
        config.memory_reservation_for_growth = 0
    code = wasmtime.Engine(config)
    return code, wasmtime.Module(code, Path(__file__).with_name("kernel.wasm").read_bytes())


class Kernel(threading.local):
    """The kernel of one thread. No call waits for Python's lock."""

    def __init__(self) -> None:
        """Start it. Raises UserError if it gets no memory."""
        try:
            compiled, module = _compiled()
            self._store = wasmtime.Store(compiled)
            self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        except wasmtime.WasmtimeError as error:
            raise UserError(f"Luck and reviews get no memory here: {error}") from None
        memory = self._exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        begin = addressof(memory.data_ptr(self._store).contents)
        size = memory.data_len(self._store)
        # The module never grows its memory, so it stays where it is.
        self._memory = np.ctypeslib.as_array((c_ubyte * size).from_address(begin))
        self._tables: MaskTables | None = None
        self.policies: object = None
        """The policies that it has."""
        self.seeds = self.array("seeds", np.int64, PART)
        self.gains = self.array("gains", np.int32, (PART, MOST_SEATS))
        self.moves = self.array("moves", MOVE_STRUCT, PART)
        self.choices = self.array("choices", CHOICE_STRUCT, PART)
        self.plays = self.array("options", PLAY_STRUCT, PART * MOST_PLAYS)
        self.rounds: Structs

    def array(self, name: str, dtype: DTypeLike, shape: int | tuple[int, ...]) -> NDArray[Any]:
        """Return an array in the kernel's memory."""
        begin, size = self.call(f"{name}_address"), np.dtype(dtype).itemsize * int(np.prod(shape))
        array: NDArray[Any] = self._memory[begin : begin + size].view(dtype).reshape(shape)
        return array

    def call(self, name: str, *arguments: int) -> Any:
        """Call a function of the kernel."""
        function = self._exports[name]
        assert isinstance(function, wasmtime.Func)
        return function(self._store, *arguments)

    def load(self, tables: MaskTables) -> None:
        """Take the rules of these tables."""
        if self._tables is not tables:
            # It has them once all of them are there: Ctrl-C may come before.
            self._tables = self.policies = None
            self.array("rules", RULES_STRUCT, 1)[0] = tables.constants
            self.rounds = self.array("rounds", tables.bytes, PART)
            self.call("begin_rules")
            self._tables = tables


@cache
def _kernels() -> Kernel:
    return Kernel()


def kernel_of(tables: MaskTables) -> Kernel:
    """Return this thread's kernel with the rules of these tables."""
    kernel = _kernels()
    kernel.load(tables)
    return kernel


# Rounds side by side, changed in place: what the seat to move may do, and what follows from it.


NumberArray = NDArray[np.integer]
"""Numbers of tiles, seats or rounds. A tile's number is its place in `set_of_tiles`."""
RowChoice = slice | Places
"""Some rounds of a batch."""
ALL_ROUNDS = slice(None)


class _Field:
    """An array with a field of all rounds; its last axis is the round."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, batch: "RoundBatch", owner: type) -> NDArray[Any]:
        return batch.rounds[self._name].T

    def __set__(self, batch: "RoundBatch", values: NDArray[Any]) -> None:
        batch.rounds[self._name].T[...] = values


class RoundBatch:
    """Rounds of one ruleset and number of seats."""

    hands = _Field()
    """The tiles of each seat, as masks."""
    line = _Field()
    """The tiles in the line, as a mask."""
    must = _Field()
    """The only tile that may be led, as a mask; 0 if any may."""
    points = _Field()
    """Points of each seat, fees paid, without those of a round that ended in this batch."""
    bonus = _Field()
    """Extra points for winning a round of this number."""
    pot = _Field()
    front = _Field()
    """For each row of the boneyard the place in `stock` of its first tile."""
    back = _Field()
    """The place after its last tile."""
    left = _Field()
    right = _Field()
    """The numbers at the ends of the line; -1 before the first tile."""
    turn = _Field()
    """The seat to move; while seats are asked for a call, the seat that moves after that."""
    ask_count = _Field()
    """The number of seats that are still to be asked whether they call the round blocked."""
    drawn = _Field()
    """Tiles drawn in this turn."""
    passes = _Field()
    """Passes since the last play or draw."""
    last_seat = _Field()
    """The seat that played last; -1: none did."""
    drawable = _Field()
    """The number of tiles that may still be drawn."""
    is_over = _Field()
    credited = _Field()
    """True if `points` have what the round brought: it was over when the batch was made."""
    stock = _Field()
    """The ranks of the tiles of the boneyard."""
    order = _Field()
    """For each tile, by its rank, its place in its hand; a tile drawn later has a later one."""

    def __init__(self, tables: MaskTables, rounds: Structs) -> None:
        self.tables, self.settings = tables, tables.settings
        self.rounds = rounds.view(tables.round)
        self._bytes = rounds.view(tables.bytes)

    @classmethod
    def from_games(cls, games: Sequence[Game]) -> "RoundBatch":
        """Return a batch of games of one ruleset and number of seats, tiles dealt in each.

        Where an auction is open nobody bids any more. Raises UserError for rules that arrays do
        not play.
        """
        games = [_auctioned(game) for game in games]
        return _batch_of(mask_tables(games[0].rules, games[0].seats), games)

    @classmethod
    def in_orders(cls, games: Sequence[Game], orders: Sequence[NumberArray]) -> "RoundBatch":
        """Return each game once for each of its orders of the boneyard, see `lay_stock`."""
        batch = cls.from_games(games).repeat(np.array([len(part) for part in orders]))
        padded, begin = np.zeros((len(batch), max(part.shape[1] for part in orders)), np.int16), 0
        for part in orders:
            padded[begin : begin + len(part), : part.shape[1]] = part
            begin += len(part)
        batch.lay_stock(padded)
        return batch

    @staticmethod
    def joined(parts: "Sequence[RoundBatch]") -> "RoundBatch":
        """Return the rounds of all parts, in their order."""
        return RoundBatch(parts[0].tables, np.concatenate([part._bytes for part in parts]))

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self.rounds)

    # --- copies ---

    def select(self, rows: NumberArray) -> "RoundBatch":
        """Return a copy of these rounds, in their order; a number may come more than once."""
        return RoundBatch(self.tables, self._bytes.take(rows))

    def repeat(self, count: int | NumberArray) -> "RoundBatch":
        """Return each round `count` times, one after the other; or a count for each."""
        return RoundBatch(self.tables, self._bytes.repeat(count))

    def replace(self, rows: Places, other: "RoundBatch") -> None:
        """Put the rounds of another batch in the places of rows."""
        self._bytes[rows] = other._bytes

    # --- other tiles ---

    def lay_stock(self, orders: NumberArray) -> None:
        """Lay these tiles in the boneyards.

        `orders` has the tiles' numbers for each round, or one order for all: first those of the
        first row of the boneyard from front to back, then of the next. The rows keep their lengths;
        numbers beyond them are ignored.
        """
        lengths, width = self.back - self.front, orders.shape[-1]
        if width < lengths.sum(axis=0).max(initial=0):
            raise ValueError("An order has fewer tiles than the boneyard. Name all of them.")
        self.rounds["stock"][:, :width] = self.tables.ranks.take(orders)
        self.back = np.cumsum(lengths, axis=0)
        self.front = self.back - lengths

    def set_hands(self, hands: Mapping[int, NumberArray]) -> None:
        """Replace the hands of these seats.

        Each seat's array has the tiles' numbers for each round, or one hand for all; -1 is no tile.
        """
        bits = np.append(self.tables.bits.take(self.tables.ranks), 0)
        for seat, tiles in hands.items():
            self.hands[seat] = np.bitwise_or.reduce(bits[tiles], axis=-1)
            tiles = np.broadcast_to(tiles, (len(self), tiles.shape[-1]))
            rows, places = np.nonzero(tiles >= 0)
            self.order[self.tables.ranks.take(tiles[rows, places]), rows] = places

    # --- the lead ---

    def deal(self, orders: NumberArray, method: Method) -> None:
        """Deal rounds that were only laid out, and begin them, see `find_leaders`.

        `orders` has the numbers of all tiles for each round: the hands, and then the boneyard.
        """
        seats = self.tables.seats
        size = hand_size(self.tables.rules.deal, seats) or 0
        self.set_hands({n: orders[:, n * size : (n + 1) * size] for n in range(seats)})
        self.lay_stock(orders[:, seats * size :])
        self.find_leaders(method)

    def find_leaders(self, method: Method) -> None:
        """Begin rounds that were only laid out, see `arena.engine.deal.lay_out`; all deals count.

        `method`: that by which leaders are decided. The seats draw for the lead from the boneyard
        as it lies, or its front tile is turned up.
        """
        # Nobody holds a higher tile than the 6-6, which is the favourite.
        wanted = 1 if method == "double_six" else int(self.tables.constants["doubles"])
        for kernel, part in self._parts(ALL_ROUNDS, writes=True):
            kernel.call("begin", len(part), method in BY_DOUBLE, wanted)

    # --- what the kernel knows of rounds ---

    def _parts(self, rows: RowChoice, *, writes: bool = False) -> "Iterator[tuple[Kernel, range]]":
        """Yield the kernel with some of these rounds at a time, and their places among them.

        `writes`: what it changes is copied back.
        """
        kernel = kernel_of(self.tables)
        count = len(self) if isinstance(rows, slice) else len(rows)
        for begin in range(0, count, PART):
            part = range(begin, min(begin + PART, count))
            places: RowChoice = slice(part.start, part.stop)
            if not isinstance(rows, slice):
                places = rows[places]
            kernel.rounds[: len(part)] = self._bytes[places]
            yield kernel, part
            if writes:
                self._bytes[places] = kernel.rounds[: len(part)]

    def choices(self, rows: RowChoice = ALL_ROUNDS) -> Structs:
        """Return what the seat to move may do in these rounds.

        `plays`: the tiles for the left end, for the right and to lead. Where a turn plays two tiles
        there are tiles only if two, or the last, can be played.
        """
        parts = [np.zeros(0, CHOICE_STRUCT)]
        for kernel, part in self._parts(rows):
            kernel.call("find_choices", len(part))
            parts.append(kernel.choices[: len(part)].copy())
        return np.concatenate(parts)

    def plays(self, *, with_worth: bool = False) -> Structs:
        """Return all plays, and a pass where there is none; the rounds are ascending.

        `with_worth`: their worth by the policies that the kernel has.
        """
        parts = [np.zeros(0, PLAY_STRUCT)]
        for kernel, part in self._parts(ALL_ROUNDS):
            count = kernel.call("find_plays", len(part), with_worth)
            parts.append(kernel.plays[:count].copy())
            parts[-1]["row"] += part.start
        return np.concatenate(parts)

    def play_out(self, *, by_policies: bool, seeds: Places | None) -> PointsArray:
        """Return what each seat (a column) gains until its round is over; see `policy.play_out`."""
        gains = np.empty((len(self), self.tables.seats), np.int32)
        for kernel, part in self._parts(ALL_ROUNDS):
            if seeds is not None:
                kernel.seeds[: len(part)] = seeds[part.start : part.stop]
            kernel.call("play_out", len(part), by_policies, seeds is not None)
            gains[part.start : part.stop] = kernel.gains[: len(part), : self.tables.seats]
        return gains

    # --- moves ---

    def take(self, options: Sequence[Option], numbers: NumberArray) -> None:
        """Take an option in each round; `numbers` are those of options that are legal there.

        Raises ValueError for an option that no array of states knows: act on the games instead.
        """
        self.act(ALL_ROUNDS, np.array([*map(self.move, options)], MOVE_STRUCT)[numbers])

    def move(self, option: Option) -> tuple[int, int, int, int]:
        """Return an option as a `MOVE_STRUCT`."""
        rank_of = self.tables.tiles.index
        match option:
            case Play():
                return PLAY_MOVE, rank_of(option.tile), END_NUMBER[option.end], NO_TILE
            case PlayTwo():
                return PLAY_MOVE, rank_of(option.left), LEFT_END, rank_of(option.right)
            case Pass():
                return PLAY_MOVE, NO_TILE, LEFT_END, NO_TILE
            case Draw():
                return DRAW_MOVE, NO_TILE, LEFT_END, NO_TILE
            case Call() | GoOn():
                return ANSWER_MOVE, 0 if isinstance(option, Call) else NO_TILE, LEFT_END, NO_TILE
            case _:
                raise ValueError(f"Arrays of states know no such option: {option}.")

    def play(self, rows: RowChoice, first: NumberArray, end: NumberArray, second: Any) -> None:
        """Play tiles in these rounds, or pass: ranks, or `NO_TILE`; the second goes right."""
        moves = np.zeros(len(first), MOVE_STRUCT)
        moves["first"], moves["end"], moves["second"] = first, end, second
        self.act(rows, moves)

    def draw(self, rows: Places) -> None:
        """Draw in these rounds the tile that lies next."""
        self.act(rows, np.array([self.move(Draw())], MOVE_STRUCT).repeat(len(rows)))

    def act(self, rows: RowChoice, moves: Structs) -> None:
        """Make these moves, one in each of these rounds."""
        for kernel, part in self._parts(rows, writes=True):
            kernel.moves[: len(part)] = moves[part.start : part.stop]
            kernel.call("act", len(part))

    # --- points ---

    @property
    def gains(self) -> PointsArray:
        """Points that each seat gained by the ends of rounds in this batch, the pot included."""
        gains = np.zeros((self.tables.seats, len(self)), np.int32)
        rows = np.flatnonzero(self.is_over)
        for kernel, part in self._parts(rows):
            kernel.call("find_gains", len(part))
            gains[:, rows[part]] = kernel.gains[: len(part), : self.tables.seats].T
        return gains

    @property
    def scores(self) -> PointsArray:
        """Points of each seat (a column) in each round (a row), what its end brought included."""
        scores: PointsArray = (self.points + self.gains).T
        return scores


def _auctioned(game: Game) -> Game:
    """Return a game without an open auction: nobody bids any more."""
    if game.playing.phase.name != "auction":
        return game
    game = game.copy()
    while game.playing.phase.name == "auction":
        engine.act_unchecked(game, Bid(0))
    return game


def _batch_of(tables: MaskTables, games: Sequence[Game]) -> RoundBatch:
    states, width = [game.playing for game in games], len(tables.tiles)
    rank_of = tables.rank_of_bit.__getitem__
    bit = dict(zip(tables.rank_of_bit, tables.bits.tolist(), strict=True)).__getitem__
    batch = RoundBatch(tables, np.zeros(len(games), tables.round))
    stocks, orders = np.zeros((2, len(games), width), np.int8)
    for state, stock, order in zip(states, stocks, orders, strict=True):
        tiles = [*chain(*state.stock_rows)]
        stock[: len(tiles)] = [*map(rank_of, tiles)]
        for hand in state.hand_bits:
            order[[*map(rank_of, hand)]] = range(len(hand))
    lengths = np.array([[len(row) for row in state.stock_rows] for state in states]).T
    lying = np.array([sum(map(bit, chain(*state.stock_rows))) for state in states])
    batch.rounds["stock"], batch.rounds["order"] = stocks, orders
    batch.back = np.cumsum(lengths, axis=0)
    batch.front = batch.back - lengths
    batch.hands = np.array(
        [[sum(map(bit, hand)) for hand in state.hand_bits] for state in states]
    ).T
    batch.line = tables.constants["all"] & ~np.bitwise_or.reduce(batch.hands) & ~lying
    batch.points = np.array([game.scores for game in games]).T
    batch.pot = np.array([game.pot for game in games])
    for name, fact in _FACTS.items():
        batch.rounds[name] = [fact(state) for state in states]
    batch.credited = batch.is_over
    batch.must = np.array([_must_lead(tables, state) for state in states])
    score = tables.rules.score
    batch.bonus = np.array([scoring.bonus_of_round(score, state.number) for state in states])
    return batch


_FACTS: dict[str, Callable[[Round], int]] = {
    "left": lambda state: state.ends.left,
    "right": lambda state: state.ends.right,
    "turn": lambda state: _turn(state),
    "ask_count": lambda state: len(state.phase.queue),
    "drawn": lambda state: state.drawn,
    "passes": lambda state: state.passes,
    "last_seat": lambda state: _last_seat(state),
    "drawable": lambda state: state.drawable,
    "is_over": lambda state: state.over is not None,
}
"""Fields that are facts of a round."""


def _must_lead(tables: MaskTables, state: Round) -> int:
    tile = state.phase.must_lead
    return 0 if tile is None or state.layout else 1 << tables.tiles.index(tile)


def _turn(state: Round) -> int:
    return state.phase.next_seat if state.phase.name == "call" else state.turn


def _last_seat(state: Round) -> int:
    last = scoring.last_play(state)
    return last.seat if last else -1
