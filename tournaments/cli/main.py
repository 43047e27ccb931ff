"""The program's entry: every command by its name."""

import gc
from typing import Any

import click

from protocol import __version__
from protocol.errors import UserError
from tournaments.cli import bots, cluster, events, games, live, results, rules, system
from tournaments.cli.aliases import unknown_command, unknown_option
from tournaments.cli.platforms import linux_only

OBJECTS_A_SEARCH = 20_000
"""New objects after which Python looks for cycles: with its 700 that is a tenth of a start."""
COMMANDS = (
    events.demo,
    events.run,
    events.plan,
    cluster.worker,
    results.show,
    live.watch,
    live.play,
    bots.check,
    games.replay,
    games.explain,
    games.ask,
    results.verify,
    rules.rules,
    system.doctor,
    results.report,
    results.rate,
    bots.new,
    bots.bots,
    system.schema,
    system.completion,
    system.help_,
    system.version,
)


class Commands(click.Group):
    """A command group that suggests names for typos and ends a user's error with exit code 2."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or raise a UsageError that suggests the nearest name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"{unknown_command(args[0], self.commands)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print a user's error as one sentence and exit with code 2."""
        gc.set_threshold(OBJECTS_A_SEARCH)
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise unknown_option(error) from None
        except UserError as error:
            click.echo(f"boneyard: {error}", err=True)
            ctx.exit(2)
        except PermissionError as error:
            click.echo(
                f"boneyard: {error.filename} cannot be accessed: {error.strerror}.", err=True
            )
            ctx.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="boneyard")
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
      boneyard explain OUT GAME         why your bot lost it
      boneyard verify OUT               check every deal, byte and score
      boneyard help run                 all about a command
    """


for _command in COMMANDS:
    main.add_command(linux_only(_command))
