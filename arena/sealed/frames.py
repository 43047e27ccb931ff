"""Frames of the host of a sealed bot, as the referee reads them: what the bot cannot forge."""

from typing import NamedTuple, get_args

from protocol.codec import Fault, line_start, printable
from protocol.messages import GameStarts
from protocol.records import FoulClass

GAME = line_start(GameStarts)
FOULS: dict[str, FoulClass] = {name: name for name in get_args(FoulClass)}
MILLION = 1_000_000


class Frame(NamedTuple):
    """A line of the bot, or the end of its instance, with the work that it took."""

    line: bytes | None
    fault: Fault | None
    effort_ms: float
    """Instructions since the answer before, in millions."""


class FrameReader:
    """The reader of one host's frames: it drops those of games that are over."""

    def __init__(self) -> None:
        self._games = 0

    def note_sent(self, line: bytes) -> None:
        """Count a game that begins with this line."""
        self._games += line.startswith(GAME)

    def read(self, line: bytes) -> Frame | None:
        """Return the frame in a line; None if it belongs to an earlier game.

        What is no frame comes from a broken host.
        """
        game, _, rest = line.partition(b" ")
        used, _, content = rest.partition(b" ")
        if not (game.isdigit() and used.isdigit() and content[:1] in (b"=", b"!")):
            fault = Fault("gone", f"Its host failed: {printable(line)}")
            return Frame(None, fault, 0.0)
        if int(game) != self._games:
            return None
        effort_ms = int(used) / MILLION
        if content[:1] == b"=":
            return Frame(content[1:], None, effort_ms)
        foul, _, detail = content[1:].partition(b" ")
        return Frame(None, Fault(FOULS[foul.decode()], printable(detail, 400)), effort_ms)
