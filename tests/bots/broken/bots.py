"""Bots that play the first option and break one promise each.

Unlike the hostile bots these are what honest authors write on their first evening. All that is
used of the machine is bounded here.
"""

from __future__ import annotations

import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # Each import at run time would take longer than a bot's whole game.
    from collections.abc import Callable, Iterator
    from typing import Any

GREETING: dict[str, Any] = {"type": "hello", "name": "broken", "version": "1"}
HELLO = json.dumps(GREETING).encode() + b"\n"


class Bot:
    """Right in everything; each bot below is wrong in one thing."""

    seen = 0

    def play(self) -> None:
        self.start()
        for line in sys.stdin.buffer:
            self.heard(json.loads(line))
        self.leave()

    def start(self) -> object: ...

    def heard(self, message: dict[str, Any]) -> None:
        for kind in ("message", message["type"]):
            getattr(self, f"before_{kind}", lambda _: None)(message)
        if message["type"] == "hello":
            self.greet()
        elif message["type"] == "ask":
            self.seen += 1
            self.answer(message)

    def greet(self) -> object:
        return self.write(HELLO)

    def answer(self, ask: dict[str, Any]) -> object:
        return self.write(line_of(ask))

    def leave(self) -> object: ...

    def write(self, data: bytes) -> object:
        while data:
            data = data[os.write(1, data) :]
        return None


def line_of(ask: dict[str, Any], **fields: Any) -> bytes:
    """Return the answer to a question, with these fields changed."""
    return json.dumps({"type": "choose", "id": ask["id"], "choice": 0, **fields}).encode() + b"\n"


def read_batches() -> Iterator[list[dict[str, Any]]]:
    """Yield the messages that come together."""
    rest = b""
    while data := os.read(0, 2**20):
        *lines, rest = (rest + data).split(b"\n")
        yield [json.loads(line) for line in lines]


class ReadsToTheEnd(Bot):
    def play(self) -> None:
        for line in sys.stdin.buffer.readlines():
            self.heard(json.loads(line))


class ExpectsALineAtEachRead(Bot):
    """Right as long as each read ends where a line does."""

    def play(self) -> None:
        while data := os.read(0, 2**20):
            for line in data.splitlines():
                self.heard(json.loads(line))


class ReadsShortLines(Bot):
    def play(self) -> None:
        while line := sys.stdin.buffer.readline(10_000):
            self.heard(json.loads(line))


class KeepsTheFirstNumber(Bot):
    def answer(self, ask: dict[str, Any]) -> object:
        self.first = getattr(self, "first", ask["id"])
        return self.write(line_of(ask, id=self.first))


class CrashesInItsSecondGame(Bot):
    games = 0

    def before_game(self, _: dict[str, Any]) -> None:
        self.games += 1
        if self.games > 1:
            raise ValueError("not again")


class AtTables(Bot):
    """Takes what has come at once, from as many games as it says."""

    tables = 4

    def greet(self) -> object:
        return self.write(json.dumps({**GREETING, "tables": self.tables}).encode() + b"\n")

    def play(self) -> None:
        for messages in read_batches():
            self.take(messages, [one for one in messages if one["type"] == "ask"])

    def take(self, messages: list[dict[str, Any]], asks: list[dict[str, Any]]) -> None:
        raise NotImplementedError


class MixesUpTables(AtTables):
    """Asked at several tables, it answers the one that it heard of last."""

    def take(self, messages: list[dict[str, Any]], asks: list[dict[str, Any]]) -> None:
        for message in messages:
            self.heard({**message, "id": asks[-1]["id"]} if message in asks else message)


class AnswersOneOfSeveral(AtTables):
    """Asked in several games, it answers once for all that has come."""

    tables = 1_000

    def take(self, messages: list[dict[str, Any]], asks: list[dict[str, Any]]) -> None:
        for message in messages:
            if message not in asks[1:]:
                self.heard(message)


class AnswersTheLastFirst(AtTables):
    """Harmless: it answers in an order of its own."""

    tables = 1_024

    def take(self, messages: list[dict[str, Any]], _: list[dict[str, Any]]) -> None:
        for message in reversed(messages):
            self.heard(message)


class WaitsForAFullBatch(AtTables):
    """It thinks when it has as many questions as it says that it can play games."""

    tables = 64

    def __init__(self) -> None:
        self.batch: list[dict[str, Any]] = []

    def take(self, messages: list[dict[str, Any]], asks: list[dict[str, Any]]) -> None:
        self.batch += asks
        for message in messages:
            if message not in asks:
                self.heard(message)
        while len(self.batch) >= 64:
            self.heard(self.batch.pop(0))


class RemembersAll(Bot):
    """Bounded by the test: 32 MiB at the most."""

    def before_ask(self, _: dict[str, Any]) -> None:
        self.kept = [*getattr(self, "kept", []), bytes(range(256)) * 256]
        del self.kept[:-512]


class WaitsForBye(Bot):
    """Until it was told so, it stays."""

    wanted = "bye"
    was_told = False

    def before_message(self, message: dict[str, Any]) -> None:
        self.was_told = self.was_told or message["type"] == self.wanted

    def leave(self) -> None:
        if not self.was_told:
            time.sleep(30)


class NeedsAGame(WaitsForBye):
    wanted = "game"


def fail(error: Exception) -> Any:
    raise error


def oversleep(limit_ms: int) -> None:
    """Sleep past a limit: a busy machine moves it, and 2 s after it nobody hears an answer."""
    time.sleep((limit_ms + min(0.6 * limit_ms, 1200)) / 1000)


