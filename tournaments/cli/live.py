"""Commands for spectators and human players: watch, play."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.analysis.find import usual_folder
from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_bots, complete_rules
from tournaments.cli.arguments.options import (
    BROWSER,
    CHOICES,
    DIRECTORY,
    FOLDER,
    WISH,
    SectionedCommand,
    WholeNumber,
    flag,
    number,
)

Command = TypeVar("Command", bound=Callable[..., Any])


def _port(command: Command) -> Command:
    return click.option(
        "--port",
        type=WholeNumber(0, 65535),
        default=0,
        show_default="any free port",
        help="Port of the page, on 127.0.0.1 only.",
    )(command)


@click.command(cls=SectionedCommand)
@FOLDER
@_port
@flag("--open", "Also show all hands and the boneyard of unfinished games.", "everything")
@BROWSER
def watch(folder: Path | None, **options: Any) -> None:
    """Watch an event in the browser while it is played, or after.

    The page shows the standings, the games in progress, fouls, the report, and replays of finished
    games. The command reads the logs that the run is writing, and changes nothing. It hides the
    hands of unfinished games unless you pass --open. It prints a local URL with a secret token,
    which works on this machine only; `publish --delay` writes a page for everybody.

    \b
    Examples:
      boneyard watch friday
      boneyard watch friday --browser
      boneyard watch friday --open --port 8080
    """
    from arena.ui.open_browser import MISSING, has_browser

    if not has_browser():
        raise UserError(MISSING.format(what="To watch in the browser", instead=""))
    from tournaments.site.server import watch_event

    sys.exit(watch_event(folder or usual_folder(), **options))


@click.command(cls=SectionedCommand)
@click.option(
    "--rules",
    default="draw",
    show_default=True,
    shell_complete=complete_rules,
    help="A named game or your own rules file; see `boneyard rules`.",
)
@CHOICES
@click.option(
    "--against",
    multiple=True,
    default=("greedy",),
    show_default=True,
    metavar="BOT",
    shell_complete=complete_bots,
    help="A sample bot, a file or a command; may be repeated, clockwise from you.",
)
@number("--seats", "Number of seats.  [default: as few as these bots need]", 2, 8)
@number("--seat", "Your seat.", 0, 7, 0)
@click.option("--name", default="human", show_default=True, help="Your name in the log.")
@number(
    "--clock",
    "Time for each question, in s; the game has a bank of five times that.",
    1,
    86_400,
    60,
    "clock_s",
)
@flag("--no-clock", "No time pressure: a day for each question.")
@click.option("--seed", type=int, default=None, help="Fix the deals, to play them again.")
@click.option(
    "--sandbox",
    type=WISH,
    default="auto",
    show_default=True,
    help="Sandbox of the bots; see `boneyard doctor`.",
)
@click.option(
    "--out",
    type=DIRECTORY,
    default=Path("boneyard-play"),
    show_default=True,
    help="Folder for the logs of your games.",
)
@flag("--terminal", "Play here instead of in the browser.")
@_port
@BROWSER
def play(**options: Any) -> None:
    """Play yourself, in the browser or in the terminal.

    You sit in a seat as a bot does, with the same protocol and the same referee; `boneyard replay`
    and `boneyard verify` read the log. In a partnership game you sit opposite your partner.

    \b
    Examples:
      boneyard play
      boneyard play --rules double-draw --against greedy
      boneyard play --against counting --against greedy --no-clock
      boneyard play --rules partnership --against counting --terminal
      boneyard play --against ./my_bot.py --seat 1 --seed 7
    """
    from tournaments.commands.games.play import PlayOptions, play_game

    sys.exit(play_game(PlayOptions(**options)))
