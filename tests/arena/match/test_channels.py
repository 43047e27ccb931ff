"""The lists of channels, arena/SECRETS.md: each that it calls closed names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

from protocol import messages
from tests.support.probes import BLOCKED
from tests.support.secrecy import LEAKS

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "arena" / "SECRETS.md"
LISTS = "What a bot gets"
"""The heading of the table of values."""
STATES = ("Open", "Closed", "Closed in the sandbox")
"""The headings of the page's lists."""
TEST_REFERENCE = re.compile(r"`([\w/]+\.py)::(\w+)(?:\[(.+?)\])?`")


@cache
def functions(path: str) -> set[str]:
    """Return the names of a test module's functions; an empty set without the module."""
    file = TESTS / path
    tree = ast.parse(file.read_text() if file.exists() else "")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def rows(state: str) -> list[list[str]]:
    """Return the cells of the lines of one list."""
    section = PAGE.read_text().partition(f"\n## {state}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


ROWS = [row for state in STATES for row in rows(state)]


def test_a_closed_channel_names_tests_that_exist() -> None:
    assert re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE) == [LISTS, *STATES]
    assert all(len(row) == 2 for row in rows("Open"))
    for channel, measure, tests in (row for state in STATES[1:] for row in rows(state)):
        references = TEST_REFERENCE.findall(tests)
        assert measure, channel
        assert references, channel
        assert len(references) == tests.count("`") // 2, channel
        assert [name for path, name, _ in references if name not in functions(path)] == [], channel


def test_every_named_probe_and_every_leak_is_tried_and_no_channel_stands_twice() -> None:
    references = [reference for row in ROWS for reference in TEST_REFERENCE.findall(row[-1])]
    assert {case for _, name, case in references if name == "test_blocked"} <= set(BLOCKED)
    assert {case for _, name, case in references if name == "test_a_leak_is_caught"} == set(LEAKS)
    assert len({row[0] for row in ROWS}) == len(ROWS) > 50


def test_the_origin_of_every_value_of_a_message_is_listed() -> None:
    kinds = messages.RefereeMessage.__subclasses__()
    fields = {field for kind in kinds for field in kind.__struct_fields__}
    assert fields <= {*re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(LISTS)))}
