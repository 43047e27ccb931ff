"""The snippets of the README about training run as they stand there."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from arena.training import encoding
from tests.support.conversations import BYE, HELLO, PATIENCE, ask, game
from tests.support.events import boneyard, run
from tests.support.fast_run import slow_except

README = Path(encoding.__file__).with_name("README.md")
SECTION = README.read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
PLAIN = [snippet for snippet in SNIPPETS if "argv" not in snippet]


@pytest.mark.parametrize("snippet", slow_except(PLAIN, SNIPPETS), ids=range(len(SNIPPETS)))
def test_every_snippet_runs(tmp_path: Path, snippet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "read_table" in snippet:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        run(tmp_path / "demo", "suit", "greedy", "--boards", "2", "--set", "target=12")
        boneyard("export", f"{tmp_path}/demo")
    if "argv" in snippet:
        learn = ("-m", "arena.training.learn", "net.npz", "--seconds", "0.01")
        output = subprocess.check_output((sys.executable, *learn), cwd=tmp_path, timeout=PATIENCE)
        assert b"points a round" in output
    path = tmp_path / "snippet.py"
    path.write_text(snippet)
    if "play(" not in snippet:
        monkeypatch.chdir(tmp_path)
        runpy.run_path(f"{path}")
        return
    process = subprocess.run(
        (sys.executable, "-W", "error", str(path), "net.npz"),
        input=HELLO + game(1) + ask(5) + BYE,
        cwd=tmp_path,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert process.returncode == 0, process.stderr.decode()
    assert b'"choose","id":5' in process.stdout


def test_the_readme_has_eight_snippets() -> None:
    assert len(SNIPPETS) == 8
