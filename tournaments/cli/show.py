"""The commands `show`, `watch` and `publish`: an event, or how far bots are apart."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec.structs import replace
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from arena.analysis.find import event_folders, unknown_place, usual_folder
from arena.document.blocks import Column, Section, Table, paragraphs, table
from arena.document.terminal import open_console, print_blocks, renderables
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, print_note, working
from protocol.codec import encode_json
from protocol.errors import UserError
from tournaments.cli.options import (
    BROWSER,
    FOLDER_ARGUMENT,
    PORT,
    Delay,
    LogPath,
    command,
    complete_events,
    complete_events_or_entrants,
    flag,
    option,
)
from tournaments.cli.rate import RateOptions, rate_ledgers
from tournaments.event.book import Book, describe_latecomers
from tournaments.event.folder import Folder
from tournaments.rating.sprt import separation_text, separations
from tournaments.rating.tables import PRIOR, FoulCount, parse_anchor
from tournaments.report.event_text import done, uneven
from tournaments.report.results_file import events_table
from tournaments.report.standings import pool_sections, standings_table
from tournaments.site.status import Status, read_status

# Commands that show an event in a browser: watch, publish.


@command()
@FOLDER_ARGUMENT
@PORT
@flag("--open", "Also show all hands and the boneyard of unfinished games.", "everything")
@BROWSER
def watch(folder: Path | None, port: int, everything: bool, browser: bool) -> int:
    """Watch an event in the browser while it is played, or after.

    The page shows the standings, the games in progress, fouls, the report, and replays of finished
    games. The command reads the logs that the run is writing, and changes nothing. It hides the
    hands of unfinished games unless you pass --open. It prints a local URL with a secret token,
    which works on this machine only; `publish --delay` writes a page for everybody.

    \b
    Examples:
      boneyard watch friday
      boneyard watch friday --browser
      boneyard watch friday --open --port 8080
    """
    from arena.ui.local_address import NO_WEBSOCKETS, has_browser

    if not has_browser():
        raise UserError(NO_WEBSOCKETS.format(what="To watch in the browser", instead=""))
    from tournaments.site.server import watch_event

    return watch_event(folder or usual_folder(), port, everything=everything, browser=browser)


@command()
@click.argument("folder", type=LogPath(file_okay=False), shell_complete=complete_events)
@click.argument("site", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", default="", help="The site's address, for shared previews.")
@click.option(
    "--delay",
    type=Delay(),
    metavar="MINUTES",
    help="Follow the run in a page of two files, so many minutes late; 30s is half a minute.",
)
def publish(folder: Path, site: Path, url: str, delay: float | None) -> int:
    """Turn an event into a static website.

    SITE is a new folder: the report as its first page, a page that replays each game, the logs, the
    commitments and the seeds. It has nothing from the event's private folder and, while the event
    runs, no game of a board that is still in play. The same command brings the site up to date.

    With --delay SITE is a page that shows the run as it was that long ago. A game is shown only
    once all games on its board are over. The command ends when the page shows the end of the event;
    if you stop it, the same command goes on.

    Of a league that is over SITE becomes its archive: a verified copy of its site, without secrets.

    Once the event has a review (`boneyard report --review`), replays show luck and mistakes: 0.1 s
    of CPU a game. With --url a shared link shows a title and a summary.

    \b
    Examples:
      boneyard publish friday site
      boneyard publish friday site --url https://example.org/friday/
      boneyard publish friday live --delay 10
      python3 -m http.server -d site
    """
    if (folder / "league.toml").is_file():
        if url or delay is not None:
            raise UserError("--url and --delay are for events: leave them out for a league.")
        from tournaments.league.check import print_league_check
        from tournaments.league.loop import archive_league

        archive_league(folder, site)
        return print_league_check(site, in_json=False)
    if delay is not None:
        if url:
            raise UserError("--url is for a whole site. Leave it out, or --delay.")
        from tournaments.site.publish import follow_event

        return follow_event(folder, site, delay)
    from tournaments.site.publish import publish_event

    return publish_event(folder, site, f"{url.rstrip('/')}/" if url else "")


# The command `show`: an event, several events rated together, or how far bots are apart.


NOT_VERIFIED = (
    "Nothing was verified: results are taken as the ledgers have them, and bots of different "
    "events as the same where their event.json says so. `boneyard verify` replays an event's games."
)
"""The last notice of every rating of ledgers."""
INCOMPARABLE = (
    "No two neighbours in the standings took points off each other in both directions, directly "
    "or through others, so the number of boards that would separate them is unknown."
)

EVENTS_LISTED = 12
"""The most other events that are listed, the latest first."""
EVENTS_SECTION = "With several events"


@command()
@click.argument(
    "paths",
    metavar="[WHAT]...",
    nargs=-1,
    type=LogPath(exists=False),
    shell_complete=complete_events_or_entrants,
)
@option(
    "--prior",
    section=EVENTS_SECTION,
    type=float,
    show_default="1",
    help="Strength of Jeffreys' prior: virtual draws for each rating. 0: none, as in Ordo.",
)
@flag("--no-fouls", "Leave out games with a foul.", section=EVENTS_SECTION)
@flag("--pool", "Rate different rules with the same seats in one table.", section=EVENTS_SECTION)
@option("--anchor", section=EVENTS_SECTION, metavar="NAME=ELO", help="Give a bot this rating.")
@flag("--watch", "Update the display until the event is over or Ctrl-C.", "-w")
@flag(
    "--separate",
    "Print how many boards would separate neighbours in the table, or the two bots after the "
    "folder.",
)
@flag("--json", "Print JSON instead of tables.", "as_json")
def show(
    paths: tuple[Path, ...],
    prior: float | None,
    no_fouls: bool,
    pool: bool,
    anchor: str | None,
    watch: bool,
    separate: bool,
    as_json: bool,
) -> int:
    """Show an event's standings and progress, or rate several events.

    The command prints the standings, the progress, the remaining time and the fouls. It only reads
    and takes no lock: use it from another terminal. WHAT is by default the event in the current
    directory, or else the one here that was run last, and then a list of the others.

    With several events, a ledger or an option of ratings it rates all results together. Two bots
    are the same bot if their names and fingerprints are equal. Each combination of rules and seats
    gets its own table.

    \b
    Examples:
      boneyard show
      boneyard show friday --watch
      boneyard show friday --json
      boneyard show friday --separate
      boneyard show friday --separate greedy counting
      boneyard show friday saturday --anchor greedy=1500
      boneyard show old/ledger.jsonl --prior 0 --no-fouls --json
    """
    for path in paths:
        if path.suffix == ".toml":
            raise UserError(f"{path} is not an event's folder. `boneyard run {path}` plays it.")
        if not (path.exists() or separate):
            raise unknown_place(path)
    if separate and (len(paths) > 3 or (len(paths) == 2 and paths[0].is_dir())):
        raise UserError("--separate takes an event's folder and two bots, or only the folder.")
    place = paths[0] if paths and not (separate and len(paths) == 2) else usual_folder()
    if separate:
        return _print_separations(place, [*map(str, paths[-2:])] if len(paths) > 1 else (), as_json)
    is_rated = prior is not None or no_fouls or pool or anchor is not None
    if len(paths) > 1 or place.is_file() or is_rated:
        if watch:
            raise UserError("--watch shows one event while it runs. Name its folder only.")
        options = RateOptions(
            prior=PRIOR if prior is None else prior,
            fouls=not no_fouls,
            pool=pool,
            anchor=parse_anchor(anchor),
        )
        return _print_ratings(paths or (place,), options, as_json)
    code = watch_status(place, as_json) if watch else print_status(place, as_json)
    if not paths and not as_json and place != Path():
        others = event_folders(Path())[1 : EVENTS_LISTED + 1]
        print_blocks(open_console(), [events_table("other event here", others)] if others else [])
    return code


def _print_separations(path: Path, bots: Sequence[str], in_json: bool) -> int:
    """Print how many boards would separate entrants, neighbours or these two; return the exit code.

    Raises UserError, DamagedFileError.
    """
    from tournaments.rating.ratings import fit  # It needs numpy.

    book = Book(Folder(path))
    event, played = book.event, len(book.results)
    if not played:
        raise UserError(f"{path} has no results yet: nothing is known about its entrants.")
    pair = (bots[0], bots[1]) if bots else None
    rated = event.rated(book.played)
    ratings = fit(rated, partners=event.rules.deal.partners, corrections=book.corrections)
    gaps = separations(ratings, len({result.board for result in rated}), pair)
    if played < book.planned:
        print_note(f"The event is unfinished: {done(book)}")
        for notice in filter(None, [uneven(book)]):
            print_note(notice)
    if not gaps:
        print_note(INCOMPARABLE)
    if in_json:
        print_json(gaps)
    for line in () if in_json else map(separation_text, gaps):
        print_line(line)
    return 0


def _print_ratings(paths: Sequence[Path], options: RateOptions, in_json: bool) -> int:
    """Rate ledgers or events together and print the tables; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    with working("Rating"):
        ratings = rate_ledgers(paths, options)
    ratings = replace(ratings, notices=(*ratings.notices, NOT_VERIFIED))
    if in_json:
        print_json(ratings)
        return 0
    console = open_console()
    for rated in ratings.tables:
        games = count_in_digits(rated.games, "game")
        title = f"{rated.title}: {games} of {', '.join(rated.ledgers)}"
        console.print(Text(title, style="bold"))
        for pool in rated.ratings.pools:
            print_blocks(console, pool_sections(pool, options.anchor))
        console.print()
    for notice in ratings.notices:
        print_note(notice)
    return 0


