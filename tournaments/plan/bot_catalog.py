"""Bots by name, the sample bots and the user's own, and the file bot.toml that describes one."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from arena.rules.toml_file import load_toml
from arena.sealed.module import wasmtime_folder
from protocol.errors import UserError
from tournaments.formats.base import plain_name
from tournaments.plan.event import ENTRANT, EntrantName, Event, IgnoredFiles, Title, Word

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
    ignore: IgnoredFiles = ()
    """Files and folders that the bot does not read, as `*.log`: no change of them is a version."""
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
    if needs == "wasmtime":
        extra = "which is not installed: pip install 'boneyard-arena[sealed]'"
        return "" if wasmtime_folder() else extra
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


LIST = "bots.toml"
"""Name of the file that lists the sample bots."""


class CatalogBot(NamedTuple):
    """A bot that has a name here."""

    bot: BotFile
    home: Path
    """The folder where its relative paths start."""
    folder: str | None = None
    """A folder of its own in `home`; None for a sample bot."""


def sample_folder() -> Path:
    """Return the folder of the sample bots, in a checkout or in an installed wheel."""
    return Path(str(resources.files("sample_bots"))).resolve()


@cache  # A run asks six times, and each reading takes 2 ms.
def sample_bots() -> Mapping[str, BotFile]:
    """Return every sample bot by name."""
    return load_toml(sample_folder() / LIST, dict[EntrantName, BotFile])


def own_bots(folder: Path) -> dict[str, BotFile]:
    """Return the bots in this folder's folders, called as these; without those that are broken.

    Raises UserError for one with a sample bot's name: an event would not say which of the two bots
    it means.
    """
    own: dict[str, BotFile] = {}
    for path in sorted(folder.glob(f"*/{BOT_FILE}")):
        name = path.parent.name
        if name in sample_bots():
            raise UserError(f"{path}: {name} is the name of a sample bot. Rename the folder.")
        if re.fullmatch(ENTRANT, name):
            with suppress(UserError):
                own[name] = load_bot_file(path)
    return own


def all_bots(folder: Path) -> dict[str, CatalogBot]:
    """Return the sample bots and the folder's own bots, by name. Raises UserError."""
    samples = {name: CatalogBot(bot, sample_folder()) for name, bot in sample_bots().items()}
    home, own = folder.resolve(), own_bots(folder)
    return {**samples, **{name: CatalogBot(bot, home, name) for name, bot in own.items()}}


def own_bot(event: Event) -> str | None:
    """Return the user's only bot in an event; None if there is none, or several.

    The user's bots are those in folders here, or all that are no samples. A version (`mine@2`)
    counts as its bot.
    """
    names = [one.name for one in event.entrants if not one.retired]
    own = [name for name in names if plain_name(name) not in sample_bots()]
    listed = own_bots(Path())
    own = [name for name in own if plain_name(name) in listed] or own
    return own[0] if len(own) == 1 else None
