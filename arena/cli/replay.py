"""`boneyard replay`: a logged game, in the terminal."""

import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from arena import frames, render
from arena.gamelog import DamagedLogError, LoggedGame, read_games
from arena.replay import steps
from protocol.usage import UserError, unknown

LISTED_GAMES = 50
"""Games of a folder that are listed by name."""


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
