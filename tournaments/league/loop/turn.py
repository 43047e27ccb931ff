"""A turn of a league: pull, admit, play a round, publish. A kill may come at any moment."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from arena.files import write_atomic
from arena.rules.english import count_in_digits, join_words
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from protocol.errors import UserError
from tournaments.commands.report import take_luck_out
from tournaments.commands.review import write_review
from tournaments.league.conduct import new_benches
from tournaments.league.folder import CLOSED, LeagueFolder
from tournaments.league.journal import Journal
from tournaments.league.loop.play_round import Failure, play_round
from tournaments.league.loop.publish import Publisher
from tournaments.league.loop.pull import PullError, pull
from tournaments.league.pairing.next_round import next_round
from tournaments.league.read import (
    DivisionData,
    LeagueData,
    PlayedRound,
    parse_time,
    read_league,
    read_round,
    week_of,
    write_time,
)
from tournaments.league.records import RoundPlan
from tournaments.league.registry.history import append_entries
from tournaments.league.registry.update import update_register
from tournaments.league.rounds import begin_round, close_round, end_tries, is_tried
from tournaments.league.settings import LeagueSettings, load_settings
from tournaments.plan.event import Event, files_of
from tournaments.rating.fouls import own_fouls
from tournaments.storage.folder import content
from tournaments.storage.luck_store import LuckStore

PROVED_S = 3600.0
"""Time for which a sandbox that was proved is used without another proof, in s."""
RETRY_S = 4
"""Base of the pause after a try that failed, in s: it is this to the power of the tries."""


class Turns:
    """The turns of a league in this process, with what it has read and proved."""

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
        self._proved: tuple[float, Sandbox] | None = None
        self._publisher = Publisher(folder)
        self._valued: set[tuple[Path, bool, bool]] = set()

    # --- settings and bots ---

    def admit(self, *, strict: bool) -> None:
        """Pull, read league.toml again, look at all bots, and bench those that foul.

        Settings that are wrong change nothing; `strict`: they raise UserError. Raises OSError, and
        UserError if the clock is wrong.
        """
        if self.settings.pull:
            self._pull()
        self._reload(strict=strict)
        now = self._present(self._data or self._read(self.settings))
        for entry in update_register(self._folder, self.settings, now):
            self._journal.note_entry(entry)
        benches = new_benches(self._read(self.settings), self._clock())
        for bench in append_entries(self._folder.register, benches):
            self._journal.note_entry(bench)

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
            self._journal.note_state("goes on", _title(played.plan))
        elif (played := self._begin(data)) is None:
            return False
        self._play(played)
        return True

    def _begin(self, data: LeagueData) -> PlayedRound | None:
        found = next_round(data, self._present(data))
        if found is None:
            return None
        plan = found.plan
        path = begin_round(self._folder, plan, found.event)
        tables = count_in_digits(len(plan.tables), "table")
        boards = count_in_digits(len(plan.tables) * plan.boards, "board")
        self._journal.note("begun", f"{_title(plan)}: {tables}, {boards}")
        return read_round(path, 0)

    def _play(self, one: PlayedRound) -> None:
        """Play a round, and write into the log and the register what came of it."""
        self._publisher.announce(one)
        began = time.monotonic()
        sandbox = self._sandbox(one.event)
        failure = play_round(one.folder.path, sandbox, self._jobs, self.show_live)
        if failure is None:
            seconds = time.monotonic() - began
            over = read_round(one.folder.path, 0)
            self._journal.note("over", f"{_title(one.plan)}: {_outcome(over)} in {seconds:.1f} s")
        elif failure.is_last:
            self._close(one, failure)
        else:
            self._journal.note("stopped", f"{_title(one.plan)}: {failure.why} It is tried again.")
            # What the machine is short of may come back.
            time.sleep(min(self.settings.every_s, RETRY_S**failure.tries))

    def _close(self, one: PlayedRound, failure: Failure) -> None:
        why = self._folder.without_path(failure.why)
        close_round(one.folder, self._clock(), why)
        end_tries(one.folder)
        self._journal.note("closed", f"{_title(one.plan)}, not all games are played: {why}")

    def _sandbox(self, event: Event) -> Sandbox:
        """Return the sandbox of a round. Raises UserError if bots cannot be locked in here."""
        if self._proved and time.monotonic() - self._proved[0] < PROVED_S:
            sandbox = self._proved[1]
            return Sandbox(sandbox.level, event.limits, sandbox.missing)
        files = files_of(event.entrants)
        sandbox = choose_level(event.sandbox, event.limits, self._folder.path, files)
        self._journal.note("sandbox", sandbox.brief.removeprefix("Sandbox: "))
        self._proved = time.monotonic(), sandbox
        return sandbox

    # --- values ---

    def value(self) -> None:
        """Compute the luck and the review of the newest round that lacks what the settings ask for.

        Only one a turn: pushes wait meanwhile. Raises UserError, OSError.
        """
        wanted = self.settings.luck, self.settings.review
        divisions = self._read(self.settings).divisions.values() if any(wanted) else ()
        found = [(division, one) for division in divisions for one in division.rounds]
        for division, one in sorted(found, key=_age, reverse=True):
            key = one.folder.path, *wanted
            if one.is_over and one.closed is None and key not in self._valued:
                told = value_round(self.settings, division, one)
                self._valued.add(key)
                if told:
                    self._journal.note("valued", f"{_title(one.plan)}: {told}")
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
    return last if last and (not last.is_over or is_tried(last.folder.path)) else None


def _age(found: tuple[DivisionData, PlayedRound]) -> tuple[str, int]:
    plan = found[1].plan
    return plan.time, plan.number


def _title(plan: RoundPlan) -> str:
    return f"{plan.division} round {plan.number}"


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


def value_round(settings: LeagueSettings, division: DivisionData, one: PlayedRound) -> str:
    """Compute what a round that is over lacks of its luck and review; return what, in words.

    Raises UserError, OSError.
    """
    return " and ".join(_value(settings, division, one))


def _value(settings: LeagueSettings, division: DivisionData, one: PlayedRound) -> Iterator[str]:
    from arena.valuation.batch import (
        why_no_values,
    )  # It takes numpy, which most leagues need later.

    if why_no_values(division.rules):
        return
    if settings.luck and _lacks_luck(division, one):
        take_luck_out(one.folder)
        yield "luck"
    if settings.review and not one.folder.review.exists():
        write_review(one.folder)
        yield "review"


def _lacks_luck(division: DivisionData, one: PlayedRound) -> bool:
    from arena.valuation.luck import has_draws

    known = LuckStore(one.folder, one.event)
    return has_draws(division.rules, division.seats) and any(
        known.known(result) is None for result in one.results
    )
