"""The house's guard: measures the tree and fails where it no longer shows its plan.

python -m tests.tools.house             # fails with one line for each fault
python -m tests.tools.house --measure   # prints the figures
"""

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.tools.mutants import read_mutants

ROOT = Path(__file__).parents[2]
PACKAGES = ("protocol", "arena", "tournaments")
MOST_README_LINES = 115
MOST_WORDS = 30_000
"""Words of all pages that a person may read."""


class Room(NamedTuple):
    """A part of the tree with a budget of lines of Python."""

    budget: int
    """A room over it fails; whoever raises it says in the commit what the room gained."""
    paths: tuple[str, ...]
    """Its folders and files; a file belongs to the room with the longest path that holds it."""


def _room(budget: int, *paths: str) -> Room:
    return Room(budget, paths)


ROOMS = {
    "protocol": _room(2215, "protocol"),
    "files, program, machine, processes": _room(878, "arena"),
    "engine": _room(1973, "arena/engine"),
    "match": _room(2841, "arena/match"),
    "logs": _room(1068, "arena/logs"),
    "rules": _room(1627, "arena/rules"),
    "sandbox": _room(3178, "arena/sandbox"),
    "sealed": _room(1226, "arena/sealed"),
    "conformance": _room(2406, "arena/conformance"),
    "analysis": _room(2608, "arena/analysis"),
    "valuation": _room(2837, "arena/valuation"),
    "training and exam": _room(1848, "arena/training", "arena/exam"),
    "ui and document": _room(3118, "arena/ui", "arena/document"),
    "sample bots": _room(1223, "sample_bots"),
    "cli and commands": _room(5994, "tournaments", "tournaments/cli", "tournaments/commands"),
    "league": _room(5946, "tournaments/league"),
    "verification": _room(953, "tournaments/verification"),
    "site": _room(1686, "tournaments/site"),
    "study": _room(1312, "tournaments/study"),
    "report": _room(3303, "tournaments/report"),
    "play": _room(2772, "tournaments/play"),
    "event": _room(3460, "tournaments/event"),
    "plan": _room(3347, "tournaments/plan"),
    "formats": _room(2807, "tournaments/formats"),
    "rating": _room(2717, "tournaments/rating"),
    "tests": _room(42_507, "tests"),
}
EMPTY = 3
"""Lines up to which a file counts as empty: a package's docstring."""
MOST_LINES = 63_343
"""Lines of Python outside the tests; 52,000 when the house is done."""
MOST_FILES = 175
"""Files with content, outside the tests."""
LEAST_MEDIAN = 240
"""The median of their lines: smaller files scatter what belongs together."""
LONGEST_FILE = 1_000
MOST_DEPTH = 23
"""Modules in the longest chain of imports, late ones included; 23 when the house is done."""
MOST_PRONOUNS = 1
"""Names that our code binds and that are no nouns, in percent."""
MOST_PAIRS = 3
"""Signatures that take an event and its folder side by side: a book is both."""
MOST_SEVERAL_MEANINGS = 19
"""Top-level names that several modules define: one word, one thing."""
LONE_PROGRAMS = frozenset(["host.py", "canary.py", "proxy.py"])
"""Programs that run where they can import nothing of ours, so they repeat some names."""
MOST_RENAMED = 10
"""Modules of ours that are imported under another name; there should be none."""
NO_NOUNS = frozenset(
    """
    one ones another own found said told at by of many much fewer some none every either neither
    these those this that them they it its he she who whom whose which what where when how here
    there then again anew still yet already just only also too so such same alike else ever never
    once twice given made kept shown seen chosen asked taken gone lost known meant written sent
    put got held heard laid listed opened packed walked spoken named called started ended begun
    beginning going coming doing making having being whole apart together alone above below behind
    beyond beside between beneath inside outside within without upon about around along across
    against toward towards ahead back forth away sure unsure likely possible impossible
    """.split()  # noqa: SIM905 - as a list it takes a page
)
"""Pronouns, participles, adverbs, prepositions: no names for a variable, parameter or function."""
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
        "arena/sandbox/canary.py",
        "arena/sealed/host.py",
        # It shows a value of TOML as JSON, which is nearly the same; the codec builds on it.
        "protocol/validation.py",
        # They explain, or write, JSON that is wrong or odd.
        "arena/conformance/diagnose.py",
        "arena/conformance/steps.py",
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


