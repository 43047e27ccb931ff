"""Options of `run` that are made from the fields of an event file: see `Setting`."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints

import click
from msgspec.inspect import (
    BoolType,
    FloatType,
    IntType,
    LiteralType,
    NoneType,
    StructType,
    TupleType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from tournaments.cli.arguments.completion import complete_entrants, complete_rules
from tournaments.cli.arguments.options import SectionOption, WholeNumber
from tournaments.formats.registry import FORMATS
from tournaments.plan.event import Setting, WrittenEvent

COMPLETED: Mapping[str, Callable[..., Any]] = {
    "rules": complete_rules,
    "challenger": complete_entrants,
}


class FieldOption(SectionOption):
    """An option that writes a field of the event file."""

    def __init__(self, setting: Setting, path: tuple[str, ...], kind: Type) -> None:
        """Make the option for a setting at this path, whose values have this type."""
        name = setting.name or path[0]
        super().__init__(
            [f"--{name.replace('_', '-')}", name],
            section=setting.section,
            rare=not setting.usual,
            help=setting.help,
            metavar=setting.metavar,
            shell_complete=COMPLETED.get(name),
            **({"is_flag": True} if setting.flag else _keywords(kind)),
        )
        self.path, self.flag = path, setting.flag


@cache
def event_options() -> tuple[FieldOption, ...]:
    """Return the options in the order of the fields."""
    event, hints = type_info(WrittenEvent), get_type_hints(WrittenEvent, include_extras=True)
    return tuple(
        FieldOption(one, path := (name, *one.below), next(_kinds(event, path)))
        for name, hint in hints.items()
        for one in getattr(hint, "__metadata__", ())
        if isinstance(one, Setting)
    )


def _kinds(kind: Type, path: tuple[str, ...]) -> Iterator[Type]:
    """Yield the types that a value at this path below a type may have."""
    match kind:
        case UnionType():
            for one in kind.types:
                yield from () if isinstance(one, NoneType) else _kinds(one, path)
        case StructType() if path and path[0] == kind.tag_field:
            yield LiteralType(tuple(FORMATS))
        case StructType() if path:
            for field in kind.fields:
                if field.encode_name == path[0]:
                    yield from _kinds(field.type, path[1:])
        case _ if not path:
            yield kind


def _keywords(kind: Type) -> dict[str, Any]:
    """Return the keywords of an option whose values have this type."""
    match kind:
        case IntType():
            return {"type": WholeNumber(kind.ge, kind.le)}
        case FloatType():
            return {"type": float}
        case LiteralType():
            return {"type": click.Choice([f"{value}" for value in kind.values])}
        case BoolType():
            return {"is_flag": True}
        case VarTupleType():
            return {"multiple": True}
        case TupleType():
            return {"nargs": len(kind.item_types)}
    return {}


def take_event_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the event from these values; return the given as a partial file."""
    found: dict[str, Any] = {}
    for option in event_options():
        value = values.pop(option.name or "")
        if value is not None and value is not False and value != ():
            *above, last = option.path
            table = found
            for name in above:
                table = table.setdefault(name, {})
            table[last] = option.flag or value
    return found
