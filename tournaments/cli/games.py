"""Commands about one logged game: explain, replay, ask."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.find import (
    find_game,
    find_seat,
    list_games,
    logs,
    require_one_game,
    usual_folder,
)
from arena.ui.console import plain_console, print_json, print_paged, text_look
from protocol.errors import UserError
from tournaments.cli.completion import complete_bots, complete_questions, complete_seats
from tournaments.cli.options import ASCII, GAME, LOG, WISH

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame


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
def explain(
    log: Path | None,
    game: str | None,
    seat: str | None,
    only: int | None,
    brief: bool,
    plain: bool,
    as_json: bool,
) -> None:
    """Explain why a bot won or lost a game.

    The command prints the game's rounds, its turning points, and the bot's decisions in order. Each
    decision is shown as the bot saw it: its hand, the line, the others' tile counts, its
    options, its choice, its note and its time; a foul with its evidence. Below each decision stands
    the command that puts exactly this question to the bot again.

    \b
    Examples:
      boneyard explain demo 1.greedy.first --seat first
      boneyard explain demo 1.greedy.first --seat 1 --round 3
      boneyard explain demo 1.greedy.first --brief
    """
    from arena.analysis.review import review_game

    where = log or usual_folder()
    logged = require_one_game(where, game)
    number = find_seat(logged, seat)
    if as_json:
        print_json(review_game(logged, number))
        return
    console = plain_console()
    look = text_look(logged, console, plain)
    if brief or only is None:
        _summary(logged, number, look)
    if not brief:
        print_paged(_told(where, logged, number, only, look), console)


def _summary(logged: "LoggedGame", seat: int, look: "Look") -> None:
    """Print the game's result, its rounds and its turning points."""
    from arena.analysis import decisions
    from arena.analysis import review as account
    from arena.document.terminal import print_blocks

    console = plain_console()
    found = list(decisions.decisions(logged, seat))
    ends = list(decisions.rounds(logged, seat))
    whole = not console.is_terminal
    console.print(account.heading(logged, seat, found, look), "", sep="\n", soft_wrap=whole)
    if ends:
        print_blocks(console, [account.round_table(ends, look)])
        console.print()
    for sentence in account.turning_points(ends, found, look):
        console.print(f"- {sentence}", markup=False, soft_wrap=whole)
    console.print()


def _told(
    where: Path, logged: "LoggedGame", seat: int, only: int | None, look: "Look"
) -> Iterator["Text"]:
    """Yield every decision, and each round's end after the last decision of that round."""
    from arena.analysis import decisions
    from arena.analysis import review as account

    found = list(decisions.decisions(logged, seat))
    ends = account.ends_of_rounds(logged, seat, look)
    numbers = sorted({*ends, *(one.round for one in found)})
    if only is not None and only not in numbers:
        raise UserError(f"There is no round {only}: this game has {len(numbers)}.")
    for number in numbers if only is None else [only]:
        for one in found:
            if one.round == number:
                again = account.command(str(where), logged.game.game, one)
                yield account.decision_text(one, seat, len(found), again, look)
        if number in ends:
            yield ends[number]


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
def replay(
    log: Path | None,
    game: str | None,
    seat: str | None,
    only: int | None,
    plain: bool,
    step: bool,
    html: bool,
    out: Path | None,
) -> None:
    """Watch a game from its log.

    LOG is a game log or an event's folder; by default it is the event in the current directory.
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
    if out and not html:
        raise UserError("--out names the page's file: it goes with --html.")
    where = log or usual_folder()
    if html and game is None and where.is_dir():
        _make_all(where, seat, out)
        return
    found = find_game(where, game)
    if found.game is None:
        for line in list_games(found):
            click.echo(line)
        return
    seen = None if seat is None else find_seat(found.game, seat)
    if html:
        _make_one(found.game, seen, out)
    else:
        console = plain_console()
        shown = _drawn(found.game, seen, only, text_look(found.game, console, plain))
        _paged(shown, console) if step and _at_terminal() else print_paged(shown, console)


def _make_one(logged: "LoggedGame", seat: int | None, out: Path | None) -> None:
    """Write the page of one game, for everybody or as one seat saw it."""
    from arena.ui.replay_files import write
    from arena.ui.replay_page import pack_game, replay_page

    own = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", logged.game.game, flags=re.ASCII)
    path = out or Path(f"{name[:200]}{own}.html")
    write(path, replay_page(logged.game.game, [pack_game(logged, seat)]))
    click.echo(f"{path}")


def _make_all(folder: Path, seat: str | None, out: Path | None) -> None:
    """Write the pages of all games of an event into its folder."""
    from arena.ui import replay_files as sittings

    if seat is not None or out:
        raise UserError("--seat and --out go with one game: name it after the folder.")
    found = logs(folder)
    if not found:
        raise UserError(f"{folder} holds no game.")
    pages = found[0].parent.parent / sittings.FOLDER
    made = sittings.make_game_pages(found, pages)
    click.echo(f"{pages}: {made} new pages.")


def _drawn(
    logged: "LoggedGame", seat: int | None, only: int | None, look: "Look"
) -> Iterator["Text"]:
    """Yield the title, the requested frames and a note if the log was cut off."""
    from rich.text import Text

    from arena.analysis import frames
    from arena.analysis import text as render
    from arena.analysis.replay import steps

    yield render.title(logged, look)
    last = 0
    for frame in frames.frames(steps(logged), seat):
        last = frame.round
        if only in (None, last):
            yield render.draw(frame, look)
    if only is not None and only > last:
        raise UserError(f"There is no round {only}: this game has {last}.")
    if logged.result is None:
        yield Text("The log ends here: the game was cut off and does not count.")


def _paged(shown: Iterator["Text"], console: "Console") -> None:
    """Show one frame at a time until the user quits or turns the last one over."""
    from rich.text import Text

    from arena.analysis import text as render

    seen: list[Text] = []
    at: int | None = 0
    while at is not None:
        seen.extend(islice(shown, max(0, at + 1 - len(seen))))
        if at >= len(seen):
            return
        console.clear()
        console.print(seen[at], "", Text(render.HELP, "dim"), sep="\n", soft_wrap=True)
        at = render.turn_page(at, _key())


def _key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _at_terminal() -> bool:
    return sys.stdin.isatty()


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
    help="Number of times to ask, each time a fresh process.",
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
    """Put a question of a logged game to a bot again.

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
