"""The house's guard: measures the tree and fails where it no longer shows its plan.

python -m tests.tools.house             # fails with one line for each fault
python -m tests.tools.house --measure   # prints the figures
"""

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("protocol", "arena", "tournaments")
MOST_MODULES = 14
"""Modules of a folder, `__init__` left out: more do not show an architecture at a glance."""
MOST_README_LINES = 110


class Room(NamedTuple):
    """A part of the tree with a budget of lines of Python."""

    budget: int
    today: int
    """The most that it may have until it keeps its budget: it may shrink, and never grows."""
    paths: tuple[str, ...]
    """Its folders and files; a file belongs to the room with the longest path that holds it."""


ROOMS = {
    "protocol": Room(1_920, 1_928, ("protocol",)),
    "files, signals and streams": Room(
        450, 0, ("arena/files.py", "arena/signals.py", "arena/streams.py")
    ),
    "engine": Room(1_960, 1_964, ("arena/engine",)),
    "match": Room(2_125, 2_415, ("arena/match",)),
    "logs": Room(965, 974, ("arena/logs",)),
    "rules": Room(1_570, 0, ("arena/rules",)),
    "sandbox": Room(2_600, 3_212, ("arena/sandbox",)),
    "sealed": Room(935, 0, ("arena/sealed", "tournaments/verification/ask_bots.py")),
    "conformance": Room(2_050, 2_425, ("arena/conformance",)),
    "analysis": Room(1_800, 2_161, ("arena/analysis",)),
    "valuation": Room(3_000, 3_371, ("arena/valuation",)),
    "training and exam": Room(1_500, 1_810, ("arena/training", "arena/exam")),
    "ui and document": Room(2_200, 2_316, ("arena/ui", "arena/document")),
    "sample bots": Room(1_165, 0, ("sample_bots",)),
    "cli and commands": Room(4_300, 5_132, ("tournaments/cli", "tournaments/commands")),
    "plan": Room(1_500, 2_051, ("tournaments/plan",)),
    "formats and tuning": Room(2_400, 2_718, ("tournaments/formats", "tournaments/tuning")),
    "schedule and forecast": Room(1_100, 1_103, ("tournaments/schedule", "tournaments/forecast")),
    "rating": Room(2_200, 2_499, ("tournaments/rating",)),
    "storage": Room(1_700, 2_311, ("tournaments/storage",)),
    "runner and cluster": Room(2_400, 3_053, ("tournaments/runner", "tournaments/cluster")),
    "report": Room(3_400, 4_046, ("tournaments/report",)),
    "site": Room(1_500, 1_888, ("tournaments/site",)),
    "verification and dataset": Room(
        1_300, 1_576, ("tournaments/verification", "tournaments/dataset")
    ),
    "league": Room(4_500, 5_310, ("tournaments/league", "tournaments/cli/league.py")),
    "tests": Room(36_600, 37_567, ("tests",)),
}
"""The rooms of the tree. Whoever lowers a room below its `today` lowers that number too."""
MOST_DEPTH = 31
"""Modules in the longest chain of imports, late ones included; it should be 24."""
MOST_TWO_MEANINGS = 7
"""Public names that several modules define; there should be none."""
MOST_RENAMED = 10
"""Modules of ours that are imported under another name; there should be none."""
BANNED = frozenset((
    "again", "anew", "asked", "chosen", "found", "going", "heard", "how", "kept", "known",
    "laid", "likely", "listed", "lost", "made", "meant", "misc", "opened", "packed", "said",
    "seen", "shown", "spoken", "stuff", "told", "util", "utils", "walked", "whereabouts",
    "wishes", "written",
))  # fmt: skip
"""Names that name nothing: no module, public function or public class may have one."""
CODEC = "protocol/codec.py"
"""The one module that knows JSON."""
OWN_JSON = frozenset(
    [
        # It runs alone where a bot runs, without any other module of ours.
        "arena/sandbox/selftest/canary.py",
        "arena/sealed/host.py",
        # It shows a value of TOML as JSON, which is nearly the same; the codec builds on it.
        "protocol/validation.py",
        # They explain, or write, JSON that is wrong or odd.
        "arena/conformance/cases/process.py",
        "arena/conformance/diagnose_line.py",
        "arena/conformance/cases/messages.py",
    ]
)
"""Modules that may know JSON too."""
QUESTION = re.compile(r"(What|Whether|Who|Whose|Whom|How|Where|Which|Why)\b")
"""The beginnings of a docstring that neither orders nor names anything."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def modules() -> list[Path]:
    """Return every Python file outside the tests and the sample bots."""
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


def dotted(path: Path) -> str:
    """Return the module name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def public(path: Path) -> Iterator[Definition]:
    """Public functions and classes at a module's top level."""
    for node in tree(path).body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def crowded() -> list[str]:
    """Folders with more modules than a reader takes in at a glance."""
    counts = Counter(path.parent for path in modules() if path.name != "__init__.py")
    return [
        f"{folder.relative_to(ROOT)}: {count} modules, at most {MOST_MODULES}. Split the folder."
        for folder, count in sorted(counts.items())
        if count > MOST_MODULES
    ]


