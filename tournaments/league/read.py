"""The state of a league, read from its files: the register, the rounds and their results."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from arena.files import read_file
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from protocol.records import Result
from protocol.ruleset import Ruleset
from tournaments.league.folder import CLOSED, PLAN, TRIES, LeagueFolder
from tournaments.league.records import TIME, Admitted, AnyEntry, EarlyEnd, RoundPlan
from tournaments.league.register import BotHistory, active_versions, bot_histories, read_register
from tournaments.league.settings import (
    DivisionSettings,
    LeagueSettings,
    division_rules,
    load_settings,
)
from tournaments.plan.event import Event
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import results_of

R = TypeVar("R")


class PlayedRound(Struct, frozen=True, kw_only=True):
    """A round of a division, over or not."""

    plan: RoundPlan
    """The inputs and the outcome of the choice of its tables."""
    folder: Folder
    event: Event
    is_over: bool
    """True if no game of it will be played any more."""
    closed: EarlyEnd | None
    """The reason why it ended before all its games were played; None if it did not."""
    results: list[Result]
    """Results that count, in the order of its ledger, with boards as numbered there."""
    first_board: int
    """Number that is added to its boards to tell them from those of other rounds."""

    @property
    def day(self) -> str:
        """Day on which it was chosen, such as 2026-11-22."""
        return self.plan.time[:10]

    @property
    def is_tried(self) -> bool:
        """True if it is being played, or was when this program was killed."""
        return (self.folder.path / TRIES).exists()

    @property
    def week(self) -> str:
        """ISO week in which it was chosen, such as 2026-W47."""
        return week_of(parse_time(self.plan.time))


class DivisionData(Struct, frozen=True, kw_only=True):
    """A division with all its rounds."""

    settings: DivisionSettings
    rules: Ruleset
    seats: int
    rounds: list[PlayedRound]
    """Its rounds, in order; only the last may be still played."""

    @property
    def over(self) -> list[PlayedRound]:
        """Its rounds that are over."""
        return [one for one in self.rounds if one.is_over]

    @property
    def playing(self) -> PlayedRound | None:
        """Its round that is not over."""
        return next((one for one in self.rounds if not one.is_over), None)

    def results(self) -> Iterator[Result]:
        """Yield the results of all rounds that are over; no board number stands for two boards."""
        for one in self.over:
            for result in one.results:
                yield replace(result, board=result.board + one.first_board)

    def boards_in(self, week: str) -> int:
        """Count the boards that the rounds of a week play: one for each table and deal."""
        return sum(
            len(one.plan.tables) * one.plan.boards for one in self.rounds if one.week == week
        )


class LeagueData(Struct, frozen=True, kw_only=True, dict=True):
    """A league as its files tell it."""

    folder: LeagueFolder
    settings: LeagueSettings
    register: list[AnyEntry]
    """Its register, the oldest line first."""
    divisions: Mapping[str, DivisionData]
    """Its divisions, in the order of the settings."""

    @cached_property
    def histories(self) -> Mapping[str, BotHistory]:
        """The history of each bot in the register, in the order in which the bots came."""
        return bot_histories(self.register)

    @cached_property
    def versions(self) -> Mapping[str, Admitted]:
        """Every version that was ever admitted, by name, the oldest first."""
        return {one.version: one for one in self.register if isinstance(one, Admitted)}

    @property
    def rounds(self) -> list[PlayedRound]:
        """The rounds of all divisions."""
        return [one for division in self.divisions.values() for one in division.rounds]

    @property
    def last_rounds(self) -> list[PlayedRound]:
        """The last round of each division that has one."""
        return [one for division in self.divisions.values() for one in division.rounds[-1:]]

    @property
    def latest(self) -> str:
        """The latest time in its files; empty if there is none."""
        rounds = self.rounds
        times = [one.time for one in (*self.register, *(each.plan for each in rounds))]
        return max([*times, *(one.closed.time for one in rounds if one.closed)], default="")

    def active(self, division: str) -> list[str]:
        """Return the versions that play in a division, sorted by name: the present one of each bot.

        Benched ones are among them.
        """
        return active_versions(self.histories, self.settings.house, division)


def read_league(
    path: Path, earlier: LeagueData | None = None, settings: LeagueSettings | None = None
) -> LeagueData:
    """Read a league; with `settings` these hold, whatever its file says now.

    Rounds that were over in `earlier`, what was read of it before, are not read again.
    Raises UserError, DamagedFileError.
    """
    folder = LeagueFolder(path)
    if settings is None:
        if not folder.settings.is_file():
            raise UserError(f"{path} has no league: {folder.settings.name} is missing.")
        settings = load_settings(folder.settings)
    return LeagueData(
        folder=folder,
        settings=settings,
        register=list(read_register(folder.register)),
        divisions={
            one.name: _read_division(
                folder, one, earlier.divisions.get(one.name) if earlier else None
            )
            for one in settings.divisions
        },
    )


def _read_division(
    folder: LeagueFolder, settings: DivisionSettings, earlier: DivisionData | None
) -> DivisionData:
    rules, seats = division_rules(settings, folder.path)
    over = {one.folder.path: one for one in (earlier.rounds if earlier else ()) if one.is_over}
    rounds: list[PlayedRound] = []
    first = 0
    for path in folder.rounds_of(settings.name):
        rounds.append(over.get(path) or read_round(path, first))
        first += rounds[-1].event.all_boards
    if rounds and (rounds[-1].event.rules, rounds[-1].event.seats) != (rules, seats):
        raise UserError(
            f"{folder.settings}: the rules or seats of division {settings.name} have changed since "
            "it was first played. Give a game of other rules a division of another name."
        )
    return DivisionData(settings=settings, rules=rules, seats=seats, rounds=rounds)


def read_round(path: Path, first_board: int) -> PlayedRound:
    """Read a round's folder. Raises UserError, DamagedFileError."""
    plan = _read_record(path / PLAN, RoundPlan)
    closed = _read_record(path / CLOSED, EarlyEnd) if (path / CLOSED).exists() else None
    folder = Folder(path)
    event = load_event(folder)
    results = list(results_of(folder.ledger, event))
    games = len(plan.tables) * event.boards * _seatings(event)
    return PlayedRound(
        plan=plan,
        folder=folder,
        event=event,
        is_over=closed is not None or len(results) >= games,
        closed=closed,
        results=_of_whole_boards(event, results) if closed else results,
        first_board=first_board,
    )


