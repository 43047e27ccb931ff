"""Views of an event from its folder alone, live or late: reads only, takes no lock."""

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from math import ceil
from os import stat_result
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from arena.analysis import text
from arena.analysis.frames import SPECTATOR, frames
from arena.analysis.timeline import walk_log
from arena.document.blocks import TextRow, cut_rows
from arena.files import DamagedFileError, open_file
from arena.logs.catalog import GAMES_FOLDER, SittingLogs, published_seeds, replay_address
from arena.logs.checksummed import compressed_path
from arena.logs.gamelog import FOLLOW_CHUNK, OVER, LogFollower, LoggedGame, read_games
from arena.ui import replay_page
from arena.ui.replay_page import valid_games
from protocol.codec import DamagedRecordError, decode_record, line_start, printable, strip_checksum
from protocol.records import FoulRecord, Sitting
from tournaments.event.book import Book, ResultStore
from tournaments.event.folder import Folder, load_event
from tournaments.event.luck import LuckStore
from tournaments.plan.event import Event
from tournaments.rating.tables import LiveRating, update
from tournaments.report.standings import PROVISIONAL, live_table, standings_table
from tournaments.site.status import (
    Counts,
    EventState,
    event_state,
    is_running,
    log_time,
    read_counts,
    run_time,
)

# Live view of an event from its folder alone: reads only, takes no lock.
#
# A spectator sees no hand of an unfinished game unless everything is asked for: not its tiles, its
# notes or its clocks, nor what the log says beside a foul, which may tell of them.


MAX_GAMES_SHOWN = 12
"""The largest number of games on the page."""
FINISHED_GAMES = 6
"""The largest number of finished games among them."""
LIST_LENGTH = 40
"""Length of the lists of finished games and of fouls."""
MAX_LINES_KEPT = 2000
"""Lines kept for these lists: those of boards that are still played may have to wait."""
EVENTS_SHOWN = 6
"""Latest events listed beside a game."""
STANDINGS_ROWS = 200
LOG_END = sys.maxsize
"""The end of a log all of which may be read."""
COUNT_EVERY = 8
"""Looks between two counts of the event's games, which go through its whole schedule."""

NO_COUNTS = Counts(-1, 0, None)
"""The counts before the first look."""


class LiveGame(Struct, frozen=True):
    """A game that is being played or has just ended."""

    sitting: str
    """The sitting, which names its log."""
    about: replay_page.GameInfo
    scene: replay_page.Scene
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


