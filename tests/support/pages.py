"""Pages under test: a browser, scenes of replays, and a document with a block of each kind."""

import base64
import random
import shutil
import zlib
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

from arena.analysis.alternative_deals import RoundHistory, StopAt, replay_round
from arena.document.blocks import (
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    Item,
    Matrix,
    Media,
    Paragraph,
    RowGroup,
    Section,
    Table,
)
from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame
from arena.match.referee import QUESTIONS_A_GAME, needs_answer
from arena.rules.variants import find_variant
from arena.ui.replay_page import Fields, Playback, pack_game
from protocol.codec import decode_json
from protocol.messages import Clock
from protocol.records import ChoiceRecord, DealRecord, GameRecord
from tests.support import games
from tests.support.games import NAMES
from tests.support.tables import sitting

# A small document that has a block of each kind.


PLOT = Cell("", figure=Figure(macro="plot", value="a drawing"))
BOB, CODE = Cell("bob", href="#bob"), Cell("a|b")
STANDINGS = Table(
    "Standings",
    [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        Column("plot", media=Media.HTML, axis=Figure(macro="plot", value="an axis")),
        Column("clean", spare=True),
        Column("command", "code", media=Media.FILES),
    ],
    [
        RowGroup(
            "above", [[Cell("1 (1–2)"), Cell("ada"), Cell("+3", "4"), PLOT, Cell("+9"), CODE]]
        ),
        RowGroup("below", [[Cell("2"), BOB, Cell("-3", "5"), PLOT, Cell("·"), CODE]]),
    ],
)
SELF = Cell("·", tone="self")
MATRIX = Matrix(
    "Crosstable",
    ["ada", "bob"],
    [[SELF, Cell("62", "50–70", tone="ahead")], [Cell("38"), SELF]],
    media=Media.MARKDOWN | Media.TERMINAL,
)
DOCUMENT = Document(
    "league",
    [
        Paragraph("**ada** is the best & <first>.", "lead", media=Media.HTML),
        Section(
            "Standings",
            [
                STANDINGS,
                Paragraph("By `rate`: -3 is **not** a-3.", "faint"),
                Bullets([Item("one", ["more"]), Item("two", media=Media.TERMINAL)]),
                Figure(macro="plot", value="a figure"),
            ],
            id="standings",
            scope=" of pool 1",
            titled=Media.FILES,
        ),
        Section("Crosstable", [MATRIX, Code("run\nrun on", media=Media.FILES)], id="crosstable"),
    ],
)


# The scenes of a replay's page, and the same game in two worlds that a seat cannot tell apart.


CLOCK = Clock()
Scenes = list[list[Fields]]


def unpack_game(data: str) -> Playback:
    """Return the game that `pack_game` packed."""
    return decode_json(zlib.decompress(base64.b64decode(data)), Playback)


def page_scenes(game: LoggedGame, seat: int | None = None) -> Scenes:
    """Return the scenes of each viewer as the page's script assembles them."""
    play = unpack_game(pack_game(game, seat).data)
    scenes: Scenes = [[] for _ in play.seats]
    first: Fields = {}
    for changes, *views in play.moments:
        first = {**first, **changes}
        scenes[0].append(first)
        for viewer, view in enumerate(views, 1):
            scenes[viewer].append({**first, **view})
    return scenes


def log_of(deal: RoundHistory, until: StopAt, rng: random.Random) -> LoggedGame:
    """Return a round as a log up to a question; other seats' times and notes differ each time."""
    seat = until.seat
    rules, names = deal.start.rules, NAMES[: deal.start.seats]
    records: list[Any] = []
    ids = [QUESTIONS_A_GAME] * len(names)
    count = 0
    for turn in replay_round(deal, until):
        while count < len(deal.deals) and deal.deals[count].deal <= turn.game.playing.phase.deal:
            dealt = deal.deals[count]
            records.append(
                DealRecord(
                    round=dealt.round,
                    deal=dealt.deal,
                    leader=dealt.leader,
                    lots=dealt.lots,
                    hands=dealt.hands,
                    stock=dealt.stock,
                )
            )
            count += 1
        if turn.choice is None:
            break
        mover = turn.game.playing.turn
        if needs_answer(CLOCK, values.legal(turn.game), fouled=False):
            ms, note = (1.0, "mine") if mover == seat else (rng.random(), f"{rng.random()}")
            ids[mover] += 1
            records.append(
                ChoiceRecord(seat=mover, id=ids[mover], choice=turn.choice, ms=ms, note=note)
            )
    first = GameRecord(game="1.game", number=1, board=1, commitment="0" * 64)
    return LoggedGame(sitting(names, (1,), rules, CLOCK), first, tuple(records), None)


def pairs(name: str, seats: int, tries: int) -> Iterator[tuple[int, LoggedGame, LoggedGame]]:
    """Yield the same round up to a question of a seat, in two worlds that it cannot distinguish."""
    rng = random.Random(name)
    for number in range(tries):
        seed = board_seed(b"pages", "event", number)
        deal = games.random_game(find_variant(name), seats, seed, rng)[0]
        seat = rng.randrange(seats)
        for moment in [*games.questions(deal, seat, CLOCK)][-3:]:
            twin = games.resampled(deal, seat, rng, moment)
            yield seat, log_of(deal, moment, rng), log_of(twin, moment, rng)


# A browser for the tests of pages: the system's Chromium, one a test process, no network.


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
"""The longest wait for a page, in ms: a busy machine takes 20 s for one of 10,000 games."""
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
WORST = ("serious", "critical")
LIKE_OTHERS = "tbody tr:nth-child(n + 5)"
"""Rows of tables that look like those before them: axe-core, which is slow, passes over them."""
THRIFTY = {"resultTypes": ["violations"]}
"""Options by which axe-core does not describe everything that is well."""


_left: defaultdict[str, list[Page]] = defaultdict(list)
"""Script before a page's own → pages that may be used again: none keeps anything in the browser."""


@cache
def _browser() -> Browser:
    """Lives as long as the test process."""
    expect.set_options(timeout=PATIENCE_MS)
    return sync_playwright().start().chromium.launch(executable_path=CHROMIUM, args=[*QUIET])


@contextmanager
def open_page(
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
    host = address.split("/")[2] if local else ""
    fine = request.url.startswith(("file:", "data:", "blob:")) or request.url.split("/")[2] == host
    return [] if fine and (local or request.is_navigation_request()) else [request.url]


def faults(page: Page) -> list[str]:
    """Serious faults of accessibility that axe-core finds, each with what it is about."""
    context = {"include": [["html"]], "exclude": [[LIKE_OTHERS]]}
    violations = Axe().run(page, context=context, options=THRIFTY).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in WORST
        for node in violation["nodes"]
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
