"""The sealed sample bots, built from their sources: the same compiler makes the same bytes.

python -m tests.tools.sealed_samples        writes them; it needs `pip install ziglang==0.17.1`
"""

import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).parent.parent.parent / "sample_bots"
SOURCES = {"ismcts": "ismcts.c", "random": "random_bot.c"}
ZIG = "0.17.1"
COMMAND = (sys.executable, "-m", "ziglang", "cc", "--target=wasm32-wasi", "-O2", "-s")


def build(name: str, folder: Path) -> Path:
    """Compile a sample bot into a folder; return its module."""
    path = folder / f"{name}.wasm"
    # Without the folder's name in the words, nothing of this machine can be in the module.
    subprocess.run((*COMMAND, "-o", f"{path}", SOURCES[name], "-lm"), cwd=SAMPLES, check=True)
    path.chmod(0o644)
    return path


if __name__ == "__main__":
    for one in SOURCES:
        built = build(one, SAMPLES / "sealed")
        print(f"{built}: {built.stat().st_size:,} bytes")
