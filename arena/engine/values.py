"""Games as values, for analyses and searches: a move returns another game and changes none.

Each calls the function of the same name in `arena.engine` on a copy. A referee or a rollout, which
needs only the last state, calls that function itself.
"""

from arena import engine
from arena.engine import IllegalOptionError, deal, legal, needs_deal, new_game, pips, places
from arena.engine.deal import chance_decides
from arena.engine.state import Dealt, Game
from protocol.messages import Option

__all__ = [
    "IllegalOptionError",
    "act",
    "act_unchecked",
    "begin",
    "chance_decides",
    "legal",
    "needs_deal",
    "new_game",
    "pips",
    "places",
]


def begin(game: Game, dealt: Dealt) -> Game:
    """Return the game after chance has decided."""
    after = game.copy()
    deal.begin(after, dealt)
    return after


def act(game: Game, option: Option) -> Game:
    """Return the game after one of its legal options. Raises IllegalOptionError for any other."""
    after = game.copy()
    engine.act(after, option)
    return after


def act_unchecked(game: Game, option: Option) -> Game:
    """Do as `act` with an option that was taken from `legal` of this very game."""
    after = game.copy()
    engine.act_unchecked(after, option)
    return after
