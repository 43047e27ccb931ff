"""The lead: the seat that begins a round, and the tile with which it begins."""

from collections.abc import Callable
from typing import assert_never

from arena.engine.shuffle import RandomWords, randbelow, shuffle
from arena.engine.state import Game
from arena.engine.structs import Hand, Lots, Method
from protocol.messages import Guess, Lot, Option
from protocol.ruleset import Deal, Lead, later_lot, set_of_tiles
from protocol.tiles import Tile

ODD_OR_EVEN: tuple[Option, ...] = (Guess("odd"), Guess("even"))


def method(game: Game) -> Method:
    """Return the method that decides the leader of the next round (C.7)."""
    lead, before = game.rules.lead, game.round
    if before is None:
        return lead.first
    how = lead.later
    if before.over == "blocked" and lead.after_blocked != "as_later":
        how = lead.after_blocked
    if before.winner is None and lead.after_tie != "as_later":
        how = lead.after_tie
    return later_lot(lead) if how == "lot" else how


def choose_leader(game: Game, how: Method, stream: RandomWords) -> tuple[int, Lots]:
    """Choose the leader as far as chance or the last round decides; draw the lots for it.

    If a double decides, the seat is the one that draws first if nobody holds the double; with odd
    and even it is the seat that guesses.
    """
    seats, before, deal = game.seats, game.round, game.rules.deal
    match how:
        case "random" | "highest_double" | "double_six":
            return randbelow(stream, seats), ()
        case "highest":
            return _by_lot(max, deal, seats, stream)
        case "lowest":
            return _by_lot(min, deal, seats, stream)
        case "count":
            lots = draw_lots(deal, range(seats), stream)
            return _total(lots) % seats, lots
        case "odd_even":
            return randbelow(stream, seats), draw_lots(deal, range(seats), stream)
        case "rotate" | "same" | "winner":
            assert before is not None
            return _in_turn(game, how, before.leader, before.winner), ()
        case _:
            assert_never(how)


def _in_turn(game: Game, how: str, leader: int, winner: int | None) -> int:
    """Return the leader after another round (C.9, C.10); without a winner the leader stays."""
    if how == "rotate":
        return game.after(leader)
    return leader if how == "same" or winner is None else winner


def draw_lots(deal: Deal, seats: range | list[int], stream: RandomWords) -> Lots:
    """Draw and show a tile for each of these seats, from a freshly shuffled set."""
    tiles = shuffle(stream, set_of_tiles(deal))
    return tuple([Lot(seat, tile) for seat, tile in zip(seats, tiles, strict=False)])


def is_right_guess(lots: Lots, guess: Guess) -> bool:
    """Tell whether the total of the lots is odd or even as the seat guessed (C.11)."""
    return (_total(lots) % 2 == 1) == (guess.parity == "odd")


def _total(lots: Lots) -> int:
    return sum(sum(lot.tile) for lot in lots)


def _by_lot(
    best: Callable[[list[int]], int], deal: Deal, seats: int, stream: RandomWords
) -> tuple[int, Lots]:
    """Draw a tile for each seat; tied seats draw again from a freshly shuffled set (C.8, D)."""
    tied = list(range(seats))
    shown: Lots = ()
    while len(tied) > 1:
        lots = draw_lots(deal, tied, stream)
        shown += lots
        drawn = [sum(lot.tile) for lot in lots]
        wanted = best(drawn)
        tied = [seat for seat, pips in zip(tied, drawn, strict=True) if pips == wanted]
    return tied[0], shown


def lead_weight(tile: Tile) -> tuple[int, int]:
    """Return the weight of a tile: its pips, and among equals its larger end (C.16)."""
    return sum(tile), max(tile)


def holder_of(deal: Deal, how: Method, hands: tuple[Hand, ...]) -> tuple[int, Tile] | None:
    """Return the seat with the double that this method asks for, and that double."""
    wanted = [
        (tile[0], seat, tile)
        for seat, hand in enumerate(hands)
        for tile in hand
        if tile[0] == tile[1] and (how == "highest_double" or tile[0] == deal.highest_pip)
    ]
    return max(wanted)[1:] if wanted else None


def next_leader(hands: tuple[Hand, ...]) -> tuple[int, Tile]:
    """Return the seat with the highest double dealt, or without a double the heaviest tile."""
    held = [(tile, seat) for seat, hand in enumerate(hands) for tile in hand]
    tile, seat = max(held, key=lambda one: (one[0][0] == one[0][1], lead_weight(one[0])))
    return seat, tile


def required(lead: Lead, hand: Hand, won_with: Tile | None) -> Tile | None:
    """Return the only tile that the leader may play first, or None for any (C.14-C.16)."""
    match lead.tile:
        case "any":
            return None
        case "set_double":
            return won_with
        case "highest":
            return next_leader((hand,))[1]
        case _:
            assert_never(lead.tile)
