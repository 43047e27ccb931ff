"""Commands for people who look on or play themselves: watch."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

from protocol.usage import UserError

Command = TypeVar("Command", bound=Callable[..., Any])

MISSING = (
    "{what} needs the package websockets, which is not installed: "
    "pip install 'boneyard-arena[live]'{instead}."
)


def _port(command: Command) -> Command:
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        show_default="any that is free",
        help="Where the browser is listened to, on 127.0.0.1 only.",
    )(command)


def _browser(command: Command) -> Command:
    return click.option("--browser", is_flag=True, help="Open the page in the browser too.")(
        command
    )


def has_browser() -> bool:
    """Whether what serves pages is installed."""
    return find_spec("websockets") is not None


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_port
@click.option(
    "--open",
    "everything",
    is_flag=True,
    help="Show all hands of games that are not over too, and the boneyard.",
)
@_browser
def watch(folder: Path, port: int, everything: bool, browser: bool) -> None:
    """Watch an event in the browser while it is played, or after.

    It reads the logs that the run is writing, and changes nothing: standings, the games on the
    tables, fouls, the report, and replays of what is over. Of a game that is not over no hand is
    shown. The address that it prints works on this machine only, and for nobody else.

    \b
    Examples:
      boneyard watch friday
      boneyard watch friday --browser
      boneyard watch friday --open --port 8080
    """
    if not has_browser():
        raise UserError(MISSING.format(what="boneyard watch", instead=""))
    from tournaments.watch import watch_event

    sys.exit(watch_event(folder, port, everything=everything, browser=browser))
