"""The next round of a league: whose turn it is, who may play, and at which tables."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple

from msgspec.structs import replace

from protocol.errors import UserError
from tournaments.formats.base import Entrant
from tournaments.league.conduct import held_versions
from tournaments.league.pairing.choice import METHOD, plan_tables
from tournaments.league.pairing.information import count_encounters
from tournaments.league.read import (
    DivisionData,
    LeagueData,
    parse_time,
    register_digests,
    week_of,
    write_time,
)
from tournaments.league.records import RoundPlan
from tournaments.league.registry.version_command import entrant_of
from tournaments.league.rounds import round_event
from tournaments.plan.event import Event


class NextRound(NamedTuple):
    """A round that is not begun yet."""

    plan: RoundPlan
    """Its tables, and how they were chosen."""
    event: Event


def next_round(league: LeagueData, now: datetime) -> NextRound | None:
    """Return the next round; None if no division has anything to play now.

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
    plan = RoundPlan(
        method=METHOD,
        number=number,
        division=own.name,
        time=write_time(now),
        active=tuple(entrants),
        held=dict(sorted(held.items())),
        boards=own.boards_a_table,
        most_tables=min(own.tables_a_round or ceil(len(entrants) / seats) or 1, left),
        until=own.until,
        register=register_digests(league.folder.register)[-1],
        anchor=league.settings.anchor.name,
        tables=(),
    )
    tables = plan_tables(plan, count_encounters(division.results(), partners), seats, partners)
    if not tables:
        return None
    plan = replace(plan, tables=tuple(tables))
    seated = sorted({name for table in tables for name in table.entrants})
    event = round_event(league.settings, division, plan, [entrants[name] for name in seated])
    return NextRound(plan, event)


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
