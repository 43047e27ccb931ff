"""The clauses of the sources: which test plays which, and scenes of them.

    python -m tests.support.clauses        prints it: the clause, the choices, the test

A test of a clause begins its docstring, and a scene its title, with the clause and the choices that
it exercises: `C.33 (points_blocked): what the clause says`.
"""

import ast
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from arena.engine import values
from arena.engine.state import Game
from protocol.errors import UserError
from protocol.messages import Annulled, Drew
from protocol.ruleset import Ruleset, check_seats, hand_size, playable_seat_counts, set_of_tiles
from tests.support import positions

# Scenes of the clauses, `arena/engine/clauses/*.txt`: a position, moves, and what must come of it.
#
# A scene is a block of lines, its title first; `positions` says how tiles, options and boneyards
# are written.
#
#     C play (none): A tile can be placed on either end of the line.
#       position draw hand=5: 21 60 | 40; line 14 42     a round in the middle of play
#       deal draw: 21 60 | 40; leader 1                   a round begun from these hands
#       then deal draw: 66 | 55                           the next deal after it
#       next round                                        the same from a seed
#       shuffle draw: 3 seats, board 2                    a round that a seed deals
#       play 21 right, pass
#       = options: 40 left, pass; report of 1 points: 0 5   what is to be seen then
#       rules draw hand=5 = seats: 2 3 4                 what rules alone say, also `set`, `tiles`
#       refused draw hand=9 at 4: need 36 tiles          rules that cannot be played
#
# What is looked at is a path: a function of `positions` or `values`, with `of SEAT` perhaps, else a
# field of the game, and then names and places within it.


FOLDER = Path(__file__).parent.parent / "arena" / "engine" / "clauses"
FUNCTIONS = ("options", "turn", "over", "line", "hand", "report", "ask")
VALUES = ("places", "pips", "legal", "needs_deal")
NUMBERS = ("turn", "leader", "pot", "number", "drawn", "passes")


class Scene(NamedTuple):
    """A clause and what must happen by it."""

    title: str
    steps: tuple[str, ...]
    file: str


def scenes() -> list[Scene]:
    """Return every scene of every file."""
    all_scenes = []
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text().rstrip().split("\n\n"):
            lines = block.splitlines()
            title = " ".join(line for line in lines if not line.startswith("  "))
            steps = tuple(line.strip() for line in lines if line.startswith("  "))
            all_scenes.append(Scene(title, steps, path.name))
    return all_scenes


def play(scene: Scene) -> None:
    """Play a scene; raise AssertionError where something else comes of it than is written."""
    game: Game | None = None
    for step in scene.steps:
        word, _, rest = step.partition(" ")
        if word == "=":
            assert game
            for look in rest.split("; "):
                path = look.partition(": ")[0]
                _compare(look, f"{path}: {describe(look_up(game, path))}")
        elif word == "rules":
            description, _, look = rest.partition(" = ")
            path = look.partition(": ")[0]
            _compare(look, f"{path}: {describe(_of_rules(_rules(description), path))}")
        elif word == "refused":
            table, _, why = rest.partition(": ")
            name, _, seats = table.partition(" at ")
            with pytest.raises(UserError, match=re.escape(why)):
                check_seats(_rules(name), int(seats or 2))
        else:
            game = _next(game, word, rest)


def _compare(expected: str, actual: str) -> None:
    assert expected == actual, f"{actual} came of it, not {expected}"


def _next(game: Game | None, word: str, rest: str) -> Game:
    match word:
        case "position":
            rules, fields = _fields(rest)
            return positions.position(rules, **fields)
        case "deal":
            rules, fields = _fields(rest)
            return positions.dealing(rules, **fields)
        case "then":
            rules, fields = _fields(rest.removeprefix("deal "))
            return positions.dealing(rules, after=game, **fields)
        case "shuffle":
            description, _, table = rest.partition(": ")
            seats, *board = map(int, re.findall(r"\d+", table))
            return positions.shuffled(_rules(description), seats, *board)
    assert game
    return positions.next_round(game) if word == "next" else positions.do(game, *rest.split(", "))


def _rules(description: str) -> Ruleset:
    """Return a named game with the choices that are written behind its name."""
    name, *differs = description.split(" ")
    pairs = [choice.split("=", 1) for choice in differs]
    return positions.rules(name, **{key: _value(value) for key, value in pairs})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _fields(rest: str) -> tuple[Ruleset, dict[str, Any]]:
    """Return the rules of a position, and its parts by their names."""
    description, _, parts = rest.partition(": ")
    hands, *others = parts.split("; ")
    fields: dict[str, Any] = {"hands": hands.split(" | ")}
    for name, _, text in (part.partition(" ") for part in others):
        if name in NUMBERS:
            fields[name] = int(text)
        elif name == "scores":
            fields[name] = tuple(map(int, text.split()))
        else:
            fields[name] = text
    return _rules(description), fields


