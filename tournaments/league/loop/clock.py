"""The time of a league's turn: in order with its files, and no leap that nobody confirmed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from arena.files import write_atomic
from arena.rules.english import count_in_digits, join_words
from protocol.errors import UserError
from tournaments.league.folder import CLOSED
from tournaments.league.read import LeagueData, parse_time, week_of, write_time
from tournaments.storage.folder import content

LEAP = timedelta(days=1)
"""Time after a turn within which the next one needs no confirmation."""


def begin_turn(league: LeagueData, now: datetime, *, confirmed: bool) -> None:
    """Check and note the time of a turn; what it writes gets this time or a later one.

    `confirmed`: the organiser gave the time. Raises UserError if it would be in disorder, or if it
    may be wrong: once a wrong time is in the files, the league stands still until then.
    """
    if write_time(now) < league.latest:
        raise UserError(
            f"The clock, or --now, says {write_time(now)}, which is behind {league.latest}, the "
            "last time in the league's files, whose times must be in order. Set it right. If the "
            f"last time is wrong, remove what has it: {join_words(list(_later_than(league, now)))}."
        )
    turn = league.folder.turn
    noted = content(turn).decode().strip()
    if noted and not confirmed and now - parse_time(noted) > LEAP:
        raise UserError(
            f"The clock says {write_time(now)}, more than a day after the league's last turn at "
            f"{noted}. Set it right; or, if it is right, confirm it by removing {turn}."
        )
    write_atomic(turn, [write_time(now).encode()])


def _later_than(league: LeagueData, now: datetime) -> Iterator[str]:
    """Yield what the organiser must remove so that the league's last time is not after this."""
    time, week = write_time(now), week_of(now)
    for division in league.divisions.values():
        for one in division.rounds:
            path = one.folder.path.relative_to(league.folder.path)
            if one.plan.time > time:
                yield f"{path}"
            elif one.closed and one.closed.time > time:
                yield f"{path / CLOSED}"
    if lines := sum(one.time > time for one in league.register):
        yield f"{count_in_digits(lines, 'line')} at the end of {league.folder.register.name}"
    reports = sorted(league.folder.reports.glob("*.md"))
    yield from (f"reports/{path.name}" for path in reports if path.stem >= week)
