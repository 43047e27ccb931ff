"""Dealing: the set, the hands, what stays in the boneyard, and deals that do not count."""

from collections.abc import Iterator

from arena.engine import boneyard
from arena.engine.chance import shuffled
from arena.engine.state import Game, Hand, Round, Row, Seats
from protocol.messages import Keep, Option, Refuse
from protocol.rules import Deal, Ruleset, hand_size, the_set

MOST_DEALS = 20
"""Deals in one round; the last one counts whatever it is, so that every round ends."""
KEEP_OR_REFUSE: tuple[Option, ...] = (Keep(), Refuse())


def dealt(
    rules: Ruleset, seats: int, stream: Iterator[int]
) -> tuple[tuple[Hand, ...], tuple[Row, ...]]:
    """Shuffled hands for each seat, and the boneyard (C deal)."""
    order = tuple(shuffled(stream, the_set(rules.deal)))
    size = hand_size(rules.deal, seats)
    assert size is not None, "A game begins only at a table that its rules have."
    hands = tuple(order[seat * size : (seat + 1) * size] for seat in range(seats))
    return hands, boneyard.laid(rules.boneyard, order[seats * size :], seats)


def too_strong(deal: Deal, hands: tuple[Hand, ...]) -> int | None:
    """The first seat whose hand must be declared: too many tiles of one number (C.6)."""
    if deal.annul_suit == 0:
        return None
    for seat, hand in enumerate(hands):
        for pip in range(deal.highest_pip + 1):
            if sum(pip in tile for tile in hand) >= deal.annul_suit:
                return seat
    return None


def may_refuse(game: Game, state: Round) -> Seats:
    """Seats that may annul the deal for their doubles, the leader first (C.5)."""
    least = game.rules.deal.refuse_doubles
    if least == 0 or state.aside.deal >= MOST_DEALS:
        return ()
    return tuple(
        seat
        for seat in game.order(state.leader)
        if sum(high == low for high, low in state.hands[seat]) >= least
    )