class Snapshot(EventState, frozen=True, kw_only=True):
    """The message that a page gets: the whole state of the event."""

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
        self._finished: deque[tuple[int, Finished]] = deque(maxlen=MAX_LINES_KEPT)
        self._fouls: deque[tuple[int, Finished]] = deque(maxlen=MAX_LINES_KEPT)
        self._looks = self._reads = 0
        self._counts = NO_COUNTS
        self._elapsed_s: float | UnsetType = UNSET

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
        changed = [log for log in self._grown() if self._read(log)]
        self._forget()
        return self._count() or bool(changed) or self._looks == 1

    def _count(self) -> bool:
        """Count games again if that is due; tell whether a run has begun or ended since."""
        played, old = len(self._results), self._counts
        if played == old.played >= old.planned:
            return False
        is_due = self._looks % COUNT_EVERY == 1 or played >= old.planned
        running = self._is_running()
        is_new = running is not False and run_time(self._folder) != old.began
        has_turned = old is not NO_COUNTS and (running != old.running or is_new)
        if has_turned or (is_due and played != old.played):
            self._counts = read_counts(self._book(), running)
        return has_turned

    def _grown(self) -> list["_Log"]:
        index, paths = self._logs, self._folder.logs()
        logs = [index.get(path.stem) or index.setdefault(path.stem, _Log(path)) for path in paths]
        grown = [log for log in logs if not log.trouble and log.has_grown(self._end(log.tail.path))]
        return sorted(grown, key=lambda log: log_time(log.tail.path))

    def _end(self, _: Path) -> int:
        """Return the number of a log's bytes, not compressed, that may be read by now."""
        return LOG_END

    def _is_shown(self, _: int) -> bool:
        return True

    def _time(self) -> float:
        return time.time()

    def _is_running(self) -> bool | None:
        return is_running(self._folder)

    def _forget(self) -> None:
        """Drop the games of finished sittings that are not on the page any more."""
        for is_public in (True, False):
            for log in self._newest(is_public=is_public)[MAX_GAMES_SHOWN:]:
                if log.over:
                    log.last = log.shown = None

    def _newest(self, *, is_public: bool = True) -> list["_Log"]:
        """Return the logs with games in progress, then the others, latest change first.

        `is_public`: those whose last game may be shown, else those whose last game may not.
        """
        logs = [
            log
            for log in self._logs.values()
            if log.last and not log.trouble and self._is_shown(log.last.game.board) is is_public
        ]
        return sorted(logs, key=lambda log: (log.over, -log.changed))

    def _read(self, log: "_Log") -> bool:
        """Read a log's new lines; tell whether there were any."""
        before = log.tail.size
        try:
            for logged in log.tail.look(self._end(log.tail.path)):
                self._over(log, logged)
        except (DamagedFileError, OSError) as error:
            log.trouble = str(error)
            return True
        if log.tail.size == before:
            return False
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
        for rated_result in self.event.rated([result]):
            self._ticks |= update(self._ticks, rated_result, self.event.rules.deal.partners)
        replay = replay_address(logged.game.game)
        board = logged.game.board
        words = f"Board {board}: {text.outcome_line(logged)}"
        self._finished.appendleft((board, Finished(words, replay)))
        for record in logged.choices():
            if isinstance(record, FoulRecord):
                name = printable(result.seats[record.seat])
                words = f"{name}, {record.foul}: {printable(record.detail)}"
                link = f"{replay}&at=foul&seat={record.seat}"
                self._fouls.appendleft((board, Finished(words, link)))

    def now(self) -> Snapshot:
        """Return the state of the event for a page."""
        about = f"{printable(self.event.rules.name)}, {self.event.seats} seats"
        state = event_state(self._book(), self._counts, about, self._time())
        if state.elapsed_s is UNSET:  # The run is over, and lasted as long as was seen last.
            state = replace(state, elapsed_s=self._elapsed_s)
        self._elapsed_s = state.elapsed_s
        head, rows, note = self._standings(state.complete)
        return Snapshot(
            **asdict(state),
            emblems=self.event.emblems,
            head=head,
            rows=rows,
            note=note,
            playing=tuple(self._playing()),
            finished=tuple(self._shown_lines(self._finished)),
            fouls=tuple(self._shown_lines(self._fouls)),
            trouble=tuple(self._damaged().values()),
        )

    def _book(self) -> Book:
        """Return what has been read as a book."""
        return Book(self._folder, self.event, self._results)

    def _damaged(self) -> dict[str, str]:
        damaged = ((name, log.trouble) for name, log in self._logs.items() if log.trouble)
        return dict(islice(damaged, LIST_LENGTH))

    def _shown_lines(self, lines: Iterable[tuple[int, Finished]]) -> Iterator[Finished]:
        return islice((line for board, line in lines if self._is_shown(board)), LIST_LENGTH)

    def _standings(self, over: bool) -> tuple[TextRow, list[TextRow], str]:
        """Return head, rows and note of the standings.

        While games are played they are only live Elo: a full rating takes CPU that bots need.
        """
        if not over:
            head, rows = live_table(self._ticks).plain()
            unrated = SEARCHING if self.event.format.HAS_COPIES else NO_GAME
            return head, cut_rows(rows, STANDINGS_ROWS), PROVISIONAL if rows else unrated
        pools = self._book().ratings.pools
        tables = [standings_table(pool).plain() for pool in pools]
        return (
            tables[0][0],
            cut_rows([row for _, rows in tables for row in rows], STANDINGS_ROWS),
            FINAL_NOTE,
        )

    def _playing(self) -> Iterator[LiveGame]:
        """Yield the games in progress, then those that ended last, each by sitting."""
        logs = self._newest()
        open_count = sum(not log.over for log in logs)
        logs = logs[: min(MAX_GAMES_SHOWN, max(open_count, FINISHED_GAMES))]
        for log in sorted(logs, key=lambda log: (log.over, log.tail.path.stem)):
            log.shown = log.shown or self._show_game(log)
            if log.shown:
                yield log.shown

    def _show_game(self, log: "_Log") -> LiveGame | None:
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
        for path in SittingLogs(self._folder.path / GAMES_FOLDER).of(name):
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
    record = logged.sitting
    builder = replay_page.SceneBuilder(
        record.seats, record.seat_clocks, partners=record.rules.deal.partners, seat=seat
    )
    scenes = deque(map(builder.scene, frames(walk_log(logged), seat)), maxlen=EVENTS_SHOWN)
    if not scenes:
        return None
    return LiveGame(
        sitting=sitting,
        about=replay_page.game_info(logged.game.game, record.seats, record.rules),
        scene=scenes[-1],
        said=tuple(scene.words for scene in scenes),
        over=logged.result is not None,
        replay=replay,
    )


