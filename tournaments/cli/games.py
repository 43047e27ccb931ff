"""Commands about one logged game: explain, replay, ask."""

import sys
from pathlib import Path
from typing import Any

import click

from tournaments.cli.completion import complete_bots, complete_questions, complete_seats
from tournaments.cli.options import ASCII, GAME, LOG, WISH

SEAT = click.option(
    "--seat",
    metavar="N|BOT",
    default=None,
    shell_complete=complete_seats,
    help="A seat's number, or the bot that had it.  [default: the one that came last]",
)
"""The `--seat` option of commands about one seat."""


@click.command()
@LOG
@GAME
@SEAT
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Show only this round.")
@click.option("--brief", is_flag=True, help="Print only the rounds and the turning points.")
@ASCII
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def explain(**options: Any) -> None:
    """Explain why a bot won or lost a game.

    The command prints the game's rounds, its turning points, and the bot's decisions in order. Each
    decision is shown as the bot saw it: its hand, the line, the others' tile counts, its
    options, its choice, its note and its time; a foul with its evidence. Below each decision is
    the command that asks the bot this question again.

    \b
    Examples:
      boneyard explain demo 1.greedy.first --seat first
      boneyard explain demo 1.greedy.first --seat 1 --round 3
      boneyard explain demo 1.greedy.first --brief
    """
    from tournaments.commands.explain import ExplainOptions, explain_game

    explain_game(ExplainOptions(**options))


@click.command()
@LOG
@GAME
@click.option(
    "--seat",
    metavar="N|BOT",
    default=None,
    shell_complete=complete_seats,
    help="Show only what this seat knew: its number, or the bot that had it.",
)
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Show only this round.")
@ASCII
@click.option("--step", is_flag=True, help="Show one frame at a time: Enter, p back, q quit.")
@click.option("--html", is_flag=True, help="Write a page for a browser instead.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File for the page, with --html."
)
def replay(**options: Any) -> None:
    """Watch a game from its log.

    LOG is a game log or an event's folder; by default the event in the current directory, or else
    the one here that was run last.
    GAME is a game's name or any unique part of it; without it the command lists the games, unless
    there is only one. --html writes a single page that needs no other file and can be mailed; with
    --seat it holds only what that seat knew. --html with only an event's folder writes the pages of
    all its games.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy
      boneyard replay demo 1.greedy.first --step
      boneyard replay demo 1.greedy.first --seat 0 --round 2 --ascii
      boneyard replay demo 1.greedy.first --html
      boneyard replay demo --html
    """
    if options.pop("html"):
        from tournaments.commands.replay_html import write_pages

        write_pages(*(options[name] for name in ("log", "game", "seat", "out")))
        return
    from tournaments.commands.replay import ReplayOptions, replay_game

    replay_game(ReplayOptions(**options), click.getchar)


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
    help="Number of times to ask, each time in a new process.",
)
@click.option(
    "--deals",
    type=click.IntRange(2, 10_000),
    default=None,
    help="Also play the round on from here, with every option, under this many other deals of the "
    "hidden tiles.",
)
@click.option(
    "--sandbox",
    type=WISH,
    default=None,
    help="As in `run`.  [default: as in the event, else auto]",
)
@click.option("--raw", is_flag=True, help="Only print what the referee would send to the bot.")
@ASCII
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def ask(**options: Any) -> None:
    """Ask a bot a question of a logged game again.

    A fresh process gets the game, its rounds so far and the question, byte for byte, under the
    same clock. BOT is a sample bot, a file or a command, as in `run`; by default it is the bot that
    had the seat in the event. `boneyard explain` shows the questions with their numbers.

    --deals estimates the value of each option: the command plays the round on from this question
    under other deals of the tiles that the seat could not see.

    Exit code 1 when the bot commits a foul.

    \b
    Examples:
      boneyard ask demo 1.greedy.first 3 --seat first
      boneyard ask demo 1.greedy.first 3 --seat 1 -- ./my_bot.py
      boneyard ask demo 1.greedy.first 3 --seat 1 --times 20 -- node my_bot.mjs
      boneyard ask demo 1.greedy.first 3 --seat 1 --times 0 --deals 200
      boneyard ask demo 1.greedy.first 3 --seat 1 --raw | python my_bot.py
    """
    from tournaments.commands.ask import AskOptions, ask_again

    sys.exit(ask_again(AskOptions(**options)))
