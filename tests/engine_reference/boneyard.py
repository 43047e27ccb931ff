"""The boneyard: the order in which tiles are drawn, the reserve that is not, and the auction.

A scattered boneyard lies in rows, one for each two seats; one of the two draws from the front and
the other from the back. All face-down tiles are equally likely, so the chances of the game are the
same as with one pile; but when the board is played again with other seats' bots, one seat's draws
do not shift another's.
"""

from itertools import pairwise
from typing import assert_never

from msgspec.structs import replace

from protocol.messages import Bade, Bid, Drew
from protocol.ruleset import Boneyard, Turn
from protocol.tiles import Tile
from tests.engine_reference import scoring
from tests.engine_reference.state import Game, Round, Row

LAST = 2
"""The number of tiles that are auctioned together (C.26)."""
MOST_BIDS = 400
"""The most bids that a question lists besides a check and the whole of a seat's chips.

With more the options would not fit into a line of the protocol (`MAX_LINE`).
"""


def arrange(boneyard: Boneyard, tiles: Row, seats: int) -> tuple[Row, ...]:
    """Lay the tiles that were not dealt in rows."""
    match boneyard.order:
        case "row":
            return (tiles,)
        case "scattered":
            rows = (seats + 1) // 2
            cuts = [len(tiles) * row // rows for row in range(rows + 1)]
            return tuple(tiles[begin:end] for begin, end in pairwise(cuts))
        case _:
            assert_never(boneyard.order)


def count(stock: tuple[Row, ...]) -> int:
    """Return the number of tiles in the boneyard."""
    return sum(map(len, stock))


def drawable(boneyard: Boneyard, turn: Turn, stock: tuple[Row, ...]) -> int:
    """Return the number of tiles that may still be drawn (C.25, C.26): 0 in a block game."""
    if turn.draw_limit == 0:
        return 0
    return max(0, count(stock) - boneyard.reserve)


def draw(boneyard: Boneyard, seat: int, stock: tuple[Row, ...]) -> tuple[Tile, tuple[Row, ...]]:
    """Return the tile that this seat draws next, and the boneyard that is left.

    From a single row all seats draw at the same end (C Egypt).
    """
    if boneyard.order == "row":
        return stock[0][0], (stock[0][1:],)
    # A seat whose own row is empty draws from the next row that is not, in a circle.
    own = min(seat // 2, len(stock) - 1)
    at = next(at for at in (*range(own, len(stock)), *range(own)) if stock[at])
    row = stock[at]
    tile, rest = (row[-1], row[:-1]) if seat % 2 else (row[0], row[1:])
    return tile, (*stock[:at], rest, *stock[at + 1 :])


def draw_tile(game: Game, state: Round, seat: int) -> Round:
    """Return the round after a seat has drawn a tile; the caller decides whose turn it is then."""
    rules = game.rules
    tile, stock = draw(rules.boneyard, seat, state.stock)
    return Round(
        state.number,
        state.leader,
        state.turn,
        (*state.hands[:seat], (*state.hands[seat], tile), *state.hands[seat + 1 :]),
        stock,
        drawable(rules.boneyard, rules.turn, stock),
        state.line,
        state.drawn + 1,
        0,
        (*state.events, Drew(seat, tile)),
        state.aside,
    )


def auction_opens(game: Game, state: Round) -> bool:
    """Tell whether the last two tiles are auctioned now, once in a round (C.26)."""
    return game.rules.boneyard.auction and not state.aside.auctioned and count(state.stock) == LAST


def auction(game: Game, state: Round) -> Round:
    """Open the auction: it goes round the table twice, from the seat whose turn it is (C.26)."""
    queue = game.order(state.turn) * 2
    aside = replace(state.aside, phase="auction", queue=queue, then=state.turn)
    return replace(state, aside=aside)


def legal_bids(game: Game, state: Round) -> tuple[Bid, ...]:
    """Return a check, and the bids above the highest so far, up to the seat's chips.

    A question must fit into a line: of very many bids only the lowest are listed, and the highest.
    """
    higher = range(state.aside.bid + 1, scoring.chips(game, state.turn) + 1)
    listed = [*higher[:MOST_BIDS], *higher[MOST_BIDS:][-1:]]
    return Bid(0), *(Bid(chips) for chips in listed)


def apply_bid(game: Game, state: Round, bid: Bid) -> Game:
    """Return the game after a bid; after the last bid the highest bidder pays and draws both."""
    seat, aside = state.turn, state.aside
    if bid.chips:
        aside = replace(aside, bid=bid.chips, bidder=seat)
    queue = aside.queue[1:]
    events = (*state.events, Bade(seat, bid.chips))
    if queue:
        aside = replace(aside, queue=queue)
        return replace(game, round=replace(state, turn=queue[0], events=events, aside=aside))
    done = replace(aside, phase="play", queue=(), auctioned=True)
    state = replace(state, turn=aside.then, events=events, aside=done)
    if aside.bid == 0:
        return replace(game, round=state)
    for _ in range(LAST):
        state = draw_tile(game, state, aside.bidder)
    return replace(scoring.pay(game, aside.bidder, aside.bid), round=replace(state, drawn=0))
