"""Frames of the host of a sealed bot, as the referee reads them: what the bot cannot forge."""

import re
from typing import NamedTuple, get_args

from protocol.codec import Fault, line_start, printable
from protocol.messages import GameStarts
from protocol.records import FoulClass

GAME = line_start(GameStarts)
FOULS: dict[bytes, FoulClass] = {name.encode(): name for name in get_args(FoulClass)}
FIGURES = re.compile(rb"[0-9]{1,18}")
MILLION = 1_000_000


class HostFrame(NamedTuple):
    """A line of the bot, or the end of its instance, with its work in million instructions."""

    line: bytes | None
    fault: Fault | None
    effort_ms: float


class FrameReader:
    """The reader of one host's frames: it drops those of games that are over."""

    def __init__(self) -> None:
        self._games = 0
        self._beginning = b""
        """As much of the line that is being sent as tells whether a game begins with it."""

    def note_sent(self, data: bytes) -> None:
        """Count the games that begin in what is sent: a line, several, or a part of one."""
        for number, part in enumerate(data.split(b"\n")):
            before = b"" if number else self._beginning
            self._beginning = (before + part)[: len(GAME)]
            self._games += self._beginning == GAME != before

    def read(self, line: bytes) -> HostFrame | None:
        """Return the frame in a line; None if it belongs to an earlier game.

        What is no frame comes from a broken host.
        """
        game, _, rest = line.partition(b" ")
        used, _, content = rest.partition(b" ")
        foul, _, detail = content[1:].partition(b" ")
        known = content[:1] == b"=" or (content[:1] == b"!" and foul in FOULS)
        if not (known and FIGURES.fullmatch(game) and FIGURES.fullmatch(used)):
            fault = Fault("gone", f"Its host failed: {printable(line)}")
            return HostFrame(None, fault, 0.0)
        if int(game) != self._games:
            return None
        effort_ms = int(used) / MILLION
        if content[:1] == b"=":
            return HostFrame(content[1:], None, effort_ms)
        return HostFrame(None, Fault(FOULS[foul], printable(detail, 400)), effort_ms)
