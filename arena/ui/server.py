"""A web server for pages and sockets that only browsers of this machine can reach.

The server listens on 127.0.0.1 only. Every address begins with a random key that is new for each
server and printed with the address, so that no other user of the machine, no bot and no other page
can come in. The server also checks Host and Origin: it refuses a foreign page whose host name
resolves to this machine, or which opens a socket to it. It serves a closed list, no folder.
"""

import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import PurePath
from urllib.parse import unquote

import trio
from msgspec import Struct
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.trio.server import ServerConnection, serve

from arena.analysis.frames import SPECTATOR, LiveFrames
from arena.match.player import COME_S, HumanPlayer
from arena.ui.console import print_line, print_note
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.local_address import LOCAL_HOST, listen_here, open_in_browser
from arena.ui.replay_page import GameInfo, Scene, SceneBuilder
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.messages import Ask, GameOver, GameStarts, RoundOver

# Broadcast channel of one sender and many subscribers; slow subscribers skip messages.


class Broadcast:
    """A channel that keeps the last messages for each subscriber."""

    def __init__(self, keep: int = 1) -> None:
        """Start without a message; at most `keep` messages wait for a subscriber."""
        self._keep = keep
        self._newest: list[str] = []
        self._subscribers: set[Subscriber] = set()
        self._changed = trio.Event()

    @property
    def has_subscribers(self) -> bool:
        """True if anybody is subscribed now."""
        return bool(self._subscribers)

    def publish(self, text: str) -> None:
        """Publish a message to all subscribers."""
        self._newest = [text]
        for subscriber in self._subscribers:
            subscriber.waiting.append(text)
        self.notify()

    @contextmanager
    def subscriber(self) -> Iterator["Subscriber"]:
        """Subscribe while the block runs, beginning with the newest message."""
        subscriber = Subscriber(self, deque(self._newest, self._keep))
        self._subscribers.add(subscriber)
        self.notify()
        try:
            yield subscriber
        finally:
            self._subscribers.remove(subscriber)
            self.notify()

    async def first_subscriber(self) -> None:
        """Wait until somebody subscribes."""
        while not self._subscribers:
            await self.wait()

    async def drained(self) -> None:
        """Wait until every subscriber has handled the newest message."""
        while any(subscriber.waiting or subscriber.is_busy for subscriber in self._subscribers):
            await self.wait()

    async def wait(self) -> None:
        """Wait for a change."""
        await self._changed.wait()

    def notify(self) -> None:
        """Wake all tasks that wait for a change."""
        self._changed.set()
        self._changed = trio.Event()


class Subscriber:
    """The messages of one subscriber."""

    def __init__(self, broadcast: Broadcast, waiting: deque[str]) -> None:
        self.waiting = waiting
        """Its next messages; the oldest gives way to one too many."""
        self.is_busy = False
        """True while it handles a message."""
        self._broadcast = broadcast

    async def next(self) -> str:
        """Return the next message, and count the one before as handled."""
        self.is_busy = False
        self._broadcast.notify()
        while not self.waiting:
            await self._broadcast.wait()
        self.is_busy = True
        return self.waiting.popleft()


# --- the server ---


BrowserConnection = ServerConnection
"""A browser's socket, or the request that it begins with."""