def _read_record(path: Path, kind: type[R]) -> R:
    try:
        return decode_json(read_file(path), kind)
    except DamagedRecordError as error:
        raise UserError(f"{path}: {error}.") from error


def _of_whole_boards(event: Event, results: list[Result]) -> list[Result]:
    """Return the results of boards that their table has played in every seating.

    Otherwise a bot that can stop us would choose the rotations that count.
    """
    seatings = _seatings(event)
    played = Counter((one.board, frozenset(one.seats)) for one in results)
    return [one for one in results if played[one.board, frozenset(one.seats)] == seatings]


def _seatings(event: Event) -> int:
    """Return in how many seatings a table plays each board."""
    mixed = event.rules.deal.partners and not event.teams
    return event.seats * (3 if mixed else 1)


# --- times ---


def write_utc(when: datetime) -> str:
    """Write a time as the records have it."""
    return when.astimezone(UTC).strftime(TIME)


def parse_time(text: str) -> datetime:
    """Read a time of a record."""
    return datetime.strptime(text, TIME).replace(tzinfo=UTC)


def week_of(when: datetime) -> str:
    """Return the ISO week of a time in UTC, such as 2026-W47."""
    return f"{when.astimezone(UTC):%G-W%V}"


def days_of(week: str) -> tuple[date, date]:
    """Return the Monday and the Sunday of a week."""
    monday = date.fromisoformat(f"{week}-1")
    return monday, monday + timedelta(days=6)
