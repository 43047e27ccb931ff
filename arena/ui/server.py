"""A web server for pages and sockets that only browsers of this machine can reach.

The server listens on 127.0.0.1 only. Every address begins with a random key that is new for each
server and printed with the address, so that no other user of the machine, no bot and no other page
can come in. The server also checks Host and Origin: it refuses a foreign page whose host name
resolves to this machine, or which opens a socket to it. It serves a closed list, no folder.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
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

from arena.files import describe_error
from arena.ui.broadcast import Broadcast
from protocol.errors import UserError

Connection = ServerConnection
"""A browser's socket, or the request that it begins with."""

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""Names of this machine that an address may contain."""
VIEWERS = 32
"""Sockets that may be open at once."""
OPEN_S = 60.0
"""Seconds that a request may take, including the making of its page."""
SEND_S = 10.0
"""Seconds that a viewer has to read a message; then the viewer is dropped."""
CLOSE_S = 1.0
"""Seconds that a browser has to close its socket."""
LONGEST = 4096
"""Most bytes of one message from a page."""
WAITING = 16
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
KINDS = {".csv": "text/csv; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
"""The media types of other names than pages have, by their endings."""
SOCKET = "socket"
"""The name in the address under which the socket is opened."""

Page = Callable[[], str | None]
"""A function that makes a page, in a thread; it returns None if there is no page now."""
Find = Callable[[str], Page | None]
"""A lookup of the page for a name, the part of the address after the key; None: there is none."""
Publish = Callable[[Connection], Awaitable[None]]
"""A coroutine that sends messages on a socket as long as there are any."""
Hear = Callable[[str], None]
"""A function that takes a message from a socket."""


def ignore_message(_: str) -> None:
    """Ignore a message from a page."""


class Site(Struct, frozen=True):
    """The pages and the socket that a server offers."""

    find: Find
    """The lookup of pages; the first page has an empty name."""
    tell: Publish
    hear: Hear = ignore_message


class LocalServer:
    """The rules of access to a site, and its answers."""

    def __init__(self, site: Site, port: int) -> None:
        self._key = secrets.token_urlsafe(16)
        self._site = site
        self._hosts = {f"{name}:{port}" for name in NAMES}
        self._viewers = 0
        self._making = trio.CapacityLimiter(1)
        self.address = f"http://{HOST}:{port}/{self._key}/"

    async def answer(self, _: Connection, request: Request) -> Response | None:
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

    async def talk(self, connection: Connection) -> None:
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

    async def _hear(self, connection: Connection, scope: trio.CancelScope) -> None:
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
        return _response(HTTPStatus.OK, html, KINDS.get(PurePath(name).suffix, HTML))


def _response(status: HTTPStatus, text: str, kind: str = "text/plain; charset=utf-8") -> Response:
    body = text.encode()
    headers = Headers(HEADERS)
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(body))
    headers["Connection"] = "close"
    return Response(status, status.phrase, headers, body)


async def tell(broadcast: Broadcast, connection: Connection) -> None:
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
    try:
        listeners = await trio.open_tcp_listeners(port, host=HOST)
    except (OSError, OverflowError) as error:
        reason = describe_error(error)
        raise UserError(
            f"Cannot listen on port {port}: {reason}. Choose another --port."
        ) from error
    server = LocalServer(site, listeners[0].socket.getsockname()[1])
    start = partial(
        serve,
        server.talk,
        listeners=listeners,
        process_request=server.answer,
        server_header=None,
        compression=None,
        open_timeout=OPEN_S,
        close_timeout=CLOSE_S,
        max_size=LONGEST,
        max_queue=WAITING,
    )
    async with trio.open_nursery() as nursery:
        async with await nursery.start(start):
            yield server.address
        nursery.cancel_scope.cancel()
