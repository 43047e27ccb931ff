"""Public, delayed watching: an event's page and snapshot as files, for any static web server.

`delayed.py` says what is public.
"""

import signal
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import trio
from msgspec.structs import replace

from arena.files import has_content, read_file, write_atomic
from arena.ui.console import print_line, print_note
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError
from tournaments.site.delayed import DelayedView, PublicSnapshot
from tournaments.site.page import watch_page
from tournaments.site.status import is_running
from tournaments.storage.folder import Folder

SNAPSHOT = "live.json"
"""The file for which the page asks again and again."""
EVERY_S = 3.0
"""The shortest time between two looks, in s."""
PAUSE_S = EVERY_S + 1
"""The time between two looks of the command, in s: longer, however two clocks differ."""
WAITING = 100
"""Most events that wait for their turn, having begun within the delay."""
LARGEST = 2**20
"""The largest snapshot, in bytes; a larger one is written without its tables."""


def export_snapshot(
    folder: Path, site: Path, delay_s: float, now: float, links: tuple[tuple[str, str], ...] = ()
) -> None:
    """Write the public page and snapshot of an event into `site`, if they have changed.

    Call it every few seconds, with `now` in s since 1970, while a run plays the event in `folder`
    and until `delay_s` after its end: the last snapshot says that it is over. A call mostly looks
    at the sizes of the logs. Call it in a process or thread of its own, not in a referee's loop.
    When `folder` becomes another event, as the next round of a league, that one is shown once the
    delay has passed. `links` are addresses and labels of other pages.

    This process remembers the sizes; after a restart games may be shown later than otherwise, never
    earlier. Raises UserError (no event, or a place that is not for a site), OSError; after either
    it may be called again.
    """
    _exported_site(site, delay_s, links).update(folder, now)


@lru_cache(maxsize=8)
def _exported_site(
    site: Path, delay_s: float, links: tuple[tuple[str, str], ...]
) -> "ExportedSite":
    return ExportedSite(site, delay_s, links)


class ExportedSite:
    """A folder with the public page of an event, and of those that follow it."""

    def __init__(self, site: Path, delay_s: float, links: Sequence[tuple[str, str]] = ()) -> None:
        """Write nothing yet."""
        self._site = site
        self._delay_s = delay_s
        self._links = links
        self._views: deque[tuple[float, DelayedView]] = deque()
        self._written: PublicSnapshot | None = None
        self._page_of: str | None = None
        self._looked = self._began = 0.0
        self.is_over = False
        """True if the event that is shown is over."""

    def update(self, folder: Path, now: float) -> None:
        """Look at an event and write what is public; see `export_snapshot`."""
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
            if knew_more or _lasting(old) == _lasting(new):
                return
        self._site.mkdir(parents=True, exist_ok=True)
        if self._page_of != new.name:
            self._write_page(new.name)
        data = encode_json(new)
        if len(data) > LARGEST:
            data = encode_json(replace(new, playing=(), finished=(), fouls=()))
        write_atomic(self._site / SNAPSHOT, [data])
        self._written = new

    def _write_page(self, heading: str) -> None:
        late = delay_text(self._delay_s)
        html = watch_page(heading, self._links, snapshot=SNAPSHOT, late=late).encode()
        index = Folder(self._site).index
        if not has_content(index, [html]):
            write_atomic(index, [html])
        self._page_of = heading


def _lasting(one: PublicSnapshot) -> PublicSnapshot:
    """Return a snapshot without what changes although nothing has happened."""
    return replace(one, at=0.0, elapsed_s=None, left_s=None)


def _read(path: Path) -> PublicSnapshot | None:
    """Return the snapshot that an earlier process wrote; None without one that can be read."""
    with suppress(OSError, DamagedRecordError):
        if path.stat().st_size <= LARGEST:
            return decode_json(read_file(path), PublicSnapshot)
    return None


def delay_text(delay_s: float) -> str:
    """Write a delay in words, in the largest unit of which it is a multiple."""
    unit, size = ("minute", 60) if delay_s % 60 == 0 else ("second", 1)
    number = f"{delay_s / size:g}"
    return f"{number} {unit}{'' if number == '1' else 's'}"


def check_place(folder: Path, site: Path) -> None:
    """Refuse a place for a site that holds something else, or is in the event's folder.

    Raises UserError.
    """
    event, place = folder.resolve(), site.resolve()
    if place.is_relative_to(event) or event.is_relative_to(place):
        raise UserError(
            f"{site} and the event's folder {folder} are in one another. Choose a folder outside: "
            "a site holds nothing that must stay private."
        )
    if site.exists() and not site.is_dir():
        raise UserError(f"{site} is a file. Name a folder for the page.")
    index = Folder(site).index
    if index.exists() and not (site / SNAPSHOT).exists():
        raise UserError(
            f"{site} holds something else: {index.name}. Name an empty folder, or one of an "
            "earlier export."
        )


def export_event(folder: Path, site: Path, delay_s: float) -> int:
    """Export an event until it is over and shown, or the user presses Ctrl-C; return the exit code.

    Raises UserError.
    """
    exported = ExportedSite(site, delay_s)
    _update(exported, folder)
    print_line(Folder(site).index)
    print_note(f"It shows the event {delay_text(delay_s)} late. Ctrl-C ends it.")
    trio.run(partial(_until_over, exported, folder))
    return 0


async def _until_over(exported: ExportedSite, folder: Path) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:

            async def until_signal() -> None:
                await anext(aiter(signals))
                nursery.cancel_scope.cancel()

            nursery.start_soon(until_signal)
            ended = False
            while not (ended and exported.is_over):
                # Before the update: the last seeds are revealed at the end of the run.
                ended = not is_running(Folder(folder))
                await trio.sleep(PAUSE_S)
                _update(exported, folder)
            print_note("The event is over, and the page says so.")
            nursery.cancel_scope.cancel()


def _update(exported: ExportedSite, folder: Path) -> None:
    """Update the site; go on after an error of the disk. Raises UserError."""
    try:
        exported.update(folder, time.time())
    except OSError as error:
        if not Folder(folder).event.exists():
            raise UserError(f"{folder} went away: {error}.") from error
        print_note(f"The page was not brought up to date: {error}. It is tried again.")
