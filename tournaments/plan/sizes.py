"""Limits of an event's size: a stage that is planned at once is held in memory. Pure."""

from math import comb
from typing import assert_never

from protocol.errors import UserError
from tournaments.plan.event import Event
from tournaments.plan.formats import Gauntlet, Knockout, Ladder, RoundRobin, Swiss, Versus

MOST_GAMES = 2_000_000
"""Most games of a stage, which takes some 500 bytes for each."""
MOST_MIXED = 250
"""Most units of a round robin at tables of three or more: choosing among all tables takes memory
by the cube of their number."""


def check_size(event: Event) -> None:
    """Refuse an event that is too large to plan.

    Raises UserError.
    """
    units = len(event.units)
    if isinstance(event.format, RoundRobin | Gauntlet | Ladder) and (
        event.units_a_table > 2 and units > MOST_MIXED
    ):
        raise UserError(
            f"Tables of {event.units_a_table} from {units} bots are too many to choose from; "
            f"{MOST_MIXED} bots are the most, but for a Swiss (format)."
        )
    games = _least(event)
    if games > MOST_GAMES:
        raise UserError(
            f"That is {games:,} games at least, and {MOST_GAMES:,} are the most that are planned "
            "at once: fewer boards (boards), or a Swiss (format)."
        )


def _least(event: Event) -> int:
    """Return a lower bound of the games of a stage."""
    units, size = len(event.units), event.units_a_table
    field = units - len(event.challengers)
    pairs = comb(field, 2) + field * len(event.challengers)
    match event.format:
        case RoundRobin() | Ladder():
            tables = pairs // comb(size, 2)
        case Gauntlet():
            tables = field * len(event.challengers) // comb(size, 2)
        case Swiss() | Knockout():
            tables = units // size
        case Versus():
            return 0
        case form:
            assert_never(form)
    mixed = event.rules.deal.partners and not event.teams
    return tables * event.boards * event.seats * (3 if mixed else 1)