# The progress of one event, printed once or repeatedly.


WATCH_INTERVAL_S = 2.0
"""The shortest time between two looks of `--watch`, in s."""
REST = 5.0
"""The pause after a look, as a multiple of its duration: bots need the CPU."""
STATUS_FREE_LINES = 8
"""Lines of the terminal that the tables leave free."""


def print_status(path: Path, in_json: bool) -> int:
    """Print an event's progress; return the exit code. Raises UserError."""
    folder = Folder(path)
    with working("Reading the event"):
        status, tables = read_status(folder)
    if in_json:
        print_json(status)
        return 0
    console = open_console()
    for part in parts(folder, status, tables, console.width):
        console.print(part)
    return 0


def watch_status(path: Path, in_json: bool) -> int:
    """Print progress repeatedly until nothing is left to play or Ctrl-C; return the exit code.

    A pipe gets a line, or with JSON an object on one line, whenever more was played.
    Raises UserError.
    """
    folder, console = Folder(path), open_console()
    try:
        if console.is_terminal and not in_json:
            _live(folder, console)
            return print_status(path, in_json)
        _lines(folder, in_json)
    except KeyboardInterrupt:
        pass
    return 0


def _live(folder: Folder, console: Console) -> None:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for status in _looks(folder):
            room = max(2, console.height - STATUS_FREE_LINES)
            live.update(Group(*parts(folder, status, [], console.width, room)), refresh=True)


