"""Seeds of an event's boards where a filter or the organiser decides with the secret. Pure."""

from collections.abc import Callable

from arena import engine
from arena.engine.deal import first_hands
from arena.engine.shuffle import board_seed
from protocol.errors import UserError
from tournaments.plan.deals.deal_filter import parse_filter
from tournaments.plan.deals.deals_file import SetBoard
from tournaments.plan.event import Event

MOST_ATTEMPTS = 200_000
"""Seeds that are tried for a board: some 5 s."""


def draw_seed(event: Event, secret: bytes, board: int, given: SetBoard) -> bytes:
    """Return the seed of a board: the first from the secret that satisfies what is wanted.

    Raises UserError if no attempt does.
    """
    if given.seed:
        return given.seed
    wanted = _wanted(event, given)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        seed = board_seed(secret, event.name, board, attempt)
        if wanted(seed):
            return seed + given.placed
    raise UserError(
        f"None of {MOST_ATTEMPTS:,} deals of {event.rules.name} satisfies "
        f"{' and '.join(event.deals_with)}. Choose a weaker filter (--deals-with)."
    )


def _wanted(event: Event, given: SetBoard) -> Callable[[bytes], bool]:
    if given.leader is not None:
        new = engine.new_game(event.rules, event.seats)
        return lambda seed: engine.chance_decides(new, seed).leader == given.leader
    return lambda seed: satisfies(event, seed)


def satisfies(event: Event, seed: bytes) -> bool:
    """Tell whether a board's first deal satisfies all filters of the event."""
    filters = [parse_filter(text) for text in event.deals_with]
    if not filters:
        return True
    hands = first_hands(event.rules, event.seats, seed)
    return all(one.accepts(hands) for one in filters)
