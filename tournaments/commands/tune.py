"""The command `tune`: search better values for a bot's parameters."""

from pathlib import Path

from protocol.errors import UserError
from tournaments.commands.run import RunOptions, run_event
from tournaments.plan.event_file import SUFFIX, read_event_file

EXAMPLE = """\
[[bots]]
name = "mine"
run = ["{python}", "mine.py", "--depth", "{depth}"]

[tune]
depth = { start = 4, min = 1, max = 12, integer = true }"""
"""A tune as its user writes it."""


def tune_bot(options: RunOptions) -> int:
    """Play the tune of an event file, or the rest of it; return the exit code. Raises UserError."""
    path = Path(options.event.what[0])
    if path.suffix != SUFFIX or not read_event_file(path).tune:
        raise UserError(
            f"{path} has no parameters to tune. Write an event file with one bot and [tune]:\n\n"
            f"{EXAMPLE}"
        )
    return run_event(options)
