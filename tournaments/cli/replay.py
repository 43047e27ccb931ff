"""`boneyard replay`: a logged game, in the terminal."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.find import find_game, find_seat, list_games, logs, usual_folder
from arena.ui.console import plain_console, print_paged, text_look
from protocol.errors import UserError
from tournaments.cli.completion import complete_seats
from tournaments.cli.options import ASCII, GAME, LOG

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame


@click.command()
@LOG
@GAME
@click.option(
    "--seat",
    metavar="N|BOT",
    default=None,
    shell_complete=complete_seats,
    help="Show only what it knew: a seat's number, or who sat there.",
)
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Only this round.")
@ASCII
@click.option("--step", is_flag=True, help="One frame at a time: Enter, p back, q quit.")
@click.option("--html", is_flag=True, help="Write a page for a browser instead.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The page's file, with --html."
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

    LOG is a game log or an event's folder; without it, it is the event that lies here. Without
    GAME the games are listed, unless there is only one; a part of a game's name will do. With
    --html a page is written that needs nothing else and can be mailed; with --seat too, nothing
    that this seat did not know is in it. With --html and an event's folder alone, the pages of
    all its games are made.

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
        list_games(found)
        return
    seen = None if seat is None else find_seat(found.game, seat)
    if html:
        _make_one(found.game, seen, out)
    else:
        console = plain_console()
        shown = _drawn(found.game, seen, only, text_look(found.game, console, plain))
        _paged(shown, console) if step and _at_terminal() else print_paged(shown, console)


def _make_one(logged: "LoggedGame", seat: int | None, out: Path | None) -> None:
    """The page of one game, for everybody or as one seat saw it."""
    from arena.ui.replay_files import write
    from arena.ui.replay_page import pack_game, replay_page

    own = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", logged.game.game, flags=re.ASCII)
    path = out or Path(f"{name[:200]}{own}.html")
    write(path, replay_page(logged.game.game, [pack_game(logged, seat)]))
    click.echo(f"{path}")


def _make_all(folder: Path, seat: str | None, out: Path | None) -> None:
    """The pages of all games of an event, in its folder."""
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
    """The title, every frame that is wanted, and whether the log goes to the end."""
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
    """One frame at a time, until the last one is turned over or a key says enough."""
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
        at = render.upright_tile(at, _key())


def _key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _at_terminal() -> bool:
    return sys.stdin.isatty()
