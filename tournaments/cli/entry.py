"""The program's entry: the command `boneyard`, and `python -m boneyard`.

It is installed as the module `boneyard`, outside our packages: so it can still say what is wrong if
another package hides one of them, or if the installation is incomplete.
"""

import sys


def main() -> None:
    """Run the command line, or say in one sentence why this installation cannot."""
    try:
        from arena.program import drop_unwritten, ignore_signals, obey_signals, open_streams
        from tournaments.cli.main import main as run
    except ModuleNotFoundError as error:
        sys.exit(
            f"boneyard: this installation is broken: {error}. Install Boneyard again in a new "
            "virtual environment, as its README says."
        )
    except ImportError as error:
        sys.exit(f"boneyard: {error}")
    open_streams()
    obey_signals()
    try:
        run(prog_name="boneyard")
    finally:
        ignore_signals()
        drop_unwritten()


if __name__ == "__main__":
    main()
