"""Commands that list what is there: the bots, the schemas."""

import json
from pathlib import Path

import click

from protocol.errors import unknown_name


@click.command()
def bots() -> None:
    """List the sample bots, and your own in bots.toml.

    And whether this machine can run them.

    \b
    Example:
      boneyard bots
    """
    from tournaments.plan.bot_catalog import all_bots

    for name, (bot, _) in all_bots(Path.cwd()).items():
        state = "" if bot.available else f"  (needs {bot.needs})"
        click.echo(f"{name:<12} {bot.about}{state}")


@click.command()
@click.argument("what", default="protocol")
def schema(what: str) -> None:
    """Print a JSON Schema, for programs.

    WHAT is protocol (every message, both directions), results or rated.

    \b
    Examples:
      boneyard schema > boneyard.schema.json
      boneyard schema results > results.schema.json
    """
    from tournaments.commands.schemas import SCHEMAS

    if what not in SCHEMAS:
        raise unknown_name("schema", what, SCHEMAS)
    click.echo(json.dumps(SCHEMAS[what](), indent=2))
