"""Files of replay pages: the page of each game log, its name, and how it is written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from arena.files import open_file, read_file, refuse_link, write_atomic
from arena.logs.catalog import GAMES_A_PAGE, page_name, page_part
from arena.logs.compression import actual_path
from arena.logs.gamelog import DamagedLogError, LoggedGame, read_games
from arena.ui.emblems import emblem_numbers
from arena.ui.html import generator, page
from arena.valuation import LuckTerms

TermsOf = Callable[[LoggedGame], LuckTerms]
"""A function that returns the terms of the luck of a game."""
REPORT = ("../report.html", "Report")
"""The path of an event's report from its replay pages, and the label of the link."""
MOST = 80_000
"""Most bytes of one game: with `GAMES_A_PAGE` no page exceeds 2 MB."""
NOT_MADE = "Not made yet"
"""The heading of the page that stands for one that nobody has asked for."""
HEAD = 4096
"""Bytes in which a page says who made it."""
SMALL = 16_384
"""Bytes that every page with games exceeds."""


def place_in_plan(logged: LoggedGame) -> int:
    """Return a game's place in its sitting's plan, from 1; games are played in another order.

    Raises DamagedLogError.
    """
    game, boards = logged.game, logged.sitting.boards
    if game.board not in boards:
        raise DamagedLogError(f"Game {game.game}: its sitting has no board {game.board}.")
    return 1 + boards.index(game.board)


def placeholder() -> str:
    """Return the page that stands for every page until somebody asks for it."""
    return page("replay_later.html.j2", "replay", NOT_MADE, links=[REPORT])


def announce_pages(logs: Iterable[tuple[Path, int]], folder: Path) -> None:
    """Write the placeholder where a log with so many games has no page, or an older one.

    So a report's links lead somewhere before the pages are made. Raises OSError.
    """
    html, written = placeholder(), None
    for log, games in logs:
        for at in range(1, games + 1, GAMES_A_PAGE):
            path = folder / page_name(log.stem, at)
            if not (is_newer(path, log) or is_placeholder(path)) and not _link(path, written):
                write(path, html)
                written = path


def _link(path: Path, written: Path | None) -> bool:
    """Make a file another name of one that is written, if that is possible: it takes no space."""
    with suppress(OSError):
        if written:
            path.hardlink_to(written)
            return True
    return False


def is_newer(path: Path, log: Path) -> bool:
    """Tell whether a page is newer than the log, or other file, that it follows from."""
    return path.exists() and path.stat().st_mtime_ns > actual_path(log).stat().st_mtime_ns


def is_placeholder(path: Path) -> bool:
    """Tell by its content: a copied file has another time, and other versions other words."""
    small = path.exists() and path.stat().st_size < SMALL
    return small and f"<h1>{NOT_MADE}</h1>".encode() in read_file(path)


def is_current(path: Path) -> bool:
    """Tell whether a page says that this version made it."""
    with open_file(path) as file:
        return f'<meta name="generator" content="{generator()}">'.encode() in file.read(HEAD)


def is_reviewed(path: Path) -> bool:
    """Tell whether a page, or a packed game, has the reviews of its games."""
    return b'"reviewed":true' in read_file(path)


def make_game_pages(
    logs: Iterable[Path],
    folder: Path,
    entrants: Sequence[str],
    luck: Path,
    terms_of: TermsOf,
    *,
    reviewed: bool,
) -> int:
    """Write the pages of these logs, unless newer than their log and ours; return their number.

    `entrants` are those of the event, in whose order they have their emblems. `reviewed` pages are
    written where those that are there have no reviews, or are older than the file of the `luck`;
    reviews that are there stay.

    Raises DamagedFileError, OSError.
    """
    made = 0
    refuse_link(folder)
    for log in logs:
        first = folder / page_name(log.stem, 1)
        has_reviews = first.exists() and is_reviewed(first)
        current = is_newer(first, log) and not is_placeholder(first) and is_current(first)
        old = has_reviews and luck.exists() and not is_newer(first, luck)
        if current and has_reviews >= reviewed and not old:
            continue
        # The first page is written last: if it is newer than the log, all pages are.
        new = pages(log, entrants, terms_of if reviewed or has_reviews else None)
        for name, html in reversed([*new]):
            write(folder / name, html)
            made += 1
    return made


def pages(
    log: Path, entrants: Sequence[str] = (), terms_of: TermsOf | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the name and the HTML of each page of a log; a log without games has none.

    `terms_of`: the terms of the games' luck; None: they are not reviewed.
    Raises DamagedFileError.
    """
    from arena.ui.replay_page import pack_game, replay_page  # It takes 30 ms, rich among it.

    for part, games in groupby(
        valid_games(read_games(log)), lambda logged: page_part(place_in_plan(logged))
    ):
        name = page_name(log.stem, part * GAMES_A_PAGE + 1)
        played = [*games]
        shown = [pack_game(one, most=MOST, terms=terms_of and terms_of(one)) for one in played]
        emblems = emblem_numbers(entrants, played[0].sitting.seats)
        yield name, replay_page(log.stem, shown, [REPORT], emblems=emblems)


def valid_games(games: Iterable[LoggedGame]) -> list[LoggedGame]:
    """Return a log's games in planned order; drop a game that was cut off and then played again."""
    found: dict[int, LoggedGame] = {}
    for logged in games:
        if logged.result or place_in_plan(logged) not in found:
            found[place_in_plan(logged)] = logged
    return [found[at] for at in sorted(found)]


def write(path: Path, html: str) -> None:
    """Write a page atomically: a reader sees the old page or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, [html.encode()], sync=False)
