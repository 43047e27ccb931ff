"""A person's screen in the browser: the page shows what the seat sees and sends back choices."""

import time

import trio
from msgspec import Struct

from arena.analysis.frames import SPECTATOR, LiveFrames
from arena.match.human import HumanPlayer
from arena.ui.broadcast import Broadcast
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.scenes import GameInfo, Scene, SceneBuilder
from arena.ui.server import Connection, Page, Site, tell
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.messages import Ask, GameOver, GameStarts, RoundOver

KEPT = 64
"""Scenes that a page may lag behind; a page that is reloaded begins with the newest."""
COME_S = 3600.0
"""Seconds that the user has to open the page."""
GONE_S = 5.0
"""Seconds between two looks for an open page after a game."""
MISSED = 2
"""Looks in a row that find no page once it was closed, and not only loaded again."""
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

    def __init__(self, about: GameInfo, kept: str, *, clock: bool) -> None:
        """Prepare the page of the first game; nobody has opened it yet.

        `kept` is the command that shows the game again; `clock`: the page shows the time left.
        """
        self._clock = clock
        self._broadcast = Broadcast()
        self.swap = False
        self.prepare(about, kept)

    def prepare(self, about: GameInfo, kept: str) -> None:
        """Show the next game from now on; pages that are open load themselves again."""
        self._broadcast.publish(RELOAD)
        self._about = about
        self._kept = kept
        self._broadcast = Broadcast(KEPT)
        self._wish = trio.Event()
        self._person: HumanPlayer | None = None
        self.review: Page | None = None  # Only of a game that is over: it shows all hands.

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
                names, clocks = self._about.names, [message.clock] * message.seats
                builder = SceneBuilder(names, clocks, partners=message.partners, seat=SPECTATOR)
            elif isinstance(message, Ask | RoundOver | GameOver):
                *moves, scene = map(builder.scene, live.moves(message))
                asked = message if isinstance(message, Ask) else None
                shown = ShownScene(
                    seat=live.seat,
                    scene=scene,
                    moves=tuple(moves),
                    id=asked.id if asked else None,
                    until=1000 * time.time() + asked.time_ms if asked and self._clock else None,
                    over=isinstance(message, GameOver),
                )
                self._broadcast.publish(encode_json(shown).decode())
                if shown.over:
                    return

    async def _tell(self, connection: Connection) -> None:
        await tell(self._broadcast, connection)

    def _find(self, name: str) -> Page | None:
        return {"": self._page, "review": self.review}.get(name)

    def _page(self) -> str:
        return page(
            "play.html.j2",
            "play",
            ", ".join(self._about.names),
            styles=("table.css", "game.css", "play.css"),
            scripts=(*TABLE_SCRIPTS, "choices.js", "chart.js", "sound.js", "play.js"),
            data=self._about,
            connect="'self'",
            about=self._about,
            kept=self._kept,
        )

    def _hear(self, text: str) -> None:
        """Take an answer to the open question, or a wish; ignore others: two pages may be open."""
        try:
            said = decode_json(text, BrowserMessage)
        except DamagedRecordError:
            return
        if said.again:
            self.swap = said.swap
            self._wish.set()
        elif self._person and said.id is not None:
            self._person.choose(said.id, said.choice)
