"""A ruleset explained in plain English: every sentence is made from the choices themselves."""

from itertools import chain

from arena.rules import explain_play as play
from arena.rules import explain_scoring as scoring
from arena.rules import explain_setup as start
from arena.rules.english import Sentence
from protocol.ruleset import Ruleset

PARTS = (
    start.players_and_tiles,
    start.the_lead,
    play.the_turn,
    play.the_boneyard,
    play.the_stakes,
    play.end_of_a_round,
    scoring.scoring,
    scoring.the_game,
)
"""The parts of a game, in the order in which a player meets them."""


def explain_ruleset(rules: Ruleset) -> list[Sentence]:
    """Return all that a player must know to play this game, in the order of the headings."""
    return list(chain.from_iterable(part(rules) for part in PARTS))
