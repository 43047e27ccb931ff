"""Every language of `boneyard new`, hard at work at the best sandbox that this machine has.

Threads, children, collectors of garbage, compiled code, timers, files: what their runtimes ask of
the kernel. That the templates play is shown in tests/tournaments/plan/test_scaffold.py.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

import pytest

from arena.sandbox.command import Command, Limits, program_paths
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from tournaments.plan import scaffold

WORK = Path(__file__).parent / "runtimes"
JAVA = ("-Xmx200m", "-cp", "{built}", "Work")
JOBS: dict[str, tuple[tuple[str, ...], ...]] = {
    "python": ((), (sys.executable, "-I", "work.py")),
    "numpy": ((), (sys.executable, "-I", "work_numpy.py")),
    "javascript": ((), ("node", "work.mjs")),
    "typescript": (
        (),
        ("node", "--disable-wasm-trap-handler", "--experimental-strip-types", "work.mts"),
    ),
    "c": (("cc", "-O2", "-pthread", "-o", "{built}/c", "work.c"), ("{built}/c",)),
    "cpp": (("c++", "-O2", "-pthread", "-o", "{built}/cpp", "work.cpp"), ("{built}/cpp",)),
    "rust": (("rustc", "-O", "-o", "{built}/rust", "work.rs"), ("{built}/rust",)),
    "go": (("go", "build", "-o", "{built}/go", "work.go"), ("{built}/go",)),
    "java": (
        ("javac", "-d", "{built}", "Work.java"),
        *(("java", f"-XX:+Use{collector}GC", *JAVA) for collector in ("Serial", "G1", "Parallel")),
    ),
    "sh": ((), ("sh", "work.sh")),
    "bash": ((), ("bash", "work.sh")),
    "perl": ((), ("perl", "work.pl")),
    "tcl": ((), ("tclsh", "work.tcl")),
    "lua": ((), ("lua", "work.lua")),
}
"""For each the words that build it, then those of each run, in the folder of the sources."""
PATIENCE_S = 120


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return choose_sandbox("auto", Limits(), Path(tempfile.gettempdir()))


def test_every_language_of_new_is_put_to_work() -> None:
    assert JOBS.keys() >= scaffold.languages().keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_a_runtime_works_under_the_filter(name: str, sandbox: Sandbox, open_folder: Path) -> None:
    build, *runs = (tuple(word.format(built=open_folder) for word in words) for words in JOBS[name])
    for program in (*build[:1], runs[0][0]):
        if not program.startswith(str(open_folder)) and not which(program):
            pytest.skip(f"no {program} here")
    if name in scaffold.languages() and (
        missing := scaffold.missing_programs(scaffold.languages()[name])
    ):
        pytest.skip(missing)
    if build:
        environment = {
            **os.environ,
            "GOCACHE": str(open_folder / "cache"),
            "GOFLAGS": "-buildvcs=false",
        }
        subprocess.run(build, cwd=WORK, env=environment, check=True, timeout=PATIENCE_S)
    for program, *words in runs:
        argv = (which(program) or program, *words)
        assert run_as_bot(argv, sandbox, open_folder) == (0, b"done\n"), argv


def run_as_bot(argv: tuple[str, ...], sandbox: Sandbox, built: Path) -> tuple[int, bytes]:
    """Run a command as a bot; return its exit code and its output."""
    packages = importlib.util.find_spec("numpy")
    assert packages
    assert packages.origin
    folders = {str(WORK), str(built), str(Path(packages.origin).parent.parent)}
    slot = sandbox.new_slot()
    process = slot.start(
        Command(argv, str(WORK), (*program_paths(Path(argv[0])), *sorted(folders)))
    )
    try:
        output, complaint = process.communicate(timeout=PATIENCE_S)
    finally:
        slot.kill()
        process.wait(PATIENCE_S)
        slot.close()
    print(complaint.decode(errors="replace"))
    return process.returncode, output
