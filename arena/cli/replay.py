"""`boneyard replay`: a logged game, in the terminal."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.games import find, list_games, usual_folder
from arena.cli.shared import GAME, LOG, look_of, plain_console, printed
from protocol.usage import UserError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from arena.gamelog import LoggedGame
    from arena.render import Look


@click.command()
@LOG
@GAME
@click.option("--seat", type=click.IntRange(0, 3), default=None, help="Show only what it knew.")
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Only this round.")
@click.option("--ascii", "plain", is_flag=True, help="Tiles as [6|4] instead of glyphs.")
@click.option("--step", is_flag=True, help="One frame at a time: Enter, p back, q quit.")
def replay(
    log: Path | None,
    game: str | None,
    seat: int | None,
    only: int | None,
    plain: bool,
    step: bool,
) -> None:
    """Watch a game from its log.

    LOG is a game log or an event's folder. Without GAME the games are listed, unless there is
    only one. A part of a game's name will do; without LOG it is the event that lies here.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy
      boneyard replay demo 1.greedy.first --step
      boneyard replay demo 1.greedy.first --seat 0 --round 2 --ascii
    """
    found = find(log or usual_folder(), game)
    if found.game is None:
        list_games(found)
        return
    console = plain_console()
    shown = _drawn(found.game, seat, only, look_of(found.game, console, plain))
    _paged(shown, console) if step and _at_terminal() else printed(shown, console)


def _drawn(
    logged: "LoggedGame", seat: int | None, only: int | None, look: "Look"
) -> Iterator["Text"]:
    """The title, every frame that is wanted, and whether the log goes to the end."""
    from rich.text import Text

    from arena import frames, render
    from arena.replay import steps

    seats = len(logged.sitting.seats)
    if seat is not None and seat >= seats:
        raise UserError(f"There is no seat {seat}: this game has seats 0 to {seats - 1}.")
    yield render.title(logged, look)
    last = 0
    for frame in frames.frames(steps(logged), seat):
        last = frame.round
        if only in (None, last):
            yield render.draw(frame, look)
    if only is not None and only > last:
        raise UserError(f"There is no round {only}: this game has {last}.")
    if logged.result is None:
        why = render.unfinished(logged)
        yield Text(f"The log ends here: the game was {why} and does not count.")


def _paged(shown: Iterator["Text"], console: "Console") -> None:
    """One frame at a time, until the last one is turned over or a key says enough."""
    from rich.text import Text

    from arena import render

    seen: list[Text] = []
    at: int | None = 0
    while at is not None:
        seen.extend(islice(shown, max(0, at + 1 - len(seen))))
        if at >= len(seen):
            return
        console.clear()
        console.print(seen[at], "", Text(render.HELP, "dim"), sep="\n", soft_wrap=True)
        at = render.turned(at, _key())


def _key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _at_terminal() -> bool:
    return sys.stdin.isatty()
