"""The program's entry: the command `boneyard`, `python -m boneyard`, and `import boneyard`.

It is installed as the module `boneyard`, outside our packages: so it can still say what is wrong if
another package hides one of them, or if the installation is incomplete.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournaments.cli.notebook import EventResult, FramedPage, check, explain, load, run

__all__ = ["EventResult", "FramedPage", "check", "explain", "load", "main", "run"]


def __getattr__(name: str) -> Any:
    """Import the functions for notebooks when one is asked for: the command needs none."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tournaments.cli import notebook

    return getattr(notebook, name)


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command line, or say in one sentence why this installation cannot."""
    try:
        from arena.program import drop_unwritten, ignore_signals, obey_signals, open_streams
        from tournaments.cli.main import main as start
    except ModuleNotFoundError as error:
        sys.exit(
            f"boneyard: this installation is broken: {error}. Install Boneyard again in a new "
            "virtual environment, as its README says."
        )
    except ImportError as error:
        sys.exit(f"boneyard: {error}")
    except KeyboardInterrupt:
        sys.exit(130)  # As `arena.program` has it, which may not be there yet.
    # For 1,000 bots its threads take 3 s more of CPU to fit the ratings, and no less time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_streams()
    obey_signals()
    try:
        start(prog_name="boneyard")
    finally:
        ignore_signals()
        drop_unwritten()


if __name__ == "__main__":
    main()
