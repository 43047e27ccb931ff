"""Stakes: fees, antes, chips and the pot. A payment comes off the payer's score, or its side's."""

from msgspec.structs import replace

from arena.engine.state import Game
from protocol.ruleset import count_sides, side_of


def chips(game: Game, seat: int) -> int:
    """Return the chips that a seat holds; only for rules with chips."""
    return game.rules.stakes.chips + game.scores[seat]


def can_pay(game: Game, seat: int) -> bool:
    """Tell whether a seat can pay for a tile (C.27); without chips a score may go below 0."""
    stakes = game.rules.stakes
    return stakes.chips == 0 or chips(game, seat) >= stakes.fee


def credit(game: Game, scores: tuple[int, ...], seat: int, points: int) -> tuple[int, ...]:
    """Return the scores after a seat, and with partners its side, has won or paid points."""
    partners = game.rules.deal.partners
    side = side_of(partners, seat)
    return tuple(
        own + points if side_of(partners, other) == side else own
        for other, own in enumerate(scores)
    )


def pay(game: Game, seat: int, points: int) -> Game:
    """Return the game after a seat has paid; the points go into the pot if the rules have one."""
    return replace(
        game,
        scores=credit(game, game.scores, seat, -points),
        pot=game.pot + points if game.rules.stakes.pot else 0,
    )


def ante(game: Game) -> Game:
    """Return the game after each seat has paid its ante, or all it has left (Auction Draw)."""
    stakes = game.rules.stakes
    if stakes.ante == 0:
        return game
    for seat in range(count_sides(game.rules.deal.partners, game.seats)):
        most = chips(game, seat) if stakes.chips else stakes.ante
        game = pay(game, seat, min(stakes.ante, most))
    return game
