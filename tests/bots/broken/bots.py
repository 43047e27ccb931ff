"""Bots that play the first option and break one promise each.

Unlike the hostile bots these are what honest authors write on their first evening. All that is
used of the machine is bounded here.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # Each import at run time would take longer than a bot's whole game.
    from collections.abc import Callable, Iterator
    from typing import Any

GREETING: dict[str, Any] = {"type": "hello", "name": "broken", "version": "1"}
NEWLINE = b"\n"


class Bot:
    """Right in everything; each bot below is wrong in one thing."""

    seen = 0
    """Questions so far."""

    def play(self) -> None:
        for line in sys.stdin.buffer:
            self.heard(json.loads(line))
        self.leave()

    def heard(self, message: dict[str, Any]) -> None:
        if message["type"] == "hello":
            self.greet()
        elif message["type"] == "ask":
            self.seen += 1
            self.answer(message)
        else:
            self.told(message)

    def greet(self) -> None:
        self.say(GREETING)

    def answer(self, ask: dict[str, Any]) -> None:
        self.say(self.chosen(ask))

    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        return {"type": "choose", "id": ask["id"], "choice": 0}

    def told(self, message: dict[str, Any]) -> None:
        pass

    def leave(self) -> None:
        pass

    def say(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + NEWLINE)

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]


# --- buffers and loops ---


class NeverFlushes(Bot):
    def write(self, data: bytes) -> None:
        sys.stdout.write(data.decode())


class FlushesOnlyHello(NeverFlushes):
    def greet(self) -> None:
        super().greet()
        sys.stdout.flush()


class WritesToStderr(Bot):
    def write(self, data: bytes) -> None:
        os.write(2, data)


class AnswersOnStderr(WritesToStderr):
    def greet(self) -> None:
        os.write(1, json.dumps(GREETING).encode() + NEWLINE)


class HasALargeBuffer(Bot):
    """More than a walk can fill."""

    kept = b""

    def write(self, data: bytes) -> None:
        self.kept += data

    def leave(self) -> None:
        super().write(self.kept)


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


# --- what an answer says ---


class NumbersByItself(Bot):
    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        return {**super().chosen(ask), "id": self.seen}


class KeepsTheFirstNumber(Bot):
    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        self.first = getattr(self, "first", ask["id"])
        return {**super().chosen(ask), "id": self.first}


# --- what it makes of messages ---


class CrashesInItsSecondGame(Bot):
    games = 0

    def told(self, message: dict[str, Any]) -> None:
        self.games += message["type"] == "game"
        if self.games > 1:
            raise ValueError("not again")


def read_batches() -> Iterator[list[dict[str, Any]]]:
    """Yield the messages that come together."""
    rest = b""
    while data := os.read(0, 2**20):
        *lines, rest = (rest + data).split(NEWLINE)
        yield [json.loads(line) for line in lines]


class MixesUpTables(Bot):
    """Asked at several tables, it answers the one that it heard of last."""

    def greet(self) -> None:
        self.say({**GREETING, "tables": 4})

    def play(self) -> None:
        for messages in read_batches():
            asks = [message for message in messages if message["type"] == "ask"]
            for message in messages:
                self.heard({**message, "id": asks[-1]["id"]} if message in asks else message)


class AnswersOneOfSeveral(Bot):
    """Asked in several games, it answers once for all that has come."""

    def greet(self) -> None:
        self.say({**GREETING, "tables": 1_000})

    def play(self) -> None:
        for messages in read_batches():
            asks = [message for message in messages if message["type"] == "ask"]
            for message in messages:
                if message not in asks[1:]:
                    self.heard(message)


class WaitsForAFullBatch(Bot):
    """It thinks when it has as many questions as it says that it can play games."""

    def __init__(self) -> None:
        self.batch: list[dict[str, Any]] = []

    def greet(self) -> None:
        self.say({**GREETING, "tables": 64})

    def answer(self, ask: dict[str, Any]) -> None:
        self.batch.append(ask)
        if len(self.batch) == 64:
            for each in self.batch:
                super().answer(each)
            self.batch.clear()


class LosesGamesThatEnd(Bot):
    """When one game ends it forgets all of them."""

    def __init__(self) -> None:
        self.games: set[int] = set()

    def greet(self) -> None:
        self.say({**GREETING, "tables": 4})

    def answer(self, ask: dict[str, Any]) -> None:
        if ask["game"] not in self.games:
            raise KeyError(ask["game"])
        super().answer(ask)

    def told(self, message: dict[str, Any]) -> None:
        if message["type"] == "game":
            self.games.add(message["game"])
        elif message["type"] == "end":
            self.games.clear()


# --- time and the machine ---


class RemembersAll(Bot):
    """Bounded by the test: 32 MiB at the most."""

    def answer(self, ask: dict[str, Any]) -> None:
        self.kept = [*getattr(self, "kept", []), bytes(range(256)) * 256]
        del self.kept[:-512]
        super().answer(ask)


# --- leaving ---


class WaitsForBye(Bot):
    """Until it was told so, it stays."""

    wanted = "bye"
    was_told = False

    def told(self, message: dict[str, Any]) -> None:
        self.was_told = self.was_told or message["type"] == self.wanted

    def leave(self) -> None:
        if not self.was_told:
            time.sleep(30)


class NeedsAGame(WaitsForBye):
    wanted = "game"


# --- harmless ---


class AnswersTheLastFirst(Bot):
    """It takes what has come, and answers in an order of its own."""

    def greet(self) -> None:
        self.say({**GREETING, "tables": 1_024})

    def play(self) -> None:
        for messages in read_batches():
            for message in reversed(messages):
                self.heard(message)


# --- one thing is said otherwise ---

HELLO = json.dumps(GREETING).encode() + NEWLINE
GREETINGS: dict[str, bytes] = {
    "NeverGreets": b"",
    "GreetsTwice": HELLO + HELLO,
    "PrintsABanner": b"*** Broken bot 1.0 ***\n" + HELLO,
    "SaysReady": HELLO + b"ready!\n",
    "MarksItsByteOrder": b"\xef\xbb\xbf" + HELLO,
    "HasNoVersion": b'{"type": "hello", "name": "broken"}\n',
    "HasANumberForVersion": HELLO.replace(b'"1"', b"1.0"),
    "SpeaksProtocol2": HELLO.replace(b"}", b', "protocol": 2}'),
    "TellsItsLanguage": HELLO.replace(b"}", b', "language": "Python"}'),
    "PlaysAtFourTables": HELLO.replace(b"}", b', "tables": 4}'),
}
"""Bots by what they write instead of their hello; the last one is harmless."""
FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "WritesALongLine": lambda _: {"note": "x" * 70_000},
    "ChoosesAText": lambda _: {"choice": "0"},
    "ChoosesAFloat": lambda _: {"choice": 0.0},
    "ChoosesTheOptionItself": lambda ask: {"choice": ask["options"][0]},
    "MisspellsTheType": lambda _: {"type": "chose"},
    "TellsItsScore": lambda _: {"score": 12},
    "NotesAllItThinks": lambda _: {"note": "hm " * 500},
    "CountsFrom1": lambda _: {"choice": 1},
    "ChoosesTheLastFrom1": lambda ask: {"choice": len(ask["options"])},
    "Resigns": lambda _: {"choice": -1},
    "ChoosesTheFourth": lambda _: {"choice": 3},  # right as long as there are four options
    "NumbersTheNext": lambda ask: {"id": ask["id"] + 1},
    "Has32Bits": lambda ask: {"id": ask["id"] % 2**32},
}
"""Bots by the fields of their answer that are others, given the question."""
LINES: dict[str, Callable[[bytes], bytes]] = {
    "SaysNothing": lambda _: b"",
    "ForgetsTheNewline": lambda line: line,
    "PrintsADict": lambda line: str(json.loads(line)).encode() + NEWLINE,
    "Indents": lambda line: json.dumps(json.loads(line), indent=2).encode() + NEWLINE,
    "WritesLatin1": lambda line: line.replace(b"}", b', "note": "d\xe9j\xe0 vu"}\n'),
    "PrintsThoughts": lambda line: b"I think I play the first\n" + line + NEWLINE,
    "PutsWordsBefore": lambda line: b"answer: " + line + NEWLINE,
    "PutsWordsBehind": lambda line: line + b"; # fine\n",
    "WritesTwoOnALine": lambda line: line + b" " + line + NEWLINE,
    "WritesLargeLetters": lambda line: (
        json.dumps({name.title(): value for name, value in json.loads(line).items()}).encode()
        + NEWLINE
    ),
    "ForgetsQuotes": lambda line: re.sub(rb'"(\w+)":', rb"\1:", line) + NEWLINE,
    "EncodesTwice": lambda line: json.dumps(line.decode()).encode() + NEWLINE,
    "WritesEmptyLines": lambda line: NEWLINE + line + NEWLINE,
    "SaysTheIndexOnly": lambda _: b"0\n",
    "ForgetsTheChoice": lambda line: line.replace(b', "choice": 0', b"") + NEWLINE,
    "AnswersTwice": lambda line: 2 * (line + NEWLINE),
}
"""Bots by what they write instead of the line of their answer, which has no newline yet."""

BYTES: dict[str, Callable[[bytes], bytes]] = {
    "EndsLinesTheOldWay": lambda data: data.replace(NEWLINE, b"\r"),
    "EndsLinesAsOnWindows": lambda data: data.replace(NEWLINE, b"\r\n"),
    "WritesUtf16": lambda data: data.decode().encode("utf-16-le"),
}
"""Bots by what becomes of all that they write; Windows' newlines are harmless."""