def badly_named() -> list[str]:
    """Modules, functions and classes whose names name nothing."""
    faults = []
    for path in modules():
        names = [path.stem, *(node.name for node in public(path))]
        faults += [
            f"{path.relative_to(ROOT)}: the name {name!r} says nothing. Use the standard term."
            for name in names
            if name.lower() in BANNED
        ]
    return faults


def two_meanings() -> dict[str, list[str]]:
    """Public names that several modules define."""
    where: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in public(path):
            where[node.name].append(dotted(path))
    return {name: found for name, found in sorted(where.items()) if len(found) > 1}


def questions() -> list[str]:
    """Docstrings that begin with a question word."""
    faults = []
    for path in modules():
        for node in nodes(path):
            if not isinstance(node, Definition | ast.Module):
                continue
            text = ast.get_docstring(node) or ""
            if QUESTION.match(text):
                first = text.splitlines()[0]
                line = getattr(node, "lineno", 1)
                faults.append(
                    f"{path.relative_to(ROOT)}:{line}: {first!r} begins with a question word. "
                    "Begin with a verb or a noun phrase."
                )
    return faults


def without_first_line() -> list[str]:
    """Files that do not say what may live there."""
    paths = [*modules(), *sorted((ROOT / "tests").rglob("*.py"))]
    return [
        f"{path.relative_to(ROOT)}: no docstring. Say in the first line what may live there."
        for path in paths
        if not ast.get_docstring(tree(path))
    ]


def tests_imported() -> list[str]:
    """Imports of one test module by another."""
    faults = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in nodes(path):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import | ast.ImportFrom):
                names += [alias.name for alias in node.names]
            faults += [
                f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: imports the test module "
                f"{name}. Move what they share to tests/support."
                for name in names
                if name.rpartition(".")[2].startswith("test_")
            ]
    return faults


def knowing_json() -> list[str]:
    """Modules besides the codec that import a JSON library, or know how a line of JSON begins."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: knows JSON. Add what it needs to {CODEC}."
        for path in modules()
        if f"{path.relative_to(ROOT)}" not in {CODEC, *OWN_JSON}
        for node in nodes(path)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Constant)
        and knows_json(node)
    ]


def knows_json(node: ast.Import | ast.ImportFrom | ast.Attribute | ast.Constant) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] == "json" for alias in names)
        case ast.ImportFrom(module=module, names=names):
            return module == "json" or any(alias.name == "json" for alias in names)
        case ast.Attribute(value=ast.Name(id="msgspec"), attr="json"):
            return True
        case ast.Constant(value=bytes(text)):
            return text.startswith(b'{"')
    return False


def long_readme() -> list[str]:
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines <= MOST_README_LINES:
        return []
    return [f"README.md: {lines} lines, at most {MOST_README_LINES}. Move details to their pages."]


def imported(path: Path, names: frozenset[str]) -> set[str]:
    """Our modules that a module imports when it is loaded or later."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & names or {node.module}
    return (found & names) - {dotted(path)}


