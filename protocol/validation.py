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

SHOWN = 60
"""The most characters of a wrong value that an error shows."""
_AT = re.compile(r"(?P<text>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def convert_or_explain(said: object, kind: Any, at: str = "") -> Any:
    """Convert what a user wrote at this path to a value of a type.

    Raises UserError with the path as TOML writes it: `bots[0].run`.
    """
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        # If no type explains the mistake, a struct's own check found it and its text says so.
        found = next(_mistakes(type_info(kind), said, at), None)
        raise UserError(found or _placed(f"{error}", at)) from None


def _placed(text: str, at: str) -> str:
    found = _AT.fullmatch(text)
    text, path = (found["text"], _join(at, found["path"])) if found else (text, at)
    return f"{path}: {text}." if path else f"{text}."


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at and name else at or name


def _key(at: str, name: str) -> str:
    """Return the path of a name in a table; an unusual name is quoted, as in TOML."""
    return _join(at, name if _BARE.fullmatch(name) else _shown(name))


def _mistakes(kind: Type, said: Any, at: str) -> Iterator[str]:
    """Yield the mistakes in a value, in the order in which they stand."""
    match kind:
        case UnionType(types=types):
            yield from _in_union([one for one in types if not isinstance(one, NoneType)], said, at)
        case StructType() if isinstance(said, Mapping):
            yield from _in_table(kind, said, at)
        case DictType() if isinstance(said, Mapping):
            for key, value in said.items():
                yield from _mistakes(kind.key_type, key, f"a name in {at}" if at else "a name")
                yield from _mistakes(kind.value_type, value, _key(at, key))
        case VarTupleType() | TupleType() if _is_list(said):
            yield from _in_list(kind, said, at)
        case LiteralType(values=values):
            if not any(type(said) is type(one) and said == one for one in values):
                yield f"{unknown_name(f'value of {at}', f'{said}'[:SHOWN], map(str, values))}"
        case _:
            if not _fits(kind, said):
                yield f"{at} must be {_wanted(kind, at, said)}, not {_shown(said)}."


def _in_union(kinds: Sequence[Type], said: Any, at: str) -> Iterator[str]:
    """Yield the mistakes by the kind that the user meant: they say more than a list of all."""
    tags = {f"{one.tag}": one for one in kinds if isinstance(one, StructType) and one.tag}
    if tags and isinstance(said, Mapping):
        yield from _in_tagged(tags, said, at)
        return
    alike = [one for one in kinds if _like(one, said)]
    # A word that is near none of those that are possible was not meant for one of them.
    is_word = len(kinds) > 1 and isinstance(said, str) and not _is_near(said, alike)
    if alike and not is_word:
        yield from _mistakes(alike[0], said, at)
    else:
        # One form represents all: the one that a bare word names, or any.
        named = [tags.get(f"{said}") or next(iter(tags.values()))] if tags else kinds
        wanted = dict.fromkeys(_wanted(one, at, said) for one in named)
        yield f"{at} must be {' or '.join(wanted)}, not {_shown(said)}."


def _is_near(word: str, kinds: Sequence[Type]) -> bool:
    """Tell whether a word is like one of the words that these types list, or they list none."""
    lists = [one.values for one in kinds if isinstance(one, LiteralType)]
    return not lists or any(get_close_matches(word, map(str, words)) for words in lists)


def _in_tagged(tags: Mapping[str, StructType], said: Mapping[str, Any], at: str) -> Iterator[str]:
    field = next(iter(tags.values())).tag_field or ""
    if field not in said:
        yield f"{_join(at, field)} is missing: {suggestion('', tags)}"
    elif (tag := f"{said[field]}") not in tags:
        yield f"{unknown_name(f'value of {_join(at, field)}', tag[:SHOWN], tags)}"
    else:
        yield from _in_table(tags[tag], said, at)


def _in_table(kind: StructType, said: Mapping[str, Any], at: str) -> Iterator[str]:
    fields: dict[str, Field] = {one.encode_name: one for one in kind.fields}
    known = [*([kind.tag_field] if kind.tag_field else []), *fields]
    for name, value in said.items():
        if name not in known:
            yield f"Unknown field {_key(at, name)}: {suggestion(name, known)}"
        elif name in fields:
            yield from _mistakes(fields[name].type, value, _join(at, name))
    for name, field in fields.items():
        if field.required and name not in said:
            yield f"{_join(at, name)} is missing."
    try:
        msgspec.convert(said, kind.cls)
    except msgspec.ValidationError as error:
        # The struct's own check found it; in a list or a table only this knows the place.
        yield _placed(f"{error}", at)


def _in_list(kind: VarTupleType | TupleType, said: Sequence[Any], at: str) -> Iterator[str]:
    if isinstance(kind, TupleType):
        if len(said) != len(kind.item_types):
            yield f"{at} must have {len(kind.item_types)} entries, not {len(said)}."
        pairs = zip(kind.item_types, said, strict=False)
        yield from chain(*(_mistakes(one, it, f"{at}[{n}]") for n, (one, it) in enumerate(pairs)))
        return
    if len(said) < (kind.min_length or 0):
        yield f"{at} must have {kind.min_length} or more entries, not {len(said)}."
    for place, one in enumerate(said):
        yield from _mistakes(kind.item_type, one, f"{at}[{place}]")


def _like(kind: Type, said: object) -> bool:
    """Tell whether the user meant a value of this kind, right or wrong."""
    match kind:
        case StructType() | DictType():
            return isinstance(said, Mapping)
        case VarTupleType() | TupleType():
            return _is_list(said)
        case LiteralType(values=values):
            return type(said) in map(type, values)
        case Metadata(type=plain):
            return _like(plain, said)
        case _:
            # Without its bounds: a number that is too large is still meant as a number.
            return _fits(type(kind)(), said)


def _is_list(said: object) -> bool:
    return isinstance(said, Sequence) and not isinstance(said, str)


def _fits(kind: Type, said: Any) -> bool:
    match kind:
        case Metadata(type=plain):
            return _fits(plain, said)
        case StrType(pattern=pattern):
            return isinstance(said, str) and (pattern is None or bool(re.search(pattern, said)))
        case BoolType():
            return isinstance(said, bool)
        case IntType(ge=least, le=most) | FloatType(ge=least, le=most):
            number = type(said) is int or (isinstance(kind, FloatType) and type(said) is float)
            return number and (least is None or said >= least) and (most is None or said <= most)
        case _:
            return isinstance(kind, AnyType)


def _wanted(kind: Type, at: str, said: object) -> str:
    """Return the words for the value that is wanted; a type's description goes first."""
    match kind:
        case Metadata(type=plain, extra_json_schema=more):
            return (more or {}).get("description") or _wanted(plain, at, said)
        case StrType():
            return "text in quotes"
        case BoolType():
            return "true or false"
        case IntType():
            return f"a whole number{_within(kind)}"
        case FloatType():
            return f"a number{_within(kind)}"
        case LiteralType(values=values):
            return " or ".join(map(_shown, values))
        case VarTupleType(item_type=StrType() | Metadata(type=StrType())) if isinstance(said, str):
            words = ", ".join(map(_shown, said.split()))
            return f"a list of words, as {at.rpartition('.')[2]} = [{words}]"
        case VarTupleType() | TupleType():
            return "a list"
        case StructType(tag_field=str(field), tag=tag):
            return f"a table, as {at.rpartition('.')[2]} = {{ {field} = {_shown(tag)} }}"
        case _:
            return "a table"


def _within(kind: IntType | FloatType) -> str:
    if kind.ge is None:
        return ""
    return f" from {kind.ge} to {kind.le}" if kind.le is not None else f" of {kind.ge} or more"


def _shown(said: object) -> str:
    """Return a value nearly as TOML writes it, and only the beginning of a long one."""
    try:
        # JSON would write inf and nan as null.
        text = f"{said}" if isinstance(said, float) else msgspec.json.encode(said).decode()
    except RecursionError:
        return "a table in too many others"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
