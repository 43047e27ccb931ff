"""The command `publish`: writes the site of an event, or brings it up to date.

Boards are read first, and only what is known of them then is written: of a board that is still
played no deal, no game and no result of a game leaves the event's folder. Its games count in the
standings, as they do in the report that a run shows.
"""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple

from msgspec.structs import replace

from arena.files import has_content, read_file, write_atomic
from arena.logs.board_promises import published_seeds
from arena.logs.catalog import FOLDER as GAMES
from arena.logs.catalog import REPLAY_ENDING, REPLAYS
from arena.logs.compression import actual_path, compressed_path
from arena.logs.gamelog import LoggedGame, is_over, read_games, sitting_lines
from arena.rules.english import count_in_digits
from arena.sandbox.command import Command
from arena.ui.console import print_line, print_note
from arena.ui.game_review import Reviewed
from arena.ui.html import page
from arena.ui.progress import track
from arena.ui.replay_files import is_current, valid_games, write
from arena.ui.replay_page import PackedGame, pack_game, replay_script
from arena.valuation.reviewed_decision import ReviewedDecision
from protocol.codec import decode_json
from protocol.errors import UserError
from tournaments.plan.event import Event, as_json
from tournaments.report.log_facts import log_facts
from tournaments.report.missing_data import has_enough_logs
from tournaments.report.report import SitePage, report_files
from tournaments.report.results_file import Results
from tournaments.runner.machine import cores
from tournaments.storage.folder import Folder, content, load_event, read_event, seed_lines
from tournaments.storage.luck_store import terms_of_game
from tournaments.storage.review_log import read_seats
from tournaments.verification.processes import map_tasks

INDEX = Folder(Path()).index.name
"""The first page of the site: the report."""
MOST_REVIEW = 2**26
"""The largest review, in bytes, whose values replays take over; else they compute them again."""
SNAPSHOT = "live.json"
"""The file for which the page of a running event asks again and again."""
LOGS_A_PROCESS = 50
"""Logs for which a process of its own is started, which takes as long as some dozens of them."""
LOGS = f"{GAMES}/{INDEX}"
"""The page that lists the game logs."""
LOCAL = re.compile(r"(^-\w|[^\w./-]|^)/\S*/")
"""The folders in a word of a command: after an option's letter, a sign, or at its beginning."""
TEMPLATES = Path(__file__).parent


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
    results = has_enough_logs(folder, event)
    known = log_facts(folder, results)
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
    files = report_files(folder, event, results, known, SitePage(boards, address, links))
    summary = decode_json(b"".join(files[folder.results]), Results)
    whole = summary.played == summary.planned and all(log.name for log in published)
    over = closed or whole
    for path in (folder.ledger, folder.luck):
        _copy_or_remove(path, site, is_public=over)
    # Last the first page: whatever it leads to is there.
    for file in sorted(files, key=lambda file: file == folder.page):
        name = INDEX if file == folder.page else file.name
        write_atomic(site / name, files[file])
    return EventSite(summary, sum(log.replays for log in published), over)


def _copy_or_remove(path: Path, site: Path, *, is_public: bool = True) -> None:
    """Make a file of the site that of the event: if the event has none, neither has the site."""
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
    there = {one.name for one in site.iterdir() if one.name[0] != "."} if site.exists() else set()
    # The page of a running event is anybody's: in a league another event follows.
    if not there or (SNAPSHOT in there and there <= {SNAPSHOT, INDEX}):
        return
    if Folder(site).private.exists() or not _is_own(Folder(folder), site):
        raise UserError(
            f"{site} holds something else: {min(there)}. Name an empty folder or this event's site."
        )


def _is_own(folder: Folder, site: Path) -> bool:
    """Tell whether a folder is a site of this event: an event that grows adds commitments."""
    old, new = content(Folder(site).commitments), content(folder.commitments)
    return bool(old) and (new.startswith(old) or old.startswith(new))


def _remove_other_games(event: Event, site: Path) -> None:
    """Remove all games from a site if a bot has other files by now: games have the same names.

    The site's plan is written after its games, so that a publication that was killed does it again.
    """
    files = {one.name: one.fingerprint for one in event.entrants}
    there = read_event(Folder(site)).entrants if Folder(site).event.is_file() else ()
    if any(files.get(one.name, one.fingerprint) != one.fingerprint for one in there):
        for folder in (site / GAMES, site / REPLAYS):
            shutil.rmtree(folder, ignore_errors=True)


def _publish_logs(tasks: list[SiteTask]) -> Iterator[PublishedLog]:
    # The luck of each draw is computed anew, which takes far longer than to start a process.
    few = 1 if any(task.review for task in tasks) else LOGS_A_PROCESS
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
    shown, luck = 0, Folder(path.parents[1]).luck
    for logged in valid_games(read_games(path)) if planned & task.boards else ():
        if logged.result and logged.game.board in task.boards:
            file = task.site / REPLAYS / f"{logged.game.game}{REPLAY_ENDING}"
            shown += 1
            if not is_current(file, luck, reviewed=task.review is not None):
                write(file, replay_script(_packed(logged, task.review)))
    return PublishedLog(name, shown)


def _packed(logged: LoggedGame, review: Path | None) -> PackedGame:
    if review is None:
        return pack_game(logged)
    known = _decisions(review, review.stat().st_size).get(logged.game.game, {})
    return pack_game(logged, terms=terms_of_game(review.parent, logged), known=known)


@lru_cache(maxsize=1)
def _decisions(review: Path, size: int) -> Mapping[str, Reviewed]:
    """Return the decisions of an event's review, by game; none of a huge one.

    Raises DamagedFileError.
    """
    found: dict[str, dict[int, Sequence[ReviewedDecision]]] = {}
    if size <= MOST_REVIEW:
        for one in read_seats(Folder(review.parent)):
            found.setdefault(one.game, {})[one.seat] = one.decisions
    return found


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
        folders=(TEMPLATES,),
        names=names,
        links=[(f"../{INDEX}", "Report")],
        left=len(logs) - len(names),
    )
    return html.encode()


def _without_folders(event: Event) -> Event:
    entrants = [
        replace(one, command=Command(tuple(_without_folder(one.command)), ""))
        for one in event.entrants
    ]
    return replace(event, entrants=tuple(entrants))


def _without_folder(command: Command) -> Iterator[str]:
    """Yield the words of a command, each without the names of local folders."""
    for word in command.argv:
        if word.startswith("/"):
            yield PurePath(word).name  # Spaces too may be in it.
        else:
            # The plan of a site has no folder.
            here = re.escape(command.folder) or r"\Z\A"
            yield LOCAL.sub(r"\1", re.sub(rf"{here}(?![^/\s])", ".", word))


def publish_event(path: Path, site: Path, address: str) -> int:
    """Write the site or bring it up to date, and print its address; return the exit code.

    Raises what `write_event_site` does.
    """
    written, place = write_event_site(path, site, address), site.resolve()
    print_line(place / INDEX)
    replays = count_in_digits(written.replays, "replay")
    print_note(f"{replays} of {written.summary.played} games.")
    if not written.is_over:
        print_note(
            "The games of boards that are still played, the logs that show them and the ledger are "
            "left out: publish again when the event is over."
        )
    print_note(f"Try it: python3 -m http.server -d {shlex.quote(str(place))}")
    return 0
