"""What commands and options are called elsewhere, and the errors for names that do not exist."""

from collections.abc import Iterable

import click

from protocol.errors import UserError, unknown_name

COMMANDS = {
    "add": ("new",),
    "analyze": ("explain",),
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
    "view": ("replay",),
}
"""Commands by names that others give them."""
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
"""Options by names that others give them; a name counts where there is no such option."""


def unknown_command(name: str, commands: Iterable[str]) -> UserError:
    """The error for a command that does not exist, with what was meant."""
    return unknown_name("command", name, commands, COMMANDS)


def unknown_option(error: click.NoSuchOption) -> click.UsageError:
    """The same for an option of the command that was given."""
    assert error.ctx, "A command was reading its words."
    options = [one for param in error.ctx.command.get_params(error.ctx) for one in param.opts]
    known = [one for one in options if one.startswith("--")]
    return click.UsageError(
        f"{unknown_name('option', error.option_name, known, OPTIONS)}", error.ctx
    )
