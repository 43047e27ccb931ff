"""A ruleset explained in plain English: every sentence is made from the choices themselves."""

from collections.abc import Callable, Iterator

from arena.rules import explain_play as play
from arena.rules import explain_scoring as scoring
from arena.rules import explain_setup as start
from arena.rules.english import Sentence
from protocol.ruleset import Ruleset

PARTS: dict[str, Callable[[Ruleset], Iterator[Sentence]]] = {
    "Players and tiles": start.players_and_tiles,
    "The lead": start.the_lead,
    "The turn": play.the_turn,
    "The boneyard": play.the_boneyard,
    "Stakes": play.the_stakes,
    "End of a round": play.end_of_a_round,
    "Scoring": scoring.scoring,
    "The game": scoring.the_game,
}
"""The parts of a game under their headings, in the order in which a player meets them."""


def explain_ruleset(rules: Ruleset) -> dict[str, list[Sentence]]:
    """Return all that a player must know to play this game, by heading."""
    said = {heading: list(part(rules)) for heading, part in PARTS.items()}
    return {heading: sentences for heading, sentences in said.items() if sentences}