def lock(bot: Any) -> None:
    """Take an address that a second process of this bot wants too."""
    import socket  # It takes as long as a start, and no other bot needs it.

    bot.lock = socket.socket(socket.AF_UNIX)
    bot.lock.bind(f"\0broken-{sys.argv[2]}")


def spin(seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        pass


CHANGES: dict[str, tuple[str, Callable[[Any, Any], object]]] = {
    # Instead of a hello or an answer.
    "NeverGreets": ("greet", lambda *_: None),
    "GreetsTwice": ("greet", lambda bot, _: bot.write(2 * HELLO)),
    "PrintsABanner": ("greet", lambda bot, _: bot.write(b"*** Broken bot 1.0 ***\n" + HELLO)),
    "SaysNothing": ("answer", lambda *_: None),
    "AnswersOnStderr": ("answer", lambda _, ask: os.write(2, line_of(ask))),
    "ForgetsTheNewline": ("answer", lambda bot, ask: bot.write(line_of(ask)[:-1])),
    "PrintsADict": ("answer", lambda bot, ask: bot.write(
        str(json.loads(line_of(ask))).encode() + b"\n"
    )),
    "AnswersTwice": ("answer", lambda bot, ask: bot.write(2 * line_of(ask))),
    "CountsFrom1": ("answer", lambda bot, ask: bot.write(line_of(ask, choice=1))),
    "NumbersByItself": ("answer", lambda bot, ask: bot.write(line_of(ask, id=bot.seen))),
    "Has32Bits": ("answer", lambda bot, ask: bot.write(line_of(ask, id=ask["id"] % 2**32))),
    # Of all that it writes.
    "NeverFlushes": ("write", lambda _, data: sys.stdout.write(data.decode())),
    "EndsLinesTheOldWay": ("write", lambda _, data: os.write(1, data.replace(b"\n", b"\r"))),
    # Harmless.
    "EndsLinesAsOnWindows": ("write", lambda _, data: os.write(1, data.replace(b"\n", b"\r\n"))),
    # When it begins or leaves.
    "NeverReads": ("start", lambda *_: time.sleep(60)),
    "CrashesAtOnce": ("start", lambda *_: fail(RuntimeError("no weights"))),
    "LeavesAtOnce": ("start", lambda *_: sys.exit()),
    # The complaint about a script whose first line ends with a carriage return.
    "WasSavedOnWindows": ("start", lambda *_: (
        os.write(2, b"/usr/bin/env: 'python3\\r': No such file or directory\n"), sys.exit(127)
    )),
    "Stays": ("leave", lambda *_: time.sleep(30)),
    "SaysGoodbye": ("leave", lambda bot, _: bot.write(b'{"type":"bye"}\n')),
    "CrashesWhenItLeaves": ("leave", lambda *_: fail(EOFError("no more"))),  # Harmless.
    # Before it takes a message of a kind.
    "CannotBeTwo": ("before_hello", lambda bot, _: lock(bot)),
    # Its third argument tells the limit in ms.
    "GreetsLate": ("before_hello", lambda *_: oversleep(int(sys.argv[3]))),
    "KnowsAllFields": ("before_hello", lambda _, hello: len(hello) > 3 and fail(
        ValueError("what is that?")
    )),
    "ReadsItsWeights": ("before_hello", lambda *_: os.open(
        f"{sys.argv[2]}/weights", os.O_RDONLY
    )),
    "ConfirmsGames": ("before_game", lambda bot, _: bot.write(b"ok\n")),
    "KnowsAllRules": ("before_game", lambda _, game: [
        fail(TypeError("unexpected keyword argument 'newer'"))
        for group in game["rules"].values() if isinstance(group, dict) and "newer" in group
    ]),
    "ReadsAsciiNames": ("before_game", lambda _, game: game["rules"]["name"].encode("ascii")),
    "ThinksForEver": ("before_ask", lambda *_: spin(30)),
    "DiesWith255": ("before_ask", lambda *_: sys.exit(255)),  # As Perl does, and who returns -1.
    "KnowsPlaysAndDraws": ("before_ask", lambda _, ask: [
        {"play": 1, "draw": 2, "pass": 3}[option["do"]] for option in ask["options"]
    ]),
    "KnowsAllEvents": ("before_ask", lambda _, ask: [
        fail(KeyError("swap")) for event in ask["events"] if event["do"] == "swap"
    ]),
    "SitsAtTablesOfTwo": ("before_ask", lambda _, ask: dict(
        zip("ab", ask["hands"], strict=True)
    )),
    "NeedsAHand": ("before_ask", lambda _, ask: max(ask["hand"])),
    "IsSlowWithManyOptions": ("before_ask", lambda _, ask: (
        oversleep(ask["time_ms"]) if len(ask["options"]) > 20 else None
    )),
    "TracesAll": ("before_ask", lambda *_: os.write(2, b"I think, therefore I trace.\n" * 2_400)),
    "ThanksForGames": ("before_end", lambda bot, _: bot.write(b'{"type":"thanks"}\n')),
    "KnowsAllMessages": ("before_message", lambda _, message: {
        "hello": 0, "ask": 1, "game": 2, "round": 3, "end": 4, "bye": 5
    }[message["type"]]),
}  # fmt: skip
"""Bots by the method of theirs that is another, and what it does."""


def with_method(name: str, act: Callable[[Any, Any], object]) -> type[Bot]:
    return type("Changed", (Bot,), {name: lambda bot, given=None: act(bot, given)})


globals().update({name: with_method(*change) for name, change in CHANGES.items()})
