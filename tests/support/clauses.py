"""The table of clauses: which test plays which clause of the sources, and by which choice.

    python -m tests.support.clauses        prints it: the clause, the choices, the test

A test of a clause begins its docstring, and a scene its title, with the clause and the choices that
it exercises: `C.33 (points_blocked): what the clause says`.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

from tests.support.clause_scenes import scenes

HERE = Path(__file__).parent
HEAD = re.compile(r"^((?:[ABDE]|C)\b[^()]*?) \(([^)]*)\): (.*)", re.DOTALL)


class Clause(NamedTuple):
    """One test of one clause."""

    clause: str
    choices: tuple[str, ...]
    test: str
    file: str


def collected() -> list[Clause]:
    """Return every test of a clause, in the order of the sources."""
    found = [
        _clause(scene.title, scene.title.partition("): ")[2], scene.file)
        for scene in scenes()
        if scene.file != "ambiguities.txt"
    ]
    for path in sorted((HERE.parent / "arena" / "engine").glob("test_clauses_*.py")):
        found += [
            _clause(ast.get_docstring(node) or "", node.name, path.name)
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        ]
    return sorted(found, key=_order)


def _clause(text: str, test: str, file: str) -> Clause:
    match = HEAD.match(" ".join(text.split()))
    assert match, f"{file}: {test} does not begin with its clause and choices: {text!r}"
    clause, choices, _ = match.groups()
    listed = tuple(part.strip() for part in choices.split(",") if part.strip() != "none")
    return Clause(clause.strip(), listed, test, file)


def _order(one: Clause) -> tuple[str, int, str, str]:
    number = re.match(r"C\.(\d+)", one.clause)
    return one.clause[0], int(number[1]) if number else 0, one.clause, one.test


if __name__ == "__main__":
    for one in collected():
        print(one.clause, ", ".join(one.choices) or "-", f"{one.file}::{one.test}", sep="\t")
