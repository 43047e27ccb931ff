"""A person's screen in the browser: the page shows what the seat sees and sends back choices."""

import time
from collections.abc import Sequence
from functools import partial

import trio
from msgspec import Struct

from arena.analysis.frames import SPECTATOR
from arena.analysis.frames_live import LiveFrames
from arena.match.human import HumanPlayer
from arena.ui.broadcast import Broadcast
from arena.ui.html import page
from arena.ui.scenes import GameInfo, Scene, SceneBuilder
from arena.ui.server import Page, Site, tell
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.messages import Ask, GameOver, GameStarts, RoundOver

KEPT = 64
"""Scenes that a page may lag behind; a page that is reloaded begins with the newest."""
COME_S = 3600.0
"""Seconds that the user has to open the page."""
GOODBYE_S = 10.0
"""Seconds that the pages have to receive the end of the game."""


class ShownScene(Struct, frozen=True, kw_only=True):
    """A message to the page: the scene and the open question."""

    seat: int
    """The seat that the page shows."""
    scene: Scene
    """The table as that seat sees it."""
    id: int | None = None
    """The number of the question; None if nothing is asked."""
    until: float | None = None
    """The deadline in ms of Unix time; None if there is none."""
    over: bool = False
    """True if the game is over."""


class BrowserChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """A message from the page: the answer to a question."""

    id: int
    """The number of the question."""
    choice: int
    """The index of the option."""


class BrowserPlayer:
    """A person who looks at a page and clicks."""

    def __init__(self, about: GameInfo, names: Sequence[str], kept: str, *, clock: bool) -> None:
        """Prepare the page; nobody has opened it yet.

        `kept` is the command that shows the game again; `clock`: the page shows the time left.
        """
        self._about = about
        self._names = names
        self._kept = kept
        self._clock = clock
        self._news = Broadcast(KEPT)
        self._person: HumanPlayer | None = None

    @property
    def site(self) -> Site:
        """Return the site to serve."""
        return Site(self._find, partial(tell, self._news), self._hear)

    async def show(self, person: HumanPlayer, ready: trio.Event) -> bool:
        """Show a game to its end; return False if nobody came to play it."""
        self._person = person
        with trio.move_on_after(COME_S) as waiting:
            await self._news.first_subscriber()
        if waiting.cancelled_caught:
            return False
        ready.set()
        await self._play(person)
        with trio.move_on_after(GOODBYE_S):
            await self._news.drained()
        return True

    async def _play(self, person: HumanPlayer) -> None:
        sight: LiveFrames | None = None
        async for told in person.messages:
            if isinstance(told, GameStarts):
                sight, seat = LiveFrames(told, self._names), told.seat
                made = SceneBuilder(self._names, told.clock, partners=told.partners, seat=SPECTATOR)
            elif isinstance(told, Ask | RoundOver | GameOver):
                assert sight, "A game begins before anything happens in it."
                asked = told if isinstance(told, Ask) else None
                shown = ShownScene(
                    seat=seat,
                    scene=made.scene(sight.frame(told)),
                    id=asked.id if asked else None,
                    until=1000 * time.time() + asked.time_ms if asked and self._clock else None,
                    over=isinstance(told, GameOver),
                )
                self._news.publish(encode_json(shown).decode())
                if shown.over:
                    return

    def _find(self, name: str) -> Page | None:
        return self._page if name == "" else None

    def _page(self) -> str:
        return page(
            "play.html.j2",
            "play",
            ", ".join(self._about.names),
            styles=("table.css", "play.css"),
            scripts=("table.js", "choices.js", "play.js"),
            data=self._about,
            connect="'self'",
            about=self._about,
            kept=self._kept,
        )

    def _hear(self, text: str) -> None:
        """Take an answer to the open question; ignore any other, as two pages may be open."""
        try:
            said = decode_json(text, BrowserChoice)
        except DamagedRecordError:
            return
        if self._person:
            self._person.choose(said.id, said.choice)
