"""The page of running events in a site's folder, some time late.

`delayed.py` says what is public of an event that is played, `publish.py` writes its whole site.
"""

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from arena.files import describe_error, has_content, read_file, write_atomic
from arena.ui.console import print_line, print_note
from arena.ui.html import TABLE_SCRIPTS, page
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError
from tournaments.site.delayed import DelayedView, PublicSnapshot
from tournaments.site.publish import SNAPSHOT, check_place
from tournaments.site.status import is_running
from tournaments.storage.folder import Folder

EVERY_S = 3.0
"""The shortest time between two looks, in s."""
PAUSE_S = EVERY_S + 1
"""The time between two looks of the command, in s: longer, however two clocks differ."""
WAITING = 100
"""Most events that wait for their turn, having begun within the delay."""
LARGEST = 2**20
"""The largest snapshot, in bytes; a larger one is written without its tables."""


class SiteWriter:
    """A folder with the page of the event that is played.

    It remembers the sizes of logs; in a new process games may be shown later than otherwise, never
    earlier.
    """

    def __init__(
        self, site: Path, delay_s: float = 0.0, links: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Write nothing yet. `links`: addresses of pages around the site, and their labels."""
        self._site = site
        self._delay_s = delay_s
        self._links = links
        self._views: deque[tuple[float, DelayedView]] = deque()
        self._written: PublicSnapshot | None = None
        self._page_of: str | None = None
        self._looked = self._began = 0.0
        self.is_over = False
        """True if the event that the page shows is over."""

    def follow(self, folder: Path, now: float) -> None:
        """Write the page and the snapshot of an event as they were `delay_s` ago, if they changed.

        Call it every few seconds, with `now` in s since 1970, while a run plays the event in
        `folder` and until the delay after its end: the last snapshot says that it is over. A call
        mostly looks at the sizes of the logs. Call it in a process or thread of its own, not in a
        referee's loop. When `folder` becomes another event, as the next round of a league, that
        one is shown once the delay has passed. Raises UserError (no event, or a place that is not
        for a site), OSError; after either it may be called again.
        """
        if self._views and 0 <= now - self._looked < EVERY_S:
            return
        self._looked = now
        self._queue(folder, now)
        while len(self._views) > 1 and self._views[1][0] + self._delay_s <= now:
            self._views.popleft()
        view = self._views[0][1]
        changed = view.look_at(now)
        if changed or not self._written or self._written.name != view.event.heading:
            self._write(view.public(), now)

    def _queue(self, folder: Path, now: float) -> None:
        """Remember the time at which an event came, and the sizes of the logs of a waiting one."""
        if not self._views:
            self._began, self._written = now, _read(self._site / SNAPSHOT)
        elif len(self._views) > 1 or self._views[-1][1].path != folder:
            self._views[-1][1].note_sizes(now)
        present = self._views and self._views[-1][1].path == folder
        if not present and len(self._views) < WAITING:
            check_place(folder, self._site)
            self._views.append((now, DelayedView(folder, self._delay_s)))

    def _write(self, new: PublicSnapshot, now: float) -> None:
        old = self._written
        self.is_over = new.over
        if old and old.name == new.name:
            # For a while after a restart less is known of what went on then.
            knew_more = old.played > new.played and now < self._began + self._delay_s
            new = old if knew_more or _lasting(old) == _lasting(new) else new
        if new is not old:
            self._site.mkdir(parents=True, exist_ok=True)
            data = encode_json(new)
            if len(data) > LARGEST:
                data = encode_json(replace(new, playing=(), finished=(), fouls=()))
            write_atomic(self._site / SNAPSHOT, [data])
            self._written = new
        # The page last: a folder without a snapshot could hold something else.
        index = Folder(self._site).index
        if self._page_of != new.name:
            late = delay_text(self._delay_s)
            html = [watch_page(new.name, self._links, snapshot=SNAPSHOT, late=late).encode()]
            if not has_content(index, html):
                write_atomic(index, html)
            self._page_of = new.name


def _lasting(one: PublicSnapshot) -> PublicSnapshot:
    """Return a snapshot without what changes although nothing has happened."""
    return replace(one, at=0.0, elapsed_s=None, left_s=None)


def _read(path: Path) -> PublicSnapshot | None:
    """Return the snapshot that an earlier process wrote; None without one that can be read."""
    with suppress(OSError, DamagedRecordError):
        if path.stat().st_size <= LARGEST:
            return decode_json(read_file(path), PublicSnapshot)
    return None


def watch_page(
    heading: str, links: Sequence[tuple[str, str]], snapshot: str = "", late: str = ""
) -> str:
    """Return the page that follows an event as HTML.

    `snapshot`: the file that it asks for again and again; without one it listens to a socket.
    `late`: the delay of that file, in words.
    """
    return page(
        "watch.html.j2",
        "live",
        heading,
        folders=(Path(__file__).parent,),
        styles=("table.css", "watch.css"),
        scripts=(*TABLE_SCRIPTS, "panels.js", "watch.js"),
        connect="'self'",
        links=links,
        snapshot=snapshot,
        late=late,
    )


def delay_text(delay_s: float) -> str:
    """Write a delay in words, in the largest unit of which it is a multiple."""
    unit, size = ("minute", 60) if delay_s % 60 == 0 else ("second", 1)
    number = f"{delay_s / size:g}"
    return f"{number} {unit}{'' if number == '1' else 's'}"


def follow_event(folder: Path, site: Path, delay_s: float) -> int:
    """Show an event until it is over and shown, or the user presses Ctrl-C; return the exit code.

    Raises UserError.
    """
    writer = SiteWriter(site, delay_s)
    _follow(writer, folder)
    print_line(Folder(site).index)
    print_note(f"It shows the event {delay_text(delay_s)} late. Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):
        until_over(writer, folder)
    return 0


def until_over(writer: SiteWriter, folder: Path) -> None:
    """Bring the page up to date until it shows the event's end."""
    ended = False
    while not (ended and writer.is_over):
        # Before the look: the last seeds are revealed at the end of the run.
        ended = not is_running(Folder(folder))
        time.sleep(PAUSE_S)
        _follow(writer, folder)
    print_note("The event is over, and the page says so. Without --delay, the same command")
    print_note("writes the whole site.")


def _follow(writer: SiteWriter, folder: Path) -> None:
    """Bring the page up to date; go on after an error of the disk. Raises UserError."""
    try:
        writer.follow(folder, time.time())
    except OSError as error:
        if not Folder(folder).event.exists():
            raise UserError(f"{folder} went away: {describe_error(error)}.") from error
        print_note(
            f"The page was not brought up to date: {describe_error(error)}. It is tried again."
        )
