"""Numbers by which a sitting's bots know its games, and which fix the order of play. Pure."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from arena.engine.shuffle import RandomWords, randbelow

NUMBERS = 2000
"""Largest number of a game: with it the ids of questions fit into 32 bits, one of which is the
sign."""


def numbers(who: str, boards: Iterable[int], seed: Callable[[int], bytes | None]) -> dict[int, int]:
    """Assign numbers to a sitting's games, by board, up to the first board with an unknown seed.

    `who`: the names of the entrants in its seats, with dots between them; `boards`: in the order
    of the plan. A number follows from the board's seed and the game's name, so it differs in every
    rotation and at every table, and nobody can know it before the board is over.
    """
    found: dict[int, int] = {}
    taken: set[int] = set()
    for board in islice(boards, NUMBERS):
        own = seed(board)
        if own is None:
            break
        found[board] = next(one for one in _drawn(own, f"{board}.{who}") if one not in taken)
        taken.add(found[board])
    return found


def _drawn(seed: bytes, game: str) -> Iterator[int]:
    stream = RandomWords(seed, 0, f"number {game}")
    while True:
        yield 1 + randbelow(stream, NUMBERS)