NO_GAME = "No game is finished yet."
"""The note in the place of standings before the first result."""
SEARCHING = "The candidates of the search have no ratings: only the check of the best values has."
"""The note where the games so far make no standings."""
FINAL_NOTE = "All games are played: ± is half of a 95 % interval. The report says more."
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
        if end != LOG_END:
            return end > self.tail.size
        before, path = self.packed, self.tail.path
        self.packed = not path.exists()
        if self.packed:
            return not before
        try:
            return path.stat().st_size != self.tail.size
        except FileNotFoundError:  # It is just being compressed: the next look reads it.
            return False

    @property
    def over(self) -> bool:
        """Tell whether no game is in progress in the log."""
        return self.tail.playing() is None


def _mark(path: Path) -> tuple[int, int]:
    """Return a mark of the file that changes whenever the file is replaced."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns


# A view of an event as it was some time ago, without anything that may not be public now.
#
# A game is public once it is as old as the delay, every game on its board is over, so that the
# board's seed is revealed, and none of its bots can read the page while it plays on: its sitting is
# over, or they are locked in without a network. All but the delay holds as of now, not as of the
# moment shown. Of games on other boards only their part of the standings is public, as in
# `publish`, and, of those in play at that moment, the names at the table.


SITTING_START = line_start(Sitting)
"""The beginning of the line of a sitting."""
DELAY_STEPS = 100
"""Sizes of a log that are remembered: into so many steps the delay is divided."""


class PublicSnapshot(Snapshot, frozen=True, kw_only=True):
    """The state of an event some time ago, for everybody."""

    at: float
    """The time that is shown, in s since 1970."""
    delay_s: float
    """The delay, in s."""
    covered: tuple[str, ...]
    """The names at each table whose game may not be shown yet."""


class DelayedView(LiveView):
    """A view of an event's folder that lags behind it."""

    def __init__(self, path: Path, delay_s: float) -> None:
        """Load the plan; read no logs yet. Raises UserError when the folder holds no event."""
        self.path = path
        self._delay_s = delay_s
        self._now = 0.0
        super().__init__(Folder(path.resolve()), everything=False)

    def _begin(self, event: Event) -> None:
        self._growths: dict[str, _Growth] = {}
        self._public: set[int] = set()
        self._seeds = 0, 0
        self._offline = {bot.name for bot in event.entrants if not bot.command.network}
        super()._begin(event)

    def look_at(self, now: float) -> bool:
        """Read what is public by now, in s since 1970; tell whether anything has changed.

        Raises UserError when the plan has become unreadable, OSError.
        """
        self._now = now
        # Before the logs: nothing that is read later is about a board that was not over by now.
        revealed = self._read_seeds()
        self.note_sizes(now)
        return self.look() or revealed

    def _read_seeds(self) -> bool:
        """Read the revealed boards again if there may be more; tell whether there are."""
        with suppress(FileNotFoundError, DamagedFileError):
            seeds, before = self._folder.seeds.stat(), self._public
            if self._seeds != (mark := (seeds.st_size, seeds.st_mtime_ns)):
                self._public, self._seeds = {*published_seeds(self._folder.seeds)}, mark
                return self._public != before
        return False

    def note_sizes(self, now: float) -> None:
        """Remember the size of each log."""
        for path in self._folder.logs():
            growth = self._growths.setdefault(path.stem, _Growth(self._delay_s / DELAY_STEPS))
            with suppress(FileNotFoundError):  # It is just being compressed.
                growth.note(path, now)

    def _end(self, log: Path) -> int:
        growth = self._growths.get(log.stem)
        end = growth.end_at(self._time()) if growth else 0
        if growth is None or growth.over:
            return end
        # No bot of a sitting that goes on may read what is shown of it.
        sitting = growth.sitting
        safe = sitting and sitting.sandbox == "locked" and self._offline.issuperset(sitting.seats)
        return end if safe else 0

    def _is_shown(self, board: int) -> bool:
        return board in self._public

    def _time(self) -> float:
        return self._now - self._delay_s

    def _is_running(self) -> bool | None:
        # It may have ended since that time, at which it was to write results yet.
        with suppress(FileNotFoundError):
            step = self._delay_s / DELAY_STEPS
            if self._folder.ledger.stat().st_mtime + step > self._time():
                return True
        return super()._is_running()

    def public(self) -> PublicSnapshot:
        """Return the state for everybody. No replay is linked to, and no local folder named."""
        snapshot = self.now()
        public_part = replace(
            snapshot,
            playing=tuple(replace(game, replay="") for game in snapshot.playing),
            finished=tuple(Finished(line.words, "") for line in snapshot.finished),
            fouls=tuple(Finished(line.words, "") for line in snapshot.fouls),
            trouble=tuple(f"The log {name} cannot be read." for name in self._damaged()),
        )
        return PublicSnapshot(
            **asdict(public_part),
            at=round(self._time(), 1),
            delay_s=self._delay_s,
            covered=(*self._covered(),),
        )

    def _covered(self) -> Iterator[str]:
        """Yield the names at the tables at which a game was in play that is not shown."""
        for log in self._newest(is_public=False)[:MAX_GAMES_SHOWN]:
            if log.last and not log.over:
                yield " – ".join(map(printable, log.last.sitting.seats))


