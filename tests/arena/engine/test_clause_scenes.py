"""The clauses of the sources as scenes: positions, moves, and what must come of them."""

import pytest

from tests.support.clauses import Scene, play, scenes


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.title[:50])
def test_a_clause_is_played_as_it_is_written(scene: Scene) -> None:
    play(scene)