HOST_NAMES = (LOCAL_HOST, "localhost")
"""Names of this machine that an address may contain."""
VIEWERS = 32
"""Sockets that may be open at once."""
OPEN_S = 60.0
"""Seconds that a request may take, including the making of its page."""
SEND_S = 10.0
"""Seconds that a viewer has to read a message; then the viewer is dropped."""
CLOSE_S = 1.0
"""Seconds that a browser has to close its socket."""
MAX_MESSAGE_BYTES = 4096
"""Most bytes of one message from a page."""
MAX_QUEUED_MESSAGES = 16
"""Messages from a page that may wait to be handled."""
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every answer: cache nothing, guess no type, allow no frames."""
HTML = "text/html; charset=utf-8"
MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
}
"""The media types of other names than pages have, by their endings."""
SOCKET = "socket"
"""The name in the address under which the socket is opened."""

Page = Callable[[], str | None]
"""A function that makes a page, in a thread; it returns None if there is no page now."""
Find = Callable[[str], Page | None]
"""A lookup of the page for a name, the part of the address after the key; None: there is none."""
Publish = Callable[[BrowserConnection], Awaitable[None]]
"""A coroutine that sends messages on a socket as long as there are any."""
Hear = Callable[[str], None]
"""A function that takes a message from a socket."""


async def send_nothing(_: BrowserConnection) -> None:
    """Send nothing, and let the socket close."""


def ignore_message(_: str) -> None:
    """Ignore a message from a page."""


class Site(Struct, frozen=True):
    """The pages and the socket that a server offers."""

    find: Find
    """The lookup of pages; the first page has an empty name."""
    tell: Publish = send_nothing
    hear: Hear = ignore_message


class LocalServer:
    """The rules of access to a site, and its answers."""

    def __init__(self, site: Site, port: int) -> None:
        self._key = secrets.token_urlsafe(16)
        self._site = site
        self._hosts = {f"{name}:{port}" for name in HOST_NAMES}
        self._viewers = 0
        self._making = trio.CapacityLimiter(1)
        self.address = f"http://{LOCAL_HOST}:{port}/{self._key}/"

    async def answer(self, _: BrowserConnection, request: Request) -> Response | None:
        """Return the answer to a request; None lets it open the socket."""
        key, _slash, name = request.path.partition("?")[0].removeprefix("/").partition("/")
        opens = name == SOCKET
        if not self._ours(request.headers, opens):
            return _response(
                HTTPStatus.FORBIDDEN, "Only pages from this server can request this.\n"
            )
        if request.path == "/favicon.ico":
            return _response(HTTPStatus.NO_CONTENT, "")
        if not secrets.compare_digest(key.encode(), self._key.encode()):
            return _response(HTTPStatus.NOT_FOUND, "Not found.\n")
        if not opens:
            return await self._page(unquote(name))
        if self._viewers >= VIEWERS:
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, f"{VIEWERS} are watching already.\n")
        return None

    async def talk(self, connection: BrowserConnection) -> None:
        """Keep a socket open while there is something to send and a browser that reads it."""
        self._viewers += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear, connection, nursery.cancel_scope)
                await self._site.tell(connection)
                nursery.cancel_scope.cancel()
        except* ConnectionClosed:
            pass  # The browser has left.
        finally:
            self._viewers -= 1

    async def _hear(self, connection: BrowserConnection, scope: trio.CancelScope) -> None:
        async for message in connection:
            if isinstance(message, str):
                self._site.hear(message)
        scope.cancel()

    def _ours(self, headers: Headers, opens: bool) -> bool:
        """Tell whether the request comes from a page of ours, or from a user who opens its address.

        A browser names the asking page whenever it opens a socket.
        """
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        fine = len(hosts) == 1 and hosts[0] in self._hosts
        return fine and origins in ([f"http://{hosts[0]}"], *([] if opens else [[]]))

    async def _page(self, name: str) -> Response:
        make = self._site.find(name)
        # One at a time: a page may take seconds of CPU, and bots are playing.
        html = await trio.to_thread.run_sync(make, limiter=self._making) if make else None
        if html is None:
            return _response(HTTPStatus.NOT_FOUND, "Not found.\n")
        return _response(HTTPStatus.OK, html, MEDIA_TYPES.get(PurePath(name).suffix, HTML))


def _response(status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8") -> Response:
    body = text.encode()
    headers = Headers(HEADERS)
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(body))
    headers["Connection"] = "close"
    return Response(status, status.phrase, headers, body)


async def tell(broadcast: Broadcast, connection: BrowserConnection) -> None:
    """Send each new message, without end; drop a viewer who does not read one in time.

    Raises ConnectionClosed.
    """
    with broadcast.subscriber() as subscriber:
        while True:
            text = await subscriber.next()
            with trio.move_on_after(SEND_S) as waiting:
                await connection.send(text)
            if waiting.cancelled_caught:
                # Half a message is in the pipe already, so a proper close is impossible.
                await trio.aclose_forcefully(connection.stream)
                return


@asynccontextmanager
async def serve_site(site: Site, port: int) -> AsyncIterator[str]:
    """Serve a site on this machine while the block runs; yield its address.

    With port 0 the machine chooses one. Raises UserError if the port is not available.
    """
    listener = await listen_here(port)
    server = LocalServer(site, listener.socket.getsockname()[1])
    start = partial(
        serve,
        server.talk,
        listeners=[listener],
        process_request=server.answer,
        server_header=None,
        compression=None,
        open_timeout=OPEN_S,
        close_timeout=CLOSE_S,
        max_size=MAX_MESSAGE_BYTES,
        max_queue=MAX_QUEUED_MESSAGES,
    )
    async with trio.open_nursery() as nursery:
        async with await nursery.start(start):
            yield server.address
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_site(site: Site, port: int, purpose: str, *, browser: bool) -> AsyncIterator[None]:
    """Serve a site while the block runs; print its address, and open it if `browser` says so.

    `purpose` is printed before the address. Raises UserError if the port is not available.
    """
    async with serve_site(site, port) as address:
        print_line(f"{purpose}: {address}")
        print_note("Only this machine can open it. Ctrl-C ends it.")
        with ExitStack() as opened:
            if browser:
                await trio.to_thread.run_sync(opened.enter_context, open_in_browser(address))
            yield


# A person's screen in the browser: the page shows what the seat sees and sends back choices.


MOST_SCENES = 64
"""Scenes that a page may lag behind; a page that is reloaded begins with the newest."""
GONE_S = 5.0
"""Seconds between two looks for an open page after a game."""
MISSED = 2
"""Looks in a row without an open page after which it counts as closed, not as loading again."""
GOODBYE_S = 10.0
"""Seconds that the pages have to receive the end of the game."""


class ShownScene(Struct, frozen=True, kw_only=True):
    """A message to the page: the scene and the open question."""

    seat: int
    scene: Scene
    moves: tuple[Scene, ...] = ()
    """The tables that led to it since the last message, one for each move."""
    id: int | None = None
    """The number of the question; None if nothing is asked."""
    until: float | None = None
    """The deadline in ms of Unix time; None if there is none."""
    over: bool = False


class BrowserMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A message from the page: the answer to a question, or the wish for another game."""

    id: int | None = None
    choice: int = 0
    again: bool = False
    swap: bool = False
    """True if the person wants the next seat then."""


