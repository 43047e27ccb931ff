"""Other tools' names for our commands and options, and the errors for names that do not exist."""

from collections.abc import Iterable

import click

from protocol.errors import UserError, unknown_name

COMMANDS = {
    "analyze": "explain",
    "bots": "help bots",
    "compare": "run",
    "completion": "help completion",
    "create": "new",
    "elo": "show",
    "forecast": "run --plan",
    "games": "replay",
    "init": "new",
    "lint": "check",
    "list": "help bots",
    "match": "run",
    "open": "replay --html",
    "plan": "run --plan or show --separate",
    "puzzle": "check --exam",
    "ranking": "show",
    "rate": "show FOLDER FOLDER",
    "results": "show",
    "resume": "run",
    "review": "explain --review",
    "schema": "help schema",
    "standings": "show",
    "start": "run",
    "stats": "report or show",
    "status": "show",
    "test": "check",
    "tournament": "run",
    "tune": "run FILE, with [tune] in the file",
    "validate": "check",
    "version": "--version",
    "versus": "run --format versus",
    "why": "explain",
}
"""Our commands by the names that users of other tools try."""
OPTIONS = {
    "--cores": ("--jobs",),
    "--count": ("--boards",),
    "--game": ("--rules",),
    "--games": ("--boards",),
    "--matches": ("--boards",),
    "--output": ("--out",),
    "--parallel": ("--jobs",),
    "--players": ("--seats",),
    "--rounds": ("--boards",),
    "--step": ("--only",),
    "--steps": ("--only",),
    "--threads": ("--jobs",),
    "--timeout": ("--move-ms",),
    "--variant": ("--rules",),
    "--workers": ("--jobs",),
    "--worlds": ("--deals",),
}
"""Our options by the names that other tools use; ignored where an option has that name."""


def unknown_command(name: str, commands: Iterable[str]) -> UserError:
    """Return the error for a command that does not exist; it suggests the nearest name."""
    if name in COMMANDS:
        return UserError(f"Unknown command {name!r}: did you mean {COMMANDS[name]}?")
    return unknown_name("command", name, commands)


def unknown_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the error for an option that the command does not have, with the nearest name."""
    assert error.ctx, "A command was reading its words."
    options = [one for param in error.ctx.command.get_params(error.ctx) for one in param.opts]
    known = [one for one in options if one.startswith("--")]
    return click.UsageError(
        f"{unknown_name('option', error.option_name, known, OPTIONS)}", error.ctx
    )
