"""Bots that crash in each of their first games: a typo must not cost its author an evening."""

from pathlib import Path

from arena.analysis.crash import read_crash
from protocol.records import Result
from tournaments.plan.bot_command import shell_word
from tournaments.plan.event import Event
from tournaments.rating.fouls import fouls_committed
from tournaments.storage.folder import Folder

FIRST_GAMES = 5
"""A bot that ends each of its first games by the same crash would end them all so."""


class CrashWatch:
    """The crashes of bots that have not yet ended a game without one."""

    def __init__(self, folder: Folder, event: Event) -> None:
        self._folder = folder
        self._entrants = {one.name: one for one in event.entrants if not one.retired}
        self.crashes: dict[str, list[str]] = {name: [] for name in self._entrants}
        """The crashes of each such bot, in the order of its games; the last may be empty."""

    def add(self, result: Result) -> None:
        """Count a finished game; the log is read for the first crashes of a bot only."""
        gone = {foul.seat for foul in fouls_committed(result) if foul.foul == "gone"}
        for seat, name in enumerate(result.seats):
            if seat not in gone:
                self.crashes.pop(name, None)
            elif len(self.crashes.get(name, range(FIRST_GAMES))) < FIRST_GAMES:
                self.crashes[name].append(read_crash(self._folder.path, result.game, seat))

    def complaint(self) -> str:
        """Return a sentence about a bot whose first games ended by the same crash; or nothing."""
        for name, crashes in self.crashes.items():
            if len(crashes) == FIRST_GAMES and len(set(crashes)) == 1:
                word = shell_word(self._entrants[name]).replace(f"{Path.cwd()}/", "")
                return f"{name} crashes: {crashes[0]}. Try `boneyard check {word}`."
        return ""
