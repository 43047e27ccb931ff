"""Search for the log, the game and the seat that a user means, for all commands about one game."""

import shlex
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from protocol.errors import UserError, unknown_name

if TYPE_CHECKING:
    from arena.logs.gamelog import LoggedGame

LISTED_GAMES = 50
"""Games of a folder that are listed by name."""
MAX_GAMES_FOUND = 1000
"""Games that a search returns at most if a name is ambiguous."""
LINE_SHOWN = 60
"""The most characters shown of a line that a bot should not have written."""
NAMED_GAMES = 5
"""Games that an error names."""
EVENT_FILE = "event.json"
"""The file that every event's folder contains."""
PRIVATE = "private"
"""The folder in an event's folder that is left out of copies for others."""
RUNS = "runs"
"""The folder in which a run puts an event's folder if the user names none."""
DEMO = "demo"
"""The folder of `boneyard demo`."""


def event_folders(folder: Path) -> list[Path]:
    """Return the events' folders here: this one, and then all others, the latest run first."""
    plans = [*folder.glob(f"*/{EVENT_FILE}"), *folder.glob(f"{RUNS}/*/{EVENT_FILE}")]

    def order(plan: Path) -> tuple[bool, int, Path]:
        # A run writes its plan when it begins; a published copy is no run, and comes last.
        return not (plan.parent / PRIVATE).is_dir(), -plan.stat().st_mtime_ns, plan

    latest = sorted(plans, key=order)
    return [path.parent for path in (folder / EVENT_FILE, *latest) if path.is_file()]


def latest_folder() -> Path:
    """Return the current folder if it is an event's, else the folder here that was run last.

    Raises UserError if there is none.
    """
    folders = event_folders(Path())
    if not folders:
        raise UserError("There is no event's folder here. Name one.")
    return folders[0]


def usual_folder() -> Path:
    """Return the event's folder to use if the user names none, and tell which on stderr.

    Raises UserError if there is none.
    """
    folder = latest_folder()
    if folder != Path():
        print(f"Event: {folder}", file=sys.stderr, flush=True)
    return folder


def find_place(path: Path) -> Path | None:
    """Return what a user means by a path: a log or folder here, or the event of that name in runs/.

    An event file stands for the event that it was played into. None: there is nothing.
    """
    from arena.logs.checksummed import actual_path

    place, run = actual_path(path), Path(RUNS, path.stem if path.suffix == ".toml" else path)
    if len(path.parts) == 1 and not (place / EVENT_FILE).is_file() and (run / EVENT_FILE).is_file():
        return run
    return place if place.exists() else None


def unknown_place(path: Path) -> UserError:
    """Return the error for a path that does not exist, with the nearest event for a mere name."""
    if len(path.parts) > 1:
        return UserError(
            f"There is no file or folder {path}. Name an event's folder or a game's log."
        )
    return unknown_name("event", f"{path}", [folder.name for folder in event_folders(Path())])


def name_log(log: Path | None, *words: str | None) -> tuple[Path, list[str]]:
    """Return the log or folder that a user names, and the words after it.

    A first word that is not a path belongs to the words: the default folder is meant then, or that
    before a game, as in boneyard-play/1.you.greedy. Raises UserError.
    """
    given_words = [word for word in words if word is not None]
    if log is None or log.exists():
        return log or usual_folder(), given_words
    if log.parent != Path() and log.parent.is_dir() and logs(log.parent):
        return log.parent, [log.name, *given_words]
    try:
        folder = usual_folder()
    except UserError:
        raise unknown_place(log) from None
    # A word with a number first means a game: the search for the game will say if it is missing.
    # Any other word can be part of a game's name only if the names of the logs contain it.
    seats = " ".join(path.name for path in logs(folder))
    if not f"{log}"[0].isdecimal() and not all(part in seats for part in f"{log}".split(".")):
        raise unknown_place(log)
    return folder, [str(log), *given_words]


def require_path(path: Path) -> None:
    """Refuse a path at which nothing is. Raises UserError."""
    if not path.exists():
        raise unknown_place(path)


def logs(log: Path) -> list[Path]:
    """Return the log, or all logs of an event's folder or of its folder of games."""
    if not log.is_dir():
        return [log]
    from arena.logs import catalog

    return catalog.list_logs(_folder(log))


def _folder(log: Path) -> Path:
    """Return the folder of an event's game logs."""
    from arena.logs.catalog import GAMES_FOLDER

    # An event may itself be in a folder of that name.
    return (
        log
        if log.resolve().name == GAMES_FOLDER and not (log / EVENT_FILE).is_file()
        else log / GAMES_FOLDER
    )


def refuse_others(path: Path) -> None:
    """Refuse a file that is not a game log: the user named the wrong file, nothing is damaged.

    Raises UserError, OSError.
    """
    from arena.logs.catalog import is_log

    if path.is_dir() or is_log(path):
        return
    event = (path.parent / EVENT_FILE).is_file()
    verify = shlex.join(("boneyard", "verify", str(path.parent)))
    hint = f"; name its event's folder, as in `{verify}`." if event else "."
    raise UserError(f"{path} is not a game log{hint}")


class FoundGame(NamedTuple):
    """The result of a search for a game."""

    game: "LoggedGame | None"
    """The game; None if several match."""
    others: dict[str, str]
    """The names of the games that match if several do, with a line about each."""


