"""Arguments and options that several commands share."""

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem

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


class FormatName(click.ParamType):  # type: ignore[type-arg]  # older clicks know no argument
    """The name of a format. The formats are loaded only when asked for: they need msgspec."""

    name = "format"

    # Older clicks give no context.
    def get_metavar(self, param: object, ctx: object = None) -> str:  # noqa: ARG002
        """Return the names for a help text."""
        return f"[{'|'.join(self._choice().choices)}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; BadParameter if there is no such format."""
        return self._choice().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete a name."""
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> click.Choice[str]:
        from tournaments.formats.registry import FORMATS

        return click.Choice(list(FORMATS))


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
