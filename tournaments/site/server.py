"""The server behind `boneyard watch`: an event's tables and report, on this machine only."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import trio

from arena.files import DamagedFileError, describe_error, read_file
from arena.logs.catalog import REPLAY_ENDING, REPLAY_PAGE, REPLAYS
from arena.program import cancelled_by_signals, run_async
from arena.ui.replay_page import REPORT, event_replay_page, pack_game, replay_script
from arena.ui.server import Broadcast, Page, Site, open_site, tell
from protocol.codec import encode_json
from protocol.errors import UserError
from tournaments.event.folder import Folder
from tournaments.play.sittings import root_cause
from tournaments.site.publish import watch_page
from tournaments.site.view import LiveView

LOG_INTERVAL_S = 0.25
"""Time between two readings of the logs while somebody watches, in s."""
IDLE_S = 2.0
"""Time between two readings while nobody watches, in s."""
REPORTED = (
    *("report.html", "report.md", "results.json", "results.pgn", "times.json"),
    *("games.csv", "ratings.csv", "crosstable.csv", "commitments.jsonl", "seeds.jsonl"),
)
"""The report and the files that it links to."""
LONGEST_REPORT = 2**25
"""The largest report that is served, in bytes."""


def watch_event(path: Path, port: int, *, everything: bool, browser: bool) -> int:
    """Serve an event until the user presses Ctrl-C; return the exit code. Raises UserError."""
    watched = LiveView(Folder(path.resolve()), everything=everything)
    errors: BaseExceptionGroup[Exception] | None = None
    try:
        run_async(partial(_serve, watched, port, browser=browser))
    except* (UserError, OSError) as group:
        errors = group
    if errors:
        error = root_cause(errors)
        if isinstance(error, UserError):
            raise error
        raise UserError(f"{path} went away: {describe_error(error)}.")
    return 0


async def _serve(watched: LiveView, port: int, *, browser: bool) -> None:
    news = Broadcast()
    with cancelled_by_signals():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow, watched, news)
            purpose = f"Watch {watched.event.heading}"
            async with open_site(site(watched, news), port, purpose, browser=browser):
                await trio.sleep_forever()


async def follow(watched: LiveView, news: Broadcast) -> None:
    """Read the logs at intervals and broadcast the changes."""
    while True:
        # In a thread: the first look at a long event takes seconds.
        text = await trio.to_thread.run_sync(_look, watched)
        if text:
            news.publish(text)
        await trio.sleep(LOG_INTERVAL_S if news.has_subscribers else IDLE_S)


def _look(watched: LiveView) -> str:
    return encode_json(watched.now()).decode() if watched.look() else ""


def site(watched: LiveView, news: Broadcast) -> Site:
    """Build the site: the tables, the report and replays of the games that may be seen."""

    def find(name: str) -> Page | None:
        folder, _, file = name.partition("/")
        if name == "":
            has_report = watched.report.is_file()
            report = [(REPORTED[0], "Report, as it was last written")] if has_report else []
            return partial(watch_page, watched.event.heading, report)
        if name in REPORTED:
            return partial(_report, watched.report.with_name(name))
        if name == REPLAY_PAGE:
            return partial(event_replay_page, watched.event.emblems, [("./", "Live"), REPORT])
        return partial(_replay, watched, file) if folder == REPLAYS else None

    return Site(find, partial(tell, news))


def _report(path: Path) -> str | None:
    small = path.is_file() and path.stat().st_size <= LONGEST_REPORT
    return read_file(path).decode() if small else None


def _replay(watched: LiveView, name: str) -> str | None:
    with suppress(DamagedFileError):
        game = name.removesuffix(REPLAY_ENDING)
        logged = watched.game(game) if game != name else None
        return replay_script(pack_game(logged)) if logged else None
    return None