RELOAD = '{"again":true}'
"""The message to a page that the next game is ready: it loads itself again."""


class BrowserPlayer:
    """A person who looks at a page and clicks, in one game after another."""

    def __init__(self, info: GameInfo, command: str, *, clock: bool) -> None:
        """Prepare the page of the first game; nobody has opened it yet.

        `command` is the one that shows the game again; `clock`: the page shows the time left.
        """
        self._clock = clock
        self._broadcast = Broadcast()
        self.swap = False
        self.prepare(info, command)

    def prepare(self, info: GameInfo, command: str) -> None:
        """Show the next game from now on; pages that are open load themselves again."""
        self._broadcast.publish(RELOAD)
        self._info = info
        self._command = command
        self._broadcast = Broadcast(MOST_SCENES)
        self._wish = trio.Event()
        self._person: HumanPlayer | None = None
        # Only of a game that is over: a review shows all hands.
        self.later_pages: Mapping[str, Page] = {}

    @property
    def site(self) -> Site:
        """Return the site to serve."""
        return Site(self._find, self._tell, self._hear)

    async def show(self, person: HumanPlayer, live: LiveFrames, ready: trio.Event) -> bool:
        """Show a game to its end; return False if nobody came to play it."""
        self._person = person
        with trio.move_on_after(COME_S) as waiting:
            await self._broadcast.first_subscriber()
        if waiting.cancelled_caught:
            return False
        ready.set()
        await self._play(person, live)
        with trio.move_on_after(GOODBYE_S):
            await self._broadcast.drained()
        return True

    async def wants_another(self) -> bool:
        """Wait while the page is open; return True if the person asks for another game on it."""
        missed = 0
        while missed < MISSED and not self._wish.is_set():
            with trio.move_on_after(GONE_S):
                await self._wish.wait()
            missed = 0 if self._broadcast.has_subscribers else missed + 1
        return self._wish.is_set()

    async def _play(self, person: HumanPlayer, live: LiveFrames) -> None:
        async for message in person.messages:
            if isinstance(message, GameStarts):
                names, clocks = self._info.names, [message.clock] * message.seats
                builder = SceneBuilder(names, clocks, partners=message.partners, seat=SPECTATOR)
            elif isinstance(message, Ask | RoundOver | GameOver):
                *moves, scene = map(builder.scene, live.moves(message))
                ask = message if isinstance(message, Ask) else None
                update = ShownScene(
                    seat=live.seat,
                    scene=scene,
                    moves=tuple(moves),
                    id=ask.id if ask else None,
                    until=1000 * time.time() + ask.time_ms if ask and self._clock else None,
                    over=isinstance(message, GameOver),
                )
                self._broadcast.publish(encode_json(update).decode())
                if update.over:
                    return

    async def _tell(self, connection: BrowserConnection) -> None:
        await tell(self._broadcast, connection)

    def _find(self, name: str) -> Page | None:
        return {"": self._page, **self.later_pages}.get(name)

    def _page(self) -> str:
        return page(
            "play.html.j2",
            "play",
            ", ".join(self._info.names),
            styles=("table.css", "game.css", "play.css"),
            scripts=(*TABLE_SCRIPTS, "choices.js", "chart.js", "sound.js", "play.js"),
            data=self._info,
            connect="'self'",
            about=self._info,
            kept=self._command,
        )

    def _hear(self, text: str) -> None:
        """Take an answer to the open question, or a wish; ignore others: two pages may be open."""
        try:
            message = decode_json(text, BrowserMessage)
        except DamagedRecordError:
            return
        if message.again:
            self.swap = message.swap
            self._wish.set()
        elif self._person and message.id is not None:
            self._person.choose(message.id, message.choice)
