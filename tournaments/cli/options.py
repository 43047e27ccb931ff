"""Arguments, options and output that several commands share."""

import json
import os
from pathlib import Path

import click

from tournaments.cli.completion import complete_choices, complete_games, complete_logs


class LogPath(click.Path):
    """A log file or a folder of logs; finds a compressed log by its uncompressed name too."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path of the file that exists, compressed or not."""
        from arena.logs.compression import actual_path

        return super().convert(actual_path(Path(value)), param, ctx)


LOG = click.argument(
    "log",
    required=False,
    type=LogPath(),
    shell_complete=complete_logs,
)
"""The argument for a game log or an event's folder."""
GAME = click.argument("game", required=False, shell_complete=complete_games)
"""The argument for a game, or any unique part of its name."""
CHOICES = click.option(
    "--set",
    "choices",
    multiple=True,
    metavar="CHOICE=VALUE",
    shell_complete=complete_choices,
    help="Change one choice of the rules; may be repeated.",
)
"""The option that changes choices of a named game."""
ASCII = click.option("--ascii", "plain", is_flag=True, help="Tiles as [6|4] instead of glyphs.")
"""The option that prints tiles in ASCII."""
WISH = click.Choice(["auto", "require", "off"])
"""The sandbox modes that a user can choose."""


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    click.echo(json.dumps(value, indent=2))
