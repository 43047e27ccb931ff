"""`boneyard watch`: serves an event's boards and report on this machine while it is played."""

import signal
import webbrowser
from functools import partial
from pathlib import Path

import click
import msgspec
import trio

from arena.pages.page import page
from arena.pages.replays import packed, replay_page
from arena.pages.sittings import FOLDER
from arena.sealed import DamagedFileError
from arena.server import Connection, Page, Site, send, served
from tournaments.folder import Folder
from tournaments.watched import Watched

LOOK_S = 0.25
"""How often the logs are looked at."""
IDLE_S = 2.0
"""How often while nobody watches."""
LONGEST_REPORT = 2**25
"""Bytes of a report that is served."""
TEMPLATES = Path(__file__).parent / "pages"


class News:
    """The newest state of an event, for as many viewers as there are.

    A viewer waits for what is newer than what it was sent: one that reads slowly misses what was
    between, and nothing is kept for it.
    """

    def __init__(self) -> None:
        self._text = ""
        self._number = 0
        self._newer = trio.Event()
        self.viewers = 0

    def tell(self, text: str) -> None:
        """There is something newer."""
        self._text, self._number = text, self._number + 1
        self._newer.set()
        self._newer = trio.Event()

    async def after(self, number: int) -> tuple[int, str]:
        """The newest state and its number, once it is newer than this one."""
        while self._number <= number:
            await self._newer.wait()
        return self._number, self._text


def watch_event(path: Path, port: int, *, everything: bool, browser: bool) -> int:
    """Serve an event until somebody presses Ctrl-C; the exit code.

    Raises UserError.
    """
    watched = Watched(Folder(path.resolve()), everything=everything)
    trio.run(partial(_serve, watched, port, browser=browser))
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
        await trio.sleep(LOOK_S if news.viewers else IDLE_S)


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

    async def talk(connection: Connection) -> None:
        news.viewers += 1
        try:
            number = 0
            while True:
                number, text = await news.after(number)
                await send(connection, text)
        finally:
            news.viewers -= 1

    return Site(find, talk)


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
