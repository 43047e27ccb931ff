"""How a turn, a round and a game close: who moves next, who has won, and whether it goes on."""

from msgspec.structs import replace

from arena.engine import boneyard, stakes
from arena.engine import round_end as end
from arena.engine import scoring as score
from arena.engine.state import Game, Round
from protocol.messages import WhyGame


def next_turn(game: Game, state: Round) -> Game:
    """A turn is over: somebody is out, or the last tiles are auctioned, or the next one moves."""
    if state.out is not None:
        return scored(game, replace(state, over="out"))
    if boneyard.auction_opens(game, state):
        return replace(game, round=boneyard.auction(game, state))
    return settle(game, state)


def settle(game: Game, state: Round) -> Game:
    """The turn has moved on: the round may be blocked, or be called so."""
    if end.blocked(game, state):
        return scored(game, replace(state, over="blocked"))
    if state.line and end.can_be_called(game, state):
        state = end.ask_everybody(game, state)
    return decide_turn(game, state)


def decide_turn(game: Game, state: Round) -> Game:
    """The same game at another moment of its round; `replace` would cost more than the move."""
    return Game(
        game.rules,
        game.seats,
        game.target,
        game.step,
        game.scores,
        game.pot,
        state,
        game.points,
    )


def places(game: Game, fouled: frozenset[int] = frozenset()) -> tuple[int, ...]:
    """Place of each seat, 1 for the highest score; equals share a place, as partners do.

    Seats that fouled, and their partners, share the last place.
    """
    partners = game.rules.deal.partners
    last = {seat % 2 for seat in fouled} if partners else fouled
    ranks = [
        (-1, 0) if (seat % 2 if partners else seat) in last else (0, score)
        for seat, score in enumerate(game.scores)
    ]
    sides = ranks[:2] if partners else ranks
    return tuple(1 + sum(other > own for other in sides) for own in ranks)


def scored(game: Game, finished: Round) -> Game:
    """The round is over: points to the winner, and the pot."""
    before, winner = game.scores, score.winner(game, finished)
    if winner is not None:
        worth = score.round_points(game, finished, winner) + game.pot
        game = replace(game, scores=stakes.credit(game, before, winner, worth), pot=0)
    points = tuple(new - old for old, new in zip(before, game.scores, strict=True))
    over = _game_over(game, finished.number)
    return replace(game, round=replace(finished, winner=winner), points=points, over=over)


def _game_over(game: Game, rounds: int) -> WhyGame | None:
    """The target ends the game for a single best score; equal scores play on."""
    limits = game.rules.game
    if limits.rounds:
        return "rounds" if rounds >= limits.rounds else None
    sides = game.scores[:2] if game.rules.deal.partners else game.scores
    best = max(sides)
    if best >= game.target and sides.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= limits.max_rounds else None
