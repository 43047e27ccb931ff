"""The playthroughs in `golden` are what is played, to the byte."""

import pytest

from arena.rules.variants import VARIANTS
from tests.support.golden import FOLDER, PLANS, kept, text

MOST_LINES = 300
AGAIN = "write them again with: python -m tests.support.golden, and read what has changed"


def test_every_named_game_has_a_playthrough_and_nothing_else_has() -> None:
    assert sorted(PLANS) == sorted(VARIANTS)
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{n}.txt" for n in VARIANTS), (
        AGAIN
    )


@pytest.mark.parametrize("name", VARIANTS)
def test_a_playthrough_is_what_is_played_now(name: str) -> None:
    plan, path = PLANS[name], kept(name)
    now = text(name, plan.seats, plan.seed)
    assert path.exists(), f"{path.name} is missing: {AGAIN}"
    assert path.read_bytes() == now.encode(), f"{path.name} differs: {AGAIN}"
    assert now.count("\n") <= MOST_LINES
