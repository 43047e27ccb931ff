"""The program's entry: every command by its name."""

import atexit
import errno
import gc
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from arena.signals import INTERRUPTED
from protocol import __version__
from protocol.errors import UserError
from tournaments.cli.arguments.aliases import unknown_command, unknown_option
from tournaments.cli.platforms import ON_LINUX_ONLY, require_linux

OBJECTS_A_SEARCH = 20_000
"""New objects after which Python looks for cycles: with its 700 that is a tenth of a start."""
VERSION = "--version"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_ACCESS = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EIO, errno.ESTALE),
)
"""Errors of the disk and of paths, which are no bugs of ours."""
MAKE_ROOM = "Nothing that was whole is lost: make room, and run the same command again."
FIRST = {
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
    **{"demo": "run", "new": "bots.new", "check": "bots.check", "run": "run"},
    **{"show": "results.show", "replay": "games.replay", "explain": "games.explain"},
    **{"play": "games.play", "verify": "results.verify", "league": "league", "doctor": "system"},
    **{"export": "results.export", "help": "system", "publish": "results.sites"},
    **{"report": "results.report", "rules": "rules", "watch": "results.sites", "worker": "worker"},
}
"""The module of each command below this package: it is imported when the command is called."""


class Commands(click.Group):
    """The commands: imported by name, with suggestions for typos and exit codes for errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all commands, those of a newcomer first."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; return None for an unknown one. Raises UserError on other systems."""
        if cmd_name not in MODULES:
            return None
        try:
            module = import_module(f"tournaments.cli.{MODULES[cmd_name]}")
        except ModuleNotFoundError:
            # Modules of Python that only Linux has.
            if cmd_name in ON_LINUX_ONLY:
                require_linux(cmd_name)
            raise
        command: click.Command = getattr(module, cmd_name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return the commands that begin so; none of them is imported."""
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
            formatter.write_dl([*FIRST.items()])
            formatter.write_text(
                f"More: {', '.join(name for name in MODULES if name not in FIRST)}."
            )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and exit with its code; print a user's error as one sentence: code 2."""
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
        except OSError as error:
            if error.errno in FULL:
                click.echo(f"boneyard: {error.strerror}. {MAKE_ROOM}", err=True)
            elif error.errno in NO_ACCESS:
                where = f"{error.filename} cannot be accessed"
                click.echo(f"boneyard: {where}: {error.strerror}.", err=True)
            else:
                raise
            ctx.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, VERSION, prog_name="boneyard")
def main() -> None:
    """Bot tournaments for draw dominoes.

    `boneyard help COMMAND` explains a command, `boneyard help help` lists topics.
    """
