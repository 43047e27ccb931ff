"""What several commands take and print."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tournaments.cli.completion import complete_choices, complete_games, complete_logs

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame


class LogPath(click.Path):
    """A log or a folder of them, under its own name also where it lies packed."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Where it lies."""
        from arena.logs.compression import actual_path

        return super().convert(actual_path(Path(value)), param, ctx)


LOG = click.argument(
    "log",
    required=False,
    type=LogPath(),
    shell_complete=complete_logs,
)
"""A game log or an event's folder."""
GAME = click.argument("game", required=False, shell_complete=complete_games)
"""A game, or a part of its name."""
CHOICES = click.option(
    "--set",
    "choices",
    multiple=True,
    metavar="CHOICE=VALUE",
    shell_complete=complete_choices,
    help="Change one choice of the rules; may be repeated.",
)
"""What differs from a named game."""
ASCII = click.option("--ascii", "plain", is_flag=True, help="Tiles as [6|4] instead of glyphs.")
"""How tiles are shown."""
WISH = click.Choice(["auto", "require", "off"])
"""How bots shall be locked in."""


def print_json(value: object) -> None:
    """Print a value for programs."""
    click.echo(json.dumps(value, indent=2))


def plain_console() -> "Console":
    """A console that colours only what we say."""
    from rich.console import Console

    return Console(highlight=False)


def text_look(logged: "LoggedGame", console: "Console", plain: bool) -> "Look":
    """How a game is drawn on a console; `plain`: without glyphs."""
    from arena.analysis.text import Look

    glyphs = console.encoding.startswith("utf") and not plain
    partners = logged.sitting.rules.deal.partners
    return Look(logged.sitting.seats, console.width, ascii=not glyphs, partners=partners)


def print_paged(shown: Iterable["Text"], console: "Console") -> None:
    """Print texts that are wrapped already, an empty line after each."""
    for text in shown:
        console.print(text, "", sep="\n", soft_wrap=True)