def top_names(path: Path) -> Iterator[str]:
    """Yield the public names that a module defines at its top level, constants among them."""
    for node in tree(path).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def several_meanings() -> dict[str, list[str]]:
    """Return the names that several modules define; type variables and our lone programs aside."""
    owners: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for name in {*top_names(path)} if path.name not in LONE_PROGRAMS else ():
            if len(name) > 1 and not name.startswith("_"):
                owners[name].append(dotted(path))
    return {name: names for name, names in sorted(owners.items()) if len(names) > 1}


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
    """Files without a docstring that says what may live there."""
    paths = [*modules(), *sorted((ROOT / "tests").rglob("*.py"))]
    return [
        f"{path.relative_to(ROOT)}: no docstring. Say in the first line what may live there."
        for path in paths
        if not ast.get_docstring(tree(path))
    ]


def tests_imported() -> list[str]:
    """Return the imports of one test module by another."""
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
    targets = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            targets |= inner & names or {node.module}
    return (targets & names) - {dotted(path)}


@cache
def imports_of_modules() -> dict[str, set[str]]:
    """Return for each module of ours those that it imports, when it is loaded or later."""
    names = frozenset(dotted(path) for path in modules())
    return {dotted(path): imported(path, names) for path in modules()}


def import_depth() -> tuple[int, list[str]]:
    """Length of the longest chain of imports, and the chain itself."""
    imports, open_now = imports_of_modules(), set[str]()

    @cache
    def chain(name: str) -> tuple[str, ...]:
        if name in open_now:
            return ()
        open_now.add(name)
        longest = max((chain(module) for module in sorted(imports[name])), key=len, default=())
        open_now.remove(name)
        return (name, *longest)

    longest = max((chain(name) for name in sorted(imports)), key=len)
    return len(longest), list(longest)


def circles() -> list[str]:
    """Return modules that import each other, directly or around a corner, when loaded or later."""
    imports = imports_of_modules()
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        return [f"imports in a circle: {' > '.join(error.args[1])}"]
    return []


def bound_names(path: Path) -> Iterator[str]:
    """Yield each name that a file binds: variables, parameters, functions, classes."""
    for node in nodes(path):
        match node:
            case ast.Name(ctx=ast.Store(), id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name


def pronouns(paths: Iterable[Path]) -> tuple[float, Counter[str]]:
    """Return the share of bound names that are no nouns, in percent, and how often each is."""
    names = Counter(
        name.strip("_").lower()
        for path in paths
        for name in bound_names(path)
        if name not in ("self", "cls", "_")
    )
    bad = Counter({name: count for name, count in names.items() if name in NO_NOUNS})
    return 100 * bad.total() / names.total(), bad


def event_pairs() -> list[str]:
    """Functions that take an event and its folder side by side: they should take a book."""
    pairs = []
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                kinds = {ast.unparse(arg.annotation) for arg in arguments if arg.annotation}
                if {"Event", "Folder"} <= kinds:
                    pairs.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}")
    return pairs


@cache
def file_lines() -> dict[str, int]:
    """Return the lines of each file with content."""
    lines = {f"{path.relative_to(ROOT)}": path.read_bytes().count(b"\n") for path in modules()}
    return {name: count for name, count in lines.items() if count > EMPTY}


def pages() -> list[Path]:
    """Return every page of ours; what a demonstration leaves in the checkout is none of them."""
    folders = (ROOT / name for name in (*PACKAGES, "sample_bots", "tests"))
    inner = (page for folder in folders for page in folder.rglob("*.md"))
    return sorted([*ROOT.glob("*.md"), *inner])