def find_game(log: Path, name: str | None) -> FoundGame:
    """Return the game with this name, or all that match: a name may be shortened while unique.

    A whole name leads to its log, and no other log is opened; there may be thousands. Else the
    games match whose names begin with the word or, if there are none, contain it, but not within
    the number of another board: at most `MAX_GAMES_FOUND`. Raises UserError, DamagedLogError.
    """
    from arena.analysis.text import game_line
    from arena.logs.gamelog import LoggedGame, read_games

    refuse_others(log)
    word = name or ""
    if word.isdecimal():  # A board: 5 does not mean 50.
        word += "."
    if exact := _find_exact(log, word):
        return FoundGame(exact, {})
    names, names_board = set[str](), word.partition(".")[0].isdecimal()
    begin, middle, last = dict[str, str](), dict[str, str](), dict[bool, LoggedGame]()
    # Logs whose names end like the game's come first: most have the same seats.
    seats = word.partition(".")[2]
    ordered = sorted(logs(log), key=lambda path: not path.stem.endswith(f".{seats}"))
    for logged in chain.from_iterable(map(read_games, ordered)):
        game_name = logged.game.game
        if len(names) < MAX_GAMES_FOUND:
            names.add(game_name)
        begins = game_name.startswith(word)
        matches = begins or (word in game_name and not names_board)
        games = begin if begins else middle
        # A game that was cut off may be there again, played to its end.
        if matches and (logged.result if game_name in games else len(games) < MAX_GAMES_FOUND):
            games[game_name], last[begins] = game_line(logged), logged
        if len(begin) == MAX_GAMES_FOUND:
            break
    if not names:
        rounds = sorted(log.glob(f"rounds/*/*/{EVENT_FILE}"))
        hint = f" Those of a league are in its rounds, as {rounds[-1].parent}." if rounds else ""
        raise UserError(f"{log} has no games.{hint}")
    games = begin or middle
    if not games:
        raise unknown_name("game", name or "", sorted(names, key=_place))
    if len(games) == 1:
        return FoundGame(last[bool(begin)], {})
    return FoundGame(None, {game: games[game] for game in sorted(games, key=_place)})


def _find_exact(log: Path, name: str) -> "LoggedGame | None":
    """Return the game with exactly this name.

    A game that was cut off may be in its log again, played to its end: the later one counts.
    """
    from arena.logs.catalog import SittingLogs
    from arena.logs.gamelog import read_games

    exact = None
    paths = SittingLogs(_folder(log)).of(name) if log.is_dir() else [log]
    for logged in chain.from_iterable(map(read_games, paths)):
        if logged.game.game == name:
            exact = logged
            if logged.result:
                break
    return exact


def _place(game: str) -> tuple[int, str]:
    """Return the place of a game in a list for people: by its board, then by its seats."""
    board = game.partition(".")[0]
    return (int(board) if board.isdecimal() else 0, game)


def require_one_game(log: Path, name: str | None) -> "LoggedGame":
    """Return the one game that matches. Raises UserError, DamagedLogError."""
    match = find_game(log, name)
    if match.game:
        return match.game
    names = ", ".join(list(match.others)[:NAMED_GAMES])
    command = shlex.join(("boneyard", "replay", str(log), *((name,) if name else ())))
    raise UserError(
        f"Name one of the {len(match.others)} games, such as {names}. List them: {command}"
    )


def list_games(match: FoundGame) -> Iterator[str]:
    """Yield a line for each game that matches, or for the first ones and the rest."""
    count = len(match.others)
    yield from islice(match.others.values(), LISTED_GAMES)
    if count > LISTED_GAMES:
        least = "at least " if count == MAX_GAMES_FOUND else ""
        yield f"... and {least}{count - LISTED_GAMES} more; name one to show it."


def find_seat(logged: "LoggedGame", wanted: str | None) -> int:
    """Return a seat by its number or by its entrant; without `wanted` the seat that came last.

    Raises UserError.
    """
    names = logged.sitting.seats
    if wanted is None:
        places = logged.result.places if logged.result else (0,) * len(names)
        return max(range(len(names)), key=lambda seat: places[seat])
    if wanted.isdecimal() and int(wanted) < len(names):
        return int(wanted)
    if names.count(wanted) == 1:
        return names.index(wanted)
    if wanted in names:
        raise UserError(f"{wanted} had several seats in this game. Give a seat's number.")
    if wanted.isdecimal():
        last = len(names) - 1
        raise UserError(f"There is no seat {wanted}: this game has seats 0 to {last}.")
    raise unknown_name("seat", wanted, [*names, *map(str, range(len(names)))])


def read_foul(event: Path, game: str, seat: int) -> str:
    """Return the words about a seat's foul in a game of an event's folder; empty if it has none.

    They name the crash of a bot that is gone, else the foul and the bot's line.
    """
    from arena.logs.gamelog import name_crash
    from protocol.codec import printable
    from protocol.records import FoulRecord

    logged = find_game(event, game).game
    for record in logged.choices() if logged else ():
        if isinstance(record, FoulRecord) and record.seat == seat:
            is_dead = record.foul == "gone" or bool(record.stdout)
            crash = name_crash(record.stderr) if is_dead else ""
            line = f" It wrote: {printable(record.line, LINE_SHOWN)}" if record.line else ""
            return printable(crash or f"{record.detail}{line}").rstrip(".")
    return ""
