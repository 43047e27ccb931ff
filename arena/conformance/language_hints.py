"""Advice for the language of a bot, as far as its command reveals the language."""

import re
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.command import Command


class LanguageHints(NamedTuple):
    """A language's way to write a line at once."""

    name: str
    flush: str
    json: str


COMPILED = LanguageHints(
    "a compiled language",
    "C: fflush(stdout); C++: std::cout << ... << std::endl; Rust: io::stdout().flush(); "
    "Go: writer.Flush()",
    "the language's JSON library, or the text of the examples in SPEC.md",
)
LANGUAGES = {
    "python": LanguageHints("Python", "print(..., flush=True)", "json.dumps(...)"),
    "node": LanguageHints(
        "JavaScript", 'process.stdout.write(text + "\\n")', "JSON.stringify(...)"
    ),
    "java": LanguageHints(
        "Java",
        "System.out.flush(), or new PrintWriter(System.out, true) and println",
        "a JSON library, or the text of the examples in SPEC.md",
    ),
    "ruby": LanguageHints("Ruby", "$stdout.sync = true", "JSON.generate(...)"),
    "perl": LanguageHints("Perl", "$| = 1;", "JSON::PP's encode_json"),
    "lua": LanguageHints("Lua", "io.stdout:flush()", "the text of the examples in SPEC.md"),
    "sh": LanguageHints("shell", "printf flushes; a filter after it may not", "printf"),
}
BY_SUFFIX = {
    ".py": "python", ".js": "node", ".mjs": "node", ".ts": "node", ".jar": "java", ".class": "java",
    ".java": "java", ".rb": "ruby", ".pl": "perl", ".lua": "lua", ".sh": "sh",
}  # fmt: skip


def language(command: Command) -> LanguageHints:
    """Return the language of a bot, by its program's name and the suffixes of its files."""
    for part in command.argv[1:]:
        if Path(part).suffix in BY_SUFFIX:
            return LANGUAGES[BY_SUFFIX[Path(part).suffix]]
    program = re.sub(r"[\d.]+$", "", Path(command.argv[0]).name)
    program = {"nodejs": "node", "bash": "sh", "dash": "sh", "deno": "node"}.get(program, program)
    suffix = BY_SUFFIX.get(Path(command.argv[0]).suffix, "")
    return LANGUAGES.get(program) or LANGUAGES.get(suffix) or COMPILED
