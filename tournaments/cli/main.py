"""The program's entry: every command by its name."""

import atexit
import errno
import gc
from typing import Any

import click

from protocol import __version__
from protocol.errors import UserError
from tournaments.cli import bots, events, games, league, live, results, system
from tournaments.cli.arguments.aliases import unknown_command, unknown_option

OBJECTS_A_SEARCH = 20_000
"""New objects after which Python looks for cycles: with its 700 that is a tenth of a start."""
VERSION = "--version"
LINE_WIDTH = 64
"""Columns for a command's description in the help text, from which on it is cut."""
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_ACCESS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR)
"""Errors of the disk and of paths, which are no bugs of ours."""
MAKE_ROOM = "Nothing that was whole is lost: make room, and run the same command again."
FIRST: tuple[click.Command, ...] = (
    *(events.demo, bots.new, bots.check, events.run, results.show),
    *(games.replay, games.explain, live.play, results.verify, league.league),
)
"""The commands that a newcomer needs first, in the order of `boneyard --help`."""
OTHERS: tuple[click.Command, ...] = (
    *(system.doctor, results.export, system.help_, results.publish, results.report),
    *(system.rules, live.watch, events.worker),
)
"""All other commands."""


class Commands(click.Group):
    """A command group that suggests names for typos and ends a user's error with exit code 2."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or raise a UsageError that suggests the nearest name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"{unknown_command(args[0], [*self.commands, VERSION])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the first commands into the help text with a line each, the others by name."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(f"{one.name}", one.get_short_help_str(LINE_WIDTH)) for one in FIRST]
            )
            formatter.write_text(f"More: {', '.join(f'{one.name}' for one in OTHERS)}.")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print a user's error as one sentence and exit with code 2."""
        gc.set_threshold(OBJECTS_A_SEARCH)
        # At its end Python would look through all objects once more, which takes 50 ms.
        atexit.register(gc.freeze)
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise unknown_option(error) from None
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


for _command in (*FIRST, *OTHERS):
    main.add_command(_command)
