"""The house keeps its own rules: types, lint, format, the order of the rooms, first lines."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("protocol", "arena", "tournaments", "sample_bots", "tests")
FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
BIN = Path(sys.executable).parent


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
    ],
    ids=lambda command: " ".join(command),
)
def test_checkers_find_nothing(command: tuple[str, ...]) -> None:
    tool = BIN / command[0]
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_says_what_may_live_there(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no first line"


def test_no_merge_was_left_half_done() -> None:
    """A marker in a text breaks no program, so nothing else would notice."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("*.toml")]
    texts += [path for room in ROOMS for path in (ROOT / room).rglob("*.*") if path.is_file()]
    texts = [path for path in texts if "__pycache__" not in path.parts]
    marks = (b"\n<<<<<<< ", b"\n>>>>>>> ")
    assert not [path for path in texts if any(mark in path.read_bytes() for mark in marks)]
