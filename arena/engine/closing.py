"""The end of a turn, a round and a game: the next seat to move, the points, the places."""

from msgspec.structs import replace

from arena.engine import boneyard
from arena.engine import round_end as end
from arena.engine import scoring as score
from arena.engine.state import Game, Round
from protocol.messages import WhyGame
from protocol.ruleset import count_sides, side_of


def next_turn(game: Game, state: Round) -> Game:
    """End a turn: a seat went out, or the last tiles are auctioned, or the next seat moves."""
    if state.out is not None:
        return scored(game, replace(state, over="out"))
    if boneyard.auction_opens(game, state):
        return replace(game, round=boneyard.auction(game, state))
    return settle(game, state)


def settle(game: Game, state: Round) -> Game:
    """Begin a turn: first see whether the round is blocked, or a seat may call it so."""
    if end.blocked(game, state):
        return scored(game, replace(state, over="blocked"))
    if state.line and end.can_be_called(game, state):
        state = end.ask_everybody(game, state)
    return decide_turn(game, state)


def decide_turn(game: Game, state: Round) -> Game:
    """Return the game with another state of its round; `replace` would cost more than the move."""
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
    """Return the place of each seat, 1 for the highest score; equal scores share a place.

    So do partners.

    Seats that fouled, and their partners, share the last place.
    """
    partners = game.rules.deal.partners
    last = {side_of(partners, seat) for seat in fouled}
    ranks = [
        (-1, 0) if side_of(partners, seat) in last else (0, score)
        for seat, score in enumerate(game.scores)
    ]
    sides = ranks[: count_sides(partners, game.seats)]
    return tuple(1 + sum(other > own for other in sides) for own in ranks)


def scored(game: Game, finished: Round) -> Game:
    """End a round: credit its points and the pot to the winner."""
    before, winner = game.scores, score.winner(game, finished)
    if winner is not None:
        worth = score.round_points(game, finished, winner) + game.pot
        game = replace(game, scores=score.credit(game, before, winner, worth), pot=0)
    points = tuple(new - old for old, new in zip(before, game.scores, strict=True))
    over = _game_over(game, finished.number)
    return replace(game, round=replace(finished, winner=winner), points=points, over=over)


def _game_over(game: Game, rounds: int) -> WhyGame | None:
    """Return why the game is over, or None: the target needs a single best score (C score)."""
    limits = game.rules.game
    if limits.rounds:
        return "rounds" if rounds >= limits.rounds else None
    sides = game.scores[: count_sides(game.rules.deal.partners, game.seats)]
    best = max(sides)
    if best >= game.target and sides.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= limits.max_rounds else None
