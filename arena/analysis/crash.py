"""The crash that ended a bot, read from the last lines of its stderr."""

import re
from pathlib import PurePath

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
PYTHON = re.compile(r'^File "(?P<file>[^"]+)", line (?P<line>\d+)')
JAVASCRIPT = re.compile(r"^at .*?\(?(?:file://)?(?P<file>/[^\s():]+):(?P<line>\d+):\d+\)?$")
LIBRARY = re.compile(r"/lib/python|/site-packages/|^<|/node_modules/")


def stderr_lines(stderr: str) -> list[str]:
    """Return the lines of a stderr, whose newlines a log writes as escapes; no blank ones."""
    lines = stderr.replace("\\n", "\n").splitlines()
    return [line.rstrip() for line in lines if line.strip()]


def crash_line(stderr: str) -> str:
    """Return the line that names the crash; empty if there is none."""
    lines = map(str.strip, reversed(stderr_lines(stderr)))
    return next((line for line in lines if any(known.match(line) for known in CRASHES)), "")


def name_crash(stderr: str) -> str:
    """Return the crash and its place, as `NameError: … (bot.py, line 9)`; else the last line."""
    lines = [line.strip() for line in stderr_lines(stderr)]
    crash = crash_line(stderr) or "".join(lines[-1:])
    # Python names the innermost call last, JavaScript first.
    for pattern, calls in ((PYTHON, reversed(lines)), (JAVASCRIPT, iter(lines))):
        for place in filter(None, map(pattern.match, calls)):
            if not LIBRARY.search(place["file"]):
                return f"{crash} ({PurePath(place['file']).name}, line {place['line']})"
    return crash
