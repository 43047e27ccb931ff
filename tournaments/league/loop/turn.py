"""A turn of a league: pull, admit, play a round, publish. A kill may come at any moment."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from arena.files import write_atomic
from arena.rules.english import count_in_digits, join_words
from arena.sandbox.select import choose_level
from protocol.errors import UserError
from tournaments.commands.report import take_luck_out, write_review
from tournaments.league.conduct import held_versions
from tournaments.league.folder import CLOSED, LeagueFolder
from tournaments.league.journal import Journal
from tournaments.league.loop.play_round import (
    Failure,
    begin_round,
    close_round,
    end_tries,
    play_round,
)
from tournaments.league.loop.pull import PullError, pull
from tournaments.league.pages.site import LeagueSite
from tournaments.league.pages.view import HOME, round_address
from tournaments.league.pairing.next_round import next_round
from tournaments.league.read import (
    DivisionData,
    LeagueData,
    PlayedRound,
    parse_time,
    read_league,
    read_round,
    week_of,
    write_utc,
)
from tournaments.league.records import RoundPlan
from tournaments.league.registry.update import update_register
from tournaments.league.settings import LeagueSettings, load_settings
from tournaments.plan.event import files_of
from tournaments.rating.game_result import own_fouls
from tournaments.site.writer import SiteWriter
from tournaments.storage.folder import content
from tournaments.storage.luck_store import LuckStore

RETRY_S = 4
"""Base of the pause after a try that failed, in s: it is this to the power of the tries."""
PAUSE_FACTOR = 10
"""The site is written again at the earliest when so many times as long has passed as it took."""
LIVE = "live"
"""Folder of the site that shows the present round, some time late."""


class Turns:
    """The turns of a league in this process, with what it has read."""

    def __init__(
        self,
        folder: LeagueFolder,
        journal: Journal,
        clock: Callable[[], datetime],
        jobs: int | None,
        *,
        confirmed: bool = False,
    ) -> None:
        """Read the settings. `confirmed`: the organiser gave the time. Raises UserError."""
        self._folder = folder
        self._journal = journal
        self._clock = clock
        self._jobs = jobs
        self._confirmed = confirmed
        self.settings = load_settings(folder.settings)
        """The settings in force: the last that could be read."""
        self._data: LeagueData | None = None
        self._publisher = Publisher(folder)
        self._valued: set[tuple[Path, bool, bool]] = set()

    # --- settings and bots ---

    def admit(self, *, strict: bool) -> None:
        """Pull, read league.toml again, look at all bots, and tell which are benched.

        Settings that are wrong change nothing; `strict`: they raise UserError. Raises OSError, and
        UserError if the clock is wrong.
        """
        if self.settings.pull:
            self._pull()
        self._reload(strict=strict)
        now = self._present(self._data or self._read(self.settings))
        for entry in update_register(self._folder, self.settings, now):
            self._journal.note_entry(entry)
        data = self._read(self.settings)
        held = [
            f"{version} in {name}: {why}"
            for name, division in data.divisions.items()
            for version, why in held_versions(data, division).items()
        ]
        self._journal.note_state("benched", "; ".join(held))

    def _pull(self) -> None:
        failure = ""
        try:
            if commit := pull(self._folder.path):
                self._journal.note("pulled", commit)
        except PullError as error:
            failure = f"failed: {error}"
        self._journal.note_state("pull", failure)

    def _reload(self, *, strict: bool) -> None:
        """Take the settings from league.toml, if they can be read."""
        complaint = ""
        try:
            settings = load_settings(self._folder.settings)
            self._read(settings)
            self.settings = settings
        except UserError as error:
            if strict:
                raise
            complaint = f"{error} The earlier settings stay in force."
        self._journal.note_state("settings", complaint)

    def _read(self, settings: LeagueSettings) -> LeagueData:
        """Read the league's files again. Raises UserError."""
        self._data = read_league(self._folder.path, self._data, settings)
        return self._data

    def _present(self, league: LeagueData) -> datetime:
        """Return the time for what is written next. Raises UserError if it seems wrong."""
        now = self._clock()
        begin_turn(league, now, confirmed=self._confirmed)
        return now

    # --- rounds ---

    def play(self) -> bool:
        """Play the round that was begun, or else the next one; tell whether there was one.

        A round that failed is tried again at the next call, but not for ever. Raises OSError if
        the disk is full, UserError if this machine cannot lock bots in, and KeyboardInterrupt.
        """
        data = self._read(self.settings)
        self._present(data)
        self._publisher.resume(data)
        self.show_live()
        unfinished = (one for one in map(_unfinished, data.divisions.values()) if one)
        played = next(unfinished, None)
        if played:
            self._journal.note_state("goes on", played.plan.title)
        elif (played := self._begin(data)) is None:
            return False
        self._play(played)
        return True

    def _begin(self, data: LeagueData) -> PlayedRound | None:
        found = next_round(data, self._present(data))
        if found is None:
            return None
        plan, event = found
        path = begin_round(self._folder, plan, event)
        tables = count_in_digits(len(plan.tables), "table")
        boards = count_in_digits(len(plan.tables) * plan.boards, "board")
        self._journal.note("begun", f"{plan.title}: {tables}, {boards}")
        return read_round(path, 0)

    def _play(self, one: PlayedRound) -> None:
        """Play a round, and write into the log and the register what came of it."""
        self._publisher.announce(one)
        began = time.monotonic()
        event, files = one.event, files_of(one.event.entrants)
        sandbox = choose_level(event.sandbox, event.limits, self._folder.path, files)
        self._journal.note_state("sandbox", sandbox.brief.removeprefix("Sandbox: "))
        failure = play_round(one.folder.path, sandbox, self._jobs, self.show_live)
        if failure is None:
            seconds = time.monotonic() - began
            over = read_round(one.folder.path, 0)
            self._journal.note("over", f"{one.plan.title}: {_outcome(over)} in {seconds:.1f} s")
        elif failure.is_last:
            self._close(one, failure)
        else:
            self._journal.note("stopped", f"{one.plan.title}: {failure.why} It is tried again.")
            # What the machine is short of may come back.
            time.sleep(min(self.settings.every_s, RETRY_S**failure.tries))

    def _close(self, one: PlayedRound, failure: Failure) -> None:
        why = self._folder.without_path(failure.why)
        close_round(one.folder, self._clock(), why)
        end_tries(one.folder)
        self._journal.note("closed", f"{one.plan.title}, not all games are played: {why}")

    # --- values ---

    def value(self) -> None:
        """Compute the luck and the review of the newest round that lacks what the settings ask for.

        Only one a turn: pushes wait meanwhile. Raises UserError, OSError.
        """
        wanted = self.settings.luck, self.settings.review
        divisions = self._read(self.settings).divisions.values() if any(wanted) else ()
        over = (one for division in divisions for one in division.over if one.closed is None)
        for one in sorted(over, key=lambda one: (one.plan.time, one.plan.number), reverse=True):
            if (key := (one.folder.path, *wanted)) not in self._valued:
                told = value_round(self.settings, one)
                self._valued.add(key)
                if told:
                    self._journal.note("valued", f"{one.plan.title}: {told}")
                    self._publisher.outdate()
                    return

    # --- publication ---

    def publish(self, *, at_once: bool) -> None:
        """Write the site, if there is news; soon after the last time only `at_once`.

        Raises UserError, OSError.
        """
        league = self._read(self.settings)
        now = self._present(league)
        if self._publisher.is_due(league, now, at_once=at_once):
            seconds = self._publisher.publish(league, now)
            self._journal.note("published", f"the site in {seconds:.1f} s")

    def show_live(self) -> None:
        """Write a public snapshot of the last round."""
        self._publisher.show_live(self.settings.title, self.settings.delay_s)


