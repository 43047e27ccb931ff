"""Bots by name: the sample bots, and those in a user's bots.toml. One format, one reader."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from arena.rules.toml_file import load_toml
from arena.sandbox.command import Address, VariableName
from protocol.errors import UserError
from tournaments.formats.base import plain_name
from tournaments.plan.event import EntrantName
from tournaments.plan.event_file import Word

LIST = "bots.toml"
"""Name of a file that lists bots."""
VERSION_S = 20
"""Time that a program may take to print its version, in s."""
_NEEDS = re.compile(r"(?P<program>\S+)(?:\s*>=\s*(?P<least>\d+(?:\.\d+)*))?")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class ListedBot(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of a bots.toml."""

    run: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """Program and arguments; {python} and {build} are placeholders that we fill in."""
    about: str = ""
    """One line of description for `boneyard help bots`."""
    build: tuple[Word, ...] = ()
    """A command that builds the bot first."""
    needs: str = ""
    """A program that must be on the PATH, perhaps at least of some version: `node >= 22.6`."""
    folder: Word | None = None
    """A folder of the bot's own beside the list, as in an event file."""
    reads: tuple[Word, ...] = ()
    """Further files and folders that the bot may read."""
    network: tuple[Address, ...] = ()
    """Addresses that it may reach, as in an event file."""
    environment: tuple[VariableName, ...] = ()
    """Variables that it gets from Boneyard's environment, as in an event file."""

    @property
    def lacks(self) -> str:
        """Reason why this machine cannot run the bot, as the end of a sentence; empty if it can."""
        return missing_tools(self.needs)

    @property
    def available(self) -> bool:
        """True if this machine has everything that the bot needs."""
        return not self.lacks


class CatalogBot(NamedTuple):
    """A bot from a list."""

    bot: ListedBot
    """The entry."""
    home: Path
    """The folder of the list; the entry's relative paths start there."""


def sample_folder() -> Path:
    """Return the folder of the sample bots, in a checkout or in an installed wheel."""
    return Path(str(resources.files("sample_bots"))).resolve()


@cache  # A run asks six times, and each reading takes 2 ms.
def sample_bots() -> Mapping[str, ListedBot]:
    """Return every sample bot by name."""
    return _read(sample_folder() / LIST)


def own_bots(folder: Path) -> dict[str, ListedBot]:
    """Return the bots that the folder's list names; none if the folder has no list.

    Raises UserError for a list that cannot be read, or that takes a sample bot's name: an event
    would not say which of the two bots it means.
    """
    path = folder / LIST
    if not path.exists():
        return {}
    own = _read(path)
    for name in own.keys() & sample_bots().keys():
        raise UserError(f"{path}: {name} is the name of a sample bot. Give yours another name.")
    return own


def all_bots(folder: Path) -> dict[str, CatalogBot]:
    """Return the sample bots and the folder's own bots, by name. Raises UserError."""
    return {**_found(sample_bots(), sample_folder()), **_found(own_bots(folder), folder.resolve())}


def own_names(names: Iterable[str], folder: Path) -> list[str]:
    """Return the names of the user's bots: those in the folder's list, or all that are no samples.

    A version (`mine@2`) counts as its bot.
    """
    own = [name for name in names if plain_name(name) not in sample_bots()]
    listed = own_bots(folder)
    return [name for name in own if plain_name(name) in listed] or own


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


def _found(bots: Mapping[str, ListedBot], home: Path) -> dict[str, CatalogBot]:
    return {name: CatalogBot(bot, home) for name, bot in bots.items()}


def _read(path: Path) -> dict[str, ListedBot]:
    return load_toml(path, dict[EntrantName, ListedBot])


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
