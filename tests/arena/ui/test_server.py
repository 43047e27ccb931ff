"""The door of the server: its visitors, and the pages that they get."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import pytest
import trio
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.trio.client import ClientConnection, connect
from websockets.typing import Origin

from arena.ui import server
from arena.ui.server import Broadcast, Page, Site, serve_site, tell
from protocol.errors import UserError

PAGES = {"": "<p>first", "other.html": "<p>other", "a b": "<p>blank"}


def site(broadcast: Broadcast, messages: list[str] | None = None) -> Site:
    def find(name: str) -> Page | None:
        return partial(PAGES.get, name) if name in PAGES or name == "none" else None

    return Site(find, partial(tell, broadcast), (messages if messages is not None else []).append)


async def get(address: str, path: str | None = None, *headers: str) -> tuple[int, str, str]:
    """Return status, head and body of the answer to a plain request."""
    parts = urlsplit(address)
    has_host = any("Host:" in header for header in headers)
    fields = headers if has_host else (f"Host: {parts.netloc}", *headers)
    words = "\r\n".join((f"GET {parts.path if path is None else path} HTTP/1.1", *fields, "", ""))
    stream = await trio.open_tcp_stream("127.0.0.1", parts.port or 0)
    async with stream:
        await stream.send_all(words.encode())
        data = b"".join([chunk async for chunk in stream])
    head, _, body = data.decode().partition("\r\n\r\n")
    return int(head.split()[1]), head, body


async def wait_until(happened: Callable[[], bool]) -> None:
    """Wait until the condition holds, for at most two minutes."""
    for _ in range(12_000):
        if happened():
            return
        await trio.sleep(0.01)
    raise AssertionError("it did not happen")


@asynccontextmanager
async def socket(address: str, origin: str | None = "own") -> AsyncIterator[ClientConnection]:
    parts = urlsplit(address)
    source = f"http://{parts.netloc}" if origin == "own" else origin
    url = f"ws://{parts.netloc}{parts.path}socket"
    async with connect(url, origin=Origin(source) if source else None, compression=None) as open_:
        yield open_


async def test_pages_of_the_list_are_served_and_nothing_else() -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        path = urlsplit(address).path
        assert (await get(address))[::2] == (200, "<p>first")
        assert (await get(address, f"{path}other.html?now"))[::2] == (200, "<p>other")
        assert (await get(address, f"{path}a%20b"))[::2] == (200, "<p>blank")
        for place in ("none", "secret.key", "../x", "%2e%2e/x", "other.html/", "//", "socket/x"):
            assert (await get(address, path + place))[0] == 404
        assert (await get(address, "/favicon.ico"))[0] == 204


async def test_without_the_key_nothing_is_found() -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        path = urlsplit(address).path
        for place in ("/", "/other.html", path[:-2] + "/", path[:-1].upper() + "x/", "*"):
            assert (await get(address, place))[0] in (404, 400), place
        assert (await get(address, path[:-1]))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        ("Host: evil.example:{port}",),
        ("Host: 127.0.0.1.evil.example:{port}",),
        ("Host: 127.0.0.1",),
        ("Host: 127.0.0.1:1",),
        ("Host: 127.0.0.1:{port}", "Host: evil.example"),
        ("Host: 127.0.0.1:{port}", "Origin: http://evil.example"),
        ("Host: 127.0.0.1:{port}", "Origin: null"),
        ("Host: 127.0.0.1:{port}", "Origin: https://127.0.0.1:{port}"),
        ("Host: 127.0.0.1:{port}", "Origin: http://localhost:{port}"),
    ],
)
async def test_a_strangers_page_gets_nothing(headers: tuple[str, ...]) -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        port = urlsplit(address).port
        request_headers = [header.format(port=port) for header in headers]
        status, _, body = await get(address, None, *request_headers)
        assert status == 403
        assert "<p>" not in body


async def test_every_answer_has_the_headers_that_isolate_it() -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        for path in (None, "/", "/favicon.ico"):
            head = (await get(address, path))[1]
            for name, value in server.HEADERS.items():
                assert f"{name}: {value}" in head
            assert "Access-Control" not in head


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
async def test_a_socket_is_opened_by_our_page_only(origin: str | None) -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        with pytest.raises(InvalidStatus, match="403"):
            async with socket(address, origin):
                pass


async def test_a_viewer_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "VIEWERS", 1)
    broadcast = Broadcast()
    broadcast.publish("one")
    async with serve_site(site(broadcast), 0) as address:
        async with socket(address) as first:
            await first.recv()
            with pytest.raises(InvalidStatus, match="503"):
                async with socket(address):
                    pass
        # The place is free again.
        await wait_until(lambda: not broadcast.has_subscribers)
        async with socket(address) as second:
            assert await second.recv() == "one"


async def test_a_viewer_that_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SEND_S", 0.05)
    broadcast, large_text = Broadcast(), "x" * 2**22
    async with serve_site(site(broadcast), 0) as address:
        parts = urlsplit(address)
        # A client that asks, and then never reads.
        stream = await trio.open_tcp_stream("127.0.0.1", parts.port or 0)
        request_lines = (
            f"GET {parts.path}socket HTTP/1.1",
            f"Host: {parts.netloc}",
            f"Origin: http://{parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        )
        await stream.send_all("\r\n".join((*request_lines, "", "")).encode())
        await broadcast.first_subscriber()
        with trio.fail_after(120):
            # More than the kernel keeps for it.
            while broadcast.has_subscribers:
                broadcast.publish(large_text)
                await trio.sleep(0.01)
        await stream.aclose()


async def test_a_long_message_closes_the_socket() -> None:
    broadcast, messages = Broadcast(), list[str]()
    async with serve_site(site(broadcast, messages), 0) as address, socket(address) as open_:
        await open_.send("x" * (server.MAX_MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed):
            await open_.recv()
    assert not messages


async def test_a_port_that_is_taken_is_the_users_error() -> None:
    async with serve_site(site(Broadcast()), 0) as address:
        port = urlsplit(address).port or 0
        with pytest.raises(UserError, match=f"Cannot listen on port {port}"):
            await serve_site(site(Broadcast()), port).__aenter__()
