"""The command `rules`: lists the named games, explains any ruleset in plain English."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.rules.explain import explain_ruleset
from arena.rules.load import load_ruleset, ruleset_title
from arena.rules.variants import VARIANTS, Variant, find_variant
from arena.ui.console import plain_console, print_json, print_line
from protocol.errors import UserError
from protocol.ruleset import Ruleset, playable_seat_counts
from tournaments.cli.options import CHOICES, command, complete_rules, flag

MAX_RULES_WIDTH = 100


@command()
@click.argument("game", required=False, shell_complete=complete_rules)
@CHOICES
@flag("--sources", "Cite the clauses of the rule texts.")
@flag("--json", "Print the choices as JSON.", "as_json")
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
    if game is None:
        if choices:
            raise UserError("--set changes one game: name it, as in `boneyard rules dutch --set`.")
        _list_rules(sources, as_json)
        return
    ruleset = load_ruleset(game, Path.cwd(), choices)
    if as_json:
        print_json(ruleset, indent=2)
        return
    console = plain_console()
    for line in _explained(ruleset, _title(game, ruleset, choices), sources, console.width):
        console.print(line, soft_wrap=True)


def _title(game: str, ruleset: Ruleset, choices: tuple[str, ...]) -> str:
    """Return the game's line in the list, or its changes if there are any."""
    if choices:
        title, partners = ruleset_title(ruleset.name, choices), f"{ruleset.name}-partners"
        has_variant = ruleset.deal.partners and partners in VARIANTS
        return f"{title} (the named game for partners is {partners})" if has_variant else title
    return f"{game}: {VARIANTS[game].about}" if game in VARIANTS else f"{ruleset.name} ({game})"


def _explained(ruleset: Ruleset, title: str, sources: bool, width: int) -> Iterator[Text]:
    """Yield the explanation in lines that fit the width; each sentence begins a new line."""
    yield from _wrapped(Text(title, "bold"), width, "")
    for heading, sentences in explain_ruleset(ruleset).items():
        yield Text()
        yield Text(heading, "bold")
        for sentence in sentences:
            text = Text(sentence.text)
            if sources and sentence.sources:
                text.append(f" [{', '.join(sentence.sources)}]", "dim")
            yield from _wrapped(text, width, "  ")


def _wrapped(text: Text, width: int, indent: str) -> Iterator[Text]:
    room = max(20, min(width, MAX_RULES_WIDTH) - len(indent))
    for line in text.wrap(Console(width=room), room):
        line.rstrip()
        yield Text(indent) + line


def _list_rules(sources: bool, as_json: bool) -> None:
    games = [
        (name, variant, playable_seat_counts(find_variant(name)))
        for name, variant in VARIANTS.items()
    ]
    if as_json:
        print_json([_as_json(*game) for game in games], indent=2)
        return
    console = plain_console()
    if not console.is_terminal:
        for name, variant, seats in games:
            cited = f" [{', '.join(variant.sources)}]" if sources else ""
            print_line(f"{name:<20} {_seats(seats):<7} {variant.about}{cited}")
        return
    heads = ("game", "seats", "what it is", *(["sources"] if sources else []))
    table = Table(*heads, box=None, pad_edge=False)
    for name, variant, seats in games:
        clauses = [Text(", ".join(variant.sources), "dim")] if sources else []
        table.add_row(name, _seats(seats), variant.about, *clauses)
    console.print(table)


def _as_json(name: str, variant: Variant, seats: tuple[int, ...]) -> dict[str, Any]:
    facts = {"name": name, "about": variant.about, "sources": variant.sources, "seats": seats}
    return {**facts, "rules": find_variant(name)}


def _seats(seats: tuple[int, ...]) -> str:
    return ", ".join(map(str, seats))
