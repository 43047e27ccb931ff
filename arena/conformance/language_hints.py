"""What helps in the language that a bot is written in, as far as its command tells it."""

import re
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.command import Command


class Language(NamedTuple):
    """How a language writes a line at once."""

    name: str
    """What it is called."""
    flush: str
    """How output is flushed."""
    json: str
    """How an answer is made."""


COMPILED = Language(
    "a compiled language",
    "C: fflush(stdout); C++: std::cout << ... << std::endl; Rust: io::stdout().flush(); "
    "Go: writer.Flush()",
    "the language's JSON library, or the text of the examples in SPEC.md",
)
LANGUAGES = {
    "python": Language("Python", "print(..., flush=True)", "json.dumps(...)"),
    "node": Language("JavaScript", 'process.stdout.write(text + "\\n")', "JSON.stringify(...)"),
    "java": Language(
        "Java",
        "System.out.flush(), or new PrintWriter(System.out, true) and println",
        "a JSON library, or the text of the examples in SPEC.md",
    ),
    "ruby": Language("Ruby", "$stdout.sync = true", "JSON.generate(...)"),
    "perl": Language("Perl", "$| = 1;", "JSON::PP's encode_json"),
    "lua": Language("Lua", "io.stdout:flush()", "the text of the examples in SPEC.md"),
    "sh": Language("shell", "printf flushes by itself; a filter behind it may not", "printf"),
}
BY_SUFFIX = {
    ".py": "python",
    ".js": "node",
    ".mjs": "node",
    ".ts": "node",
    ".jar": "java",
    ".class": "java",
    ".java": "java",
    ".rb": "ruby",
    ".pl": "perl",
    ".lua": "lua",
    ".sh": "sh",
}
CRASHES = (
    re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?$"),
    re.compile(r"^Exception in thread .*$"),
    re.compile(r"^thread '.*' .*panicked at .*$"),
    re.compile(r"^panic: .*$"),
    re.compile(r"^.*(?:command not found|: not found|cannot open shared object file).*$"),
    re.compile(r"^terminate called after throwing.*$"),
    re.compile(r"^.*(?:can't open file '|: No such file or directory$).*$"),
    re.compile(r"^.+ at \S+ line \d+(?:, <\w*> (?:line|chunk) \d+)?\.$"),
    re.compile(r"^\S*lua\S*: .+:\d+: .*$"),
)
"""What a crash looks like on stderr, in the languages that say so."""


def language(command: Command) -> Language:
    """The language of a bot, by its program's name and the suffixes of the files it names."""
    for part in command.argv[1:]:
        if Path(part).suffix in BY_SUFFIX:
            return LANGUAGES[BY_SUFFIX[Path(part).suffix]]
    program = re.sub(r"[\d.]+$", "", Path(command.argv[0]).name)
    program = {"nodejs": "node", "bash": "sh", "dash": "sh", "deno": "node"}.get(program, program)
    suffix = BY_SUFFIX.get(Path(command.argv[0]).suffix, "")
    return LANGUAGES.get(program) or LANGUAGES.get(suffix) or COMPILED


def crash(stderr: str) -> str:
    """The line of a stderr that names the crash; empty when none does."""
    found = [line.strip() for line in stderr.splitlines() if _names_it(line.strip())]
    return found[-1] if found else ""


def _names_it(line: str) -> bool:
    return any(known.match(line) for known in CRASHES)
