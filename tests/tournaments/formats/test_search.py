"""The search: the same scores lead to the same values, and good scores to better values."""

from importlib.metadata import PackageNotFoundError

import pytest

from protocol.errors import UserError
from tournaments.formats.entrant import Parameter, Values
from tournaments.formats.tune import Search, Space, optimiser_here, search_path

PARAMETERS = (
    ("depth", Parameter(start=2, min=1, max=9, integer=True)),
    ("rate", Parameter(start=0.9, min=0, max=1)),
)
SPACE = Space(PARAMETERS, 12, optimiser_here())


def score(values: Values) -> float:
    return -((values["depth"] - 7) ** 2) - 30 * (values["rate"] - 0.3) ** 2


def search_groups(groups: int) -> Search:
    search = Search(SPACE)
    for _ in range(groups):
        search.tell([score(values) for values in search.step.next])
    return search


def test_a_search_begins_at_the_start_and_ends_near_the_best() -> None:
    assert Search(SPACE).step.best == {"depth": 2, "rate": 0.9}
    best = search_groups(25).step.best
    assert best["depth"] == 7
    assert best["rate"] == pytest.approx(0.3, abs=0.03)


def test_the_path_follows_from_the_scores_alone() -> None:
    scores = []
    search = Search(SPACE)
    for _ in range(3):
        scores.append(tuple(score(values) for values in search.step.next))
        search.tell(scores[-1])
    search_path.cache_clear()
    path = search_path(SPACE, tuple(scores))
    assert path[-1] == search.step
    assert search_path(SPACE, tuple(scores[:2])) == path[:3]


def test_another_version_of_the_optimiser_is_refused() -> None:
    with pytest.raises(UserError, match=r"pip install cmaes==0\.1"):
        Search(Space(PARAMETERS, 12, "cmaes 0.1"))


def test_without_the_optimiser_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(UserError, match="extra `tune`"):
        optimiser_here()
