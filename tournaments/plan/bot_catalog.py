"""Bots by name: the sample bots, and the user's own in folders with a bot.toml."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from arena.rules.toml_file import load_toml
from protocol.errors import UserError
from tournaments.formats.base import plain_name
from tournaments.plan.bot_file import BOT_FILE, BotFile, load_bot_file
from tournaments.plan.event import EntrantName

LIST = "bots.toml"
"""Name of the file that lists the sample bots."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


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
        if _NAME.fullmatch(name):
            with suppress(UserError):
                own[name] = load_bot_file(path)
    return own


def all_bots(folder: Path) -> dict[str, CatalogBot]:
    """Return the sample bots and the folder's own bots, by name. Raises UserError."""
    samples = {name: CatalogBot(bot, sample_folder()) for name, bot in sample_bots().items()}
    home, own = folder.resolve(), own_bots(folder)
    return {**samples, **{name: CatalogBot(bot, home, name) for name, bot in own.items()}}


def own_names(names: Iterable[str], folder: Path) -> list[str]:
    """Return the names of the user's bots: those in the folder, or all that are no samples.

    A version (`mine@2`) counts as its bot.
    """
    own = [name for name in names if plain_name(name) not in sample_bots()]
    listed = own_bots(folder)
    return [name for name in own if plain_name(name) in listed] or own
