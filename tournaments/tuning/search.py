"""The search for better values: the only module that knows the optimiser, the library `cmaes`.

CMA-ES with learning rates that adapt to noise (Nomura, Akimoto and Ono, GECCO 2023) compares some
candidates at a time by rank, so that it has no step sizes for the user to choose, and no end that
it must know beforehand. Its seed is fixed: the same scores lead to the same values, always.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from protocol.errors import UserError
from tournaments.tuning.parameters import Parameter, Values

WIDTH = 0.2
"""Standard deviation of the first candidates, as a part of each range."""
LAST = 4
"""One of so many steps is averaged for the result: the last quarter."""
NEEDED = "A tune needs the extra `tune`: pip install 'boneyard-arena[tune]'."


def optimiser_here() -> str:
    """Return the name and version of the optimiser. Raises UserError if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # They take 10 ms to import.

    try:
        return f"cmaes {version('cmaes')}"
    except PackageNotFoundError as error:
        raise UserError(NEEDED) from error


class Space(Struct, frozen=True):
    """The space that is searched, and the optimiser that searches it."""

    parameters: tuple[tuple[str, Parameter], ...]
    """The parameters by name, in their order."""
    group: int
    """Candidates that are compared with each other at a time."""
    optimiser: str
    """Name and version of the optimiser: another version could propose other values."""


class Step(NamedTuple):
    """The state of a search after some groups of candidates."""

    best: Values
    """The values that it would give now: those of the last quarter of the steps, averaged."""
    next: tuple[Values, ...]


class Search:
    """A search that is told the scores of its candidates, group by group."""

    def __init__(self, space: Space) -> None:
        """Begin at the start values.

        Raises UserError if the optimiser is not here in the version that the space names.
        """
        here = optimiser_here()
        if here != space.optimiser:
            name, _, wanted = space.optimiser.partition(" ")
            raise UserError(
                f"This tune was begun with {space.optimiser}, and {here} could propose other "
                f"values. Install the former to go on: pip install {name}=={wanted}."
            )
        import numpy as np
        from cmaes import CMA

        self._space = space
        start = np.array([one.place_of(one.start) for _, one in space.parameters])
        self._cma = CMA(
            mean=start,
            sigma=WIDTH,
            bounds=np.array([[0.0, 1.0]] * len(start)),
            seed=1,
            population_size=space.group,
            lr_adapt=True,
        )
        self._means = [start]
        self._asked = [self._cma.ask() for _ in range(space.group)]

    @property
    def step(self) -> Step:
        """The state now."""
        import numpy as np

        last = self._means[-max(1, len(self._means) // LAST) :]
        best = self._values(np.mean(last, axis=0))
        return Step(best, tuple(map(self._values, self._asked)))

    def tell(self, scores: Sequence[float]) -> None:
        """Take the scores of the candidates in their order; a higher one is better."""
        self._cma.tell([(one, -score) for one, score in zip(self._asked, scores, strict=True)])
        self._means.append(self._cma.mean)
        self._asked = [self._cma.ask() for _ in range(self._space.group)]

    def _values(self, places: Sequence[float]) -> Values:
        pairs = zip(self._space.parameters, places, strict=True)
        return {name: one.at(float(place)) for (name, one), place in pairs}


@lru_cache(maxsize=4)
def search_path(space: Space, scores: tuple[tuple[float, ...], ...]) -> tuple[Step, ...]:
    """Return the states of a search: before the first scores, and after those of each group.

    Raises UserError.
    """
    search = Search(space)
    path = [search.step]
    for group in scores:
        search.tell(group)
        path.append(search.step)
    return tuple(path)
