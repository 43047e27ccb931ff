"""Live view of an event from its folder alone: reads only, takes no lock.

A spectator sees no hand of an unfinished game unless everything is asked for: not its tiles, its
notes or its clocks, nor what the log says beside a foul, which may tell of them.
"""

import math
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

from arena.analysis import text
from arena.analysis.frames import SPECTATOR, frames
from arena.analysis.timeline import walk_log
from arena.document.blocks import TextRow, cut_rows
from arena.logs.catalog import FOLDER, SittingLogs, replay_address
from arena.logs.checksummed import DamagedFileError
from arena.logs.compression import actual_path
from arena.logs.follow import LogFollower
from arena.logs.gamelog import LoggedGame, read_games
from arena.ui import scenes
from arena.ui.emblems import emblem_numbers
from arena.ui.replay_files import valid_games
from protocol.codec import printable
from protocol.records import FoulRecord
from tournaments.plan.event import Event
from tournaments.rating.game_result import LiveRating, update
from tournaments.rating.ratings import fit_both
from tournaments.report.missing_data import reported
from tournaments.report.ratings.standings import PROVISIONAL, live_table, standings_table
from tournaments.schedule.schedule import count_all_games
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.result_store import ResultStore

BOARDS = 12
"""The largest number of games on the page."""
OVER = 6
"""The largest number of finished games among them."""
LAST = 40
"""Length of the lists of finished games and of fouls."""
KEPT = 2000
"""Lines kept for these lists: those of boards that are still played may have to wait."""
SAID = 6
"""Latest events listed beside a game."""
ROWS = 200
WHOLE = sys.maxsize
"""The end of a log all of which may be read."""
ENOUGH_S = 3.0
"""The shortest time from which the rest is estimated, in s."""
COUNT_EVERY = 8
"""Looks between two computations of the number of planned games."""


class LiveGame(Struct, frozen=True):
    """A game that is being played or has just ended."""

    sitting: str
    """The sitting, which names its log."""
    about: scenes.GameInfo
    scene: scenes.Scene
    said: tuple[str, ...]
    """The latest events of the game, in sentences."""
    over: bool
    """True if the game is over."""
    replay: str
    """The address of its replay; empty while it is running."""


class Finished(Struct, frozen=True):
    """A finished game, as a line of a list."""

    words: str
    replay: str


class Snapshot(Struct, frozen=True, kw_only=True):
    """The message that a page gets: the whole state of the event."""

    name: str
    about: str
    """Its rules and seats, in words."""
    played: int
    planned: int
    over: bool
    """True if all of them are played."""
    elapsed_s: float | None
    """Time since the run began, in s; None if that is not known."""
    left_s: float | None
    """Estimated time until the end, in s; None: nothing is left, or it is too early to tell."""
    emblems: Mapping[str, int]
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str
    """A sentence about these numbers."""
    playing: tuple[LiveGame, ...]
    finished: tuple[Finished, ...]
    fouls: tuple[Finished, ...]
    trouble: tuple[str, ...]
    """Unreadable files and the reasons."""


