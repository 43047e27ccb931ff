"""Files of TOML that users write: rules, events and lists of bots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from protocol.errors import UserError
from protocol.validation import convert_or_explain

T = TypeVar("T")

LONGEST_FILE = 1 << 22
"""The most bytes of a file: many times what rules, or an event of some thousand bots, take."""


def load_toml(
    path: Path, kind: type[T], in_full: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> T:
    """Read a file as a value of `kind`, after `in_full` has spelled out its short forms.

    Raises UserError with the file and the path inside it.
    """
    said = in_full(parse_toml(path))
    try:
        return cast(T, convert_or_explain(said, kind))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML that a user wrote. Raises UserError, also for a file that is not TOML."""
    try:
        return msgspec.toml.decode(_read_limited(path), type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UserError(f"{path} is not TOML: {error}.") from None


def _read_limited(path: Path) -> bytes:
    """Read a file that a user wrote.

    Raises UserError for a file that cannot be read, or is longer than anybody writes: a name that
    leads to a disk or to /dev/zero must not fill the memory.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_FILE + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > LONGEST_FILE:
        raise UserError(f"{path} is longer than {LONGEST_FILE >> 20} MiB.")
    return content
