"""Validation of what a user wrote in TOML: the first mistake, as one sentence with its path."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any

import msgspec
from msgspec.inspect import (
    AnyType,
    BoolType,
    DictType,
    Field,
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    TupleType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from protocol.errors import UserError, suggestion, unknown_name

MAX_CHARS = 60
"""The most characters of a wrong value that an error shows."""
_ERROR = re.compile(r"(?P<text>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def convert_or_explain(data: object, kind: Any, path: str = "") -> Any:
    """Convert what a user wrote at this path to a value of a type.

    Raises UserError with the path as TOML writes it: `bots[0].run`.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        # If no type explains the mistake, a struct's own check found it and its text says so.
        mistake = next(_mistakes(type_info(kind), data, path), None)
        raise UserError(mistake or _placed(f"{error}", path)) from None


def _placed(text: str, prefix: str) -> str:
    match = _ERROR.fullmatch(text)
    text, path = (match["text"], _join(prefix, match["path"])) if match else (text, prefix)
    return f"{path}: {text}." if path else f"{text}."


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def _key(path: str, name: str) -> str:
    """Return the path of a name in a table; an unusual name is quoted, as in TOML."""
    return _join(path, name if _BARE.fullmatch(name) else _toml_text(name))


def _mistakes(kind: Type, data: Any, path: str) -> Iterator[str]:
    """Yield the mistakes in a value, in the order in which they stand."""
    match kind:
        case UnionType(types=types):
            yield from _in_union([t for t in types if not isinstance(t, NoneType)], data, path)
        case StructType() if isinstance(data, Mapping):
            yield from _mistakes_in_table(kind, data, path)
        case DictType() if isinstance(data, Mapping):
            for key, value in data.items():
                yield from _mistakes(kind.key_type, key, f"a name in {path}" if path else "a name")
                yield from _mistakes(kind.value_type, value, _key(path, key))
        case VarTupleType() | TupleType() if _is_list(data):
            yield from _in_list(kind, data, path)
        case LiteralType(values=values):
            if not any(type(data) is type(value) and data == value for value in values):
                yield f"{unknown_name(f'value of {path}', f'{data}'[:MAX_CHARS], map(str, values))}"
        case _:
            if not _fits(kind, data):
                yield f"{path} must be {_wanted(kind, path, data)}, not {_toml_text(data)}."


def _in_union(kinds: Sequence[Type], data: Any, path: str) -> Iterator[str]:
    """Yield the mistakes by the kind that the user meant: they say more than a list of all."""
    tags = {f"{kind.tag}": kind for kind in kinds if isinstance(kind, StructType) and kind.tag}
    if tags and isinstance(data, Mapping):
        yield from _mistakes_in_tagged(tags, data, path)
        return
    candidates = [kind for kind in kinds if _like(kind, data)]
    # A word that resembles none of the permitted words was not meant as one of them.
    is_word = len(kinds) > 1 and isinstance(data, str) and not _is_near(data, candidates)
    if candidates and not is_word:
        yield from _mistakes(candidates[0], data, path)
    else:
        # One form represents all: the one that a bare word names, or any.
        forms = [tags.get(f"{data}") or next(iter(tags.values()))] if tags else kinds
        wanted = dict.fromkeys(_wanted(kind, path, data) for kind in forms)
        yield f"{path} must be {' or '.join(wanted)}, not {_toml_text(data)}."


def _is_near(word: str, kinds: Sequence[Type]) -> bool:
    """Tell whether a word is like one of the words that these types list, or they list none."""
    lists = [kind.values for kind in kinds if isinstance(kind, LiteralType)]
    return not lists or any(get_close_matches(word, map(str, words)) for words in lists)


def _mistakes_in_tagged(
    tags: Mapping[str, StructType], data: Mapping[str, Any], path: str
) -> Iterator[str]:
    field = next(iter(tags.values())).tag_field or ""
    if field not in data:
        yield f"{_join(path, field)} is missing: {suggestion('', tags)}"
    elif (tag := f"{data[field]}") not in tags:
        yield f"{unknown_name(f'value of {_join(path, field)}', tag[:MAX_CHARS], tags)}"
    else:
        yield from _mistakes_in_table(tags[tag], data, path)


