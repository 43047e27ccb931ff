"""The boneyard: the order in which tiles are drawn, the reserve that is not, and the auction.

A scattered boneyard lies in rows, one for each two seats; one of the two draws from the front and
the other from the back. All face-down tiles are equally likely, so the chances of the game are the
same as with one pile; but when the board is played again with other seats' bots, one seat's draws
do not shift another's.
"""

from typing import assert_never

from msgspec.structs import replace

from arena.engine import scoring
from arena.engine.state import Game, Round, TileRow
from arena.engine.tables import Bit, Settings
from protocol.messages import Bade, Bid, Drew, TurnedUp
from protocol.ruleset import Boneyard, Turn

AUCTIONED_TILES = 2
"""The number of tiles that are auctioned together (C.26)."""
MOST_BIDS = 400
"""The most bids that a question lists besides a check and the whole of a seat's chips.

With more the options would not fit into a line of the protocol (`MAX_LINE`).
"""


def arrange(boneyard: Boneyard, tiles: TileRow, seats: int) -> tuple[TileRow, ...]:
    """Lay the tiles that were not dealt in rows."""
    match boneyard.order:
        case "row":
            return (tiles,)
        case "scattered":
            rows = (seats + 1) // 2
            if rows == 1:
                return (tiles,)
            n = len(tiles)
            return tuple([tiles[n * row // rows : n * (row + 1) // rows] for row in range(rows)])
        case _:
            assert_never(boneyard.order)


def drawable(boneyard: Boneyard, turn: Turn, stock_size: int) -> int:
    """Return the number of tiles that may still be drawn (C.25, C.26): 0 in a block game."""
    return max(0, stock_size - boneyard.reserve) if turn.draw_limit else 0


def take(settings: Settings, state: Round, seat: int) -> Bit:
    """Take from the boneyard the tile that this seat draws next.

    From a single row all seats draw at the same end (C Egypt); see `Settings`.
    """
    rows = state.stock_rows
    _count_down(state)
    # A seat whose own row is empty draws from the next row that is not, in a circle.
    index = settings.own_row[seat]
    while not rows[index]:
        index = (index + 1) % len(rows)
    return rows[index].pop(-1 if settings.from_back[seat] else 0)


def _count_down(state: Round) -> None:
    """Count a tile that leaves the boneyard; once only the reserve is left none is drawable."""
    state.stock_size -= 1
    if state.drawable:
        state.drawable -= 1


def turn_up(state: Round) -> None:
    """Begin the line with the front tile of the first row that has any (E deal)."""
    row = next(row for row in state.stock_rows if row)
    tile = state.table.tile[row.pop(0)]
    _count_down(state)
    state.lay([tile])
    state.history.append(TurnedUp(tile))


def draw_tile(game: Game, state: Round, seat: int) -> None:
    """Let a seat draw a tile; the caller decides whose turn it is then."""
    bit = take(game.settings, state, seat)
    state.hand_bits[seat].append(bit)
    state.hand_masks[seat] |= bit
    state.held_mask |= bit
    state.drawn += 1
    state.passes = 0
    state.history.append(Drew(seat, state.table.tile[bit]))


def auction_opens(state: Round) -> bool:
    """Tell whether the last two tiles are auctioned now, once in a round (C.26)."""
    return not state.phase.auctioned and state.stock_size == AUCTIONED_TILES


def auction(game: Game, state: Round) -> None:
    """Open the auction: it goes round the table twice, from the seat whose turn it is (C.26)."""
    queue = game.order(state.turn) * 2
    state.phase = replace(state.phase, name="auction", queue=queue, next_seat=state.turn)


def legal_bids(game: Game, state: Round) -> tuple[Bid, ...]:
    """Return a check, and the bids above the highest so far, up to the seat's chips.

    A question must fit into a line: of very many bids only the lowest are listed, and the highest.
    """
    higher = range(state.phase.bid + 1, scoring.chips(game, state.turn) + 1)
    offers = [*higher[:MOST_BIDS], *higher[MOST_BIDS:][-1:]]
    return Bid(0), *(Bid(chips) for chips in offers)


def apply_bid(game: Game, state: Round, bid: Bid) -> None:
    """Bid, or check; after the last bid the highest bidder pays and draws both tiles."""
    seat, phase = state.turn, state.phase
    state.history.append(Bade(seat, bid.chips))
    if bid.chips:
        phase = replace(phase, bid=bid.chips, bidder=seat)
    queue = phase.queue[1:]
    if queue:
        state.turn, state.phase = queue[0], replace(phase, queue=queue)
        return
    state.turn = phase.next_seat
    state.phase = replace(phase, name="play", queue=(), auctioned=True)
    if phase.bid == 0:
        return
    for _ in range(AUCTIONED_TILES):
        draw_tile(game, state, phase.bidder)
    state.drawn = 0
    scoring.pay(game, phase.bidder, phase.bid)
