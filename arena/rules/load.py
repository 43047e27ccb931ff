"""Rulesets as users write them: the name of a game, a TOML file of choices, or CHOICE=VALUE."""

import codecs
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from arena.rules.variants import VARIANTS, choices, derive, find_variant, group_of
from protocol.errors import UserError, unknown_name
from protocol.ruleset import HandSizes, Ruleset
from protocol.validation import convert_or_explain

# Files that a user names, read up to a bound.


def read_user_file(path: Path, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes, without a byte order mark of UTF-8.

    Raises UserError for a file that cannot be read, or is longer than anybody writes: a name that
    leads to a disk or to /dev/zero must not fill the memory. Raises it for UTF-16 too, which
    PowerShell writes.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > most:
        raise UserError(f"{path} is longer than {most >> 20} MiB.")
    return without_mark(content, f"{path}")


def without_mark(content: bytes, path: str) -> bytes:
    """Return a text without a byte order mark of UTF-8. Raises UserError for UTF-16."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path} is written in UTF-16. Save it as UTF-8.")
    return content.removeprefix(codecs.BOM_UTF8)


# Files of TOML that users write: rules, events and lists of bots.


T = TypeVar("T")

MAX_TOML_BYTES = 1 << 22
"""The most bytes of a file: many times what rules, or an event of some thousand bots, take."""
REPEAT = re.compile(r"Cannot (overwrite|declare|mutate)|Duplicate inline")
"""The beginnings of the parser's words for a key or a table that stands twice."""
LINE_PATTERN = re.compile(r"at line (\d+)")


def load_toml(
    path: Path, kind: type[T], in_full: Callable[[dict[str, Any]], dict[str, Any]] = dict
) -> T:
    """Read a file as a value of `kind`, after `in_full` has spelled out its short forms.

    Raises UserError with the file and the path inside it.
    """
    table = parse_toml(path)
    try:
        return cast(T, convert_or_explain(in_full(table), kind))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML that a user wrote. Raises UserError, also for a file that is not TOML."""
    content = read_user_file(path, MAX_TOML_BYTES)
    try:
        return msgspec.toml.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UserError(f"{path}{_explain_error(f'{error}', content)}.") from None


def _explain_error(error: str, content: bytes) -> str:
    """Return the end of a sentence; the parser has no plain word for what a file gives twice."""
    if not REPEAT.match(error):
        return f" is not TOML: {error}"
    place, lines = LINE_PATTERN.search(error), content.decode(errors="replace").split("\n")
    number = int(place[1]) if place else len(lines)
    line = lines[number - 1].strip()[:80]
    return f", line {number}, gives again what the file has already: {line}"


# --- rulesets ---


RULES_SUFFIX = ".toml"
"""The ending of a file of rules; any other word is the name of a game."""
BESIDES = ("base", "name")
"""The fields that a file of rules may have besides choices."""
MAX_RULES_NAME_LENGTH = 64
SEATS = dict(zip("2345678", HandSizes.__struct_fields__, strict=True))
"""Our names for the numbers of a table by seats: a user may write 2 or two."""
TRUTH_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class _InFileError(UserError):
    """A mistake in a file that the text names; a file that has it as base is not at fault."""


def load_ruleset(
    rules: str | Mapping[str, Any], folder: Path, overrides: Iterable[str] = (), *, place: str = ""
) -> Ruleset:
    """Load the ruleset that a user names, or spells out in a table that differs from its `base`.

    A name is that of a game, or of a file of rules in the folder. `overrides`: more choices, each
    written CHOICE=VALUE. `place`: the place of the rules in a user's file, for errors in them.
    Raises UserError.
    """
    try:
        if isinstance(rules, str):
            ruleset = _load_named(rules, folder)
        else:
            ruleset = _spelled(rules, folder, None, ())
    except UserError as error:
        raise UserError(f"{place}: {error}" if place else f"{error}") from None
    return with_overrides(ruleset, overrides)


def _load_named(text: str, folder: Path) -> Ruleset:
    """Load a game of the list, or a file of rules in the folder."""
    if text in VARIANTS:
        return find_variant(text)
    if text.endswith(RULES_SUFFIX):
        return _read(folder / text, ())
    file_names = (path.name for path in sorted(folder.glob(f"*{RULES_SUFFIX}")))
    raise unknown_name("game", text, (*VARIANTS, *file_names))


def with_overrides(rules: Ruleset, words: Iterable[str]) -> Ruleset:
    """Return the ruleset with some of its choices changed, each written CHOICE=VALUE.

    Raises UserError.
    """
    differs = dict(map(_choice, words))
    return derive(rules, rules.name, differs) if differs else rules


def find_overrides(rules: Ruleset) -> tuple[str, ...] | None:
    """Return the words CHOICE=VALUE that turn the named game of this name into this ruleset.

    None if no words do: it has a name of its own, or a value that only a file can hold.
    """
    if rules.name not in VARIANTS:
        return None
    base = find_variant(rules.name)
    owners = choices()
    before, after = msgspec.to_builtins(base), msgspec.to_builtins(rules)
    words = tuple(
        f"{choice}={_spell_value(after[group][choice])}"
        for choice, group in owners.items()
        if after[group][choice] != before[group][choice]
    )
    try:
        return words if with_overrides(base, words) == rules else None
    except UserError:
        return None


def ruleset_title(name: str, words: Sequence[str]) -> str:
    """Return what a game with such changes is called."""
    return f"{name}, with {', '.join(words)}" if words else name


def rules_command(name: str, words: Sequence[str]) -> str:
    """Return the command that explains a named game with such changes."""
    return " ".join(("boneyard rules", name, *(f"--set {word}" for word in words)))


def _spell_value(value: Any) -> str:
    """Spell a value so that `_value` reads it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case dict():
            digits = {field: digit for digit, field in SEATS.items()}
            return ",".join(
                f"{digits.get(field, field)}:{number}"
                for field, number in value.items()
                if number is not None
            )
        case list() | tuple():
            return ",".join(map(_spell_value, value))
        case _:
            return str(value)


def _read(path: Path, dependents: tuple[Path, ...]) -> Ruleset:
    """Load the ruleset in a file; `dependents` are the files that it is the base of."""
    try:
        table = parse_toml(path)
    except UserError as error:
        raise _InFileError(str(error)) from None
    name: str | None = path.stem
    if "bots" in table:  # An event file: the rules of the event are meant.
        rules = table.get("rules", "draw")
        table, name = rules if isinstance(rules, dict) else {"base": rules}, None
    real = path.resolve()
    if real in dependents:
        raise _InFileError(f"{path} is its own base. Set base to a game, such as draw.")
    try:
        return _spelled(table, path.parent, name, (*dependents, real))
    except _InFileError:
        raise
    except UserError as error:
        raise _InFileError(f"{path}: {error}") from None


def _spelled(
    table: Mapping[str, Any], folder: Path, name: str | None, dependents: tuple[Path, ...]
) -> Ruleset:
    """Apply a table's choices to its base; without a name of its own it keeps the base's."""
    for choice in table:
        _ = choice in BESIDES or group_of(choice, BESIDES)
    base = table.get("base", "draw")
    if isinstance(base, str) and base.endswith(RULES_SUFFIX):
        rules = _read(folder / base, dependents)
    else:
        rules = _load_named(str(base), folder)
    new_name = _name(table.get("name", name)) if name or "name" in table else rules.name
    differs = {choice: _plain(value) for choice, value in table.items() if choice not in BESIDES}
    return derive(rules, new_name, differs)


def _name(name: object) -> str:
    """Return a ruleset's own name; under a known name the reports would mislead.

    Raises UserError.
    """
    if (
        not isinstance(name, str)
        or not name.isprintable()
        or not 0 < len(name) <= MAX_RULES_NAME_LENGTH
    ):
        raise UserError(
            f"name must be a line of 1 to {MAX_RULES_NAME_LENGTH} characters, not {name!r}."
        )
    if name in VARIANTS:
        raise UserError(f"{name} is the name of a built-in game. Give yours another name (name).")
    return name


def _choice(word: str) -> tuple[str, Any]:
    """Parse CHOICE=VALUE; see `_value`. Raises UserError."""
    choice, equals, value = word.partition("=")
    if not equals:
        raise UserError(f"--set takes CHOICE=VALUE, not {word!r}.")
    choice = choice.strip()
    if choice in BESIDES:
        raise UserError(f"--set cannot change {choice}; set it in the rules file.")
    group_of(choice, BESIDES)
    return choice, _value(choice, value.strip())


def _value(choice: str, text: str) -> Any:
    """Parse a value: a number, yes, no, a word, a list (100,75), a table by seats (2:7)."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if ":" in text:
        pairs = (part.partition(":") for part in parts)
        sizes = {seats.strip(): value.strip() for seats, _, value in pairs}
        return _plain({seats: None if v == "none" else _scalar(v) for seats, v in sizes.items()})
    if "," in text or _is_list(choice):
        return [_scalar(part) for part in parts]
    return _scalar(text)


def _is_list(choice: str) -> bool:
    defaults = Ruleset(name="")
    return isinstance(getattr(getattr(defaults, group_of(choice)), choice), tuple)


def _scalar(text: str) -> Any:
    if text.removeprefix("-").isdecimal():
        return int(text)
    return TRUTH_WORDS.get(text, text)


def _plain(value: Any) -> Any:
    """Return the value with our names in a table by seats, which may say 2 or two."""
    if isinstance(value, dict):
        return {SEATS.get(seats, seats): number for seats, number in value.items()}
    return value