def _unfinished(division: DivisionData) -> PlayedRound | None:
    """Return the division's round that was begun and is not wholly written; None without one."""
    last = division.rounds[-1] if division.rounds else None
    return last if last and (not last.is_over or last.is_tried) else None


def _outcome(one: PlayedRound) -> str:
    fouls = Counter(result.seats[seat] for result in one.results for seat in own_fouls(result))
    told = [f"{name} fouled in {games}" for name, games in fouls.most_common()]
    return ", ".join([count_in_digits(len(one.results), "game"), *told])


LEAP = timedelta(days=1)
"""Time after a turn within which the next one needs no confirmation."""


def begin_turn(league: LeagueData, now: datetime, *, confirmed: bool) -> None:
    """Check and note the time of a turn; what it writes gets this time or a later one.

    `confirmed`: the organiser gave the time. Raises UserError if it would be in disorder, or if it
    may be wrong: once a wrong time is in the files, the league stands still until then.
    """
    if write_utc(now) < league.latest:
        raise UserError(
            f"The clock, or --now, says {write_utc(now)}, which is behind {league.latest}, the "
            "last time in the league's files, whose times must be in order. Set it right. If the "
            f"last time is wrong, remove what has it: {join_words(list(_later_than(league, now)))}."
        )
    turn = league.folder.turn
    noted = content(turn).decode().strip()
    if noted and not confirmed and now - parse_time(noted) > LEAP:
        raise UserError(
            f"The clock says {write_utc(now)}, more than a day after the league's last turn at "
            f"{noted}. Set it right; or, if it is right, confirm it by removing {turn}."
        )
    write_atomic(turn, [write_utc(now).encode()])


