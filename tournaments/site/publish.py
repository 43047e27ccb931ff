"""The sites of events: all of one event for `publish`, or a page of running events, late."""

import re
import shlex
import shutil
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from arena.files import describe_error, has_content, read_file, write_atomic
from arena.logs.catalog import GAMES_FOLDER as GAMES
from arena.logs.catalog import REPLAY_ENDING, REPLAYS, published_seeds
from arena.logs.checksummed import actual_path, compressed_path
from arena.logs.gamelog import LoggedGame, is_over, read_games, sitting_lines
from arena.machine import cores
from arena.processes import map_tasks
from arena.rules.english import count_in_digits
from arena.sandbox.command import Command
from arena.ui.console import print_line, print_note, track
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.replay_page import (
    PackedGame,
    Reviewed,
    is_current,
    pack_game,
    replay_script,
    valid_games,
    write_replay,
)
from arena.valuation.terms import ReviewedDecision
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError
from tournaments.event.book import Book, refuse_losses
from tournaments.event.facts import log_facts
from tournaments.event.folder import Folder, content, load_event, read_event, seed_lines
from tournaments.event.luck import read_seats, terms_of_game
from tournaments.plan.bots import pure_path
from tournaments.plan.event import Event, as_json
from tournaments.report.report import SitePage, report_files
from tournaments.report.results_file import Results
from tournaments.site.status import is_running
from tournaments.site.view import DelayedView, PublicSnapshot

# The command `publish`: writes the site of an event, or brings it up to date.
#
# Boards are read first, and only what is known of them then is written: of a board that is still
# played no deal, no game and no result of a game leaves the event's folder. Its games count in the
# standings, as they do in the report that a run shows.


INDEX = Folder(Path()).index.name
"""The first page of the site: the report."""
MOST_REVIEW = 2**26
"""The largest review, in bytes, whose values replays take over; else they compute them again."""
SNAPSHOT = "live.json"
"""The file for which the page of a running event asks again and again."""
PUBLISHED_LOGS_A_PROCESS = 50
"""Logs for which a process of its own is started, which takes as long as some dozens of them."""
LOGS = f"{GAMES}/{INDEX}"
"""The page that lists the game logs."""
LOCAL = re.compile(r"(^-\w|[^\w./-]|^)/\S*/")
"""The folders in a word of a command: after an option's letter, a sign, or at its beginning."""
SITE_TEMPLATES = Path(__file__).parent


class SiteTask(NamedTuple):
    """A game log to publish."""

    path: Path
    site: Path
    boards: frozenset[int]
    """The boards that may be shown."""
    closed: bool
    """True if the event ended before all its games were played: then the log ends anywhere."""
    review: Path | None
    """The event's review, if replays show luck and mistakes."""


class PublishedLog(NamedTuple):
    """The published part of a log."""

    name: str
    """The name of the published log; empty if it must wait, for it shows other boards too."""
    replays: int
    """Its games that can be replayed."""


class EventSite(NamedTuple):
    """A site as it was just written."""

    summary: Results
    replays: int
    is_over: bool
    """True if all games have their results, and all logs are there."""


def write_event_site(
    path: Path,
    site: Path,
    address: str,
    links: Sequence[tuple[str, str]] = (),
    *,
    closed: bool = False,
) -> EventSite:
    """Write the site of an event or bring it up to date.

    `address`: the site's address on the web; empty if it is not known. `links`: addresses of pages
    around it, and their labels. `closed`: no game of it will be played any more, although some
    never were, so that all may be shown. Raises UserError if `site` holds something else, or is in
    the event's folder; DamagedFileError, OSError.
    """
    folder, site = Folder(path.resolve()), site.resolve()
    event = load_event(folder)
    check_place(folder.path, site)
    # Before all else: nothing that is read later is about a board that was not over by now.
    seeds = published_seeds(folder.seeds)
    book = Book(folder, event)
    refuse_losses(book)
    facts = log_facts(folder, book.results).public
    _remove_other_games(event, site)
    (site / GAMES).mkdir(parents=True, exist_ok=True)
    (site / REPLAYS).mkdir(exist_ok=True)
    # First, because they tell whose site it is.
    write_atomic(site / folder.commitments.name, [content(folder.commitments)])
    review = folder.review_log if folder.review_log.exists() else None
    boards = frozenset(range(1, event.all_boards + 1) if closed else seeds)
    logs = [SiteTask(log, site, boards, closed, review) for log in folder.logs()]
    published = [*_publish_logs(logs)]
    write_atomic(site / LOGS, [_logs_page(event, published)])
    write_atomic(site / folder.seeds.name, seed_lines(seeds))
    write_atomic(site / folder.event.name, [as_json(_without_folders(event))])
    for path in (folder.history, folder.review_log, folder.review, folder.review_csv):
        _copy_or_remove(path, site)
    files = report_files(book, SitePage(boards, address, links), facts)
    summary = decode_json(b"".join(files[folder.results]), Results)
    is_whole = summary.played == summary.planned and all(log.name for log in published)
    over = closed or is_whole
    for path in (folder.ledger, folder.luck):
        _copy_or_remove(path, site, is_public=over)
    # Last the first page: whatever it leads to is there.
    for file in sorted(files, key=lambda file: file == folder.page):
        name = INDEX if file == folder.page else file.name
        write_atomic(site / name, files[file])
    return EventSite(summary, sum(log.replays for log in published), over)


