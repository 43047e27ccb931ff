"""Map a game's name to its sitting, without a list of all games. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from arena.logs.catalog import ORDERS
from tournaments.schedule.schedule import PlannedGame, PlannedSitting

T = TypeVar("T")


class GameIndex(Mapping[str, T]):
    """A mapping of each game's name to a value, which is computed on demand."""

    def __init__(
        self, plans: Iterable[PlannedSitting], said: Callable[[PlannedSitting, PlannedGame], T]
    ) -> None:
        """Index these sittings; `said` returns the value for a sitting and one of its games."""
        self._said = said
        self._plans: dict[str, list[PlannedSitting]] = {}
        for plan in plans:
            self._plans.setdefault(plan.who, []).append(plan)
        for own in self._plans.values():
            own.sort(key=_first)

    def __getitem__(self, game: str) -> T:
        """Return the value of a game; KeyError if the event has no such game."""
        word, _, who = game.partition(".")
        board = int(word) if word.isdecimal() else 0
        # Sittings of the same seats follow each other, unless two circular orders seat them alike.
        before = bisect_right(self._plans[who], board, key=_first)
        for plan in reversed(self._plans[who][max(0, before - ORDERS) : before]):
            planned = plan.game_on(board)
            if planned and planned.name == game:
                return self._said(plan, planned)
        raise KeyError(game)

    def __iter__(self) -> Iterator[str]:
        return (game.name for own in self._plans.values() for plan in own for game in plan.games)

    def __len__(self) -> int:
        return sum(len(plan.boards) for own in self._plans.values() for plan in own)


def _first(plan: PlannedSitting) -> int:
    return plan.boards[0]
