"""The file bot.toml, by which a bot's author says how to run it."""

import re
import shutil
import subprocess
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
    "network": "Only the organiser opens addresses to a bot, in an event file or league.toml.",
    "environment": "Only the organiser gives a bot variables, in an event file or league.toml.",
    "clock": "Only the organiser gives a bot a clock, in an event file or league.toml.",
    "folder": "A bot has its own folder here and reads all of it. Remove the line.",
    "reads": "A bot has its own folder here and reads all of it. Remove the line.",
    "name": "A bot is called as its folder. Remove the line.",
}
"""Keys of event files and league.toml, with what to do instead."""
VERSION_S = 20
"""Time that a program may take to print its version, in s."""
_NEEDS = re.compile(r"(?P<program>\S+)(?:\s*>=\s*(?P<least>\d+(?:\.\d+)*))?")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class BotFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as its author enters it."""

    run: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """Program and arguments; {python} and {build} are placeholders."""
    build: tuple[Word, ...] = ()
    """A command that builds the bot first, in its folder; a league runs it in the sandbox."""
    needs: str = ""
    """A program that must be on the PATH, perhaps at least of some version: `node >= 22.6`."""
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
    """The divisions of a league that it enters; none: all."""
    withdrawn: bool = False
    """True if the bot plays no more in a league."""

    @property
    def lacks(self) -> str:
        """Reason why this machine cannot run the bot, as the end of a sentence; empty if it can."""
        return missing_tools(self.needs)

    @property
    def available(self) -> bool:
        """True if this machine has everything that the bot needs."""
        return not self.lacks

    @property
    def reads(self) -> tuple[Word, ...]:
        """Files and folders that are built for it and that its command names after the program."""
        return tuple(word for word in self.run[1:] if word.startswith("{build}/"))


def load_bot_file(path: Path) -> BotFile:
    """Read the bot.toml of a bot of the user's own. Raises UserError."""
    return load_toml(path, BotFile, without_others_fields)


def without_others_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a bot.toml; refuse those of event files. Raises UserError."""
    for name in fields:
        if name in ELSEWHERE:
            raise UserError(f"Unknown field {name}: {ELSEWHERE[name]}")
    return fields


def missing_tools(needs: str) -> str:
    """Return why this machine lacks a program, as the end of a sentence; empty if it has it.

    Raises UserError for a need that cannot be read.
    """
    need = _NEEDS.fullmatch(needs)
    if not needs:
        return ""
    if not need:
        raise UserError(f"needs takes a program, or one like node >= 22.6, not {needs!r}.")
    program, least = need["program"], need["least"]
    if shutil.which(program) is None:
        return "which is not on the PATH"
    here = _version(program) if least else ""
    return f"and here is {here or 'another'}" if _number(here) < _number(least or "") else ""


def _version(program: str) -> str:
    """Return the first words in the program's output that look like a version; empty if none do."""
    words = (program, "--version")
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=VERSION_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = _VERSION.search(done.stdout)
    return said[0] if said else ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)
