"""Arguments and options that several commands share, and a command with its options in sections."""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.analysis.find import EVENT, find_place, latest_folder, unknown_place
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_choices,
    complete_events,
    complete_games,
    complete_logs_or_games,
)
from tournaments.cli.platforms import ON_LINUX_ONLY, require_linux
from tournaments.plan.bot_catalog import BOT_FILE

Command = TypeVar("Command", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """A whole number within bounds, which the help text calls N."""

    name = "whole number, as 50"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return what stands for a value in the help text."""
        return "N"


class LogPath(click.Path):
    """A log or an event's folder; finds an event in runs/ by its name or file, too."""

    def __init__(self, exists: bool = True, file_okay: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path of what exists. Raises UserError, click.BadParameter."""
        place = find_place(Path(value))
        if place is None and self.exists:
            raise unknown_place(Path(value))
        if place and (place / BOT_FILE).is_file() and not (place / EVENT).is_file():
            raise UserError(f"{value} is a bot. The latest event here is {latest_folder()}.")
        return super().convert(place or value, param, ctx)


class SectionOption(click.Option):
    """An option that stands in a section of the help text."""

    def __init__(self, *words: Any, section: str = "", rare: bool = False, **more: Any) -> None:
        """Make an option; one that is `rare` is only in the text of --help-all."""
        super().__init__(*words, **more)
        self.section, self.rare = section, rare


option = partial(click.option, cls=SectionOption)


def flag(name: str, help: str, *names: str, **more: Any) -> Callable[[Command], Command]:
    """Return an option that is given or not; `names`: other names, the parameter's last."""
    return option(name, *names, is_flag=True, help=help, **more)


def number(
    name: str,
    help: str,
    least: int = 0,
    most: int | None = None,
    default: int | None = None,
    *names: str,
    **more: Any,
) -> Callable[[Command], Command]:
    """Return an option that takes a whole number within these bounds."""
    kind, shown = WholeNumber(least, most), default is not None
    return option(name, *names, type=kind, default=default, show_default=shown, help=help, **more)


class SectionedCommand(click.Command):
    """A command whose help text has its options in sections; those of no section come last.

    On other systems than Linux a call may fail with advice how to run it.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raises UserError if this system cannot."""
        if self.name in ON_LINUX_ONLY:
            require_linux(self.name)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help text, without rare ones unless they are asked for."""
        sections: dict[str, list[tuple[str, str]]] = {}
        rare = []
        for one in self.get_params(ctx):
            if getattr(one, "rare", False) and not ctx.meta.get(HELP_ALL):
                rare.append(one)
            elif record := one.get_help_record(ctx):
                sections.setdefault(getattr(one, "section", ""), []).append(record)
        last = sections.pop("", [])
        for title, records in (*sections.items(), ("Options", last)):
            with formatter.section(title):
                formatter.write_dl(records)
        if rare:
            formatter.write_paragraph()
            formatter.write_text(f"{len(rare)} more options: {ctx.command_path} {HELP_ALL}")


command = partial(click.command, cls=SectionedCommand)
HELP_ALL = "--help-all"


def _print_all_help(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


help_all = click.option(
    HELP_ALL,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_all_help,
    help="Show all options and exit.",
)
"""The option that shows rare options too."""
LOG = click.argument(
    "log",
    required=False,
    type=LogPath(exists=False),
    shell_complete=complete_logs_or_games,
)
"""The argument for a game log or an event's folder, or a game; see `name_log`."""
GAME = click.argument("game", required=False, shell_complete=complete_games)
"""The argument for a game, or any unique part of its name."""
FOLDER = click.argument(
    "folder",
    required=False,
    type=LogPath(file_okay=False),
    shell_complete=complete_events,
)
"""The argument for an event's folder; see `usual_folder`."""
CHOICES = option(
    "--set",
    "choices",
    section="Game",
    multiple=True,
    metavar="CHOICE=VALUE",
    shell_complete=complete_choices,
    help="Change one choice of the rules; may be repeated.",
)
"""The option that changes choices of a named game."""
GLYPHS = flag("--glyphs", "Show tiles as domino glyphs, not as [6|4].")
"""The option that prints tiles as glyphs, which are small and which few fonts have."""
BROWSER = flag("--browser", "Open the page in the browser too.")
FILE = click.Path(dir_okay=False, path_type=Path)
OLD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIRECTORY = click.Path(file_okay=False, path_type=Path)
OLD_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
"""The types of paths that an option takes; what is old must exist."""
WISH = click.Choice(["auto", "require", "off"])
"""The sandbox modes that a user can choose."""
SANDBOX = click.option("--sandbox", type=WISH, default=None, help="As in `run`.  [default: auto]")
TLS = partial(
    option,
    "--tls",
    type=OLD_DIRECTORY,
    help="A folder with ca.pem, cert.pem and key.pem, for the scheduler.",
)
PORT = option(
    "--port",
    type=WholeNumber(0, 65_535),
    default=0,
    show_default="any free port",
    help="Port of the page, on 127.0.0.1 only.",
)
JOBS = number(
    "--jobs",
    "Parallel sittings, in one process.  [default: what the bots' CPU time allows]",
    1,
    512,
    section="Machine",
)
MOVE_MS = number("--move-ms", "Time for each question, in ms.", 1)

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
