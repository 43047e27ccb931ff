"""A view of an event as it was some time ago, without anything that may not be public now.

A game is public once it is as old as the delay, every game on its board is over, so that the
board's seed is revealed, and none of its bots can read the page while it plays on: its sitting is
over, or they are locked in without a network. All but the delay holds as of now, not as of the
moment shown. Of games on other boards only their part of the standings is public, as in `publish`,
and, of those in play at that moment, the names at the table.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from math import ceil
from os import stat_result
from pathlib import Path

from msgspec.structs import asdict, replace

from arena.files import DamagedFileError, open_file
from arena.logs.board_promises import published_seeds
from arena.logs.compression import compressed_path
from arena.logs.follow import CHUNK
from arena.logs.gamelog import OVER
from protocol.codec import DamagedRecordError, decode_record, line_start, printable, strip_checksum
from protocol.records import Sitting
from tournaments.plan.event import Event
from tournaments.site.snapshot import BOARDS, WHOLE, Finished, LiveView, Snapshot
from tournaments.storage.folder import Folder

SITTING = line_start(Sitting)
"""The beginning of the line of a sitting."""
STEPS = 100
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
        self._offline = {one.name for one in event.entrants if not one.command.network}
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
            growth = self._growths.setdefault(path.stem, _Growth(self._delay_s / STEPS))
            with suppress(FileNotFoundError):  # It is just being compressed.
                growth.note(path, now)

    def _end(self, log: Path) -> int:
        growth = self._growths.get(log.stem)
        end = growth.end_at(self._time()) if growth else 0
        if growth is None or growth.over:
            return end
        # No bot of a sitting that goes on may read what is shown of it.
        own = growth.sitting
        safe = own and own.sandbox == "locked" and self._offline.issuperset(own.seats)
        return end if safe else 0

    def _is_shown(self, board: int) -> bool:
        return board in self._public

    def _time(self) -> float:
        return self._now - self._delay_s

    def public(self) -> PublicSnapshot:
        """Return the state for everybody. No replay is linked to, and no local folder named."""
        whole = self.now()
        known = replace(
            whole,
            playing=tuple(replace(one, replay="") for one in whole.playing),
            finished=tuple(Finished(one.words, "") for one in whole.finished),
            fouls=tuple(Finished(one.words, "") for one in whole.fouls),
            trouble=tuple(f"The log {name} cannot be read." for name in self._damaged()),
        )
        return PublicSnapshot(
            **asdict(known),
            at=round(self._time(), 1),
            delay_s=self._delay_s,
            covered=(*self._covered(),),
        )

    def _covered(self) -> Iterator[str]:
        """Yield the names at the tables at which a game was in play that is not shown."""
        for log in self._newest(shown=False)[:BOARDS]:
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
        stat, packed = _stat(path)
        if self._mark == (mark := (stat.st_ino, stat.st_size, stat.st_mtime_ns)):
            return
        self._mark = mark
        if packed:
            self.over = True
        else:
            self._read_borders(path)
        since = min(now, stat.st_mtime)
        if self._step_s:
            since = ceil(since / self._step_s) * self._step_s
        if self._sizes and self._sizes[-1][0] == since:
            self._sizes.pop()
        self._sizes.append((since, WHOLE if packed else stat.st_size))

    def _read_borders(self, path: Path) -> None:
        """Look at the new lines for the sitting's lines and its end. Raises OSError."""
        with open_file(path) as file:
            file.seek(self._looked)
            for line in iter(partial(file.readline, CHUNK), b""):
                if not line.endswith(b"\n"):
                    return
                self._looked += len(line)
                self.over = line.startswith(OVER)
                if line.startswith(SITTING):
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