def _lines(folder: Folder, in_json: bool) -> None:
    before = -1
    for status in _looks(folder):
        if status.played != before:
            before = status.played
            print_line(encode_json(status).decode() if in_json else status.describe())


def _looks(folder: Folder) -> Iterator[Status]:
    while True:
        began = time.monotonic()
        status, _ = read_status(folder)
        yield status
        if status.complete:
            return
        time.sleep(max(WATCH_INTERVAL_S, REST * (time.monotonic() - began)))


def parts(
    folder: Folder,
    status: Status,
    tables: Sequence[Section],
    width: int,
    room: int | None = None,
) -> Iterator[RenderableType]:
    """Yield the parts of the display for a width and, on a small terminal, a height.

    `tables`: the tables of the event's format, which a small terminal leaves out.
    """
    yield Text(status.name, "bold")
    yield Text(status.about)
    yield from renderables(paragraphs(filter(None, [status.lead]), "strong"), width)
    for section in tables:
        yield Text()
        yield from renderables([section], width)
    yield from [] if room else [Text()]
    fouls = [_fouls(status.fouls)] if status.fouls else []
    few = None if room is None else max(2, room // 3)
    if room is not None and few is not None and fouls:
        room -= min(few, len(status.fouls)) + 2
    for pool in status.ratings.pools:
        blocks = [standings_table(pool)] if room is not None else pool_sections(pool, status.anchor)
        yield from renderables(blocks, width, room)
    lines = [] if status.complete else [status.question]
    if room is None:
        lines += [status.uneven, status.luck, describe_latecomers(status.latecomers)]
    yield from (Text(line, "bold") for line in lines if line)
    if fouls:
        yield Text()
        yield from renderables(fouls, width, few)
        foul = status.fouls[0]
        example = f"boneyard explain {folder.path} {foul.game} --seat {foul.seat}"
        yield Text(f"Explain: {example}", "dim")
    yield Text(status.describe(), "bold" if status.complete else "bold cyan")


def _fouls(counts: Sequence[FoulCount]) -> Table:
    columns = [Column("fouls of", "name"), Column("class", "word"), Column("the last in", "name")]
    columns += map(Column, ("games", "seat"))
    rows = [(row.entrant, row.foul, row.game, f"{row.games}", f"{row.seat}") for row in counts]
    return table("Fouls", columns, rows)