class LiveView:
    """A view of an event's folder that reads what is new at each look."""

    def __init__(self, folder: Folder, *, everything: bool) -> None:
        """Load the plan; read no results or logs yet.

        `everything`: whether spectators also see the hands of unfinished games.
        Raises UserError when the folder holds no event.
        """
        self._folder = folder
        self._everything = everything
        self._begin(load_event(folder))

    def _begin(self, event: Event) -> None:
        """Forget all that was read: the plan is new or has changed."""
        self.event = event
        self._written = _mark(self._folder.event)
        self._logs: dict[str, _Log] = {}
        self._results = ResultStore(luck=LuckStore(self._folder, event))
        self._ticks: dict[str, LiveRating] = {}
        self._finished: deque[tuple[int, Finished]] = deque(maxlen=KEPT)
        self._fouls: deque[tuple[int, Finished]] = deque(maxlen=KEPT)
        self._planned = self._fresh = 0
        self._looks = self._reads = 0
        self._elapsed_s: float | None = None
        self._began: float | None = None
        self._before = reported(self._folder)
        with suppress(OSError):  # A run publishes its results' file when it begins.
            self._began = self._folder.results.stat().st_mtime

    @property
    def emblems(self) -> Mapping[str, int]:
        """Return the number of each entrant's emblem."""
        names = [entrant.name for entrant in self.event.entrants]
        return emblem_numbers(names, names)

    @property
    def report(self) -> Path:
        """Return the path of the report's page, which may not exist yet."""
        return self._folder.path / "report.html"

    def look(self) -> bool:
        """Read what was written since the last look; tell whether there was anything.

        Raises UserError when the plan has become unreadable.
        """
        if _mark(self._folder.event) != self._written:
            self._begin(load_event(self._folder))
        self._looks += 1
        before = len(self._results)
        changed = [log for log in self._grown() if self._read(log)]
        self._forget()
        due = self._looks % COUNT_EVERY == 1 or len(self._results) >= self._planned
        if due and (before != len(self._results) or not self._planned):
            self._planned = count_all_games(self.event, self._results)
        return bool(changed) or self._looks == 1

    def _grown(self) -> list["_Log"]:
        seen, paths = self._logs, self._folder.logs()
        logs = [seen.get(path.stem) or seen.setdefault(path.stem, _Log(path)) for path in paths]
        grown = [log for log in logs if not log.trouble and log.has_grown(self._end(log.tail.path))]
        return sorted(grown, key=_Log.written)

    def _end(self, _: Path) -> int:
        """Return the number of a log's bytes, not compressed, that may be read by now."""
        return WHOLE

    def _is_shown(self, _: int) -> bool:
        return True

    def _time(self) -> float:
        return time.time()

    def _forget(self) -> None:
        """Drop the games of finished sittings that are not on the page any more."""
        for shown in (True, False):
            for log in self._newest(shown=shown)[BOARDS:]:
                if log.over:
                    log.last = log.shown = None

    def _newest(self, *, shown: bool = True) -> list["_Log"]:
        """Return the logs with games in progress, then the others, latest change first.

        Those whose last game may be shown, or those whose last game may not.
        """
        logs = [
            log
            for log in self._logs.values()
            if log.last and not log.trouble and self._is_shown(log.last.game.board) is shown
        ]
        return sorted(logs, key=lambda log: (log.over, -log.changed))

    def _read(self, log: "_Log") -> bool:
        """Read a log's new lines; tell whether there were any."""
        before, known = log.tail.size, len(self._results)
        try:
            for logged in log.tail.look(self._end(log.tail.path)):
                self._over(log, logged)
        except (DamagedFileError, OSError) as error:
            log.trouble = str(error)
            return True
        if log.tail.size == before:
            return False
        if log.written() > (self._began or 0.0):
            self._fresh += len(self._results) - known
        self._reads += 1
        log.changed = self._reads
        log.last = log.tail.playing() or log.last
        log.shown = None
        return True

    def _over(self, log: "_Log", logged: LoggedGame) -> None:
        result = logged.result
        assert result is not None
        log.last = logged
        self._results.add(result)
        for one in self.event.rated([result]):
            self._ticks |= update(self._ticks, one, self.event.rules.deal.partners)
        replay = replay_address(logged.game.game)
        board = logged.game.board
        self._finished.appendleft((board, Finished(text.game_line(logged), replay)))
        for record in logged.choices():
            if isinstance(record, FoulRecord):
                who = printable(result.seats[record.seat])
                words = f"{who}, {record.foul}: {printable(record.detail)}"
                link = f"{replay}&at=foul&seat={record.seat}"
                self._fouls.appendleft((board, Finished(words, link)))

    def now(self) -> Snapshot:
        """Return the state of the event for a page."""
        played, planned = len(self._results), self._planned
        over = played >= planned > 0
        if self._began is not None and not over:
            self._elapsed_s = max(0.0, self._time() - self._began)
        head, rows, note = self._standings(over)
        return Snapshot(
            name=self.event.heading,
            about=f"{printable(self.event.rules.name)}, {self.event.seats} seats",
            played=played,
            planned=planned,
            over=over,
            elapsed_s=None if self._elapsed_s is None else round(self._elapsed_s, 1),
            left_s=None if over else self._left_s(played, planned),
            emblems=self.emblems,
            head=head,
            rows=rows,
            note=note,
            playing=tuple(self._playing()),
            finished=tuple(self._shown_lines(self._finished)),
            fouls=tuple(self._shown_lines(self._fouls)),
            trouble=tuple(self._damaged().values()),
        )

    def _left_s(self, played: int, planned: int) -> float | None:
        """Return the time that the other games will take, by the pace of this run."""
        # A resumed sitting has games of earlier runs; so has a ledger that waited for its turn.
        lasted, made = self._elapsed_s or 0.0, min(self._fresh, played - self._before)
        return (
            round((planned - played) * lasted / made, 1) if lasted > ENOUGH_S and made > 0 else None
        )

    def _damaged(self) -> dict[str, str]:
        damaged = ((name, log.trouble) for name, log in self._logs.items() if log.trouble)
        return dict(islice(damaged, LAST))

    def _shown_lines(self, lines: Iterable[tuple[int, Finished]]) -> Iterator[Finished]:
        return islice((line for board, line in lines if self._is_shown(board)), LAST)

    def _standings(self, over: bool) -> tuple[TextRow, list[TextRow], str]:
        """Return head, rows and note of the standings.

        While games are played they are only live Elo: a full rating takes CPU that bots need.
        """
        if not over:
            head, rows = live_table(self._ticks).plain()
            unrated = SEARCHING if self.event.format.HAS_COPIES else NO_GAME
            return head, cut_rows(rows, ROWS), PROVISIONAL if rows else unrated
        event = self.event
        pools = fit_both(
            event.rated(self._results.first()),
            partners=event.rules.deal.partners,
            anchor=event.anchor,
            corrections=LuckStore(self._folder, event).corrections(self._results.first()) or None,
        ).pools
        tables = [standings_table(pool).plain() for pool in pools]
        return tables[0][0], cut_rows([row for _, rows in tables for row in rows], ROWS), RATED

    def _playing(self) -> Iterator[LiveGame]:
        """Yield the games in progress, then those that ended last, each by sitting."""
        logs = self._newest()
        going = sum(not log.over for log in logs)
        logs = logs[: min(BOARDS, max(going, OVER))]
        for log in sorted(logs, key=lambda log: (log.over, log.tail.path.stem)):
            log.shown = log.shown or self._shown(log)
            if log.shown:
                yield log.shown

    def _shown(self, log: "_Log") -> LiveGame | None:
        """Return a log's last game for a page; None before anything has happened in it."""
        logged = log.last
        assert logged is not None
        is_open = logged.result or self._everything
        replay = replay_address(logged.game.game) if is_open else ""
        try:
            return spectator_view(log.tail.path.stem, logged, replay, everything=self._everything)
        except DamagedFileError as error:
            log.trouble = str(error)
            return None

    def game(self, name: str) -> LoggedGame | None:
        """Return a game that may be seen; None if there is no such game.

        One that is over, or any when everything is shown. Raises DamagedFileError.
        """
        for path in SittingLogs(self._folder.path / FOLDER).of(name):
            for logged in valid_games(read_games(path)):
                if logged.game.game == name and (logged.result or self._everything):
                    return logged
        return None