def _of_rules(rules: Ruleset, path: str) -> object:
    if path == "seats":
        return playable_seat_counts(rules)
    if path == "tiles":
        return len(set_of_tiles(rules.deal))
    if path == "set":
        return sorted(set_of_tiles(rules.deal))
    if path.startswith("hand of "):
        return hand_size(rules.deal, int(path.removeprefix("hand of ")))
    return values.new_game(rules, int(path.removeprefix("target of "))).target


def look_up(game: Game, path: str) -> object:
    """Return what a path leads to."""
    if path.startswith("number of "):
        return len(_look_up_list(game, path.removeprefix("number of ")))
    if first := re.fullmatch(r"first (\d+) of (.*)", path):
        return _look_up_list(game, first[2])[: int(first[1])]
    if path == "boneyard size":
        return sum(map(len, game.playing.stock))
    if path == "held":
        return [len(hand) for hand in game.playing.hands]
    if path == "annulled":
        events = (event for event in game.playing.events if isinstance(event, Annulled))
        return [f"{describe(event.seat)} {event.why}" for event in events]
    if path == "drawn":
        draws = (event for event in game.playing.events if isinstance(event, Drew))
        return [f"{event.seat} {''.join(map(str, event.tile or ()))}" for event in draws]
    word, *words = path.split()
    if words[:1] == ["of"]:
        target: Any = getattr(positions, word)(game, int(words[1]))
        del words[:2]
    elif word in FUNCTIONS:
        target = getattr(positions, word)(game)
    else:
        target = getattr(values, word)(game) if word in VALUES else game
    for word in words:
        if isinstance(target, dict):
            target = target[word]
        elif re.fullmatch(r"-?\d+", word):
            target = target[int(word)]
        else:
            target = getattr(target, word)
    return target


def _look_up_list(game: Game, path: str) -> tuple[object, ...]:
    entries = look_up(game, path)
    assert isinstance(entries, tuple | list)
    return tuple(entries)


def describe(value: Any) -> str:
    """Return a value in words: `none`, `nothing` for an empty list, `3 4` for numbers."""
    value = msgspec.to_builtins(value)
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key} {describe(part)}" for key, part in value.items())
        case [] | ():
            return "nothing"
        case list() | tuple():
            if all(isinstance(entry, list | tuple) and len(entry) == 2 for entry in value):
                return " ".join(f"{high}-{low}" for high, low in value)
            separator = (", ", " ", " / ")[_kind(value[0])]
            return separator.join(map(describe, value))
    return str(value)


def _kind(value: object) -> int:
    return 0 if isinstance(value, str) else 1 if isinstance(value, int) else 2


# The table of clauses: which test plays which clause of the sources, and by which choice.


SUPPORT = Path(__file__).parent
HEAD = re.compile(r"^((?:[ABDE]|C)\b[^()]*?) \(([^)]*)\): (.*)", re.DOTALL)


class Clause(NamedTuple):
    """A test of a clause."""

    clause: str
    choices: tuple[str, ...]
    test: str
    file: str


def collect_clauses() -> list[Clause]:
    """Return every test of a clause, in the order of the sources."""
    clauses = [
        _clause(scene.title, scene.title.partition("): ")[2], scene.file)
        for scene in scenes()
        if scene.file != "ambiguities.txt"
    ]
    for path in sorted((SUPPORT.parent / "arena" / "engine").glob("test_clauses_*.py")):
        clauses += [
            _clause(ast.get_docstring(node) or "", node.name, path.name)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
    return sorted(clauses, key=_order)


def _clause(text: str, test: str, file: str) -> Clause:
    match = HEAD.match(" ".join(text.split()))
    assert match, f"{file}: {test} does not begin with its clause and choices: {text!r}"
    clause, choices, _ = match.groups()
    names = tuple(part.strip() for part in choices.split(",") if part.strip() != "none")
    return Clause(clause.strip(), names, test, file)


def _order(row: Clause) -> tuple[str, int, str, str]:
    number = re.match(r"C\.(\d+)", row.clause)
    return row.clause[0], int(number[1]) if number else 0, row.clause, row.test


if __name__ == "__main__":
    for row in collect_clauses():
        print(row.clause, ", ".join(row.choices) or "-", f"{row.file}::{row.test}", sep="\t")
