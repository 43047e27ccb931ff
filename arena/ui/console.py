"""Output of all commands: lines and JSON at once, games and tables in their width and style."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame


def print_line(text: object) -> None:
    """Print a line to stdout at once: what reads a pipe may wait for it, or be gone."""
    print(text, flush=True)


def print_note(text: object) -> None:
    """Print a line for the user to stderr, apart from what programs read."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: object, indent: int = 1) -> None:
    """Print a value as indented JSON."""
    from protocol.codec import indented_json

    print_line(indented_json(value, indent).decode())


def plain_console() -> "Console":
    """Return a console that colours only our own texts."""
    from rich.console import Console

    return Console(highlight=False)


def text_look(logged: "LoggedGame", console: "Console", plain: bool) -> "Look":
    """Return the look of a game on a console; `plain`: without glyphs."""
    from arena.analysis.text import Look

    glyphs = console.encoding.startswith("utf") and not plain
    partners = logged.sitting.rules.deal.partners
    return Look(logged.sitting.seats, console.width, ascii=not glyphs, partners=partners)


def print_paged(shown: Iterable["Text"], console: "Console") -> None:
    """Print texts that are already wrapped, with an empty line after each."""
    for text in shown:
        console.print(text, "", sep="\n", soft_wrap=True)
