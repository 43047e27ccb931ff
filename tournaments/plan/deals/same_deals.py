"""Boards that have the same deal, however it is written. Pure."""

from collections.abc import Collection, Hashable, Mapping

from arena.engine.deal import count_set_rounds, first_hands
from protocol.ruleset import Ruleset

DealKeys = Collection[Hashable]
"""The keys that two boards share if they have a deal in common."""


def deal_keys(rules: Ruleset, seats: int, seeds: Mapping[int, bytes]) -> dict[int, DealKeys]:
    """Return the keys of each board's deals: the hands of its first round and of all set rounds.

    A hand is a set of tiles, and a deal a set of hands: a board is played from all seats. The order
    of the boneyard is left out, because what was never drawn of it would make one deal two.
    """
    rounds = {board: count_set_rounds(rules, seed) for board, seed in seeds.items()}
    # A seed that sets nothing may be the one from whose deals a set board was copied.
    most = max(rounds.values(), default=0) or 1
    return {
        board: {
            frozenset(map(frozenset, first_hands(rules, seats, seed, number)))
            for number in range(1, (rounds[board] or most) + 1)
        }
        for board, seed in seeds.items()
    }


def first_with_deal(keys: Mapping[int, DealKeys]) -> dict[int, int]:
    """Return for each board the first that shares a deal with it, directly or through others."""
    parent = {board: board for board in keys}

    def first_of(board: int) -> int:
        while parent[board] != board:
            parent[board] = board = parent[parent[board]]
        return board

    owner: dict[Hashable, int] = {}
    for board in sorted(keys):
        for key in keys[board]:
            low, high = sorted((first_of(owner.setdefault(key, board)), first_of(board)))
            parent[high] = low
    return {board: first_of(board) for board in keys}


def repeated_deals(rules: Ruleset, seats: int, seeds: Mapping[int, bytes]) -> dict[int, int]:
    """Return the boards that repeat a deal, each with the first board that has it."""
    first = first_with_deal(deal_keys(rules, seats, seeds))
    return {board: first[board] for board in sorted(first) if first[board] != board}
