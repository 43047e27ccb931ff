"""Files of TOML that users write: rules, events and lists of bots."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from arena.rules.user_file import read_user_file
from protocol.errors import UserError
from protocol.validation import convert_or_explain

T = TypeVar("T")

LONGEST_FILE = 1 << 22
"""The most bytes of a file: many times what rules, or an event of some thousand bots, take."""
REPEAT = re.compile(r"Cannot (overwrite|declare|mutate)|Duplicate inline")
"""The beginnings of the parser's words for a key or a table that stands twice."""
PLACE = re.compile(r"at line (\d+)")


def load_toml(
    path: Path, kind: type[T], in_full: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> T:
    """Read a file as a value of `kind`, after `in_full` has spelled out its short forms.

    Raises UserError with the file and the path inside it.
    """
    said = parse_toml(path)
    try:
        return cast(T, convert_or_explain(in_full(said), kind))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML that a user wrote. Raises UserError, also for a file that is not TOML."""
    content = read_user_file(path, LONGEST_FILE)
    try:
        return msgspec.toml.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UserError(f"{path}{_explain_error(f'{error}', content)}.") from None


def _explain_error(error: str, content: bytes) -> str:
    """Return the end of a sentence; the parser has no plain word for what a file gives twice."""
    if not REPEAT.match(error):
        return f" is not TOML: {error}"
    place, lines = PLACE.search(error), content.decode(errors="replace").split("\n")
    number = int(place[1]) if place else len(lines)
    line = lines[number - 1].strip()[:80]
    return f", line {number}, gives again what the file has already: {line}"