def _mistakes_in_table(kind: StructType, data: Mapping[str, Any], path: str) -> Iterator[str]:
    fields: dict[str, Field] = {field.encode_name: field for field in kind.fields}
    names = [*([kind.tag_field] if kind.tag_field else []), *fields]
    for name, value in data.items():
        if name not in names:
            yield f"Unknown field {_key(path, name)}: {suggestion(name, names)}"
        elif name in fields:
            yield from _mistakes(fields[name].type, value, _join(path, name))
    for name, field in fields.items():
        if field.required and name not in data:
            yield f"{_join(path, name)} is missing."
    try:
        msgspec.convert(data, kind.cls)
    except msgspec.ValidationError as error:
        # The struct's own check found it. Its text lacks the place in a list or table: add that.
        yield _placed(f"{error}", path)


def _in_list(kind: VarTupleType | TupleType, data: Sequence[Any], path: str) -> Iterator[str]:
    if isinstance(kind, TupleType):
        if len(data) != len(kind.item_types):
            yield f"{path} must have {len(kind.item_types)} entries, not {len(data)}."
        pairs = zip(kind.item_types, data, strict=False)
        yield from chain(*(_mistakes(t, item, f"{path}[{n}]") for n, (t, item) in enumerate(pairs)))
        return
    if len(data) < (kind.min_length or 0):
        yield f"{path} must have {kind.min_length} or more entries, not {len(data)}."
    for place, item in enumerate(data):
        yield from _mistakes(kind.item_type, item, f"{path}[{place}]")


def _like(kind: Type, data: object) -> bool:
    """Tell whether the user meant a value of this kind, right or wrong."""
    match kind:
        case StructType() | DictType():
            return isinstance(data, Mapping)
        case VarTupleType() | TupleType():
            return _is_list(data)
        case LiteralType(values=values):
            return type(data) in map(type, values)
        case Metadata(type=plain):
            return _like(plain, data)
        case _:
            # Without its bounds: a number that is too large is still meant as a number.
            return _fits(type(kind)(), data)


def _is_list(data: object) -> bool:
    return isinstance(data, Sequence) and not isinstance(data, str)


def _fits(kind: Type, data: Any) -> bool:
    match kind:
        case Metadata(type=plain):
            return _fits(plain, data)
        case StrType(pattern=pattern):
            return isinstance(data, str) and (pattern is None or bool(re.search(pattern, data)))
        case BoolType():
            return isinstance(data, bool)
        case IntType(ge=least, le=most) | FloatType(ge=least, le=most):
            number = type(data) is int or (isinstance(kind, FloatType) and type(data) is float)
            return number and (least is None or data >= least) and (most is None or data <= most)
        case _:
            return isinstance(kind, AnyType)


def _wanted(kind: Type, path: str, data: object) -> str:
    """Return the words for the value that is wanted; a type's description goes first."""
    match kind:
        case Metadata(type=plain, extra_json_schema=more):
            return (more or {}).get("description") or _wanted(plain, path, data)
        case StrType():
            return "text in quotes"
        case BoolType():
            return "true or false"
        case IntType():
            return f"a whole number{_range_words(kind)}"
        case FloatType():
            return f"a number{_range_words(kind)}"
        case LiteralType(values=values):
            return " or ".join(map(_toml_text, values))
        case VarTupleType(item_type=StrType() | Metadata(type=StrType())) if isinstance(data, str):
            words = ", ".join(map(_toml_text, data.split()))
            return f"a list of words, as {path.rpartition('.')[2]} = [{words}]"
        case VarTupleType() | TupleType():
            return "a list"
        case StructType(tag_field=str(field), tag=tag):
            return f"a table, as {path.rpartition('.')[2]} = {{ {field} = {_toml_text(tag)} }}"
        case _:
            return "a table"


def _range_words(kind: IntType | FloatType) -> str:
    if kind.ge is None:
        return ""
    return f" from {kind.ge} to {kind.le}" if kind.le is not None else f" of {kind.ge} or more"


def _toml_text(data: object) -> str:
    """Return a value nearly as TOML writes it, and only the beginning of a long one."""
    try:
        # JSON would write inf and nan as null.
        text = f"{data}" if isinstance(data, float) else msgspec.json.encode(data).decode()
    except RecursionError:
        return "a table in too many others"
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"
