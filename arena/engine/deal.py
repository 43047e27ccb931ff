"""The deal: the set, the hands, the boneyard, and deals that do not count."""

from collections.abc import Iterator

from arena.engine import boneyard
from arena.engine.shuffle import shuffle
from arena.engine.state import Game, Hand, Round, Row
from protocol.messages import Keep, Option, Refuse
from protocol.ruleset import MOST_DEALS, Deal, Ruleset, hand_size, set_of_tiles

KEEP: tuple[Option, ...] = (Keep(),)
KEEP_OR_REFUSE: tuple[Option, ...] = (Keep(), Refuse())


def deal_tiles(
    rules: Ruleset, seats: int, stream: Iterator[int]
) -> tuple[tuple[Hand, ...], tuple[Row, ...]]:
    """Deal a shuffled hand to each seat, and the rest to the boneyard (C deal)."""
    order = tuple(shuffle(stream, set_of_tiles(rules.deal)))
    size = hand_size(rules.deal, seats)
    assert size is not None, "A game begins only at a table that its rules have."
    hands = tuple(order[seat * size : (seat + 1) * size] for seat in range(seats))
    return hands, boneyard.arrange(rules.boneyard, order[seats * size :], seats)


def too_strong(deal: Deal, hands: tuple[Hand, ...]) -> int | None:
    """Return the first seat that must declare its hand: too many tiles of one number (C.6)."""
    if deal.annul_suit == 0:
        return None
    for seat, hand in enumerate(hands):
        for pip in range(deal.highest_pip + 1):
            if sum(pip in tile for tile in hand) >= deal.annul_suit:
                return seat
    return None


def refusable(game: Game, state: Round) -> bool:
    """Tell whether a seat with many doubles could annul this deal (C.5).

    Then every seat is asked: a seat that is skipped would show that it holds few doubles.
    """
    size = hand_size(game.rules.deal, game.seats) or 0
    return 0 < game.rules.deal.refuse_doubles <= size and state.aside.deal < MOST_DEALS


def keep_or_refuse(game: Game, state: Round) -> tuple[Option, ...]:
    """Return the options about the deal (C.5), without the tiles that were drawn for the lead."""
    dealt = state.hands[state.turn][: hand_size(game.rules.deal, game.seats)]
    doubles = sum(high == low for high, low in dealt)
    return KEEP_OR_REFUSE if doubles >= game.rules.deal.refuse_doubles else KEEP
