"""The games of an event for the report's script: a few numbers each, bounded. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, get_args
from urllib.parse import quote

from msgspec import Struct, field

from arena.analysis.review import SENTENCES
from arena.analysis.text import WHY
from arena.logs.catalog import PAGES, SITE_PAGE, page_name
from protocol.codec import encode_json
from protocol.messages import WhyGame
from protocol.records import FoulClass, Result, RoundRecord
from tournaments.plan.event import Event
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import PlannedGame, PlannedSitting

BYTES = 2_500_000
"""The largest size of the list of games, in bytes."""
WHYS: tuple[str, ...] = get_args(WhyGame)
FOULS: tuple[str, ...] = get_args(FoulClass)

Row = list[Any]
"""A game: its page, its board, then of each seat the entrant, the score and the place, then the
rounds, why it ended, and of each foul the seat and the class. All are numbers: pages, entrants,
reasons and classes are places in their lists."""
Rounds = list[int]
"""A game's rounds: of each whether it was blocked, 1 or 0, and then each seat's points after it."""


class GameList(Struct, frozen=True, kw_only=True):
    """The games that a page lists."""

    names: tuple[str, ...]
    seats: int
    pages: tuple[str, ...]
    """Beginnings of replay addresses, to be followed by a game's name."""
    whys: tuple[str, ...] = WHYS
    fouls: tuple[str, ...] = FOULS
    total: int
    games: tuple[Row, ...]
    """The first of them, as many as have room; see `Row`. A game is called by its board and the
    entrants in its seats, with dots between them."""
    rounds: tuple[Rounds, ...]
    partners: bool
    """True if every second seat plays together."""
    sentences: dict[str, str] = field(default_factory=SENTENCES.copy)
    reasons: tuple[str, ...] = tuple(WHY[why] for why in get_args(WhyGame))


def build_game_list(
    event: Event,
    results: Sequence[Result],
    addresses: Mapping[str, str],
    rounds: Mapping[str, Sequence[RoundRecord]],
) -> GameList:
    """Return the list of as many results, in their order, as fit."""
    names = [one.name for one in event.entrants]
    places = {name: place for place, name in enumerate(names)}
    pages: dict[str, int] = {}
    rows: list[Row] = []
    courses: list[Rounds] = []
    room = BYTES
    for result in results:
        page = addresses[result.game].removesuffix(quote(result.game))
        row = _row(result, pages.get(page, len(pages)), places)
        records = rounds.get(result.game, ())
        course = [n for one in records for n in (int(one.why == "blocked"), *one.scores)]
        room -= len(encode_json((row, course, *(() if page in pages else (page,)))))
        if room < 0:
            break
        pages.setdefault(page, len(pages))
        rows.append(row)
        courses.append(course)
    return GameList(
        names=tuple(names),
        seats=event.seats,
        pages=tuple(pages),
        total=len(results),
        games=tuple(rows),
        rounds=tuple(courses),
        partners=event.rules.deal.partners,
    )


def _row(result: Result, page: int, places: Mapping[str, int]) -> Row:
    return [
        page,
        result.board,
        *(places[name] for name in result.seats),
        *result.scores,
        *result.places,
        result.rounds,
        WHYS.index(result.why),
        *chain.from_iterable((one.seat, FOULS.index(one.foul)) for one in result.fouls),
    ]


def addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Return the address of each game's replay, relative to the event's folder.

    Append `&at=12` for a moment of it, `&seat=1` for a seat's view. `boneyard replay FOLDER --html`
    makes a page that does not exist yet.
    """
    return GameIndex(plans, _address)


def _address(plan: PlannedSitting, game: PlannedGame) -> str:
    return f"{PAGES}/{quote(page_name(plan.name, game.place))}#game={quote(game.name)}"


def site_addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Return the address of each game's replay on a site, where one page replays all games."""
    return GameIndex(plans, lambda _, game: f"{SITE_PAGE}#game={quote(game.name)}")
