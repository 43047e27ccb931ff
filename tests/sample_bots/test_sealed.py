"""The sealed sample bots: made from their sources, and as strong as their native twins."""

import importlib.metadata
from pathlib import Path

import pytest

from protocol.records import ChoiceRecord
from tests.support.events import games_of, run
from tests.tools.modules import MODULES, ROOT, ZIG, build

MOST_BYTES = 200_000


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_what_its_source_compiles_to(name: str, tmp_path: Path) -> None:
    try:
        version = importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("ziglang is not installed")
    if version != ZIG:
        pytest.skip(f"ziglang here is {version}; {ZIG} made the modules")
    shipped = (ROOT / name).read_bytes()
    assert len(shipped) < MOST_BYTES
    assert build(MODULES[name], tmp_path / "built.wasm").read_bytes() == shipped


def test_ismcts_gives_the_same_answers_sealed_and_native(tmp_path: Path) -> None:
    """With few simulations no clock ends their search."""
    answers: list[dict[str, list[tuple[int, int]]]] = []
    for number, name in enumerate(("ismcts", "ismcts-sealed")):
        out = tmp_path / f"{number}"
        run(out, f"{name} --simulations 20", "first", "--boards", "1", "--set", "target=30")
        answers.append({})
        for game in games_of(out):
            records = [record for record in game.records if isinstance(record, ChoiceRecord)]
            choices = [(record.seat, record.choice) for record in records]
            answers[-1][game.game.game.replace("-sealed", "")] = choices
    native_answers, sealed_answers = answers
    assert native_answers == sealed_answers
    assert native_answers
