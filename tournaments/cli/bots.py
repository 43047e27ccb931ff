"""The command `check`: whether a bot keeps what the protocol asks."""

import sys
from typing import TYPE_CHECKING

import click

from tournaments.cli.complete import complete_bots
from tournaments.cli.options import WISH

if TYPE_CHECKING:
    from arena.sandbox.limits import SandboxMode


@click.command()
@click.argument("bot", required=False, shell_complete=complete_bots)
@click.option("--bot", "name", metavar="NAME", default=None, help="One of an event file's bots.")
@click.option(
    "--only",
    multiple=True,
    metavar="STEP",
    help="Only this step, by number (5), range (5-9) or name, or several (1,5-9); may be repeated.",
)
@click.option("--list", "listed", is_flag=True, help="List the steps and end.")
@click.option("--quick", is_flag=True, help="A round of each game instead of whole games.")
@click.option(
    "--seconds",
    type=click.IntRange(1, 86_400),
    default=300,
    show_default=True,
    help="No further step begins after so long.",
)
@click.option(
    "--start-ms", type=click.IntRange(1, 600_000), default=None, help="Time for the hello, in ms."
)
@click.option(
    "--move-ms", type=click.IntRange(1), default=None, help="Time for each question, in ms."
)
@click.option(
    "--sandbox",
    type=WISH,
    default=None,
    help="As in `run`.  [default: auto]",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Start the bot without the sandbox too, as your own user, to tell whether the sandbox is "
    "why it fails, or starts slowly: only for a bot that you trust.",
)
@click.option("--json", "as_json", is_flag=True, help="Every step on stdout, for programs.")
def check(
    bot: str | None,
    name: str | None,
    only: tuple[str, ...],
    listed: bool,
    quick: bool,
    seconds: int,
    start_ms: int | None,
    move_ms: int | None,
    sandbox: "SandboxMode | None",
    compare: bool,
    as_json: bool,
) -> None:
    """Check a bot, step by step, and say what to mend.

    It is talked to as the referee would. BOT is a sample bot, a file or a command as in `run`,
    or an event file: then each of its bots is checked, and asked to play the event's game only.
    Each failure shows what was sent, what came back, what was expected and how to mend it. Exit
    code 0 when all is well, 1 when a step failed or was not reached in time.

    \b
    Examples:
      boneyard check ./my_bot.py
      boneyard check "node bot.mjs" --quick
      boneyard check friday.toml --bot mine --json
      boneyard check ./my_bot.py --only hello --only 10-20
    """
    from arena.conformance.model import Budget
    from tournaments.commands.check import CheckOptions, check_bots, list_steps

    if listed:
        list_steps()
        return
    if bot is None:
        raise click.UsageError("Missing argument 'BOT'.")
    pace = Budget(total_s=seconds, whole=not quick)
    sys.exit(
        check_bots(
            CheckOptions(bot, name, only, start_ms, move_ms, sandbox, pace, compare), as_json
        )
    )
