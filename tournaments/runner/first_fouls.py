"""Bots that foul in each of their first games: a mistake must not cost its author an evening."""

from collections import Counter
from pathlib import Path

from arena.analysis.find import read_foul
from protocol.errors import UserError
from protocol.records import Result
from tournaments.plan.bot_command import shell_word
from tournaments.plan.event import Event
from tournaments.rating.game_result import fouls_committed
from tournaments.storage.folder import Folder

FIRST_GAMES = 5
"""A bot that loses each of its first games by a foul would lose them all so."""


class FoulWatch:
    """The fouls of bots that have not yet ended a game without one."""

    def __init__(self, folder: Folder, event: Event, *, stops: bool) -> None:
        """Watch the bots; if it `stops` the run, for one whose first games end by its fouls."""
        self._folder, self._stops = folder, stops
        self._entrants = {one.name: one for one in event.entrants if not one.retired}
        self.fouls: dict[str, list[str]] = {name: [] for name in self._entrants}
        """The words about the foul of each such bot in its first games, as they ended."""
        self._crashed: dict[str, int] = Counter()

    def add(self, result: Result) -> None:
        """Count a finished game; the log is read for the first fouls of a bot only.

        A game that another's foul ended, or that was forfeited before, tells nothing of a bot.
        Raises UserError, which names the bot and its foul, if the run is to stop.
        """
        classes = {foul.seat: foul.foul for foul in fouls_committed(result)}
        for seat, name in enumerate(result.seats):
            if name not in self.fouls:
                continue
            if seat in classes:
                self._crashed[name] += classes[seat] == "gone"
                self._add_foul(name, read_foul(self._folder.path, result.game, seat))
            elif result.why != "foul":
                del self.fouls[name]

    def _add_foul(self, name: str, words: str) -> None:
        fouls = self.fouls[name]
        fouls.append(words)
        if len(fouls) < FIRST_GAMES:
            return
        del self.fouls[name]
        if self._stops:
            ((usual, _),) = Counter(fouls).most_common(1)
            word = shell_word(self._entrants[name]).replace(f"{Path.cwd()}/", "")
            how = f"lost each of its first {FIRST_GAMES} games by a foul"
            how = "crashes" if self._crashed[name] == FIRST_GAMES else how
            raise UserError(f"{name} {how}: {usual}. Try `boneyard check {word}`.")
