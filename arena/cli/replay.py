"""`boneyard replay`: a logged game, in the terminal."""

import re
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
@click.option("--html", is_flag=True, help="Write a page for a browser instead.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The page's file, with --html."
)
def replay(
    log: Path,
    game: str | None,
    seat: int | None,
    only: int | None,
    plain: bool,
    step: bool,
    html: bool,
    out: Path | None,
) -> None:
    """Watch a game from its log: LOG is a game log or an event's folder.

    Without GAME the games are listed, unless there is only one. With --html a page is written
    that needs nothing else and can be mailed; with --seat too, nothing that this seat did not
    know is in it. With --html and an event's folder alone, the pages of all its games are made.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy.first --step
      boneyard replay demo 1.greedy.first --seat 0 --round 2 --ascii
      boneyard replay demo 1.greedy.first --html
      boneyard replay demo --html
    """
    if out and not html:
        raise UserError("--out names the page's file: it goes with --html.")
    try:
        if html and game is None and log.is_dir():
            _make_all(log, seat, out)
            return
        logged = _found(log, game)
        if logged and html:
            _make_one(logged, seat, out)
        elif logged:
            console = Console(highlight=False)
            shown = _drawn(logged, seat, only, _look(logged, console, plain))
            _paged(shown, console) if step and _at_terminal() else _printed(shown, console)
    except DamagedLogError as error:
        raise UserError(str(error)) from None


def _make_one(logged: LoggedGame, seat: int | None, out: Path | None) -> None:
    """The page of one game, for everybody or as one seat saw it."""
    from arena.pages.replays import packed, replay_page
    from arena.pages.sittings import write

    _check_seat(logged, seat)
    own = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", logged.game.game, flags=re.ASCII)
    path = out or Path(f"{name[:200]}{own}.html")
    write(path, replay_page(logged.game.game, [packed(logged, seat)]))
    click.echo(f"{path}")


def _make_all(folder: Path, seat: int | None, out: Path | None) -> None:
    """The pages of all games of an event, in its folder."""
    from arena.pages import sittings

    if seat is not None or out:
        raise UserError("--seat and --out go with one game: name it after the folder.")
    logs = _logs(folder)
    if not logs:
        raise UserError(f"{folder} holds no game.")
    pages = logs[0].parent.parent / sittings.FOLDER
    made = sittings.make(logs, pages)
    click.echo(f"{pages}: {made} new pages.")


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
    _check_seat(logged, seat)
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


def _check_seat(logged: LoggedGame, seat: int | None) -> None:
    seats = len(logged.sitting.seats)
    if seat is not None and seat >= seats:
        raise UserError(f"There is no seat {seat}: this game has seats 0 to {seats - 1}.")


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
