"""What several commands take and print."""

import json
import os
from pathlib import Path

import click

from tournaments.cli.completion import complete_choices, complete_games, complete_logs


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
