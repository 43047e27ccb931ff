"""The command `replay`: a game from its log, in the terminal or as a page."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from rich.text import Text

from arena.analysis import frames, text
from arena.analysis.find import find_game, find_seat, list_games, logs, name_log
from arena.analysis.text import Look
from arena.analysis.timeline import Timeline, round_ends, walk_log
from arena.files import refuse_link
from arena.logs.catalog import GAMES_FOLDER
from arena.logs.gamelog import LoggedGame
from arena.machine import cores
from arena.processes import map_tasks
from arena.rules.english import join_words
from arena.ui.console import (
    plain_console,
    print_json,
    print_line,
    print_paged,
    text_look,
    track,
    working,
)
from arena.ui.local_address import show_page
from arena.ui.replay_page import (
    REPORT,
    ReplayTask,
    event_replay_page,
    make_replays,
    pack_game,
    replay_page,
    write_replay,
)
from protocol.codec import encode_json
from protocol.errors import UserError
from protocol.records import DealRecord
from tournaments.cli.options import (
    BROWSER,
    FILE_PATH,
    GAME_ARGUMENT,
    LOG,
    command,
    complete_seats,
    flag,
    number,
)
from tournaments.event.book import Book
from tournaments.event.folder import Folder, find_event
from tournaments.event.luck import terms_of_game

# Replays of an event's games, to which its report leads: all of them, made side by side.


REPLAYED_LOGS_A_PROCESS = 8
"""Logs for which a process is started: it takes 0.3 s, as long as some 80 games."""


def make_all_replays(book: Book, logs: Sequence[Path], *, reviewed: bool = False) -> int:
    """Write the replays of these logs that are not there or out of date; return their number.

    Raises DamagedFileError, OSError, UserError.
    """
    folder = book.folder
    make_folder(folder)
    write_replay(folder.replay_page, event_replay_page(book.event.emblems, [REPORT]))
    terms_of = partial(terms_of_game, folder.path)
    tasks = (ReplayTask(log, folder.replays, folder.luck, terms_of, reviewed) for log in logs)
    # A review takes ten times as long as a replay.
    most = cores() if reviewed else max(1, min(len(logs) // REPLAYED_LOGS_A_PROCESS, cores()))
    return sum(track(map_tasks(make_replays, tasks, most), "Replays of logs made", len(logs)))


def make_folder(folder: Folder) -> None:
    """Make the folder of replays for those who may read the logs. Raises OSError, UserError."""
    refuse_link(folder.replays)
    if not folder.replays.exists():
        folder.replays.mkdir(0o700)
        folder.replays.chmod((folder.path / GAMES_FOLDER).stat().st_mode & 0o777)


# --- the command ---


TURNING_ROUNDS = 2
"""Rounds of a game that are shown unless all are wanted: those with the widest swing."""


@command()
@LOG
@GAME_ARGUMENT
@click.option(
    "--seat",
    metavar="N|BOT",
    shell_complete=complete_seats,
    help="Show only what this seat knew: its number, or the bot that had it.",
)
@number("--round", "Show only this round.", 1)
@flag("--all", "Show all rounds, not just those that decided.", "shows_all")
@flag("--html", "Write a page for a browser instead.")
@flag("--json", "Print each frame as a line of JSON.", "in_json")
@click.option("--out", type=FILE_PATH, help="File for the page, with --html.")
@click.option(
    "--review/--no-review",
    default=None,
    help="With --html: the chances at each move, luck and mistakes.  [default: for one game]",
)
@BROWSER
def replay(
    log: Path | None,
    game: str | None,
    seat: str | None,
    round: int | None,
    shows_all: bool,
    html: bool,
    in_json: bool,
    out: Path | None,
    review: bool | None,
    browser: bool,
) -> None:
    """Watch a game from its log.

    LOG is a game log or an event's folder; by default the event in the current directory, or else
    the one here that was run last.
    GAME is a game's name or any unique part of it; without it the command lists the games, unless
    there is only one. --html writes a single page that needs no other file and can be mailed; with
    --seat it holds only what that seat knew. Without --seat the page reviews the game: the chances
    of each side at each move, luck, mistakes, and the options' values, in points of lead, by
    playouts. --html with only an event's folder makes the replays of all its games, to which its
    report links. A long game is shown in your pager ($PAGER) on a terminal.

    \b
    Examples:
      boneyard replay demo
      boneyard replay demo 1.greedy
      boneyard replay demo 1.greedy.suit --all
      boneyard replay demo 1.greedy.suit --seat 0 --round 2
      boneyard replay demo 1.greedy.suit --json --seat 1
      boneyard replay demo 1.greedy.suit --html --browser
      boneyard replay demo --html
    """
    place, words = name_log(log, game)
    if len(words) > 1:
        raise UserError(f"Name one game, not {' and '.join(words)}.")
    name, html = words[0] if words else None, html or browser
    if html and name is None and place.is_dir():
        _make_all(place, seat, out, reviewed=review is True)
        return
    if out and not html:
        raise UserError("--out names the page's file: it goes with --html.")
    if review and not html:
        raise UserError("A review is on the page: add --html. `boneyard explain` has it in words.")
    match = find_game(place, name)
    if match.game is None:
        if in_json:
            print_json(match.others)
        for line in () if in_json else list_games(match):
            print_line(line)
        return
    viewer = None if seat is None else find_seat(match.game, seat)
    if html:
        path = out or _page_path(match.game.game.game, viewer)
        _write_page(path, place, match.game, viewer, review)
        if browser:
            show_page(path)
        return
    if in_json:
        _check_round(match.game, round)
        for frame in frames.frames(walk_log(match.game), viewer):
            if round in (None, frame.round):
                print_line(encode_json(frame).decode())
        return
    console = plain_console()
    look = text_look(match.game, console)
    screens = _drawn(match.game, viewer, round, look, shows_all=shows_all)
    print_paged(screens, console, click.echo_via_pager)


def _drawn(
    logged: LoggedGame, seat: int | None, round: int | None, look: Look, *, shows_all: bool
) -> Iterator[Text]:
    """Yield the title, the requested frames and a note if the log was cut off."""
    _check_round(logged, round)
    timeline = Timeline(logged)
    numbers = {record.round for record in logged.records if isinstance(record, DealRecord)}
    selection = {round} if round else numbers if shows_all else _turning_rounds(timeline, numbers)
    yield text.title(logged, look)
    if not round and selection != numbers:
        rounds = join_words([f"{number}" for number in sorted(selection)])
        yield Text(f"Rounds {rounds} of {len(numbers)} turned the game; --all shows all rounds.")
    shown = [*frames.frames(timeline.moments, seat)]
    for frame in shown:
        if frame.round in selection or (not round and frame is shown[-1]):
            yield text.draw_frame(frame, look)
    if logged.result is None:
        yield Text("The log ends here: the game was cut off and does not count.")


def _turning_rounds(timeline: Timeline, numbers: set[int]) -> set[int]:
    """Return the rounds in which one side gained the most on another, or the game broke off."""
    ends = sorted(round_ends(timeline, 0), key=lambda end: -abs(end.swing))
    broken = numbers - {end.round for end in ends}
    return {end.round for end in ends[:TURNING_ROUNDS]} | broken


def _check_round(logged: LoggedGame, round: int | None) -> None:
    """Refuse a round that the game does not have. Raises UserError."""
    rounds = max((r.round for r in logged.records if isinstance(r, DealRecord)), default=0)
    if round is not None and round > rounds:
        raise UserError(f"There is no round {round}: this game has {rounds}.")


def _write_page(
    path: Path, place: Path, logged: LoggedGame, seat: int | None, review: bool | None
) -> None:
    """Write the page of a game. Raises UserError."""
    if seat is not None and review:
        raise UserError("A review shows more than a seat knew: leave out --review or --seat.")
    reviewed = seat is None and review is not False
    write_replay(path, game_page(place, logged, seat, reviewed=reviewed))
    print_line(f"{path}")


def game_page(
    place: Path, logged: LoggedGame, seat: int | None = None, *, reviewed: bool = True
) -> str:
    """Return the page of a game of the event or the log at `place`. Raises UserError."""
    with working("Page and review"):
        data = pack_game(logged, seat, terms=terms_of_game(place, logged) if reviewed else None)
    event = find_event(place)
    return replay_page(logged.game.game, data, emblems=event.emblems if event else {})


def _page_path(game: str, seat: int | None) -> Path:
    """Return the file of a game's page in the current folder."""
    suffix = "" if seat is None else f".seat-{seat}"
    # A log can come from anybody: its names lead to no other folder.
    name = re.sub(r"[^\w@.-]|^\.", "_", game, flags=re.ASCII)
    return Path(f"{name[:200]}{suffix}.html")


def _make_all(folder: Path, seat: str | None, out: Path | None, *, reviewed: bool) -> None:
    """Write the replays of all games of an event into its folder."""
    if seat is not None or out:
        raise UserError("--seat and --out go with one game: name it after the folder.")
    paths = logs(folder)
    if not paths:
        raise UserError(f"{folder} holds no game.")
    event, place = find_event(paths[0]), Folder(paths[0].parent.parent)
    if event is None:
        raise UserError(f"{folder} is not an event, whose report leads to games: name a game too.")
    count = make_all_replays(Book(place, event), paths, reviewed=reviewed)
    print_line(f"{place.replays}: {count} new replays.")