def import_depth() -> tuple[int, list[str]]:
    """Length of the longest chain of imports, and the chain itself."""
    names = frozenset(dotted(path) for path in modules())
    imports = {dotted(path): imported(path, names) for path in modules()}

    open_now: set[str] = set()

    @cache
    def chain(name: str) -> tuple[str, ...]:
        if name in open_now:
            return ()
        open_now.add(name)
        longest = max((chain(one) for one in sorted(imports[name])), key=len, default=())
        open_now.remove(name)
        return (name, *longest)

    longest = max((chain(name) for name in sorted(names)), key=len)
    return len(longest), list(longest)


def room_of(path: Path) -> str | None:
    """Return the room of a file; None for those of the tree's top."""
    name = f"{path.relative_to(ROOT)}"
    holding = [
        (len(one), room)
        for room, (_, _, paths) in ROOMS.items()
        for one in paths
        if name == one or name.startswith(f"{one}/")
    ]
    return max(holding)[1] if holding else None


@cache
def lines_by_room() -> dict[str, int]:
    """Return the lines of Python in each room."""
    counts = dict.fromkeys(ROOMS, 0)
    for folder in (*PACKAGES, "sample_bots", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if room := room_of(path):
                counts[room] += path.read_bytes().count(b"\n")
    return counts


def over_budget() -> list[str]:
    """Rooms with more lines than they may have."""
    return [
        f"{name}: {lines:,} lines, at most {most:,}. Delete what it no longer needs."
        for name, lines in lines_by_room().items()
        if lines > (most := max(ROOMS[name].budget, ROOMS[name].today))
    ]


def renamed() -> list[str]:
    """Find imports of our own modules under another name."""
    names = frozenset(dotted(path) for path in modules())
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: {alias.name} as {alias.asname}"
        for path in [*modules(), *sorted((ROOT / "tests").rglob("*.py"))]
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname not in (None, alias.name) and f"{node.module}.{alias.name}" in names
    ]


def grown() -> list[str]:
    """Find counts that should fall, and have risen."""
    counts = {
        "modules in the longest chain of imports": (import_depth()[0], MOST_DEPTH),
        "public names in several modules": (len(two_meanings()), MOST_TWO_MEANINGS),
        "modules imported under another name": (len(renamed()), MOST_RENAMED),
    }
    return [
        f"{count} {what}, at most {most}." for what, (count, most) in counts.items() if count > most
    ]


def missing_paths() -> list[str]:
    """Paths of ours that a page names, of a test perhaps below `tests`, and that do not exist."""
    folders = "|".join((*PACKAGES, "sample_bots", "tests"))
    named = re.compile(rf"`((?:{folders})/[\w./-]+)")
    return [
        f"{page.relative_to(ROOT)}: {path} does not exist."
        for page in sorted(ROOT.rglob("*.md"))
        if ".venv" not in page.parts
        for path in sorted(set(named.findall(page.read_text())))
        if not (ROOT / path).exists() and not (ROOT / "tests" / path).exists()
    ]


def measure() -> None:
    """Print the figures of the tree."""
    lines = lines_by_room()
    for room, count in lines.items():
        print(f"{count:7} lines of {ROOMS[room].budget:6}  {room}")
    print(f"{sum(lines.values()) - lines['tests']:7} lines of Python outside tests")
    counts = Counter(path.parent for path in modules() if path.name != "__init__.py")
    largest, most = counts.most_common(1)[0]
    print(f"{most:7} modules in the largest folder, {largest.relative_to(ROOT)}")
    depth, chain = import_depth()
    print(f"{depth:7} modules in the longest chain of imports: {' > '.join(chain)}")
    twice = two_meanings()
    print(f"{len(twice):7} public names in several modules: {', '.join(twice)}")
    print(f"{len(renamed()):7} modules imported under another name")
    print(f"{len(questions()):7} docstrings that begin with a question word")
    print(f"{len((ROOT / 'README.md').read_text().splitlines()):7} lines of README.md")


CHECKS = {
    "crowded": crowded,
    "badly-named": badly_named,
    "questions": questions,
    "without-first-line": without_first_line,
    "tests-imported": tests_imported,
    "knowing-json": knowing_json,
    "long-readme": long_readme,
    "over-budget": over_budget,
    "grown": grown,
    "missing-paths": missing_paths,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    words = parser.parse_args()
    if words.measure:
        return measure()
    found = [fault for name in words.only for fault in CHECKS[name]()]
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
