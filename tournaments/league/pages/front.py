"""The first page of a league: the standings of each division, and what is new. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.document.blocks import Cell
from arena.rules.english import count_in_digits
from protocol.records import Result
from tournaments.formats.base import first_version
from tournaments.league.pages.view import DivisionView, LeagueView, MetGame, elo_text
from tournaments.league.pages.view import round_address as address_of
from tournaments.league.ratings.standings import StandingRow
from tournaments.report.html.forest import Forest, Interval, place_estimates

MOST_DRAWN = 100
"""Bots of all divisions up to which their intervals are drawn: a page stays below 100 kB."""
MOST_LINES = 260
"""Lines of all divisions together."""
FORM = 8
"""Games of a form."""
GAMES, TABLES = 8, 12
"""The largest numbers of last games and of next tables."""


class Line(NamedTuple):
    """A line of the standings."""

    row: StandingRow
    rank: str
    open: str
    """The ranks that the results leave open; empty if no other."""
    elo: Cell
    interval: Interval | None
    form: Sequence[str]
    moved: int
    """Ranks won since a week ago."""
    win: str
    mark: str
    """A word about the bot: house, benched, new; or empty."""


class StandingsTable(NamedTuple):
    """The standings of a division, or the first of them."""

    caption: str
    lines: Sequence[Line]
    forest: Forest | None
    """The axis of the intervals; None if none are drawn."""
    moves: bool
    """True if somebody has moved since a week ago."""


class GameLine(NamedTuple):
    """A game that is over."""

    seats: Sequence[tuple[str, int]]
    """The version in each seat, and its points."""
    note: str
    replay: str


class FrontPart(NamedTuple):
    """The part of the first page about a division."""

    division: DivisionView
    lead: str
    alerts: Sequence[str]
    """Regressions, in sentences."""
    table: StandingsTable
    left: int
    """Bots for which there is no room,"""
    full: str
    """and the address of the page that has them all."""
    next: Sequence[object]
    """Tables of the next round,"""
    more: int
    """and how many others it has."""
    games: Sequence[GameLine]
    last_round: str
    """Address of the last round."""


def front_parts(view: LeagueView) -> list[FrontPart]:
    """Return the parts of the first page."""
    total = sum(len(one.standings.rows) for one in view.divisions)
    room = MOST_LINES // max(1, len(view.divisions))
    return [_part(one, max(10, room), total <= MOST_DRAWN) for one in view.divisions]


def _part(division: DivisionView, room: int, drawn: bool) -> FrontPart:
    rows = division.standings.rows
    tables = division.next.tables if division.next else ()
    return FrontPart(
        division=division,
        lead=division_lead(division),
        alerts=[*alerts(division)],
        table=standings_table(division, rows[:room], drawn=drawn),
        left=max(0, len(rows) - room),
        full=f"standings/{division.name}.html",
        next=tables[:TABLES],
        more=max(0, len(tables) - TABLES),
        games=[game_line(one) for one in last_games(division)],
        last_round=f"{address_of(division.last)}index.html" if division.last else "",
    )


def division_lead(division: DivisionView) -> str:
    """Return a sentence or two about the state of a division."""
    rows = division.standings.rows
    games = sum(len(one.results) for one in division.rounds)
    if not games or not rows:
        return "No round is over yet: ratings come with the first."
    best = next((one for one in rows if not one.is_house), rows[0])
    elo, half = elo_text(best)
    who = f"**{best.version}**"
    place = f" on place {best.rank}" if best.rank else ""
    where = "leads" if best.rank == 1 else f"is the best entrant{place},"
    interval = f" ± {half}" if half else ""
    last = division.rounds[-1]
    return (
        f"{who} {where} with {elo}{interval} Elo. {count_in_digits(len(rows), 'bot')}, "
        f"{games:,} games; last round: {last.plan.number}, on {last.plan.time[:10]}."
    )


def alerts(division: DivisionView) -> Iterator[str]:
    """Yield the findings that a reader must know."""
    for one in division.standings.regressions:
        yield f"{one.sentence}."


def standings_table(
    division: DivisionView, rows: Sequence[StandingRow], *, drawn: bool
) -> StandingsTable:
    """Return the table of some versions; `drawn`: with their intervals."""
    drawn = drawn and any(row.elo is not None for row in rows)
    forest = place_estimates(rows) if drawn else None
    return StandingsTable(
        f"Standings of {division.title}",
        [
            Line(
                row=row,
                rank=f"{row.rank or '–'}",
                open=_open_ranks(row),
                elo=Cell(*elo_text(row)),
                interval=interval if row.games else None,
                form=row.form[-FORM:],
                moved=division.moved.get(row.bot, 0) if row.is_active else 0,
                win="" if row.win_share is None else f"{100 * row.win_share:.1f}",
                mark=_mark(division, row),
            )
            for row, interval in zip(
                rows, forest.rows if forest else [None] * len(rows), strict=True
            )
        ],
        forest,
        any(division.moved.get(row.bot) and row.is_active for row in rows),
    )


def _open_ranks(row: StandingRow) -> str:
    best, worst = row.ranks or (0, 0)
    return "" if best == worst else f"{best}–{worst}"


def _mark(division: DivisionView, row: StandingRow) -> str:
    if row.version in division.benched:
        return "benched"
    if row.is_house:
        return "house"
    return "" if row.games else "new"


def last_games(division: DivisionView) -> list[MetGame]:
    """Return some games of the last round, each of another table."""
    if not division.last:
        return []
    by_table: dict[frozenset[str], Result] = {}
    for result in division.last.results:
        by_table[frozenset(result.seats)] = result
    return [MetGame(division.last, result) for result in [*by_table.values()][:GAMES]]


def game_line(game: MetGame) -> GameLine:
    """Return a game as a line: the best first."""
    result = game.result
    seats = sorted(range(len(result.seats)), key=lambda seat: result.places[seat])
    fouls = [f"{first_version(result.seats[one.seat])}: {one.foul}" for one in result.fouls]
    return GameLine(
        [(result.seats[seat], result.scores[seat]) for seat in seats],
        f"foul of {', '.join(fouls)}" if fouls else "",
        game.replay,
    )