# --- one thing is done besides ---


def fail(error: Exception) -> Any:
    raise error


def lock(bot: Any) -> None:
    """Take an address that a second process of this bot wants too."""
    import socket  # It takes as long as a start, and no other bot needs it.

    bot.lock = socket.socket(socket.AF_UNIX)
    bot.lock.bind(f"\0broken-{sys.argv[2]}")


def spin(seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        pass


ACTS: dict[str, tuple[str, Callable[[Any, Any], object]]] = {
    "NeverReads": ("start", lambda *_: time.sleep(60)),
    "CrashesAtOnce": ("start", lambda *_: fail(RuntimeError("no weights"))),
    "LeavesAtOnce": ("start", lambda *_: sys.exit()),
    # The complaint about a script whose first line ends with a carriage return.
    "WasSavedOnWindows": ("start", lambda *_: (
        os.write(2, b"/usr/bin/env: 'python3\\r': No such file or directory\n"), sys.exit(127)
    )),
    "CannotBeTwo": ("hello", lambda bot, _: lock(bot)),
    # By three tenths of the limit, in ms, that its third argument tells.
    "GreetsLate": ("hello", lambda *_: time.sleep(1.3 * int(sys.argv[3]) / 1000)),
    "KnowsAllFields": ("hello", lambda _, hello: len(hello) > 3 and fail(
        ValueError("what is that?")
    )),
    "ReadsItsWeights": ("hello", lambda *_: os.open(f"{sys.argv[2]}/weights", os.O_RDONLY)),
    "ConfirmsGames": ("game", lambda bot, _: bot.write(b"ok\n")),
    "KnowsAllRules": ("game", lambda _, game: [
        fail(TypeError("unexpected keyword argument 'newer'"))
        for group in game["rules"].values() if isinstance(group, dict) and "newer" in group
    ]),
    "ReadsAsciiNames": ("game", lambda _, game: game["rules"]["name"].encode("ascii")),
    "ThinksForEver": ("ask", lambda *_: spin(30)),
    "DiesWith255": ("ask", lambda *_: sys.exit(255)),  # As Perl does, and who returns -1.
    "KnowsPlaysAndDraws": ("ask", lambda _, ask: [
        {"play": 1, "draw": 2, "pass": 3}[option["do"]] for option in ask["options"]
    ]),
    "OnlyPlays": ("ask", lambda _, ask: [option["tile"] for option in ask["options"]]),
    "KnowsAllEvents": ("ask", lambda _, ask: [
        fail(KeyError("swap")) for event in ask["events"] if event["do"] == "swap"
    ]),
    "SitsAtTablesOfTwo": ("ask", lambda _, ask: dict(zip("ab", ask["hands"], strict=True))),
    "NeedsAHand": ("ask", lambda _, ask: max(ask["hand"])),
    "IsSlowWithManyOptions": ("ask", lambda _, ask: time.sleep(
        1.3 * ask["time_ms"] / 1000 * (len(ask["options"]) > 20)
    )),
    "TracesAll": ("ask", lambda *_: os.write(2, b"I think, therefore I trace.\n" * 2_400)),
    "Chatters": ("ask", lambda *_: os.write(2, b"thinking\n")),  # Where it may: harmless.
    "ThanksForGames": ("end", lambda bot, _: bot.write(b'{"type":"thanks"}\n')),
    "LeavesAfterAGame": ("end", lambda *_: os._exit(0)),
    "KnowsAllMessages": ("any", lambda _, message: {
        "hello": 0, "ask": 1, "game": 2, "round": 3, "end": 4, "bye": 5
    }[message["type"]]),
    "Stays": ("leave", lambda *_: time.sleep(30)),
    "SaysGoodbye": ("leave", lambda bot, _: bot.write(b'{"type":"bye"}\n')),
    "CrashesWhenItLeaves": ("leave", lambda *_: fail(EOFError("no more"))),  # Harmless.
}  # fmt: skip
"""Bots by what they do before they take a kind of message, begin or leave; then they go on."""


def greeting(line: bytes) -> type[Bot]:
    class Greeting(Bot):
        def greet(self) -> None:
            self.write(line)

    return Greeting


def choosing(fields: Callable[[Any], dict[str, Any]]) -> type[Bot]:
    class Choosing(Bot):
        def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
            return {**super().chosen(ask), **fields(ask)}

    return Choosing


def writing(change: Callable[[bytes], bytes]) -> type[Bot]:
    class Writing(Bot):
        def answer(self, ask: dict[str, Any]) -> None:
            self.write(change(json.dumps(self.chosen(ask)).encode()))

    return Writing


def sending(change: Callable[[bytes], bytes]) -> type[Bot]:
    class Sending(Bot):
        def write(self, data: bytes) -> None:
            super().write(change(data))

    return Sending


def acting(kind: str, act: Callable[[Any, Any], object]) -> type[Bot]:
    class Acting(Bot):
        def play(self) -> None:
            if kind == "start":
                act(self, None)
            super().play()

        def heard(self, message: dict[str, Any]) -> None:
            if kind in (message["type"], "any"):
                act(self, message)
            super().heard(message)

        def leave(self) -> None:
            if kind == "leave":
                act(self, None)

    return Acting


OTHERS = {name: greeting(line) for name, line in GREETINGS.items()}
OTHERS |= {name: choosing(fields) for name, fields in FIELDS.items()}
OTHERS |= {name: writing(change) for name, change in LINES.items()}
OTHERS |= {name: sending(change) for name, change in BYTES.items()}
OTHERS |= {name: acting(*act) for name, act in ACTS.items()}
globals().update(OTHERS)
