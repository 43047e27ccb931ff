"""The commands `rules` and `new`: the games that can be played, and a bot that plays them."""

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
from tournaments.cli.options import CHOICES, command, complete_languages, complete_rules, flag
from tournaments.plan.scaffold import language_key, languages, make_bot, missing_programs

# The command `rules`: lists the named games, explains any ruleset in plain English.


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


# The command `new`: makes a bot from a template, or a league.


@command()
@click.argument("language", default="", shell_complete=complete_languages)
@click.argument("name", default="")
@flag("--sealed", "Build it as a module of WebAssembly: c, rust or go.")
def new(language: str, name: str, sealed: bool) -> int:
    """Create a working bot in a language of your choice.

    The command makes a folder NAME with the bot's source and a bot.toml, which says how to run it;
    commands beside the folder find the bot by its name. Without
    arguments it lists the languages, and the programs that each still needs on this machine. It
    creates a bot even if its toolchain is missing. With the word league it makes a league instead;
    see `boneyard league`.

    \b
    Examples:
      boneyard new
      boneyard new python mine
      boneyard new rust crab
      boneyard new --sealed c vault
      boneyard new league class
    """
    if not language:
        for key, entry in languages().items():
            click.echo(f"{key:<12} {entry.title:<12} {missing_programs(entry) or 'ready'}")
        return 0
    if not name:
        if language != "league" and not language_key(language):
            raise UserError(f"Name the language first, as in: boneyard new python {language}")
        kind = "league" if language == "league" else "bot"
        raise UserError(f"Missing {kind} name. Usage: boneyard new {language} NAME")
    if language == "league":
        from tournaments.league.settings import make_league

        return make_league(Path(name))
    result = make_bot(language, name, Path(), sealed=sealed)
    source, *_ = result.files
    click.echo(f"Made {', '.join(map(str, result.files))}.")
    if result.missing:
        click.echo(result.missing)
    click.echo(f"Put your idea into `choose` in {source}. Check it, and compare it with greedy:")
    click.echo(f"  boneyard check {name}\n  boneyard run {name} greedy --boards 100")
    return 0
