"""The program's entry: the command `boneyard`, and `python -m boneyard`.

It is installed as the module `boneyard`, outside our packages, because another package may hide one
of them; then it says so.
"""

import sys


def main() -> None:
    """Run the command line, or say in one sentence why this installation cannot."""
    try:
        import tournaments  # noqa: F401
    except ImportError as error:
        sys.exit(f"boneyard: {error}")
    # Only now: its modules import the packages that another one may hide.
    from tournaments.cli.main import main as run

    run(prog_name="boneyard")


if __name__ == "__main__":
    main()
