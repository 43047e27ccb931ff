"""Commands about logged games: explain, replay."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.analysis.find import name_log
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_bots,
    complete_questions,
    complete_seats,
    complete_seats_or_bots,
)
from tournaments.cli.arguments.options import (
    BROWSER,
    FILE,
    GAME,
    GLYPHS,
    LOG,
    WISH,
    SectionedCommand,
    flag,
    in_section,
    number,
)
from tournaments.cli.platforms import require_linux

_review, _question = in_section("Values of options"), in_section("With a question")


@click.command(cls=SectionedCommand)
@LOG
@GAME
@click.argument("question", required=False, shell_complete=complete_questions)
@click.argument("bot", nargs=-1, shell_complete=complete_bots)
@flag(
    "--review",
    "Review the decisions of the event or the game: what each choice cost.",
    section=_review,
)
@number(
    "--deals",
    "Deals of the hidden tiles over which an option is valued; with a question, show the "
    "values.  [default of --review: 64]",
    2,
    10_000,
    section=_review,
)
@_review(
    "--by",
    metavar="PLAYER",
    help="The player that plays the rounds on: keen, or plain; ismcts would take half a minute for "
    "each decision.  [default: keen]",
)
@flag(
    "--ask",
    "Ask the bot that had the seat: starts the command in event.json, whoever wrote that.",
    section=_question,
)
@number(
    "--times", "Number of times to ask, each time in a new process.", 0, 1000, 1, section=_question
)
@_question("--sandbox", type=WISH, help="As in `run`.  [default: as in the event, but not off]")
@flag("--raw", "Only print what the bot would be sent.", section=_question)
@click.option(
    "--seat",
    "--bot",
    "seat",
    metavar="N|BOT",
    shell_complete=complete_seats_or_bots,
    help="The bot to explain, or its seat's number.  [default: your bot, or who came last; with "
    "--review all]",
)
@flag("--all", "Show every round and decision of the game.", "whole")
@number("--round", "Show only this round.", 1, None, None, "only")
@GLYPHS
@flag("--json", "Print JSON instead of sentences.", "in_json")
def explain(
    log: Path | None,
    game: str | None,
    question: str | None,
    bot: tuple[str, ...],
    **options: Any,
) -> None:
    """Explain why a bot lost: an event, a game or a decision.

    LOG is an event's folder or a game's log; by default the event in the current directory, or else
    the one here that was run last.

    \b
    explain                 where the points of all games went, and the worst games
    explain GAME            a game's rounds and what turned it
    explain GAME QUESTION   a decision as the bot saw it; --ask asks the bot again
    explain --review        what all decisions of an event cost, on all cores
    explain GAME --review   the dearest decisions of a game, their options with values

    GAME is a game's name or any unique part of it. QUESTION is a number that `--all` shows. A fresh
    process gets the game and the question again, byte for byte, under the same clock: BOT, as in
    `run`, or with --ask the bot that had the seat. Long output is shown in your pager ($PAGER) on a
    terminal.

    The value of an option is the lead that it brings by the round's end: the average over deals
    that the bot could not tell from the real one, played on by a keen player. A choice's loss is
    the value of the best option less that of the chosen one. The review of an event is in
    review.jsonl, its sums in review.json, each decision in review.csv. After an interrupt, a kill
    or new games the same command goes on with the games that are left.

    Exit code 1 when a bot that is asked commits a foul.

    \b
    Examples:
      boneyard explain demo
      boneyard explain demo --bot greedy
      boneyard explain demo 1.greedy.suit --seat 1 --all
      boneyard explain demo 1.greedy.suit 3 --seat suit --ask
      boneyard explain demo 1.greedy.suit 3 --seat 1 --times 20 -- node my_bot.mjs
      boneyard explain demo 1.greedy.suit 3 --seat 1 --deals 200
      boneyard explain demo 1.greedy.suit 3 --seat 1 --raw | python my_bot.py
      boneyard explain demo --review --bot greedy
      boneyard explain demo 1.greedy.suit --review --all
    """
    where, words = name_log(log, game, question, *bot)
    if len(words) > 1 and options["times"] and not options["raw"]:
        require_linux("explain GAME QUESTION")
    from tournaments.commands.games.explain import explain_log

    sys.exit(explain_log(where, words, page=click.echo_via_pager, **options))


@click.command()
@LOG
@GAME
@click.option(
    "--seat",
    metavar="N|BOT",
    shell_complete=complete_seats,
    help="Show only what this seat knew: its number, or the bot that had it.",
)
@number("--round", "Show only this round.", 1, None, None, "only")
@flag("--all", "Show all rounds, not just those that decided.", "whole")
@GLYPHS
@flag("--step", "Show one frame at a time: Enter, p back, q quit.")
@flag("--html", "Write a page for a browser instead.")
@flag("--json", "Print each frame as a line of JSON.", "in_json")
@click.option("--out", type=FILE, help="File for the page, with --html.")
@click.option(
    "--review/--no-review",
    help="Show the chances at each move, luck and mistakes.  [default: on the page of one game]",
)
@BROWSER
def replay(log: Path | None, game: str | None, html: bool, **options: Any) -> None:
    """Watch a game from its log.

    LOG is a game log or an event's folder; by default the event in the current directory, or else
    the one here that was run last.
    GAME is a game's name or any unique part of it; without it the command lists the games, unless
    there is only one. --html writes a single page that needs no other file and can be mailed; with
    --seat it holds only what that seat knew. The page reviews the game: the chances of each side at
    each move, the luck of draws, mistakes, and the values of the options, in points of lead, by
    playouts. --html with only an event's folder writes the pages of all its games. A long game is
    shown in your pager ($PAGER) on a terminal.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy
      boneyard replay demo 1.greedy.suit --step
      boneyard replay demo 1.greedy.suit --seat 0 --round 2 --glyphs
      boneyard replay demo 1.greedy.suit --json --seat 1
      boneyard replay demo 1.greedy.suit --review --step
      boneyard replay demo 1.greedy.suit --html --browser
      boneyard replay demo --html
    """
    where, words = name_log(log, game)
    if len(words) > 1:
        raise UserError(f"Name one game, not {' and '.join(words)}.")
    options |= {"game": words[0] if words else None}
    if html or options["browser"]:
        from tournaments.commands.games.replay import write_pages

        return write_pages(where, **options)
    from tournaments.commands.games.replay import replay_game

    return replay_game(where, read_key=click.getchar, page=click.echo_via_pager, **options)