def _copy_or_remove(path: Path, site: Path, *, is_public: bool = True) -> None:
    """Copy a file of the event to the site; if it may not be shown or is not there, remove it."""
    if is_public and path.exists():
        write_atomic(site / path.name, [read_file(path)])
    else:
        (site / path.name).unlink(missing_ok=True)


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
        raise UserError(f"{site} is a file. Name a folder for the site.")
    # What begins with a dot belongs to Git or to the server.
    names = {p.name for p in site.iterdir() if p.name[0] != "."} if site.exists() else set()
    # The page of a running event is anybody's: in a league another event follows.
    if not names or (SNAPSHOT in names and names <= {SNAPSHOT, INDEX}):
        return
    if Folder(site).private.exists() or not _is_own(Folder(folder), site):
        raise UserError(
            f"{site} holds something else: {min(names)}. Name an empty folder or this event's site."
        )


def _is_own(folder: Folder, site: Path) -> bool:
    """Tell whether a folder is a site of this event: an event that grows adds commitments."""
    old, new = content(Folder(site).commitments), content(folder.commitments)
    return bool(old) and (new.startswith(old) or old.startswith(new))


def _remove_other_games(event: Event, site: Path) -> None:
    """Remove all games from a site if a bot has other files by now: games have the same names.

    The site's plan is written after its games, so that a publication that was killed does it again.
    """
    files = {bot.name: bot.fingerprint for bot in event.entrants}
    bots = read_event(Folder(site)).entrants if Folder(site).event.is_file() else ()
    if any(files.get(bot.name, bot.fingerprint) != bot.fingerprint for bot in bots):
        for folder in (site / GAMES, site / REPLAYS):
            shutil.rmtree(folder, ignore_errors=True)


