"""Commands about logged games: explain, replay."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.analysis.find import EVENT, name_log
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_bots,
    complete_questions,
    complete_seats,
    complete_seats_or_bots,
)
from tournaments.cli.arguments.options import (
    GAME,
    GLYPHS,
    LOG,
    WISH,
    SectionedCommand,
    WholeNumber,
    in_section,
)
from tournaments.cli.platforms import require_linux

_review, _question = in_section("Values of options"), in_section("With a question")


@click.command(cls=SectionedCommand)
@LOG
@GAME
@click.argument("question", required=False, shell_complete=complete_questions)
@click.argument("bot", nargs=-1, shell_complete=complete_bots)
@_review(
    "--review",
    is_flag=True,
    help="Review the decisions of the event or the game: what each choice cost.",
)
@_review(
    "--deals",
    type=WholeNumber(2, 10_000),
    default=None,
    help="Deals of the hidden tiles over which an option is valued; with a question, show the "
    "values.  [default of --review: 64; for one game or question 512]",
)
@_review(
    "--by",
    metavar="PLAYER",
    default=None,
    help="The player that plays the rounds on: keen, or plain; ismcts would take half a minute for "
    "each decision.  [default: keen]",
)
@_review("--dearest", is_flag=True, help="Review a game, its dearest decisions first.")
@_question(
    "--ask",
    is_flag=True,
    help="Ask the bot that had the seat: starts the command in event.json, whoever wrote that.",
)
@_question(
    "--times",
    type=WholeNumber(0, 1000),
    default=1,
    show_default=True,
    help="Number of times to ask, each time in a new process.",
)
@_question(
    "--sandbox",
    type=WISH,
    default=None,
    help="As in `run`.  [default: as in the event, but not off]",
)
@_question("--raw", is_flag=True, help="Only print what the bot would be sent.")
@click.option(
    "--seat",
    "--bot",
    "seat",
    metavar="N|BOT",
    default=None,
    shell_complete=complete_seats_or_bots,
    help="The bot to explain, or its seat's number.  [default: your bot, or who came last; with "
    "--review all]",
)
@click.option("--all", "whole", is_flag=True, help="Show every round and decision of the game.")
@click.option("--round", "only", type=WholeNumber(1), default=None, help="Show only this round.")
@GLYPHS
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def explain(
    log: Path | None,
    game: str | None,
    question: str | None,
    bot: tuple[str, ...],
    review: bool,
    by: str | None,
    dearest: bool,
    whole: bool,
    only: int | None,
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
    explain GAME --review   each decision of a game with the values of its options

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
      boneyard explain demo 1.greedy.suit --review --dearest
    """
    where, words = name_log(log, game, question, *bot)
    page, seat, as_json = click.echo_via_pager, options["seat"], options["as_json"]
    one, named = words[0] if words else None, bool(words) or not (where / EVENT).is_file()
    if len(words) > 1:
        _explain_question(where, words, review=review, **options)
    elif dearest and not named:
        raise UserError("--dearest orders the decisions of one game. Name a game.")
    elif named and (review or dearest):
        from tournaments.commands.games.review_game import review_one_game

        deals = options["deals"]
        review_one_game(where, one, page, seat, deals, by, dearest=dearest, in_json=as_json)
    elif review:
        from tournaments.commands.review import review_event

        sys.exit(review_event(where, page, seat, options["deals"], by, in_json=as_json))
    elif options["deals"] or by:
        raise UserError(f"{'--deals' if options['deals'] else '--by'} goes with --review.")
    elif named:
        from tournaments.commands.games.explain import explain_game

        glyphs = options["glyphs"]
        explain_game(where, one, seat, only, page, whole=whole, glyphs=glyphs, in_json=as_json)
    else:
        from tournaments.commands.games.explain import explain_event

        explain_event(where, seat, as_json, page)


def _explain_question(where: Path, words: list[str], *, review: bool, **options: Any) -> None:
    from tournaments.commands.games.explain_question import explain_question
    from tournaments.commands.games.review_game import WORLDS

    game, question, *bot = words
    if not question.isdecimal():
        raise UserError(f"A question is a number, not {question}. `--all` shows them.")
    if options["times"] and not options["raw"]:
        require_linux("explain GAME QUESTION")
    options["deals"] = options["deals"] or (WORLDS if review else None)
    sys.exit(explain_question(where, game, int(question), tuple(bot), **options))


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
@click.option("--round", "only", type=WholeNumber(1), default=None, help="Show only this round.")
@GLYPHS
@click.option("--step", is_flag=True, help="Show one frame at a time: Enter, p back, q quit.")
@click.option("--html", is_flag=True, help="Write a page for a browser instead.")
@click.option("--json", "as_json", is_flag=True, help="Print each frame as a line of JSON.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="File for the page, with --html."
)
@click.option(
    "--review/--no-review",
    default=None,
    help="Show the chances at each move, luck and mistakes.  [default: on the page of one game]",
)
def replay(
    log: Path | None,
    game: str | None,
    seat: str | None,
    only: int | None,
    html: bool,
    out: Path | None,
    review: bool | None,
    **options: Any,
) -> None:
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
      boneyard replay demo 1.greedy.suit --html
      boneyard replay demo --html
    """
    where, words = name_log(log, game)
    if len(words) > 1:
        raise UserError(f"Name one game, not {' and '.join(words)}.")
    name = words[0] if words else None
    if html:
        from tournaments.commands.games.replay_html import write_pages

        write_pages(where, name, seat, out, review)
        return
    if out:
        raise UserError("--out names the page's file: it goes with --html.")
    from tournaments.commands.games.replay import replay_game

    page = click.echo_via_pager
    replay_game(where, name, seat, only, click.getchar, page, reviewed=review is True, **options)
