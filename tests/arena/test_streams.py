"""The program's streams: terminals without our characters, and streams that are closed or full."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.events import BONEYARD, PLAIN
from tests.support.fast_run import slow_except

RUN = ("run", "greedy", "first", "--boards", "1", "--set", "target=1", *PLAIN)


def shell(command: str, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run Boneyard by a line of a shell, in which "$@" stands for it and its words."""
    return subprocess.run(
        ("sh", "-c", command, "sh", *BONEYARD, *words),
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("encoding", slow_except(["ascii"], ["ascii", "latin-1", "cp1252"]))
def test_a_terminal_without_our_characters_gets_plain_ones(tmp_path: Path, encoding: str) -> None:
    process = shell('"$@"', *RUN, "--out", str(tmp_path), PYTHONIOENCODING=encoding)
    assert (process.returncode, b"Traceback" in process.stderr) == (0, False)
    assert ("+-" if encoding.startswith("ascii") else "±") in process.stdout.decode(encoding)


@pytest.mark.parametrize(
    "words", slow_except(["help events"], ["run --help-all", "help events", "rules auction-draw"])
)
def test_help_goes_into_a_pipe_of_windows(words: str) -> None:
    process = shell('"$@"', *words.split(), PYTHONIOENCODING="cp1252")
    assert (process.returncode, process.stderr) == (0, b"")
    assert process.stdout.decode("cp1252")


@pytest.mark.parametrize(
    "streams",
    slow_except(
        ["0<&- 1>&- 2>/dev/full"],
        ["2>&-", "1>&-", "0<&- 1>&- 2>&-", "2>/dev/full", "0<&- 1>&- 2>/dev/full"],
    ),
)
def test_a_run_needs_no_stream(tmp_path: Path, streams: str) -> None:
    """The number of a closed stream must not go to a file of ours: programs would write into it."""
    process = shell(f'exec "$@" {streams}', *RUN, "--out", str(tmp_path))
    assert process.returncode == 0
    assert (tmp_path / "results.pgn").read_text().count("[Result") == 2
    assert (tmp_path / "ledger.jsonl").read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("words", slow_except(["--version"], ["--version", "--help", "rules draw"]))
def test_a_full_disk_gets_one_sentence(words: str) -> None:
    process = shell('"$@" > /dev/full', *words.split())
    assert process.returncode == 2
    assert process.stderr.startswith(b"boneyard: No space left on device.")
    assert process.stderr.count(b"\n") == 1
