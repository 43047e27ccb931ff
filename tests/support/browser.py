"""A browser for the tests of pages: the system's Chromium, one a test process, no network."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox",  # in a container, as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 120_000
"""As long as a test waits for any process: a busy machine takes 20 s for a page of 10,000 games."""
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
WORST = ("serious", "critical")
LIKE_OTHERS = "tbody tr:nth-child(n + 5)"
"""What axe-core, which is slow, passes over: rows of tables that look like those before them."""
THRIFTY = {"resultTypes": ["violations"]}
"""Without this axe-core also describes everything that is well."""


_left: defaultdict[str, list[Page]] = defaultdict(list)
"""Script before a page's own → pages that may be used again: none keeps anything in the browser."""


@cache
def _browser() -> Browser:
    """Lives as long as the test process."""
    expect.set_options(timeout=PATIENCE_MS)
    return sync_playwright().start().chromium.launch(executable_path=CHROMIUM, args=[*QUIET])


@contextmanager
def opened(
    url: str | Path,
    *,
    width: int = 1000,
    height: int = 800,
    dark: bool = False,
    local: bool = False,
    before: str = "",
) -> Iterator[Page]:
    """Yield a page; when it is left, nothing may have been complained of or asked for.

    `local` pages may ask the host they come from; files may ask for nothing but themselves. The
    script `before` runs before those of the page.
    """
    address = url.resolve().as_uri() if isinstance(url, Path) else url
    page = _blank(before)
    page.set_viewport_size({"width": width, "height": height})
    colours: Literal["dark", "light"] = "dark" if dark else "light"
    page.emulate_media(color_scheme=colours, media="screen", reduced_motion="no-preference")
    complaints: list[str] = []
    listeners: dict[Any, Callable[[Any], None]] = {
        "console": lambda message: complaints.extend(_complaint(message)),
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda request: complaints.extend(_stranger(request, address, local)),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        page.goto(address)
        yield page
        assert complaints == []
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if page.is_closed():
            page.context.close()
        else:
            page.goto("about:blank")
            _left[before].append(page)


def _blank(before: str) -> Page:
    """Return an empty page: a used one, because a new one costs more than most tests."""
    if _left[before]:
        return _left[before].pop()
    context = _browser().new_context()
    if before:
        context.add_init_script(before)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


def _complaint(message: ConsoleMessage) -> list[str]:
    return [message.text] if message.type in ("error", "warning") else []


def _stranger(request: Request, address: str, local: bool) -> list[str]:
    """Return the forbidden requests of a page; linked pages are files beside it."""
    own = address.split("/")[2] if local else ""
    fine = request.url.startswith(("file:", "data:", "blob:")) or request.url.split("/")[2] == own
    return [] if fine and (local or request.is_navigation_request()) else [request.url]


def faults(page: Page) -> list[str]:
    """Serious faults of accessibility that axe-core finds, each with what it is about."""
    around = {"include": [["html"]], "exclude": [[LIKE_OTHERS]]}
    found = Axe().run(page, context=around, options=THRIFTY).response["violations"]
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found
        if one["impact"] in WORST
        for node in one["nodes"]
    ]


@contextmanager
def serve_folder(site: Path) -> Iterator[str]:
    """Serve a folder as any static server does; yield its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
