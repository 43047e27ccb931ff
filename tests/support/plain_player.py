"""The plain player of all playouts by the engine: the oracle for playouts in arrays."""

from arena import engine
from arena.engine.state import Game, Round
from arena.valuation.batch import rank
from protocol.messages import Call, GoOn, Option, Play, PlayTwo
from protocol.ruleset import side_of

Rank = tuple[int, int, int]


def plain_option(game: Game) -> Option:
    """Return the plain player's choice among the legal options; a round must be in play.

    A tile that fits both ends covers the higher number. Without a play it draws, else it passes;
    it keeps each deal, bids nothing, and calls a blocked round only with the lightest hand.
    """
    options, state = engine.legal(game), game.playing
    first = options[0]
    match first:
        case Play():
            plays = [one for one in options if isinstance(one, Play)]
            return max(plays, key=lambda one: (rank(one.tile), _covered(state, one)))
        case PlayTwo():
            pairs = [one for one in options if isinstance(one, PlayTwo)]
            return max(pairs, key=lambda one: _rank_of_two(state, one))
        case Call():
            return first if is_lightest(game, state.turn) else GoOn()
        case _:
            return first


def _covered(state: Round, play: Play) -> int:
    return state.ends.left if play.end == "left" else state.ends.right


def _rank_of_two(state: Round, pair: PlayTwo) -> tuple[Rank, Rank]:
    """Return the ranks of a pair: of the tile on the higher number, then of the other."""
    one, two = rank(pair.left), rank(pair.right)
    if state.ends.left == state.ends.right:
        return max(one, two), min(one, two)
    return (one, two) if state.ends.left > state.ends.right else (two, one)


def is_lightest(game: Game, seat: int) -> bool:
    """Tell whether a seat's side holds fewer pips than each other side."""
    partners, held = game.rules.deal.partners, dict[int, int]()
    for other, pips in enumerate(engine.pips(game)):
        side = side_of(partners, other)
        held[side] = held.get(side, 0) + pips
    own = held.pop(side_of(partners, seat))
    return own < min(held.values())


def play_on(game: Game) -> None:
    """Play the round of a game on to its end with the plain player in every seat."""
    while game.playing.over is None:
        engine.act_unchecked(game, plain_option(game))
