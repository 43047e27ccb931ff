"""Stakes: fees, antes, chips and the pot. A payment comes off the payer's score, or its side's."""

from msgspec.structs import replace

from arena.engine.state import Game


def chips(game: Game, seat: int) -> int:
    """Chips that a seat holds; only where seats begin with some."""
    return game.rules.stakes.chips + game.scores[seat]


def can_pay(game: Game, seat: int) -> bool:
    """Whether a seat can pay for a tile (C.27); without chips a score may go below 0."""
    stakes = game.rules.stakes
    return stakes.chips == 0 or chips(game, seat) >= stakes.fee


def credit(game: Game, scores: tuple[int, ...], seat: int, points: int) -> tuple[int, ...]:
    """Scores after a seat, and with partners its side, has won or paid."""
    if game.rules.deal.partners:
        return tuple(
            own + points if other % 2 == seat % 2 else own for other, own in enumerate(scores)
        )
    return (*scores[:seat], scores[seat] + points, *scores[seat + 1 :])


def pay(game: Game, seat: int, points: int) -> Game:
    """The game after a seat has paid, into the pot where there is one."""
    return replace(
        game,
        scores=credit(game, game.scores, seat, -points),
        pot=game.pot + points if game.rules.stakes.pot else 0,
    )


def ante(game: Game) -> Game:
    """The game after every seat has paid its ante, or what it has left (Auction Draw)."""
    stakes = game.rules.stakes
    if stakes.ante == 0:
        return game
    payers = range(2 if game.rules.deal.partners else game.seats)
    for seat in payers:
        most = chips(game, seat) if stakes.chips else stakes.ante
        game = pay(game, seat, min(stakes.ante, most))
    return game
