"""What the README says about training runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.training import encoding
from tests.support.policy_messages import BYE, HELLO, PATIENCE, ask, game

README = Path(encoding.__file__).with_name("README.md")
SECTION = README.read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_runs(tmp_path: Path, snippet: str) -> None:
    path = tmp_path / "snippet.py"
    path.write_text(snippet)
    done = subprocess.run(
        (sys.executable, "-W", "error", str(path)),
        input=HELLO + game(1) + ask(5) + BYE,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"play(" not in snippet.encode() or b'"choose","id":5' in done.stdout


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) == 3