def words_of_pages() -> int:
    """Count the words of all pages."""
    return sum(len(page.read_text().split()) for page in pages())


def room_of(path: Path) -> str | None:
    """Return the room of a file; None for those of the tree's top."""
    name = f"{path.relative_to(ROOT)}"
    holding = [
        (len(place), room)
        for room, (_, paths) in ROOMS.items()
        for place in paths
        if name == place or name.startswith(f"{place}/")
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
        if lines > (most := ROOMS[name].budget)
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


def figures() -> dict[str, tuple[float, float]]:
    """Return figures of the whole tree by what they count, each with the most that it may be."""
    lines = file_lines()
    rooms = lines_by_room()
    return {
        "lines of Python outside the tests": (sum(rooms.values()) - rooms["tests"], MOST_LINES),
        "files with content": (len(lines), MOST_FILES),
        "lines of the longest file": (max(lines.values()), LONGEST_FILE),
        "lines missing to the median of files": (
            max(0, LEAST_MEDIAN - median(lines.values())),
            0,
        ),
        "modules in the longest chain of imports": (import_depth()[0], MOST_DEPTH),
        "percent of names that are no nouns": (round(pronouns(modules())[0], 2), MOST_PRONOUNS),
        "percent of names in the tests that are no nouns": (
            round(pronouns((ROOT / "tests").rglob("*.py"))[0], 2),
            MOST_PRONOUNS,
        ),
        "names with several meanings": (len(several_meanings()), MOST_SEVERAL_MEANINGS),
        "signatures with an event and its folder": (len(event_pairs()), MOST_PAIRS),
        "modules imported under another name": (len(renamed()), MOST_RENAMED),
        "words of pages": (words_of_pages(), MOST_WORDS),
    }


def grown() -> list[str]:
    """Figures that are larger than they may be."""
    return [
        f"{count:,} {figure}, at most {most:,}."
        for figure, (count, most) in figures().items()
        if count > most
    ]


def missing_paths() -> list[str]:
    """Paths of ours that a page names, of a test perhaps below `tests`, and that do not exist."""
    folders = "|".join((*PACKAGES, "sample_bots", "tests"))
    mention = re.compile(rf"`((?:{folders})/[\w./-]+)")
    return [
        f"{page.relative_to(ROOT)}: {path} does not exist."
        for page in pages()
        for path in sorted(set(mention.findall(page.read_text())))
        if not (ROOT / path).exists() and not (ROOT / "tests" / path).exists()
    ]


def stale_mutants() -> list[str]:
    """Mutants whose text the engine does not have once: `mutants` could not try them."""
    return [
        f"mutants.toml: {mutant.module}.py has the text of {mutant.rule!r} {count} times, not once."
        for mutant in read_mutants()
        if (count := mutant.path(ROOT).read_text().count(mutant.old)) != 1
    ]


def measure() -> None:
    """Print the figures of the tree."""
    for room, count in lines_by_room().items():
        print(f"{count:9,} lines, at most {ROOMS[room].budget:7,}: {room}")
    for label, (figure, most) in figures().items():
        print(f"{figure:9,} {label}, at most {most:,}")
    print("longest chain of imports:", " > ".join(import_depth()[1]))
    print(
        "no nouns:",
        ", ".join(f"{name} {count}" for name, count in pronouns(modules())[1].most_common(20)),
    )
    print("several meanings:", ", ".join(several_meanings()))
    print(*event_pairs(), sep="\n")


CHECKS = {
    "badly-named": badly_named,
    "questions": questions,
    "without-first-line": without_first_line,
    "tests-imported": tests_imported,
    "knowing-json": knowing_json,
    "long-readme": long_readme,
    "over-budget": over_budget,
    "grown": grown,
    "circles": circles,
    "missing-paths": missing_paths,
    "stale-mutants": stale_mutants,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    words = parser.parse_args()
    if words.measure:
        return measure()
    faults = [fault for name in words.only for fault in CHECKS[name]()]
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
