"""The WebAssembly modules of the tree, built from their sources: one compiler makes the same bytes.

python -m tests.tools.modules        writes them; it needs `pip install ziglang==0.17.1`
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ZIG = "0.17.1"
COMMAND = (sys.executable, "-m", "ziglang", "cc", "-O2", "-s")
SAMPLE = ("--target=wasm32-wasi", "-lm")
LIBRARY = (
    *("--target=wasm32-freestanding", "-nostdlib", "-Wl,--no-entry", "-Wl,--export-dynamic"),
    *("-Wall", "-Wextra", "-Werror"),
)


class Source(NamedTuple):
    """A source, and the options of the compiler."""

    path: Path
    options: tuple[str, ...]


MODULES = {
    "sample_bots/sealed/ismcts.wasm": Source(ROOT / "sample_bots/ismcts.c", SAMPLE),
    "sample_bots/sealed/random.wasm": Source(ROOT / "sample_bots/random_bot.c", SAMPLE),
    "arena/valuation/kernel.wasm": Source(ROOT / "arena/valuation/kernel.c", LIBRARY),
}
"""Each module, and what it is made of."""


def build(source: Source, path: Path) -> Path:
    """Compile a source; return the module's path."""
    # Without the folder's name in the words, nothing of this machine can be in the module.
    command = (*COMMAND, "-o", f"{path}", source.path.name, *source.options)
    subprocess.run(command, cwd=source.path.parent, check=True)
    path.chmod(0o644)
    return path


if __name__ == "__main__":
    for module, source in MODULES.items():
        print(f"{module}: {build(source, ROOT / module).stat().st_size:,} bytes")
