"""A ruleset explained in plain English: every sentence is made from the choices themselves."""

from collections.abc import Callable, Iterator

from arena.rules import explain_play, explain_scoring, explain_setup
from arena.rules.english import Sentence
from protocol.ruleset import Ruleset

PARTS: dict[str, Callable[[Ruleset], Iterator[Sentence]]] = {
    "Players and tiles": explain_setup.players_and_tiles,
    "The lead": explain_setup.the_lead,
    "The turn": explain_play.the_turn,
    "The boneyard": explain_play.the_boneyard,
    "Stakes": explain_play.the_stakes,
    "End of a round": explain_play.end_of_a_round,
    "Scoring": explain_scoring.scoring,
    "The game": explain_scoring.the_game,
}
"""The parts of a game under their headings, in the order in which a player meets them."""


def explain_ruleset(rules: Ruleset) -> dict[str, list[Sentence]]:
    """Return all that a player must know to play this game, by heading."""
    said = {heading: list(part(rules)) for heading, part in PARTS.items()}
    return {heading: sentences for heading, sentences in said.items() if sentences}