def spectator_view(
    sitting: str, logged: LoggedGame, replay: str, *, everything: bool
) -> LiveGame | None:
    """Return the table as a spectator sees it, or all of it if the game is over or `everything`.

    Raises DamagedLogError.
    """
    seat = None if logged.result or everything else SPECTATOR
    of = logged.sitting
    made = scenes.SceneBuilder(of.seats, of.seat_clocks, partners=of.rules.deal.partners, seat=seat)
    seen = deque(map(made.scene, frames(walk_log(logged), seat)), maxlen=SAID)
    if not seen:
        return None
    return LiveGame(
        sitting=sitting,
        about=scenes.game_info(logged.game.game, of.seats, of.rules),
        scene=seen[-1],
        said=tuple(scene.words for scene in seen),
        over=logged.result is not None,
        replay=replay,
    )


NO_GAME = "No game is finished yet."
"""The note in the place of standings,"""
SEARCHING = "The candidates of the search have no ratings: only the check of the best values has."
"""and where the games so far make none."""
RATED = "All games are played: ± is half of a 95 % interval. The report says more."
"""The note under the standings of a finished event."""


class _Log:
    """A log and what was read of it."""

    def __init__(self, path: Path) -> None:
        self.tail = LogFollower(path)
        self.trouble = ""
        self.packed = False
        self.changed = 0
        self.last: LoggedGame | None = None
        self.shown: LiveGame | None = None

    def has_grown(self, end: int) -> bool:
        """Tell whether the log may have new lines up to a byte; a compressed log is read once."""
        if end != WHOLE:
            return end > self.tail.size
        before, path = self.packed, self.tail.path
        self.packed = not path.exists()
        if self.packed:
            return not before
        try:
            return path.stat().st_size != self.tail.size
        except FileNotFoundError:  # It is just being compressed: the next look reads it.
            return False

    def written(self) -> float:
        """Return the time at which the log was last written to, in s since 1970."""
        with suppress(FileNotFoundError):  # It is just being compressed.
            return actual_path(self.tail.path).stat().st_mtime
        return math.inf

    @property
    def over(self) -> bool:
        """Tell whether no game is in progress in the log."""
        return self.tail.playing() is None


def _mark(path: Path) -> tuple[int, int]:
    """Return a mark of the file that changes whenever the file is replaced."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns
