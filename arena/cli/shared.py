"""What several commands print."""

import json

import click


def print_json(value: object) -> None:
    """Print a value for programs."""
    click.echo(json.dumps(value, indent=2))
