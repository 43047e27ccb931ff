"""Arguments and options that several commands share."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from tournaments.cli.arguments.completion import (
    complete_choices,
    complete_games,
    complete_logs_or_games,
)


class LogPath(click.Path):
    """A log file or a folder of logs; finds a compressed log by its uncompressed name too."""

    def __init__(self, exists: bool = True) -> None:
        super().__init__(exists=exists, path_type=Path)

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


class SectionedCommand(click.Command):
    """A command whose help text has its options in sections."""

    def __init__(self, *words: Any, sections: Mapping[str, tuple[str, ...]], **more: Any) -> None:
        """Make a command; `sections` has the options of each section, without their dashes."""
        super().__init__(*words, **more)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help text; those of no section come last."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        left = {one.opts[0].removeprefix("--"): one.get_help_record(ctx) for one in options}
        named = {
            title: [left.pop(name) for name in names] for title, names in self.sections.items()
        }
        for title, records in (*named.items(), ("Options", left.values())):
            with formatter.section(title):
                formatter.write_dl([record for record in records if record])


LOG = click.argument(
    "log",
    required=False,
    type=LogPath(exists=False),
    shell_complete=complete_logs_or_games,
)
"""The argument for a game log or an event's folder, or a game; see `name_log`."""
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
GLYPHS = click.option("--glyphs", is_flag=True, help="Show tiles as domino glyphs, not as [6|4].")
"""The option that prints tiles as glyphs, which are small and which few fonts have."""
WISH = click.Choice(["auto", "require", "off"])
"""The sandbox modes that a user can choose."""


LONGEST_S = 86_400
"""The longest delay of a site, in s."""


class Delay(click.ParamType):  # type: ignore[type-arg]  # older clicks know no argument
    """A delay in minutes, or with its unit, as in 30s; its value is in s."""

    name = "delay"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:  # noqa: ARG002
        """Return the delay in s. Raises click.BadParameter."""
        read = re.fullmatch(r"([0-9]{1,5})(s|m)?", value)
        delay_s = int(read[1]) * (1 if read[2] == "s" else 60) if read else -1
        if not 0 <= delay_s <= LONGEST_S:
            self.fail(f"{value!r} is not a delay. Give minutes, as in 10, or 30s, up to a day.")
        return float(delay_s)
