"""The conversations that SPEC.md shows: played by the referee, cut to the lines that matter.

`python -m tests.support.conversations` writes them into SPEC.md anew.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from arena.match.referee import GameSetup, OpenQuestion, Referee, bye, hello
from arena.rules.variants import derive, find_variant
from protocol import codec
from protocol.codec import decode_from_referee, encode_line
from protocol.messages import Ask, Clock, GameStarts
from tests.support import bots

# What a referee sends to a trained policy that is played as a bot.


PATIENCE = bots.PATIENCE
HELLO, BYE = bots.HELLO + b"\n", bots.BYE + b"\n"


def game(number: int, seat: int = 0) -> bytes:
    message = decode_from_referee(bots.game())
    assert isinstance(message, GameStarts)
    return encode_line(replace(message, game=number, seat=seat))


def ask(id: int, number: int = 1, seat: int = 0) -> bytes:
    """Ask with a play at the left end, one at both, and a draw."""
    message = decode_from_referee(bots.ask(id, [(6, 5), (5, 5)], [(5, 4)]))
    assert isinstance(message, Ask)
    return encode_line(replace(message, game=number, seat=seat))


# --- conversations ---


SPEC = Path(codec.__file__).with_name("SPEC.md")
GREETING = b'{"type": "hello", "name": "first", "version": "1"}\n'
LEFT_OUT = "...\n"
"""Stands in an excerpt for one line or more of the conversation."""


class Conversation(NamedTuple):
    """A game as its seat 0 reads and writes it."""

    base: str
    differs: Mapping[str, Any]
    """Its changed choices, so that it is short."""
    seed: bytes
    seats: int = 2
    preferences: Mapping[int, tuple[str, ...]] = {}
    """Options that a seat waits for, in turn; until one is offered it takes option 0."""
    shows: tuple[str, ...] = ()
    """An excerpt shows the lines with one of these texts, and the answers to the questions."""


TINY = Conversation("draw", {"hand": 3, "target": 1, "draw_limit": 1, "reserve": 0}, b"seed 2479")
"""A short round in which everything happens: lots, both kinds of draw, a pass, forced moves."""

EXCERPTS: dict[str, Conversation] = {
    "a call": Conversation(
        "double-draw",
        {"hand": 5, "target": 1},
        b"seed 542",
        preferences={0: ("go_on", "call"), 1: ("go_on",) * 9},
        shows=('"options":[{"do":"call"', '"type":"round"'),
    ),
    "an auction": Conversation(
        "auction-draw",
        {"hand": 8, "chips": 8, "rounds": 1},
        b"seed 699",
        seats=3,
        preferences={0: ('"chips":2',), 1: ('"chips":1',)},
        shows=('"options":[{"do":"bid"', '"type":"end"'),
    ),
    "a refused deal": Conversation(
        "draw",
        {"hand": 4, "refuse_doubles": 2, "target": 1},
        b"seed 1",
        preferences={0: ("refuse",)},
        shows=('"options":[{"do":"keep"',),
    ),
    "odd or even": Conversation(
        "draw",
        {"hand": 2, "first": "odd_even", "target": 1},
        b"seed 1",
        shows=('"id":1000001,', '"id":1000002,'),
    ),
}


class _Wisher:
    """Answers the first option, unless it offers what the seat waits for."""

    def __init__(self, preferences: tuple[str, ...]) -> None:
        self._preferences = list(preferences)

    def choice(self, question: OpenQuestion) -> int:
        """Return the index of the wish if it is offered."""
        for index, option in enumerate(question.options):
            if self._preferences and self._preferences[0] in msgspec.json.encode(option).decode():
                del self._preferences[0]
                return index
        return 0


def answered(question: int, choice: int) -> bytes:
    return json.dumps({"type": "choose", "id": question, "choice": choice}).encode()


def played(talk: Conversation) -> str:
    """Return the whole conversation: `>` goes to seat 0, `<` comes from it."""
    rules = derive(find_variant(talk.base), "tiny" if talk is TINY else talk.base, talk.differs)
    seating = GameSetup("tiny", 1, 1, ("first",) * talk.seats, rules, Clock())
    bots = [_Wisher(talk.preferences.get(seat, ())) for seat in range(talk.seats)]
    lines = exchanged(
        Referee(seating, talk.seed), lambda question: bots[question.seat].choice(question)
    )
    return b"".join(way + b" " + line for way, line in lines).decode()


def exchanged(
    referee: Referee, choice: Callable[[OpenQuestion], int]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield each line that seat 0 reads (`>`) or writes (`<`) in a game; all seats choose by
    `choice`."""
    yield b">", hello()
    yield b"<", GREETING
    while True:
        yield from ((b">", line) for seat, line in referee.take_outgoing() if seat == 0)
        question = referee.awaiting
        if question is None:
            break
        answer = answered(question.id, choice(question))
        if question.seat == 0:
            yield b"<", answer + b"\n"
        referee.receive(question.seat, answer, ms=1.0)
    yield b">", bye()


def excerpt(talk: Conversation) -> str:
    """Return the lines that an excerpt shows; `...` stands for those that are left out."""
    lines: list[str] = []
    answer_follows = False
    for line in played(talk).splitlines(keepends=True):
        is_answer = line.startswith("< ")
        if answer_follows if is_answer else any(text in line for text in talk.shows):
            lines.append(line)
        elif not lines or lines[-1] != LEFT_OUT:
            lines.append(LEFT_OUT)
        answer_follows = not is_answer and lines[-1] == line and '"type":"ask"' in line
    return "".join(lines)


def all_conversations() -> Iterator[tuple[str, str]]:
    """Yield every conversation that SPEC.md shows: what stands behind its fence, and its lines."""
    yield "text conversation", played(TINY)
    for name, talk in EXCERPTS.items():
        yield f"text excerpt: {name}", excerpt(talk)


def replay_conversations(spec: str) -> str:
    """Return the specification with all its conversations played again."""
    for info, lines in all_conversations():
        block = re.compile(rf"^```{re.escape(info)}\n.*?^```$", re.DOTALL | re.MULTILINE)
        fresh = f"```{info}\n{lines}```"
        spec, count = block.subn(lambda _, fresh=fresh: fresh, spec)  # type: ignore[misc]
        assert count == 1, f"SPEC.md has {count} blocks {info!r}."
    return spec


if __name__ == "__main__":
    SPEC.write_text(replay_conversations(SPEC.read_text(encoding="utf-8")), encoding="utf-8")