def _later_than(league: LeagueData, now: datetime) -> Iterator[str]:
    """Yield what the organiser must remove so that the league's last time is not after this."""
    time = write_utc(now)
    for one in league.rounds:
        path = one.folder.path.relative_to(league.folder.path)
        if one.plan.time > time:
            yield f"{path}"
        elif one.closed and one.closed.time > time:
            yield f"{path / CLOSED}"
    if lines := sum(one.time > time for one in league.register):
        yield f"{count_in_digits(lines, 'line')} at the end of {league.folder.register.name}"


def value_round(settings: LeagueSettings, one: PlayedRound) -> str:
    """Compute what a round that is over lacks of its luck and review; return what, in words.

    Raises UserError, OSError.
    """
    return " and ".join(_value(settings, one))


def _value(settings: LeagueSettings, one: PlayedRound) -> Iterator[str]:
    from arena.valuation.batch import (
        why_no_values,  # It takes numpy, which most leagues need later.
    )

    known = LuckStore(one.folder, one.event)
    if settings.luck and known.has_luck and not all(map(known.known, one.results)):
        take_luck_out(one.folder)
        yield "luck"
    if settings.review and not one.folder.review.exists() and not why_no_values(one.event.rules):
        write_review(one.folder)
        yield "review"


# --- the public side ---


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
        there = (self._folder.site / HOME).exists()
        return not there or content(self._folder.published) != _state(league, now)

    def publish(self, league: LeagueData, now: datetime) -> float:
        """Write the site; return the duration in s. Raises UserError, OSError, DamagedFileError."""
        began, state = time.monotonic(), _state(league, now)
        self._site.publish(league, week_of(now), _planned(league, now))
        write_atomic(self._folder.published, [state])
        self._at = time.monotonic()
        self._took_s = self._at - began
        return self._took_s


def _state(league: LeagueData, now: datetime) -> bytes:
    """Return what the site shows of a league, but for luck and reviews, in short."""
    rounds = {name: (len(one.rounds), len(one.over)) for name, one in league.divisions.items()}
    return repr((f"{now:%Y-%m-%d}", league.settings, len(league.register), rounds)).encode()


def _planned(league: LeagueData, now: datetime) -> RoundPlan | None:
    if all(one.is_over for one in league.rounds):
        with suppress(UserError):
            return found[0] if (found := next_round(league, now)) else None
    return None
