"""`boneyard watch`: serves an event's boards and report on this machine while it is played."""

import signal
import webbrowser
from functools import partial
from pathlib import Path

import click
import msgspec
import trio

from arena.news import News
from arena.pages.page import page
from arena.pages.replays import packed, replay_page
from arena.pages.sittings import FOLDER
from arena.sealed import DamagedFileError
from arena.server import Page, Site, served, tell
from protocol.usage import UserError
from tournaments.folder import Folder
from tournaments.run import innermost
from tournaments.watched import Watched

LOOK_S = 0.25
"""How often the logs are looked at."""
IDLE_S = 2.0
"""How often while nobody watches."""
LONGEST_REPORT = 2**25
"""Bytes of a report that is served."""
TEMPLATES = Path(__file__).parent / "pages"


def watch_event(path: Path, port: int, *, everything: bool, browser: bool) -> int:
    """Serve an event until somebody presses Ctrl-C; the exit code.

    Raises UserError.
    """
    watched = Watched(Folder(path.resolve()), everything=everything)
    ended: BaseExceptionGroup[Exception] | None = None
    try:
        trio.run(partial(_serve, watched, port, browser=browser))
    except* (UserError, OSError) as group:
        ended = group
    if ended:
        error = innermost(ended)
        raise error if isinstance(error, UserError) else UserError(f"{path} went away: {error}.")
    return 0


async def _serve(watched: Watched, port: int, *, browser: bool) -> None:
    news = News()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow, watched, news)
            async with served(site(watched, news), port) as address:
                click.echo(f"Watch {watched.event.name}: {address}")
                click.echo("Only this machine can open it. Ctrl-C ends it.", err=True)
                if browser:
                    await trio.to_thread.run_sync(webbrowser.open, address)
                await anext(aiter(signals))
            nursery.cancel_scope.cancel()


async def follow(watched: Watched, news: News) -> None:
    """Look at the logs again and again, and tell what is new."""
    while True:
        # In a thread: the first look at a long event takes seconds.
        text = await trio.to_thread.run_sync(_look, watched)
        if text:
            news.tell(text)
        await trio.sleep(LOOK_S if news.listened else IDLE_S)


def _look(watched: Watched) -> str:
    """What is new, as JSON; empty when nothing is."""
    return msgspec.json.encode(watched.now()).decode() if watched.look() else ""


def site(watched: Watched, news: News) -> Site:
    """What is served: the boards, the report, replays of what may be seen; nothing else."""

    def find(name: str) -> Page | None:
        folder, _, file = name.partition("/")
        if name == "":
            return partial(_first_page, watched)
        if name == watched.report.name:
            return partial(_report, watched.report)
        return partial(_replays, watched, file) if folder == FOLDER else None

    return Site(find, partial(tell, news))


def _first_page(watched: Watched) -> str:
    return page(
        "watch.html.j2",
        folders=(TEMPLATES,),
        styles=("table.css", "watch.css"),
        scripts=("table.js", "watch.js"),
        connect="'self'",
        event=watched.event,
        report=watched.report.is_file(),
    )


def _report(path: Path) -> str | None:
    small = path.is_file() and path.stat().st_size <= LONGEST_REPORT
    return path.read_text() if small else None


def _replays(watched: Watched, name: str) -> str | None:
    try:
        games = watched.games(name)
        return replay_page(name.removesuffix(".html"), list(map(packed, games))) if games else None
    except DamagedFileError:
        return None
