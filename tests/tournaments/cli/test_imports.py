"""Commands load no library that they do not need: people wait for each of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.events import PLAIN, SMALL, boneyard, copied, copy_of
from tournaments.cli import entry

HEAVY = {"numpy", "networkx", "scipy", "trio", "jinja2", "distributed", "websockets"}
"""Libraries that take 50 to 300 ms of CPU to import."""
RICH = {*HEAVY, "rich"}
LOADED = f"""
import sys
from tournaments.cli.main import main
try:
    main()
finally:
    print("loaded:", *sorted({RICH!r} & sys.modules.keys()), file=sys.stderr)
"""
EACH = """
import os, sys
import tournaments.cli.main
for words in COMMANDS:
    if not os.fork():
        sys.argv[1:] = words
        exec(LOADED)
    assert os.wait()[1] == 0, words
"""
COMMANDS = {
    "--version": RICH,
    "--help": RICH,
    "help run": RICH - {"trio"},
    "help bots": RICH,
    "check --list": HEAVY - {"trio"},
    "rules": HEAVY,
    "show EVENT": HEAVY,
    "replay EVENT": HEAVY,
    "replay EVENT 1.first.greedy": HEAVY,
    "explain EVENT 1.first.greedy": HEAVY - {"numpy"},
    "help schema review": RICH,
    "help schema rated": RICH,
    "show EVENT --prior 1": HEAVY - {"numpy"},
    "verify LOG": RICH,
    "export EVENT --out NEW --format csv": HEAVY - {"numpy"},
    "check first --only hello --sandbox off": HEAVY - {"trio"},
    f"run {' '.join((*SMALL, *PLAIN))} --out EVENT": HEAVY - {"trio"},
}
"""Each command, and what it must not load."""


# Slow: it starts an interpreter for each command.
@pytest.mark.slow
def test_a_command_loads_only_what_it_needs(tmp_path: Path) -> None:
    """Every command in a process of its own, all from one that has loaded nothing else."""
    event = copy_of("round-robin", tmp_path / "event")
    boneyard("replay", f"{event}", "--html")
    places = {"EVENT": f"{event}", "LOG": f"{event}/games", "NEW": f"{tmp_path}"}
    commands = [[places.get(word, word) for word in command.split()] for command in COMMANDS]
    program = f"LOADED = {LOADED!r}\nCOMMANDS = {commands!r}\n{EACH}"
    done = subprocess.run(
        (sys.executable, "-c", program), capture_output=True, text=True, check=True
    )
    loads = [line.split()[1:] for line in done.stderr.splitlines() if line.startswith("loaded:")]
    assert len(loads) == len(COMMANDS), done.stderr
    for (command, unwanted), loaded in zip(COMMANDS.items(), loads, strict=True):
        assert not unwanted.intersection(loaded), command


def test_a_run_that_is_refused_loads_nothing_that_its_report_needs(tmp_path: Path) -> None:
    ran = (sys.executable, "-c", LOADED, "run", "first", "frist", "--out", "event")
    done = subprocess.run(ran, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "did you mean first" in done.stderr
    assert not (RICH - {"trio"}).intersection(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
def test_a_run_loads_what_the_test_looks_for(event: Path, tmp_path: Path) -> None:
    """Show that the test above can fail."""
    words = ("report", str(copied(event, tmp_path / "event")))
    ran = (sys.executable, "-c", LOADED, *words)
    done = subprocess.run(ran, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == "loaded: jinja2 numpy rich"


def test_ctrl_c_while_a_program_loads_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("builtins.__import__", interrupt)
        with pytest.raises(SystemExit, match="130"):
            entry.main()
