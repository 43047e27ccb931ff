"""Bots that crash in each of their first games: a typo must not cost its author an evening."""

from pathlib import Path

from arena.analysis.find import read_crash
from protocol.errors import UserError
from protocol.records import Result
from tournaments.plan.bot_command import shell_word
from tournaments.plan.event import Event
from tournaments.rating.game_result import fouls_committed
from tournaments.storage.folder import Folder

FIRST_GAMES = 5
"""A bot that ends each of its first games by the same crash would end them all so."""


class CrashWatch:
    """The crashes of bots that have not yet ended a game without one."""

    def __init__(self, folder: Folder, event: Event, *, stops: bool) -> None:
        """Watch the bots; if it `stops` the run, for one whose first games end by one crash."""
        self._folder, self._stops = folder, stops
        self._entrants = {one.name: one for one in event.entrants if not one.retired}
        self.crashes: dict[str, list[str]] = {name: [] for name in self._entrants}
        """The crashes of each such bot in its first games, in the order in which they ended."""

    def add(self, result: Result) -> None:
        """Count a finished game; the log is read for the first crashes of a bot only.

        Raises UserError, which names the bot and its crash, if the run is to stop.
        """
        gone = {foul.seat for foul in fouls_committed(result) if foul.foul == "gone"}
        for seat, name in enumerate(result.seats):
            if seat not in gone:
                self.crashes.pop(name, None)
            elif name in self.crashes:
                self._add_crash(name, read_crash(self._folder.path, result.game, seat))

    def _add_crash(self, name: str, crash: str) -> None:
        crashes = self.crashes[name]
        crashes.append(crash)
        if len(crashes) < FIRST_GAMES:
            return
        del self.crashes[name]
        if self._stops and len(set(crashes)) == 1:
            word = shell_word(self._entrants[name]).replace(f"{Path.cwd()}/", "")
            raise UserError(f"{name} crashes: {crash}. Try `boneyard check {word}`.")
