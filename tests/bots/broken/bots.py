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


class NeverReads(Bot):
    def play(self) -> None:
        time.sleep(60)


class SaysNothing(Bot):
    def answer(self, _: dict[str, Any]) -> None:
        pass


class ThinksForEver(Bot):
    def answer(self, _: dict[str, Any]) -> None:
        ends = time.monotonic() + 30
        while time.monotonic() < ends:
            pass


class EndsLinesTheOldWay(Bot):
    def say(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\r")


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


# --- hello ---


class NeverGreets(Bot):
    def greet(self) -> None:
        pass


class GreetsLate(Bot):
    """By three tenths of the limit, in ms, that its third argument tells."""

    def greet(self) -> None:
        time.sleep(1.3 * int(sys.argv[3]) / 1000)
        super().greet()


class CrashesAtOnce(Bot):
    def play(self) -> None:
        raise RuntimeError("no weights")


class WasSavedOnWindows(Bot):
    """The complaint about a script whose first line ends with a carriage return."""

    def play(self) -> None:
        os.write(2, b"/usr/bin/env: 'python3\\r': No such file or directory\n")
        sys.exit(127)


class LeavesAtOnce(Bot):
    def play(self) -> None:
        pass


class CannotBeTwo(Bot):
    def greet(self) -> None:
        import socket  # It takes as long as a start, and no other bot needs it.

        self.lock = socket.socket(socket.AF_UNIX)
        self.lock.bind(f"\0broken-{sys.argv[2]}")
        super().greet()


# --- what a line looks like ---


class WritesUtf16(Bot):
    def write(self, data: bytes) -> None:
        super().write(data.decode().encode("utf-16-le"))


# --- what an answer says ---


class WritesLargeLetters(Bot):
    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        return {name.title(): value for name, value in super().chosen(ask).items()}


class NumbersByItself(Bot):
    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        return {**super().chosen(ask), "id": self.seen}


class KeepsTheFirstNumber(Bot):
    def chosen(self, ask: dict[str, Any]) -> dict[str, Any]:
        self.first = getattr(self, "first", ask["id"])
        return {**super().chosen(ask), "id": self.first}


# --- what it makes of messages ---


class ConfirmsGames(Bot):
    def told(self, message: dict[str, Any]) -> None:
        if message["type"] == "game":
            self.write(b"ok\n")


class ThanksForGames(Bot):
    def told(self, message: dict[str, Any]) -> None:
        if message["type"] == "end":
            self.write(b'{"type":"thanks"}\n')


class CrashesInItsSecondGame(Bot):
    games = 0

    def told(self, message: dict[str, Any]) -> None:
        self.games += message["type"] == "game"
        if self.games > 1:
            raise ValueError("not again")


class DiesWith255(Bot):
    """As Perl does, and every program that returns -1."""

    def write(self, data: bytes) -> None:
        if self.seen:
            sys.exit(255)
        super().write(data)


class LeavesAfterAGame(Bot):
    def told(self, message: dict[str, Any]) -> None:
        if message["type"] == "end":
            os._exit(0)


class KnowsAllFields(Bot):
    fields = ("type", "protocol", "referee")

    def heard(self, message: dict[str, Any]) -> None:
        if message["type"] == "hello" and len(message) > len(self.fields):
            raise ValueError("what is that?")
        super().heard(message)


class KnowsAllRules(Bot):
    def told(self, message: dict[str, Any]) -> None:
        for group in message.get("rules", {}).values():
            if isinstance(group, dict) and "newer" in group:
                raise TypeError("unexpected keyword argument 'newer'")


class KnowsAllMessages(Bot):
    def told(self, message: dict[str, Any]) -> None:
        self.known = {"game": 1, "round": 2, "end": 3, "bye": 4}[message["type"]]


class KnowsPlaysAndDraws(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        for option in ask["options"]:
            self.known = {"play": 1, "draw": 2, "pass": 3}[option["do"]]
        super().answer(ask)


class OnlyPlays(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        self.tiles = [option["tile"] for option in ask["options"]]
        super().answer(ask)


class KnowsAllEvents(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        for event in ask["events"]:
            if event["do"] == "swap":
                raise KeyError("swap")
        super().answer(ask)


class ReadsAsciiNames(Bot):
    def told(self, message: dict[str, Any]) -> None:
        if message["type"] == "game":
            message["rules"]["name"].encode("ascii")


class SitsAtTablesOfTwo(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        self.mine, self.theirs = ask["hands"]
        super().answer(ask)


class NeedsAHand(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        self.heaviest = max(ask["hand"])
        super().answer(ask)


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


class IsSlowWithManyOptions(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        if len(ask["options"]) > 20:
            time.sleep(1.3 * ask["time_ms"] / 1000)
        super().answer(ask)


class RemembersAll(Bot):
    """Bounded by the test: 32 MiB at the most."""

    def answer(self, ask: dict[str, Any]) -> None:
        self.kept = [*getattr(self, "kept", []), bytes(range(256)) * 256]
        del self.kept[:-512]
        super().answer(ask)


class TracesAll(Bot):
    def answer(self, ask: dict[str, Any]) -> None:
        os.write(2, b"I think, therefore I trace.\n" * 2_400)
        super().answer(ask)


class ReadsItsWeights(Bot):
    def greet(self) -> None:
        with open(os.path.join(sys.argv[2], "weights")) as file:
            self.weights = file.read()
        super().greet()


# --- leaving ---


class Stays(Bot):
    def leave(self) -> None:
        time.sleep(30)


class SaysGoodbye(Bot):
    def leave(self) -> None:
        self.write(b'{"type":"bye"}\n')


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


class EndsLinesAsOnWindows(Bot):
    def say(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\r\n")


class Chatters(Bot):
    """On stderr, where it may."""

    def answer(self, ask: dict[str, Any]) -> None:
        os.write(2, b"thinking\n")
        super().answer(ask)


class CrashesWhenItLeaves(Bot):
    def leave(self) -> None:
        raise EOFError("no more")


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
    "ForgetsTheNewline": lambda line: line,
    "PrintsADict": lambda line: str(json.loads(line)).encode() + NEWLINE,
    "Indents": lambda line: json.dumps(json.loads(line), indent=2).encode() + NEWLINE,
    "WritesLatin1": lambda line: line.replace(b"}", b', "note": "d\xe9j\xe0 vu"}\n'),
    "PrintsThoughts": lambda line: b"I think I play the first\n" + line + NEWLINE,
    "PutsWordsBefore": lambda line: b"answer: " + line + NEWLINE,
    "PutsWordsBehind": lambda line: line + b"; # fine\n",
    "WritesTwoOnALine": lambda line: line + b" " + line + NEWLINE,
    "ForgetsQuotes": lambda line: re.sub(rb'"(\w+)":', rb"\1:", line) + NEWLINE,
    "EncodesTwice": lambda line: json.dumps(line.decode()).encode() + NEWLINE,
    "WritesEmptyLines": lambda line: NEWLINE + line + NEWLINE,
    "SaysTheIndexOnly": lambda _: b"0\n",
    "ForgetsTheChoice": lambda line: line.replace(b', "choice": 0', b"") + NEWLINE,
    "AnswersTwice": lambda line: 2 * (line + NEWLINE),
}
"""Bots by what they write instead of the line of their answer, which has no newline yet."""


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


OTHERS = {name: greeting(line) for name, line in GREETINGS.items()}
OTHERS |= {name: choosing(fields) for name, fields in FIELDS.items()}
OTHERS |= {name: writing(change) for name, change in LINES.items()}
globals().update(OTHERS)
