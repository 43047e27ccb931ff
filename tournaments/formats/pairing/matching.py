"""Pairs for a round of a Swiss: neighbours, without rematches if that is possible. Pure.

The cost of a pair is the square of the distance of their places, so that neighbours meet; a pair
that met before costs more than any round without one. The table is paired block by block from the
top, because a matching of all takes time by the cube. In a block, the cheapest matching of pairs
at most `NEAR` places apart is taken if it pairs everybody, even if one with a pair farther apart
would be cheaper; pairs at any distance are tried only if there is none. A block that cannot be
paired without a rematch is joined with the next one, the last with those before; so the whole
field is tried at last, and two meet again only if every round of these bots has a rematch.

Ties of costs are broken by a hash of the places, so that of the pairs that are tried there is one
cheapest matching, whatever algorithm finds it: a later version of networkx must come to the same
rounds.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from tournaments.formats.base import Unit

BLOCK = 48
"""Places of a block, an even number; the last one has up to twice as many."""
NEAR = 12
"""Places on either side that are tried first for each unit: this takes a tenth of the time."""
TIES = 32
"""Bits that break a tie; over all pairs together they stay below the next cost."""

KEPT = 512
"""Matchings of blocks that are remembered: those of some hundred rounds."""

Pairs = list[tuple[Unit, ...]]


def pairs(order: Sequence[Unit], met: Counter[frozenset[Unit]]) -> Pairs:
    """Pair the units of a round, an even number, the best one first."""
    done: list[tuple[Sequence[Unit], Pairs]] = []
    block: Sequence[Unit] = []
    for begin in range(0, max(1, len(order) // BLOCK) * BLOCK, BLOCK):
        last = begin + 2 * BLOCK > len(order)
        block = [*block, *order[begin : None if last else begin + BLOCK]]
        if (found := _fresh(block, met)) is not None:
            done.append((block, found))
            block = []
    while block and done:
        block = [*done.pop()[0], *block]
        if (found := _fresh(block, met)) is not None:
            done.append((block, found))
            block = []
    if block:
        return _matched(block, met, len(block), again=True)
    return [pair for _, some in done for pair in some]


def _fresh(block: Sequence[Unit], met: Counter[frozenset[Unit]]) -> Pairs | None:
    """Pair units that never met, near ones if possible; None if not all can be paired."""
    for near in (NEAR, len(block)):
        found = _matched(block, met, near, again=False)
        if len(found) * 2 == len(block):
            return found
    return None


def _matched(
    block: Sequence[Unit], met: Counter[frozenset[Unit]], near: int, *, again: bool
) -> Pairs:
    """Return the best pairs at most `near` places apart; `again`: rematches too."""
    meetings = frozenset(
        (one, other, times)
        for one, unit in enumerate(block)
        for other in range(one + 1, min(one + near + 1, len(block)))
        if (times := met[frozenset((unit, block[other]))])
    )
    places = _cheapest_matching(len(block), near, meetings, again=again)
    return [(block[one], block[other]) for one, other in places]


# A schedule is gone through several times in each command, and this is most of its work.
@lru_cache(maxsize=KEPT)
def _cheapest_matching(
    size: int, near: int, meetings: frozenset[tuple[int, int, int]], *, again: bool
) -> list[tuple[int, int]]:
    """Return the cheapest of the largest matchings of places, by who met how often."""
    from networkx import Graph, max_weight_matching  # It takes a third of a second to import.

    graph: Graph[int] = Graph()
    most = size**3  # More than all squares of a round.
    met = {(one, other): times for one, other, times in meetings}
    for one in range(size):
        for other in range(one + 1, min(one + near + 1, size)):
            times = met.get((one, other), 0)
            if not times or again:
                cost = times * most + (other - one) ** 2
                graph.add_edge(one, other, weight=-(cost << 2 * TIES) - _tie(one, other))
    return sorted(
        (min(pair), max(pair)) for pair in max_weight_matching(graph, maxcardinality=True)
    )


def _tie(one: int, other: int) -> int:
    return int.from_bytes(sha256(b"%d %d" % (one, other)).digest()[: TIES // 8], "big")
