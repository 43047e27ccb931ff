"""The notebook for researchers runs from its first cell to its last, in a kernel of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena.training import encoding

NOTEBOOK = Path(encoding.__file__).with_name("notebook.ipynb")
# A process of its own: the client's loop and sockets are no concern of the suite.
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


# Slow: it starts a kernel, which imports much.
@pytest.mark.slow
def test_the_notebook_runs_and_answers(tmp_path: Path) -> None:
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = tmp_path / "done.ipynb"
    subprocess.run(
        (sys.executable, "-c", EXECUTE, str(NOTEBOOK), str(notebook)), cwd=tmp_path, check=True
    )
    cells = json.loads(notebook.read_text())["cells"]
    texts = ["".join(_texts(cell)) for cell in cells if cell["cell_type"] == "code"]
    _, page, verdict, means, decisions, replay, explanation = texts
    assert "<iframe" in page
    assert "heavy" in verdict
    assert "margin_mean" in means
    assert "options" in decisions
    assert "<iframe" in replay
    assert "heavy won" in explanation
    assert (tmp_path / "runs" / "functions" / "heavy" / "heavy.py").is_file()


def _texts(cell: dict[str, list[dict[str, object]]]) -> list[str]:
    """Return what a cell shows: its lines and its pages."""
    texts = []
    for output in cell["outputs"]:
        data = output.get("data", {"text": output.get("text", "")})
        assert isinstance(data, dict)
        texts += ["".join(lines) for lines in data.values()]
    return texts
