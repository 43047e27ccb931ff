"""The file bot.toml, by which a bot's author says how to run it. Pure but for the reading."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from arena.rules.toml_file import load_toml
from protocol.errors import UserError
from tournaments.plan.event import EntrantName, Title
from tournaments.plan.event_file import Word

BOT_FILE = "bot.toml"
"""The name of the file in each bot's folder."""
ELSEWHERE = {
    "network": "Only the organiser opens addresses to a bot, in league.toml: ask for it.",
    "environment": "Only the organiser gives a bot variables, in league.toml: ask for it.",
    "clock": "Only the organiser gives a bot a clock of its own, in league.toml.",
    "folder": "A bot has its own folder here and reads all of it. Remove the line.",
    "reads": "A bot has its own folder here and reads all of it. Remove the line.",
    "needs": "The league looks for the programs of run and build itself. Remove the line.",
    "name": "A bot is called as its folder. Remove the line.",
}
"""Keys of other lists of bots, with what to do instead."""


class BotFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as its author enters it."""

    run: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """Program and arguments; {python} and {build} are placeholders."""
    build: tuple[Word, ...] = ()
    """A command that builds the bot first, in the sandbox, in its folder."""
    about: Annotated[
        str,
        Meta(
            pattern=r"^[^\x00-\x1f\x7f]{0,200}(?!\n)$",
            description="up to 200 characters in one line",
        ),
    ] = ""
    author: Title = ""
    """The author's name."""
    divisions: tuple[EntrantName, ...] = ()
    """The divisions that it enters; none: all."""
    withdrawn: bool = False
    """True if the bot plays no more."""


def load_bot_file(path: Path) -> BotFile:
    """Read the bot.toml of a bot of the user's own. Raises UserError."""
    return load_toml(path, BotFile, without_others_fields)


def without_others_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a bot.toml; refuse those of other lists. Raises UserError."""
    for name in fields:
        if name in ELSEWHERE:
            raise UserError(f"Unknown field {name}: {ELSEWHERE[name]}")
    return fields
