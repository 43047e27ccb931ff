"""`boneyard rules`: the named games, and any ruleset in plain English."""

import click

from tournaments.cli.arguments.completion import complete_rules
from tournaments.cli.arguments.options import CHOICES


@click.command()
@click.argument("game", required=False, shell_complete=complete_rules)
@CHOICES
@click.option("--sources", is_flag=True, help="Cite the clauses of the rule texts.")
@click.option("--json", "as_json", is_flag=True, help="Print the choices as JSON.")
def rules(game: str | None, choices: tuple[str, ...], sources: bool, as_json: bool) -> None:
    """List the named games, or explain one in plain English.

    GAME is a name from the list, or your own rules file: a `base` and the choices that differ from
    it. A choice takes a number, yes or no, a word, a list
    (100,75) or a table by players (2:7,3:7,4:6).

    \b
    Examples:
      boneyard rules
      boneyard rules dutch
      boneyard rules dutch --set draw_limit=3 --set hand=2:7,3:7,4:5
      boneyard rules my.toml
      boneyard rules dutch --sources
      boneyard rules dutch --json
    """
    from tournaments.commands.rules import print_rules

    print_rules(game, choices, sources, as_json)
