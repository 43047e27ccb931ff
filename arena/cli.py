"""Commands about one game: rules, replay, doctor. Thin: each asks a room for the answer."""

import json
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena import frames, render
from arena.explain import explain
from arena.gamelog import DamagedLogError, LoggedGame, read_games
from arena.replay import steps
from arena.variants import VARIANTS, Variant, named
from arena.written import changed, chosen
from protocol.rules import Ruleset, tables
from protocol.usage import UserError, unknown

WIDEST = 100
"""Columns of an explanation, however wide the terminal is."""
LISTED_GAMES = 50
"""Games of a folder that are listed by name."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Every attempt at every level, for programs.")
def doctor(as_json: bool) -> None:
    """Try what this machine can promise about bots: every level of the sandbox, some seconds.

    Each level is tried with all probes: small programs that do what a cheating bot would,
    against stand-ins for the referee and for another bot. Nothing of it is left behind.

    \b
    Examples:
      boneyard doctor
      boneyard doctor --json
    """
    from arena.sandbox import doctor
    from arena.sandbox.choice import examined
    from arena.sandbox.limits import LEVELS

    # Events lie below the working folder as a rule.
    findings = [examined(level, Path.cwd()) for level in LEVELS]
    if as_json:
        _print_json(msgspec.to_builtins(findings))
        return
    console = Console(highlight=False)
    console.print(doctor.promises(findings), "", sep="\n")
    for sentence in doctor.verdict(findings):
        console.print(sentence, soft_wrap=not console.is_terminal)


@click.command()
@click.argument("game", required=False)
@click.option(
    "--set",
    "choices",
    multiple=True,
    metavar="CHOICE=VALUE",
    help="Change one choice first; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="The choices as JSON, for programs.")
def rules(game: str | None, choices: tuple[str, ...], as_json: bool) -> None:
    """List the named games, or explain one in plain English.

    GAME is a name of the list, or a file of your own: a `base` and the choices that
    differ from it. In brackets stand the clauses of the sources. A choice takes a number,
    yes or no, a word, a list (100,75) or a table by players (2:7,3:7,4:6).

    \b
    Examples:
      boneyard rules
      boneyard rules dutch
      boneyard rules dutch --set draw_limit=3 --set hand=2:7,3:7,4:5
      boneyard rules my.toml
      boneyard rules dutch --json
    """
    if game is None:
        if choices:
            raise UserError("--set changes one game: name it, as in `boneyard rules dutch --set`.")
        _list_rules(as_json)
        return
    ruleset = changed(chosen(game, Path.cwd()), choices)
    if as_json:
        _print_json(msgspec.to_builtins(ruleset))
        return
    console = Console(highlight=False)
    for line in _explained(ruleset, _title(game, ruleset, choices), console.width):
        console.print(line, soft_wrap=True)


def _title(game: str, ruleset: Ruleset, choices: tuple[str, ...]) -> str:
    """The line of the list, as long as it is true."""
    if choices:
        return f"{ruleset.name}, with {', '.join(choices)}"
    return f"{game}: {VARIANTS[game].about}" if game in VARIANTS else f"{ruleset.name} ({game})"


def _explained(ruleset: Ruleset, title: str, width: int) -> Iterator[Text]:
    """The explanation in lines that fit, each sentence on lines of its own."""
    yield from _wrapped(Text(title, "bold"), width, "")
    heading = ""
    for sentence in explain(ruleset):
        if sentence.heading != heading:
            heading = sentence.heading
            yield Text()
            yield Text(heading, "bold")
        text = Text(sentence.text)
        if sentence.sources:
            text.append(f" [{', '.join(sentence.sources)}]", "dim")
        yield from _wrapped(text, width, "  ")


def _wrapped(text: Text, width: int, indent: str) -> Iterator[Text]:
    room = max(20, min(width, WIDEST) - len(indent))
    for line in text.wrap(Console(width=room), room):
        line.rstrip()
        yield Text(indent) + line


def _list_rules(as_json: bool) -> None:
    listed = [(name, variant, tables(named(name))) for name, variant in VARIANTS.items()]
    if as_json:
        _print_json([_as_json(*game) for game in listed])
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        for name, variant, seats in listed:
            at, sources = _seats(seats), ", ".join(variant.sources)
            click.echo(f"{name:<20} {at:<7} {variant.about} [{sources}]")
        return
    table = Table("game", "seats", "what it is", "sources", box=None, pad_edge=False)
    for name, variant, seats in listed:
        table.add_row(name, _seats(seats), variant.about, Text(", ".join(variant.sources), "dim"))
    console.print(table)


def _as_json(name: str, variant: Variant, seats: tuple[int, ...]) -> dict[str, Any]:
    told = {"name": name, "about": variant.about, "sources": variant.sources, "seats": seats}
    return {**told, "rules": msgspec.to_builtins(named(name))}


def _seats(seats: tuple[int, ...]) -> str:
    return ", ".join(map(str, seats))


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2))


@click.command()
@click.argument("log", type=click.Path(exists=True, path_type=Path))
@click.argument("game", required=False)
@click.option("--seat", type=click.IntRange(0, 3), default=None, help="Show only what it knew.")
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Only this round.")
@click.option("--ascii", "plain", is_flag=True, help="Tiles as [6|4] instead of glyphs.")
@click.option("--step", is_flag=True, help="One frame at a time: Enter, p back, q quit.")
def replay(
    log: Path, game: str | None, seat: int | None, only: int | None, plain: bool, step: bool
) -> None:
    """Watch a game from its log: LOG is a game log or an event's folder.

    Without GAME the games are listed, unless there is only one.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy.first --step
      boneyard replay demo 1.greedy.first --seat 0 --round 2 --ascii
    """
    try:
        logged = _found(log, game)
        if logged:
            console = Console(highlight=False)
            shown = _drawn(logged, seat, only, _look(logged, console, plain))
            _paged(shown, console) if step and _at_terminal() else _printed(shown, console)
    except DamagedLogError as error:
        raise UserError(str(error)) from None


def _found(log: Path, name: str | None) -> LoggedGame | None:
    """The game that is meant; None: there are several, and they have been listed.

    A game that was cut off may stand in the log again, played to its end: that one counts.
    """
    found: LoggedGame | None = None
    known: dict[str, str] = {}
    for logged in chain.from_iterable(map(read_games, _logs(log))):
        own = logged.game.game
        if logged.result or own not in known:
            known[own] = render.summary(logged)
            found = logged if name in (None, own) else found
    if name is not None and name not in known:
        raise unknown("game", name, known)
    if not known:
        raise UserError(f"{log} holds no game.")
    if name is None and len(known) > 1:
        _list_games(list(known.values()))
        return None
    return found


def _logs(log: Path) -> list[Path]:
    if not log.is_dir():
        return [log]
    return sorted((log if log.name == "games" else log / "games").glob("*.jsonl"))


def _list_games(summaries: list[str]) -> None:
    for summary in summaries[:LISTED_GAMES]:
        click.echo(summary)
    if len(summaries) > LISTED_GAMES:
        click.echo(f"... and {len(summaries) - LISTED_GAMES} more; name one to watch it.")


def _look(logged: LoggedGame, console: Console, plain: bool) -> render.Look:
    glyphs = console.encoding.startswith("utf") and not plain
    partners = logged.sitting.rules.deal.partners
    return render.Look(logged.sitting.seats, console.width, ascii=not glyphs, partners=partners)


def _drawn(
    logged: LoggedGame, seat: int | None, only: int | None, look: render.Look
) -> Iterator[Text]:
    """The title, every frame that is wanted, and whether the log goes to the end."""
    seats = len(logged.sitting.seats)
    if seat is not None and seat >= seats:
        raise UserError(f"There is no seat {seat}: this game has seats 0 to {seats - 1}.")
    yield render.title(logged, look)
    last = 0
    for frame in frames.frames(steps(logged), seat):
        last = frame.round
        if only in (None, last):
            yield render.draw(frame, look)
    if only is not None and only > last:
        raise UserError(f"There is no round {only}: this game has {last}.")
    if logged.result is None:
        why = render.unfinished(logged)
        yield Text(f"The log ends here: the game was {why} and does not count.")


def _printed(shown: Iterator[Text], console: Console) -> None:
    for text in shown:
        console.print(text, "", sep="\n", soft_wrap=True)


def _paged(shown: Iterator[Text], console: Console) -> None:
    """One frame at a time, until the last one is turned over or a key says enough."""
    seen: list[Text] = []
    at: int | None = 0
    while at is not None:
        seen.extend(islice(shown, max(0, at + 1 - len(seen))))
        if at >= len(seen):
            return
        console.clear()
        console.print(seen[at], "", Text(render.HELP, "dim"), sep="\n", soft_wrap=True)
        at = render.turned(at, _key())


def _key() -> str:
    try:
        return click.getchar()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _at_terminal() -> bool:
    return sys.stdin.isatty()