class _Growth:
    """The size of a log over time, and its sitting."""

    def __init__(self, step_s: float) -> None:
        self.over = False
        """True if the sitting is over now."""
        self.sitting: Sitting | None = None
        """The sitting as the log has it last: it may have gone on elsewhere."""
        self._step_s = step_s
        self._mark = 0, 0, 0
        self._looked = 0
        self._sizes: deque[tuple[float, int]] = deque()
        self._end = 0

    def note(self, path: Path, now: float) -> None:
        """Remember the present size and the time since when the log has it. Raises OSError."""
        stat, is_packed = _stat(path)
        if self._mark == (mark := (stat.st_ino, stat.st_size, stat.st_mtime_ns)):
            return
        self._mark = mark
        if is_packed:
            self.over = True
        else:
            self._read_borders(path)
        since = min(now, stat.st_mtime)
        if self._step_s:
            since = ceil(since / self._step_s) * self._step_s
        if self._sizes and self._sizes[-1][0] == since:
            self._sizes.pop()
        self._sizes.append((since, LOG_END if is_packed else stat.st_size))

    def _read_borders(self, path: Path) -> None:
        """Look at the new lines for the sitting's lines and its end. Raises OSError."""
        with open_file(path) as file:
            file.seek(self._looked)
            for line in iter(partial(file.readline, FOLLOW_CHUNK), b""):
                if not line.endswith(b"\n"):
                    return
                self._looked += len(line)
                self.over = line.startswith(OVER)
                if line.startswith(SITTING_START):
                    self.sitting = _sitting(line)

    def end_at(self, time: float) -> int:
        """Return the bytes that the log had at a time."""
        while self._sizes and self._sizes[0][0] <= time:
            self._end = self._sizes.popleft()[1]
        return self._end


def _sitting(line: bytes) -> Sitting | None:
    with suppress(DamagedRecordError):
        record = decode_record(strip_checksum(line))
        return record if isinstance(record, Sitting) else None
    return None


def _stat(path: Path) -> tuple[stat_result, bool]:
    """Return the state of a log's file, and whether it is compressed: then it is whole."""
    with suppress(FileNotFoundError):
        return path.stat(), False
    return compressed_path(path).stat(), True
