"""Weeks of a league: the league as it was at the end of one, and its first and last day. Pure."""

from datetime import date, timedelta

from msgspec.structs import replace

from tournaments.league.read import LeagueData, parse_time, week_of


def league_at_end(league: LeagueData, week: str) -> LeagueData:
    """Return the league as its files told it at the end of a week, such as 2026-W47."""
    return replace(
        league,
        register=[one for one in league.register if week_of(parse_time(one.time)) <= week],
        divisions={
            name: replace(one, rounds=[played for played in one.rounds if played.week <= week])
            for name, one in league.divisions.items()
        },
    )


def days_of(week: str) -> tuple[date, date]:
    """Return the Monday and the Sunday of a week."""
    year, number = week.split("-W")
    monday = date.fromisocalendar(int(year), int(number), 1)
    return monday, monday + timedelta(days=6)


def week_before(week: str) -> str:
    """Return the week before a week."""
    year, number, _ = (days_of(week)[0] - timedelta(days=1)).isocalendar()
    return f"{year}-W{number:02}"