def _publish_logs(tasks: list[SiteTask]) -> Iterator[PublishedLog]:
    # The luck of each draw is computed anew, which takes far longer than to start a process.
    few = 1 if any(task.review for task in tasks) else PUBLISHED_LOGS_A_PROCESS
    most = max(1, min(len(tasks) // few, cores()))
    yield from track(map_tasks(publish_log, tasks, most), "Logs published", len(tasks))


def publish_log(task: SiteTask) -> PublishedLog:
    """Publish a log if it may be, and the replays of its games that may be seen.

    Raises DamagedFileError, OSError.
    """
    path = actual_path(task.path)
    data = read_file(path)
    # After its bytes: a sitting's boards only become more.
    planned = {board for sitting in sitting_lines(path) for board in sitting.boards}
    name = path.name if planned <= task.boards and (task.closed or is_over(path)) else ""
    if name:
        write_changed(task.site / GAMES / name, data)
        for other in {task.path.name, compressed_path(task.path).name} - {name}:
            (task.site / GAMES / other).unlink(missing_ok=True)
    count, luck = 0, Folder(path.parents[1]).luck
    for logged in valid_games(read_games(path)) if planned & task.boards else ():
        if logged.result and logged.game.board in task.boards:
            file = task.site / REPLAYS / f"{logged.game.game}{REPLAY_ENDING}"
            count += 1
            if not is_current(file, luck, reviewed=task.review is not None):
                write_replay(file, replay_script(_pack(logged, task.review)))
    return PublishedLog(name, count)


def _pack(logged: LoggedGame, review: Path | None) -> PackedGame:
    if review is None:
        return pack_game(logged)
    decisions = _decisions(review, review.stat().st_size).get(logged.game.game, {})
    return pack_game(logged, terms=terms_of_game(review.parent, logged), reviews=decisions)


@lru_cache(maxsize=1)
def _decisions(review: Path, size: int) -> Mapping[str, Reviewed]:
    """Return the decisions of an event's review, by game; none of a huge one.

    Raises DamagedFileError.
    """
    decisions: dict[str, dict[int, Sequence[ReviewedDecision]]] = {}
    if size <= MOST_REVIEW:
        for losses in read_seats(Folder(review.parent)):
            decisions.setdefault(losses.game, {})[losses.seat] = losses.decisions
    return decisions


def write_changed(path: Path, data: bytes) -> None:
    """Replace a file in one step, unless it has these bytes."""
    if not has_content(path, [data]):
        write_atomic(path, [data], sync=False)


def _logs_page(event: Event, logs: list[PublishedLog]) -> bytes:
    names = [log.name for log in logs if log.name]
    html = page(
        "logs.html.j2",
        "game logs",
        event.heading,
        folders=(SITE_TEMPLATES,),
        names=names,
        links=[(f"../{INDEX}", "Report")],
        left=len(logs) - len(names),
    )
    return html.encode()


def _without_folders(event: Event) -> Event:
    entrants = [
        replace(bot, command=Command(tuple(_without_folder(bot.command)), ""))
        for bot in event.entrants
    ]
    return replace(event, entrants=tuple(entrants))


def _without_folder(command: Command) -> Iterator[str]:
    """Yield the words of a command, each without the names of local folders."""
    for word in command.argv:
        if (path := pure_path(word)).is_absolute():
            yield path.name  # Spaces too may be in it.
        else:
            # The plan of a site has no folder.
            pattern = re.escape(command.folder) or r"\Z\A"
            yield LOCAL.sub(r"\1", re.sub(rf"{pattern}(?![^/\s])", ".", word))


def publish_event(path: Path, site: Path, address: str) -> int:
    """Write the site or bring it up to date, and print its address; return the exit code.

    Raises what `write_event_site` does.
    """
    event_site, place = write_event_site(path, site, address), site.resolve()
    print_line(place / INDEX)
    replays = count_in_digits(event_site.replays, "replay")
    print_note(f"{replays} of {event_site.summary.played} games.")
    if not event_site.is_over:
        print_note(
            "The games of boards that are still played, the logs that show them and the ledger are "
            "left out: publish again when the event is over."
        )
    print_note(f"Try it: python3 -m http.server -d {shlex.quote(str(place))}")
    return 0


# The page of running events in a site's folder, some time late.
#
# `view.py` says what is public of an event that is played.


EVERY_S = 3.0
"""The shortest time between two looks, in s."""
PAUSE_S = EVERY_S + 1
"""The command's pause between two looks, in s: longer than `EVERY_S` even if clocks differ."""
MAX_WAITING_EVENTS = 100
"""Most events that wait for their turn, having begun within the delay."""
MAX_SNAPSHOT_BYTES = 2**20
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
        if not present and len(self._views) < MAX_WAITING_EVENTS:
            check_place(folder, self._site)
            self._views.append((now, DelayedView(folder, self._delay_s)))

    def _write(self, new: PublicSnapshot, now: float) -> None:
        old = self._written
        self.is_over = new.complete
        if old and old.name == new.name:
            # For a while after a restart less is known of what went on then.
            knew_more = old.played > new.played and now < self._began + self._delay_s
            new = old if knew_more or _lasting(old) == _lasting(new) else new
        if new is not old:
            self._site.mkdir(parents=True, exist_ok=True)
            data = encode_json(new)
            if len(data) > MAX_SNAPSHOT_BYTES:
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


def _lasting(snapshot: PublicSnapshot) -> PublicSnapshot:
    """Return a snapshot without what changes although nothing has happened."""
    return replace(snapshot, at=0.0, elapsed_s=UNSET, left_s=None)


def _read(path: Path) -> PublicSnapshot | None:
    """Return the snapshot that an earlier process wrote; None without one that can be read."""
    with suppress(OSError, DamagedRecordError):
        if path.stat().st_size <= MAX_SNAPSHOT_BYTES:
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
        folders=(SITE_TEMPLATES,),
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
    has_ended = False
    while not (has_ended and writer.is_over):
        # Before the look: the last seeds are revealed at the end of the run.
        has_ended = not is_running(Folder(folder))
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
