"""The clauses of the sources as scenes: positions, moves, and what must come of them."""

import pytest

from tests.support.clause_scenes import Scene, play, scenes


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene.title[:50])
def test_a_clause_is_played_as_it_is_written(scene: Scene) -> None:
    play(scene)


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (("deal draw: 66 11 | 65 64", "= options: 66 lead"), "66 lead, 11 lead, draw"),
        (("rules draw = seats: 2 3",), "seats: 2 3 4"),
        (("deal draw: 66 11 | 65 64", "play 65 lead"), "'65 lead' is not among"),
    ],
)
def test_a_scene_that_is_played_otherwise_fails(steps: tuple[str, ...], why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        play(Scene("wrong", steps, "none"))
