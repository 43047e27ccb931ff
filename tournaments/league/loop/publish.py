"""Publication of a league while it runs: commitments, live snapshots, weekly reports, the site."""

import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from arena.files import write_atomic
from protocol.errors import UserError
from tournaments.league.folder import CLOSED, LeagueFolder
from tournaments.league.pages.site import LeagueSite
from tournaments.league.pages.view import HOME, round_address
from tournaments.league.pairing.next_round import next_round
from tournaments.league.read import LeagueData, PlayedRound, week_of
from tournaments.league.records import RoundPlan
from tournaments.league.weekly_report import weekly_report
from tournaments.site.writer import SiteWriter
from tournaments.storage.folder import content

PAUSE_FACTOR = 10
"""The site is written again at the earliest when so many times as long has passed as it took."""
LIVE = "live"
"""Folder of the site that shows the present round, some time late."""


class Publisher:
    """The public side of a league in this process."""

    def __init__(self, folder: LeagueFolder) -> None:
        self._folder = folder
        self._site = LeagueSite(folder.site)
        self._at = self._took_s = 0.0
        self._live: PlayedRound | None = None
        self._writer: tuple[object, SiteWriter] | None = None

    def announce(self, begun: PlayedRound) -> None:
        """Publish the commitments of a round, before its first game, and show it from now on.

        Raises OSError.
        """
        place = self._folder.site / round_address(begun)
        place.mkdir(parents=True, exist_ok=True)
        commitments = begun.folder.commitments
        write_atomic(place / commitments.name, [content(commitments)])
        self._live = begun

    def resume(self, league: LeagueData) -> None:
        """Show the last round again after a restart, until the delay of the next has passed."""
        last = [one.rounds[-1] for one in league.divisions.values() if one.rounds]
        self._live = self._live or max(last, key=lambda one: one.plan.time, default=None)

    def show_live(self, title: str, delay_s: float) -> None:
        """Write a public snapshot of the last round; if that fails, the next call tries again."""
        if self._live:
            if self._writer is None or self._writer[0] != (title, delay_s):
                links = ((f"../{HOME}", title),)
                live = SiteWriter(self._folder.site / LIVE, delay_s, links)
                self._writer = (title, delay_s), live
            with suppress(OSError, UserError):
                self._writer[1].follow(self._live.folder.path, time.time())

    def outdate(self) -> None:
        """Note that the site lacks something of earlier rounds. Raises OSError."""
        self._folder.published.unlink(missing_ok=True)

    def is_due(self, league: LeagueData, now: datetime, *, at_once: bool) -> bool:
        """Tell whether there is news to publish; soon after the last time only `at_once`."""
        if not at_once and time.monotonic() - self._at < PAUSE_FACTOR * self._took_s:
            return False
        mark, folder = self._folder.published, self._folder
        if content(mark) != _day(now) or not (folder.site / HOME).exists():
            return True
        rounds = [one.rounds[-1].folder for one in league.divisions.values() if one.rounds]
        files = [folder.settings, folder.register, *(one.ledger for one in rounds)]
        files += [one.path / CLOSED for one in rounds]
        return max(map(_changed_at, files)) > _changed_at(mark)

    def publish(self, league: LeagueData, now: datetime) -> float:
        """Write the reports of the weeks that are over, and the site; return the duration in s.

        Raises UserError, OSError, DamagedFileError.
        """
        began = time.monotonic()
        mark = self._folder.published
        # What changes meanwhile is news for the next time.
        write_atomic(mark.with_name(f"{mark.name}.begun"), [_day(now)])
        _write_reports(league, now)
        self._site.publish(league, week_of(now), _planned(league, now))
        mark.with_name(f"{mark.name}.begun").replace(mark)
        self._at = time.monotonic()
        self._took_s = self._at - began
        return self._took_s


def _planned(league: LeagueData, now: datetime) -> RoundPlan | None:
    if all(one.is_over for division in league.divisions.values() for one in division.rounds):
        with suppress(UserError):
            return found.plan if (found := next_round(league, now)) else None
    return None


def _day(now: datetime) -> bytes:
    return f"{now:%Y-%m-%d}\n".encode()


def _changed_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _write_reports(league: LeagueData, now: datetime) -> None:
    """Write the report of each week that is over and has none yet."""
    rounds = [one for division in league.divisions.values() for one in division.rounds]
    still_played = {one.week for one in rounds if not one.is_over}
    for week in sorted({one.week for one in rounds} - still_played - {week_of(now)}):
        path = league.folder.reports / f"{week}.md"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write_atomic(path, [weekly_report(league, week).encode()])
