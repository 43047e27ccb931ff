"""report.html: the page of a report's document, and its games; index.html, which lists events."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_args

from msgspec import Raw, Struct, field

from arena.analysis.find import event_folders
from arena.analysis.review import SENTENCES
from arena.analysis.text import WHY
from arena.document.blocks import Document, Media, plain, select
from arena.logs.catalog import replay_address
from arena.ui.html import page
from protocol.codec import encode_json
from protocol.messages import WhyGame
from protocol.records import FoulClass, Result
from tournaments.event.facts import RoundScores
from tournaments.plan.event import Event
from tournaments.report.charts import search_courses, sprt_walk
from tournaments.report.results_file import events_table

# The games of an event for the report's script: a few numbers each, bounded. Pure.


BYTES = 2_500_000
"""The largest size of the list of games, in bytes."""
SHORTEST_ROW = 20
"""Fewer bytes than a game takes without its rounds: the shortest has 24."""
WHYS: tuple[str, ...] = get_args(WhyGame)
FOUL_NAMES: tuple[str, ...] = get_args(FoulClass)

GameRow = list[Any]
"""A game: its board, then of each seat the entrant, the score and the place, then the rounds, why
it ended, and of each foul the seat and the class. All are numbers: entrants, reasons and classes
are places in their lists."""
Rounds = list[int]
"""A game's rounds: of each whether it was blocked, 1 or 0, and then each seat's points after it."""


class GameList(Struct, frozen=True, kw_only=True):
    """The games that a page lists."""

    names: tuple[str, ...]
    seats: int
    replay: str = replay_address("")
    """The beginning of each replay's address, to be followed by the game's name."""
    whys: tuple[str, ...] = WHYS
    fouls: tuple[str, ...] = FOUL_NAMES
    total: int
    games: tuple[Raw, ...]
    """The first of them, as many as have room; see `GameRow`. A game is called by its board and the
    entrants in its seats, with dots between them."""
    rounds: tuple[Raw, ...]
    """Their `Rounds`."""
    partners: bool
    """True if every second seat plays together."""
    sentences: dict[str, str] = field(default_factory=SENTENCES.copy)
    reasons: tuple[str, ...] = tuple(WHY[why] for why in get_args(WhyGame))


def listable(results: Iterable[Result]) -> Iterator[Result]:
    """Yield the first results, and no fewer than `build_game_list` has room for."""
    room = BYTES
    for result in results:
        # A foul may have cut the last round off. A number has a digit and a comma.
        numbers = (result.rounds - 1) * (1 + len(result.seats))
        room -= SHORTEST_ROW + 2 * numbers
        if room < 0:
            return
        yield result


def build_game_list(
    event: Event,
    results: Sequence[Result],
    rounds: Mapping[str, Sequence[RoundScores]],
) -> GameList:
    """Return the list of as many results, in their order, as fit."""
    names = [bot.name for bot in event.entrants]
    places = {name: place for place, name in enumerate(names)}
    # Encoded at once: as lists they take eight times the memory.
    rows: list[Raw] = []
    courses: list[Raw] = []
    room = BYTES
    for result in results:
        records = rounds.get(result.game, ())
        course = [n for record in records for n in (int(record.why == "blocked"), *record.scores)]
        pair = encode_json(_row(result, places)), encode_json(course)
        room -= len(b"[%b,%b]" % pair)
        if room < 0:
            break
        for column, data in zip((rows, courses), pair, strict=True):
            column.append(Raw(data))
    return GameList(
        names=tuple(names),
        seats=event.seats,
        total=len(results),
        games=tuple(rows),
        rounds=tuple(courses),
        partners=event.rules.deal.partners,
    )


def _row(result: Result, places: Mapping[str, int]) -> GameRow:
    return [
        result.board,
        *(places[name] for name in result.seats),
        *result.scores,
        *result.places,
        result.rounds,
        WHYS.index(result.why),
        *chain.from_iterable((foul.seat, FOUL_NAMES.index(foul.foul)) for foul in result.fouls),
    ]


# report.html: the HTML page of a report's document.


REPORT_TEMPLATES = Path(__file__).parent / "html"
FILE_PATTERN = re.compile(
    r"<code>((?:commitments|seeds)\.jsonl|(?:results|times)\.json|results\.pgn|report\.md|"
    r"(?:games|ratings|crosstable)\.csv)</code>"
)
"""A file that lies beside each report and each site; no text of a bot has the element."""


class SharedText(NamedTuple):
    """The texts that stand for the page where its address is shared."""

    summary: str
    """The result in a sentence or two; marks are left out."""
    site: bool = False
    """True on a site, where one page replays all games."""
    address: str = ""
    """The address of the page's folder, which ends with a slash; empty if it is not known."""
    links: Sequence[tuple[str, str]] = ()
    """Addresses of pages around the site, and their labels."""


def report_page(document: Document, share: SharedText, emblems: Mapping[str, int]) -> str:
    """Return the page as HTML; `emblems` has the number of each entrant's emblem.

    A document without data has no games to list, and its page no script that does.
    """
    html = page(
        "report.html.j2",
        "report",
        document.title,
        folders=(REPORT_TEMPLATES,),
        styles=("report.css",),
        scripts=("emblem.js", "sort.js", "bots.js", "report.js") if document.data else ("sort.js",),
        data=document.data,
        links=share.links,
        share=share._replace(summary=plain(share.summary)),
        draw_walk=sprt_walk,
        draw_tuning=search_courses,
        numbers=emblems,
        blocks=select(document.blocks, Media.HTML),
    )
    return FILE_PATTERN.sub(r'<a href="\1"><code>\1</code></a>', html)


# index.html: the events of a folder, with their reports.


EVENTS_PAGE = "index.html"
MOST_EVENTS = 200
"""The most events that the page lists, the latest first: each costs a look at its results."""


def events_page(folder: Path) -> str:
    """Return the HTML page that leads to the reports of the events in a folder. Raises OSError."""
    events = events_table("event", event_folders(folder)[:MOST_EVENTS], folder)
    return report_page(Document("Events", [events]), SharedText("Events and who leads."), {})
