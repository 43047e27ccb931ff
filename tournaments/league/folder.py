"""The folder of a league: the paths of its files."""

import re
from pathlib import Path

from msgspec import Struct

from tournaments.formats.base import first_version
from tournaments.storage.folder import PathInFolder

PLAN = "round.json"
"""Name of the file in a round's folder that tells how its tables were chosen."""
CLOSED = "closed.json"
"""Name of the file in the folder of a round that could not be played to its end."""
TRIES = "private/tries"
"""File in a round's folder, while the round is played: its games at the last try, and the tries
that brought no further game."""
NUMBER = re.compile(r"[0-9]{4,8}")
"""The name of a round's folder."""


class LeagueFolder(Struct, frozen=True):
    """Paths of the files of a league."""

    path: Path

    settings = PathInFolder("league.toml")
    bots = PathInFolder("bots")
    repository = PathInFolder("bots.git")
    """The bots in place of those in bots/, if they are pulled."""
    versions = PathInFolder("versions")
    """A copy of the files of each version that was admitted."""
    register = PathInFolder("register.jsonl")
    """Each admission, refusal and withdrawal, with its time."""
    log = PathInFolder("league.log")
    """Everything that happened, a line each, for people."""
    rounds = PathInFolder("rounds")
    """A folder for each division, with an event folder for each round."""
    site = PathInFolder("site")
    """The site, for any static web server."""
    published = PathInFolder(".published")
    """The state of the league that the site shows."""
    table = PathInFolder("league.json")
    """In the folder of a site: the standings, for programs."""
    turn = PathInFolder(".turn")
    lock = PathInFolder(".lock")
    """File locked by the process that plays the league."""

    def without_path(self, words: str) -> str:
        """Return words for the public, with names of files as they are in the league's folder."""
        return words.replace(f"{self.path.resolve()}/", "")

    def version(self, name: str) -> Path:
        """Return the folder of a version's files: `mine@1` for the version called `mine`."""
        return self.versions / (f"{name}@1" if name == first_version(name) else name)

    def round(self, division: str, number: int) -> Path:
        """Return the event folder of a round."""
        return self.rounds / division / f"{number:04}"

    def rounds_of(self, division: str) -> list[Path]:
        """Return the folders of a division's rounds, in order.

        One without a plan is none, and neither is a copy, such as 0001.bak.
        """
        found = (self.rounds / division).glob("[0-9]*")
        return sorted(
            (one for one in found if NUMBER.fullmatch(one.name) and (one / PLAN).is_file()),
            key=lambda one: int(one.name),
        )


def is_league(path: Path) -> bool:
    """Tell whether a folder is a league, or the site of one."""
    folder = LeagueFolder(path)
    return folder.settings.is_file() or (folder.table.is_file() and folder.register.is_file())
