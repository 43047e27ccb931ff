"""`boneyard ask`: a logged question is put to a bot again, and its options are tried out."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tournaments.cli.complete import complete_bots
from tournaments.cli.completion import complete_questions
from tournaments.cli.games import SEAT
from tournaments.cli.options import ASCII, GAME, LOG, WISH

if TYPE_CHECKING:
    from arena.sandbox.limits import SandboxMode


@click.command()
@LOG
@GAME
@click.argument("question", required=False, type=int, shell_complete=complete_questions)
@click.argument("bot", nargs=-1, shell_complete=complete_bots)
@SEAT
@click.option(
    "--times",
    type=click.IntRange(0, 1000),
    default=1,
    show_default=True,
    help="Ask so often, each time a fresh process.",
)
@click.option(
    "--deals",
    type=click.IntRange(2, 10_000),
    default=None,
    help="Also play the round on from here, with every option, under so many other deals of the "
    "hidden tiles.",
)
@click.option(
    "--sandbox",
    type=WISH,
    default=None,
    help="As in `run`.  [default: as in the event, else auto]",
)
@click.option("--raw", is_flag=True, help="Only print what the bot would be told.")
@ASCII
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def ask(
    log: Path | None,
    game: str | None,
    question: int | None,
    bot: tuple[str, ...],
    seat: str | None,
    times: int,
    deals: int | None,
    sandbox: "SandboxMode | None",
    raw: bool,
    plain: bool,
    as_json: bool,
) -> None:
    """Put a question of a logged game to a bot again.

    A fresh process hears the game, its rounds so far and the question, byte for byte, under the
    same clock. BOT is a sample bot, a file or a command, as in `run`; without it, the bot that sat
    there in the event. `boneyard explain` shows the questions with their numbers.

    --deals tells what each option comes to, whatever lies hidden: the round is played on from this
    question under other deals of the tiles that the seat could not see.

    Exit code 1 when the bot fouls.

    \b
    Examples:
      boneyard ask demo 1.greedy.first 3 --seat first
      boneyard ask demo 1.greedy.first 3 --seat 1 -- ./my_bot.py
      boneyard ask demo 1.greedy.first 3 --seat 1 --times 20 -- node my_bot.mjs
      boneyard ask demo 1.greedy.first 3 --seat 1 --times 0 --deals 200
      boneyard ask demo 1.greedy.first 3 --seat 1 --raw | python my_bot.py
    """
    from tournaments.commands.ask import AskOptions, ask_again

    word = bot[0] if len(bot) == 1 else shlex.join(bot)
    wanted = AskOptions(log, game, seat, question, word, times, deals, sandbox)
    sys.exit(ask_again(wanted, raw=raw, plain=plain, as_json=as_json))
