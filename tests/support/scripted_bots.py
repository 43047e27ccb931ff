"""Sample bots as processes on a script: what each is asked, and what it answers."""

import json
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import sample_bots
from protocol.messages import (
    PROTOCOL,
    Ask,
    Bye,
    Choose,
    Clock,
    Draw,
    End,
    FromBot,
    GameStarts,
    Hello,
    Leads,
    Option,
    Play,
    Played,
    Stock,
)
from protocol.ruleset import Ruleset, Tile, tile_set

FOLDER = Path(sample_bots.__file__).parent
BOTS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "bots.toml").read_text())
PATIENCE = 120.0
"""Seconds for a whole conversation; it takes a fraction of one."""
TIME_MS = 60_000
"""The time for an answer, so much that no bot thinks less than it would on a fast machine."""
HELLO = msgspec.json.encode(Hello(protocol=PROTOCOL, referee="test 0"))
BYE = msgspec.json.encode(Bye())
FREE = Ruleset(name="draw")


def game(rules: Ruleset = FREE, seats: int = 2) -> bytes:
    return msgspec.json.encode(
        GameStarts(
            game=1, seat=0, seats=seats, partners=False, rules=rules, target=100, clock=Clock()
        )
    )


def plays(hand: Sequence[Tile], ends: tuple[int, ...]) -> list[Option]:
    """List the plays of a hand; the referee's own list is tested elsewhere."""
    if not ends:
        return [Play(tile, "lead") for tile in hand]
    sides: tuple[End, ...] = ("left", "right")
    return [
        Play(tile, side)
        for tile in hand
        for side, end in zip(sides, ends, strict=True)
        if end in tile
    ]


def ask(
    number: int,
    hand: Sequence[Tile],
    line: Sequence[Tile] = (),
    *,
    options: Sequence[Option] | None = None,
    events: Sequence[Any] = (),
    hands: tuple[int, ...] = (7, 7),
) -> bytes:
    ends = (line[0][0], line[-1][1]) if line else ()
    if options is None:
        options = [*plays(hand, ends), Draw()]
    return msgspec.json.encode(
        Ask(
            id=number,
            game=1,
            round=1,
            time_ms=TIME_MS,
            seat=0,
            hand=tuple(hand),
            line=tuple(line),
            ends=ends,
            boneyard=Stock(tiles=14, drawable=12),
            hands=hands,
            scores=(0,) * len(hands),
            pot=0,
            events=[Leads(0), *events],
            options=tuple(options),
        )
    )


def strange(number: int, options: str) -> bytes:
    """Ask as a later version may: fields, events and options that no bot knows."""
    known = ask(number, [(6, 5), (2, 1)], [(5, 5)], events=[Played(1, (5, 5), "lead")])
    head, _, _ = known.rpartition(b'"options":')
    head = head.replace(b'"events":[', b'"wind":"east","events":[{"do":"bid","seat":1,"chips":3},')
    return head + b'"options":' + options.encode() + b"}"


UNKNOWN = (
    '[{"do":"trade","left":[6,5],"right":[2,1]},{"do":"bid","chips":4},{"do":"bid","chips":5}]'
)
LATER = b'{"type":"weather","id":5,"options":[{"do":"rain"}]}'


class Case(NamedTuple):
    """A question, and how many options it has."""

    name: str
    question: bytes
    options: int


WHOLE_SET = sorted(tile_set(18))
QUESTIONS = {
    "a lead with doubles": ask(3, [(6, 5), (4, 4), (1, 1), (6, 4)]),
    "a lead without a double": ask(4, [(3, 2), (6, 4), (6, 5), (5, 1)]),
    "0-0, a double": ask(7, [(6, 0), (0, 0)], [(0, 5), (5, 6)]),
    "few that fit": ask(8, [(6, 6), (5, 1), (4, 3), (2, 0)], [(3, 1), (1, 2)]),
    "a large number": ask(2**53, [(5, 2), (5, 4)], [(5, 5)]),
    "draw listed first": ask(
        9, [(5, 2), (5, 4)], options=[Draw(), Play((5, 2), "lead"), Play((5, 4), "lead")]
    ),
    "unknown options": strange(10, UNKNOWN),
    "a play among unknown options": strange(
        11, UNKNOWN[:-1] + ',{"do":"play","tile":[6,5],"end":"left","why":"x"}]'
    ),
    "three seats": ask(12, [(6, 5), (5, 5)], [(5, 0)], hands=(7, 7, 7)),
    "a very long line": ask(13, WHOLE_SET, [(a, b) for b, a in WHOLE_SET]),
}
CASES = [Case(name, line, len(json.loads(line)["options"])) for name, line in QUESTIONS.items()]


def talk(command: list[str], lines: Sequence[bytes], folder: Path = FOLDER) -> list[bytes]:
    """Everything that the bot says to these lines; it must then leave of its own accord."""
    done = subprocess.run(
        command,
        cwd=folder,
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr
    return done.stdout.splitlines()


def chosen(answer: bytes) -> Choose:
    said = msgspec.json.decode(answer, type=FromBot)
    assert isinstance(said, Choose)
    return said
