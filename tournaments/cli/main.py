"""The program's entry: every command by its name."""

import atexit
import errno
import gc
from collections.abc import Mapping
from itertools import chain
from typing import Any

import click

from protocol import __version__
from protocol.errors import UserError
from tournaments.cli import bots, cluster, events, games, league, live, results, rules, system
from tournaments.cli.arguments.aliases import unknown_command, unknown_option
from tournaments.cli.platforms import linux_only

OBJECTS_A_SEARCH = 20_000
"""New objects after which Python looks for cycles: with its 700 that is a tenth of a start."""
VERSION = "--version"
NAME_WIDTH = 10
"""Columns for a command's name in the help text."""
LINE_WIDTH = 64
"""Columns for its description, from which on it is cut."""
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_ACCESS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR)
"""Errors of the disk and of paths, which are no bugs of ours."""
MAKE_ROOM = "Nothing that was whole is lost: make room, and run the same command again."
SECTIONS: Mapping[str, tuple[click.Command, ...]] = {
    "Write a bot": (bots.new, bots.check, bots.exam, bots.bots, rules.rules),
    "Play": (
        events.demo,
        events.run,
        league.league,
        events.plan,
        events.tune,
        cluster.worker,
        live.play,
    ),
    "Look at results": (
        results.show,
        live.watch,
        games.replay,
        games.explain,
        games.review,
        results.report,
        results.rate,
        results.export,
    ),
    "Prove and publish": (results.verify, results.publish, system.doctor),
    "About the program": (system.help_, system.schema, system.completion),
}
"""Every command, in the sections of `boneyard --help`."""


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
        """Write the commands into the help text, in their sections."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{one.name:{NAME_WIDTH}}", one.get_short_help_str(LINE_WIDTH))
                        for one in commands
                    ]
                )

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

    \b
    Start here:
      boneyard demo                     a small event of sample bots
      boneyard new python mine          a bot of your own to start from
      boneyard run greedy ./my_bot.py   your bot against a sample bot
      boneyard plan greedy ./my_bot.py  its duration and its precision
      boneyard show OUT                 its standings, while it runs or after
      boneyard replay OUT               watch a game
      boneyard explain OUT              why your bot lost
      boneyard review OUT               what each of its choices cost
      boneyard verify OUT               check every deal, byte and score
      boneyard help run                 all about a command
    """


for _command in chain.from_iterable(SECTIONS.values()):
    main.add_command(linux_only(_command))
