"""Commands about one game: rules, schema, replay. Thin: each asks a room for the answer."""

import json
from typing import Any

import click
import msgspec

from arena.variants import VARIANTS, named
from protocol.codec import schema as protocol_schema


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="The ruleset as JSON, for programs.")
def rules(name: str | None, as_json: bool) -> None:
    """List the named games, or show the choices of one.

    \b
    Examples:
      boneyard rules
      boneyard rules dutch
      boneyard rules dutch --json
    """
    if name is None:
        _list_rules(as_json)
        return
    ruleset = named(name)
    if as_json:
        _print_json(msgspec.to_builtins(ruleset))
        return
    variant = VARIANTS[name]
    click.echo(f"{name}: {variant.about}")
    click.echo(f"Sources: {', '.join(variant.sources)}\n")
    base = f" as in {variant.base}, but" if variant.base else ""
    click.echo(f"Choices{base}:")
    plain: dict[str, Any] = msgspec.to_builtins(ruleset)
    for group, choices in plain.items():
        if isinstance(choices, dict):
            for choice, value in choices.items():
                mark = "*" if choice in variant.differs else " "
                click.echo(f" {mark} {group + '.' + choice:<24} {_shown(value)}")


def _list_rules(as_json: bool) -> None:
    if as_json:
        _print_json({name: msgspec.to_builtins(named(name)) for name in VARIANTS})
        return
    for name, variant in VARIANTS.items():
        click.echo(f"{name:<14} {variant.about}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{seats}: {number}" for seats, number in value.items())
    return {"True": "yes", "False": "no"}.get(str(value), str(value))


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2))


@click.command()
def schema() -> None:
    """Print the JSON Schema of every message, both directions.

    \b
    Example:
      boneyard schema > boneyard.schema.json
    """
    _print_json(protocol_schema())
