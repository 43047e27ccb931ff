"""Other tools' names for our commands and options, and the errors for names that do not exist."""

from collections.abc import Iterable

import click

from protocol.errors import UserError, unknown_name

COMMANDS = {
    "add": ("new",),
    "analyze": ("explain", "review"),
    "ask": ("explain",),
    "compare": ("run",),
    "continue": ("run",),
    "create": ("new",),
    "elo": ("rate",),
    "init": ("new",),
    "lint": ("check",),
    "list": ("bots",),
    "match": ("run",),
    "ranking": ("show", "rate"),
    "resume": ("run",),
    "standings": ("show",),
    "start": ("run",),
    "stats": ("report", "show"),
    "status": ("show",),
    "test": ("check",),
    "tournament": ("run",),
    "validate": ("check",),
    "version": ("--version",),
    "view": ("replay",),
}
"""Our commands by the names that other tools use."""
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
}
"""Our options by the names that other tools use; ignored where an option has that name."""


def unknown_command(name: str, commands: Iterable[str]) -> UserError:
    """Return the error for a command that does not exist; it suggests the nearest name."""
    return unknown_name("command", name, commands, COMMANDS)


def unknown_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the error for an option that the command does not have, with the nearest name."""
    assert error.ctx, "A command was reading its words."
    options = [one for param in error.ctx.command.get_params(error.ctx) for one in param.opts]
    known = [one for one in options if one.startswith("--")]
    return click.UsageError(
        f"{unknown_name('option', error.option_name, known, OPTIONS)}", error.ctx
    )
