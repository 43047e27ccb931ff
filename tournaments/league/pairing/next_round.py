"""The next round of a league: whose turn it is, who may play, and at which tables."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import ceil

from msgspec.structs import replace

from protocol.errors import UserError
from tournaments.formats.base import Entrant, first_version
from tournaments.formats.matches import Matches
from tournaments.league.conduct import held_versions
from tournaments.league.pairing.choice import METHOD, choose_tables
from tournaments.league.pairing.information import count_encounters
from tournaments.league.read import DivisionData, LeagueData, parse_time, week_of, write_utc
from tournaments.league.records import RoundPlan
from tournaments.league.register import register_digests
from tournaments.league.registry.version_command import entrant_of
from tournaments.league.settings import LeagueSettings
from tournaments.plan.event import Event

LONGEST_NAME = 32
"""Most characters of a division's name in the name of an event."""
LONGEST_TITLE = 80
"""Most characters of an event's title."""
NextRound = tuple[RoundPlan, Event]
"""The tables of a round and how they were chosen, and the round as an event."""


def next_round(league: LeagueData, now: datetime) -> NextRound | None:
    """Return the plan and the event of the next round; None if nothing can be played now.

    It belongs to the division that has played the smallest share of its week's boards.
    """
    week = week_of(now)

    def share(division: DivisionData) -> float:
        return division.boards_in(week) / division.settings.boards_a_week

    for division in sorted(league.divisions.values(), key=share):
        if found := _round_of(league, division, now):
            return found
    return None


def _round_of(league: LeagueData, division: DivisionData, now: datetime) -> NextRound | None:
    own, number = division.settings, len(division.rounds) + 1
    left = boards_to_play(league, division, now) // own.boards_a_table
    if left < 1:
        return None
    held = held_versions(league, division)
    entrants = _entrants(league, division, held)
    partners, seats = division.rules.deal.partners, division.seats
    encounters = count_encounters(division.results(), partners)
    plan = RoundPlan(
        method=METHOD,
        number=number,
        division=own.name,
        time=write_utc(now),
        active=tuple(entrants),
        held=dict(sorted(held.items())),
        boards=own.boards_a_table,
        most_tables=min(own.tables_a_round or ceil(len(entrants) / seats) or 1, left),
        until=own.until,
        register=register_digests(league.folder.register)[-1],
        anchor=league.settings.anchor.name,
        tables=(),
    )
    tables = choose_tables(plan, encounters, seats, partners=partners)
    if not tables:
        return None
    plan = replace(plan, tables=tuple(tables))
    seated = sorted({name for table in tables for name in table.entrants})
    event = _round_event(league.settings, division, plan, [entrants[name] for name in seated])
    return plan, event


def boards_to_play(league: LeagueData, division: DivisionData, now: datetime) -> int:
    """Return the boards that a division may play now: each day of the week allows a seventh more.

    So a bot that is pushed late in a week plays too, and a new league has its site within minutes.
    """
    today = now.astimezone(UTC).date()
    began = parse_time(league.register[0].time).date() if league.register else today
    days = min(today.isoweekday(), max(1, (today - began).days + 1))
    allowed = ceil(division.settings.boards_a_week * days / 7)
    return allowed - division.boards_in(week_of(now))


def _entrants(
    league: LeagueData, division: DivisionData, held: dict[str, str]
) -> Mapping[str, Entrant]:
    """Return the bots that may play, by name; add to `held` those that cannot."""
    found: dict[str, Entrant] = {}
    for name in league.active(division.settings.name):
        if name not in held:
            try:
                found[name] = entrant_of(league.folder, league.settings, league.versions[name])
            except UserError as error:
                held[name] = league.folder.without_path(f"{error}")
    return found


def _round_event(
    settings: LeagueSettings, division: DivisionData, plan: RoundPlan, entrants: Sequence[Entrant]
) -> Event:
    """Return a round as an event. Raises UserError if it cannot be played."""
    own, names = division.settings, [one.name for one in entrants]
    limits = settings.limits
    if not any(first_version(name).partition("@")[0] in settings.bots for name in names):
        # Only who needs the network can be unavailable; others would only make all wait.
        limits = replace(limits, unavailable=0)
    title = f"{settings.title}: {own.title or own.name}, round {plan.number}"
    return Event(
        name=f"{own.name[:LONGEST_NAME]}-{plan.number}",
        title=title[-LONGEST_TITLE:],
        rules=division.rules,
        seats=division.seats,
        boards=plan.boards,
        boards_a_sitting=Matches.BOARDS_A_SITTING,
        format=Matches(tuple(table.entrants for table in plan.tables)),
        clock=settings.clock,
        fouls=settings.fouls,
        sandbox=settings.sandbox_here,
        limits=limits,
        entrants=tuple(entrants),
        anchor=settings.anchor if settings.anchor.name in names else None,
        predictable=False,
    )
