"""The program's commands by name: ours, and other tools' names for them."""

import atexit
import errno
import gc
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from arena.program import INTERRUPTED
from protocol import __version__
from protocol.errors import UserError, unknown_name

# Other tools' names for our commands and options, and the errors for names that do not exist.


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
OPTION_SYNONYMS = {
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
    options = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
    names = [option for option in options if option.startswith("--")]
    return click.UsageError(
        f"{unknown_name('option', error.option_name, names, OPTION_SYNONYMS)}", error.ctx
    )


# The program's entry: every command by its name.


OBJECTS_A_SEARCH = 20_000
"""New objects between two searches for cycles: at Python's 700 these take 10 % of a start."""
VERSION = "--version"
FULL_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_ACCESS = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EIO, errno.ESTALE),
)
"""Errors of the disk and of paths, which are no bugs of ours."""
MAKE_ROOM_ADVICE = "Nothing that was whole is lost: make room, and run the same command again."
FIRST_COMMANDS = {
    "demo": "See it work: the sample bots play and are rated.",
    "new": "Create a working bot in a language of your choice.",
    "check": "Check bots step by step and say what to fix.",
    "run": "Play an event: an event file, or bots by name, file or command.",
    "show": "Show an event's standings and progress, or rate several events.",
    "replay": "Watch a game from its log.",
    "explain": "Explain why a bot lost: an event, a game or a decision.",
    "play": "Play yourself, in the browser or in the terminal.",
    "verify": "Check an event, a league or one log: every deal, byte and score.",
    "league": "Run a standing league: push a bot, and it is rated.",
}
"""The commands that a newcomer needs first, each with the first line of its help text."""
MODULES = {
    **{"demo": "run", "new": "league", "check": "check", "run": "run", "show": "show"},
    **{"replay": "replay", "explain": "explain", "play": "play", "verify": "verify"},
    **{"league": "league", "doctor": "system", "export": "report", "help": "system"},
    **{"publish": "show", "report": "report", "rules": "rules", "watch": "show"},
    **{"worker": "system"},
}
"""The module of each command below this package: it is imported when the command is called."""


class Commands(click.Group):
    """The commands: imported by name, with suggestions for typos and exit codes for errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, those of a newcomer first."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; return None for an unknown one."""
        if cmd_name not in MODULES:
            return None
        module = import_module(f"tournaments.cli.{MODULES[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return the commands that begin with `incomplete`, without importing any."""
        return [CompletionItem(name) for name in MODULES if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or raise a UsageError that suggests the nearest name."""
        if args and not args[0].startswith("-") and args[0] not in MODULES:
            raise click.UsageError(f"{unknown_command(args[0], [*MODULES, VERSION])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the first commands into the help text with a line each, the others by name."""
        with formatter.section("Commands"):
            formatter.write_dl([*FIRST_COMMANDS.items()])
            formatter.write_text(
                f"More: {', '.join(name for name in MODULES if name not in FIRST_COMMANDS)}."
            )

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line; where a file or the terminal fails, say so and exit with 2."""
        try:
            super().main(*args, **extra)
        except OSError as error:
            if error.errno in FULL_DISK_ERRORS:
                complaint = f"{error.strerror}. {MAKE_ROOM_ADVICE}"
            elif error.errno in NO_ACCESS:
                complaint = f"{error.filename} cannot be accessed: {error.strerror}."
            else:
                raise
            click.echo(f"boneyard: {complaint}", err=True)
            sys.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and exit with its code; on a user's error print it and exit with 2."""
        gc.set_threshold(OBJECTS_A_SEARCH)
        # At its end Python would look through all objects once more, which takes 50 ms.
        atexit.register(gc.freeze)
        try:
            ctx.exit(super().invoke(ctx) or 0)
        except click.NoSuchOption as error:
            raise unknown_option(error) from None
        except (KeyboardInterrupt, click.Abort):
            ctx.exit(INTERRUPTED)
        except UserError as error:
            from protocol.codec import printable_lines

            click.echo(printable_lines(f"boneyard: {error}"), err=True)
            ctx.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, VERSION, prog_name="boneyard")
def main() -> None:
    """Bot tournaments for draw dominoes.

    `boneyard help COMMAND` explains a command, `boneyard help help` lists topics.
    """
