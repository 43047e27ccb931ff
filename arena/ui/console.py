"""Output of all commands: lines and JSON at once, games and tables in their width and style."""

import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame

Pager = Callable[[Iterable[str]], object]
"""A function that shows text in the user's pager, piece by piece."""


def print_line(text: object, *, stderr: bool = False) -> None:
    """Print a line to stdout at once: what reads a pipe may wait for it, or be gone.

    It may name what a stranger's file says, so nothing in it can steer the terminal.
    """
    from protocol.codec import printable_lines

    print(printable_lines(f"{text}"), file=sys.stderr if stderr else sys.stdout, flush=True)


def print_note(text: object) -> None:
    """Print a line for the user to stderr, apart from what programs read."""
    print_line(text, stderr=True)


def print_json(value: object, indent: int = 1) -> None:
    """Print a value as indented JSON."""
    from protocol.codec import json_for_terminal

    print(json_for_terminal(value, indent), flush=True)


def shown_path(path: Path) -> str:
    """Return a path as short as a user can use it here."""
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}"


def plain_console() -> "Console":
    """Return a console that colours only our own texts."""
    from rich.console import Console

    return Console(highlight=False)


def text_look(logged: "LoggedGame", console: "Console", glyphs: bool) -> "Look":
    """Return the look of a game on a console; `glyphs`: tiles as glyphs, if it can show them."""
    from arena.analysis.text import Look

    partners = logged.sitting.rules.deal.partners
    return Look(
        logged.sitting.seats, console.width, glyphs and console.encoding.startswith("utf"), partners
    )


def print_paged(
    shown: Iterable["RenderableType"], console: "Console", page: Pager | None = None
) -> None:
    """Print parts with an empty line after each; through a pager if they are longer than a screen.

    `page`: shows text in a pager, piece by piece. Only a terminal that is read needs one.
    """
    pieces = (_drawn(part, console) for part in shown)
    if not (page and console.is_terminal and sys.stdin.isatty()):
        console.file.writelines(pieces)
        console.file.flush()
        return
    screen: list[str] = []
    for piece in pieces:
        screen.append(piece)
        if sum(one.count("\n") for one in screen) >= console.height:
            page(chain(screen, pieces))
            return
    console.file.write("".join(screen))


def _drawn(part: "RenderableType", console: "Console") -> str:
    """Return a part as the console prints it, with an empty line after it."""
    from rich.text import Text

    whole = isinstance(part, Text) and not console.is_terminal
    with console.capture() as captured:
        console.print(part, soft_wrap=whole)
        console.print()
    return captured.get()
