"""The loop of a league: turn after turn, until nothing is left to do or somebody stops it.

A turn pulls, admits, plays a round and publishes. Pushes that take longer to check are checked in a
thread beside the rounds, so that neither waits for the other. A kill may come at any moment.
"""

import errno
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from multiprocessing import resource_tracker
from pathlib import Path
from threading import Event as ThreadEvent
from threading import Thread
from typing import Any, NamedTuple

import trio

from arena.files import open_regular, read_file, write_atomic
from arena.logs.catalog import GAMES_FOLDER, remove_leftovers
from arena.program import INTERRUPTED, ignore_signals, run_async
from arena.rules.english import count_in_digits, join_words
from arena.sandbox.process import Sandbox, kill_descendants
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_line, shown_path, writing_beside
from arena.valuation.terms import why_no_values
from protocol.codec import indented_json
from protocol.errors import UserError
from tournaments.commands.report import rewrite_report, write_review
from tournaments.commands.run import PlayGames, play_here, play_to_end, publish_reports
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import (
    Folder,
    content,
    kept_private,
    load_event,
    lock_file,
    lock_for_writing,
)
from tournaments.event.grow import open_event
from tournaments.event.luck import LuckStore
from tournaments.formats.base import first_version
from tournaments.league.pages import LeagueSite
from tournaments.league.pairing import next_round
from tournaments.league.practice import (
    PRACTICE_S,
    answer_practice,
    begun_practice,
    practice_to_play,
    tell_authors,
)
from tournaments.league.repository import PullError, pull
from tournaments.league.settings import (
    CLOSED_FILE,
    PLAN,
    TRIES_FILE,
    LeagueFolder,
    LeagueSettings,
    load_settings,
)
from tournaments.league.state import (
    EarlyEnd,
    Journal,
    LeagueData,
    PlayedRound,
    RoundPlan,
    describe_entry,
    describe_fouls,
    held_versions,
    parse_time,
    read_league,
    read_round,
    write_utc,
)
from tournaments.league.update import update_register
from tournaments.plan.event import Event
from tournaments.play.sittings import STOPPED, save_crash, stop_sentence

# Play a league's round, or the rest of it, in its folder, by the code of `run`.


NO_ROOM_ERRORS = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a disk without room."""
DRAFT_FOLDER = ".new"
"""Folder of a round that is being written."""
MOST_TRIES = 5
"""Tries without any further game after which a round is closed."""
SHOW_EVERY_S = 3.0
"""Time between two public snapshots, in s."""


class Failure(NamedTuple):
    """The failure of a try to play a round to its end."""

    why: str
    tries: int
    """Tries, this one among them, that brought no further game."""

    @property
    def is_last(self) -> bool:
        """True if the round is to be closed: trying again would not help."""
        return self.tries >= MOST_TRIES


def play_round(
    path: Path, sandbox: Sandbox, jobs: int | None, show: Callable[[], None], most_s: float = inf
) -> Failure | None:
    """Play what a round lacks and write its reports; None if nothing is left to do.

    `show`: writes a public snapshot, now and then. `most_s`: the time after which it ends. Raises
    KeyboardInterrupt after a signal, and OSError if the disk is full.
    """
    folder = Folder(path)

    async def prepare() -> Sandbox:
        return sandbox

    with lock_for_writing(folder):
        book, _ = open_event(folder, load_event(folder), None)
        ledger = Ledger(book)
        tries = count_tries(folder, len(ledger.results))
        remove_leftovers(folder.path / GAMES_FOLDER)
        ready = _show_play(play_here(ledger, jobs, prepare), show, most_s)
        try:
            failure = _play(ledger, tries, ready)
            if failure is None:
                publish_reports(ledger)
                (folder.path / TRIES_FILE).unlink(missing_ok=True)
        except Exception as error:
            if full := find_full_disk(error):
                # The try does not count: waiting helps. This needs no room on the disk.
                with suppress(OSError):
                    os.close(open_regular(folder.path / TRIES_FILE, os.O_WRONLY | os.O_TRUNC))
                raise full from error
            failure = Failure(_describe(folder, error), tries + 1)
        if failure and failure.is_last:
            with suppress(Exception):  # A round that is closed has no reports if they are the bug.
                publish_reports(ledger)
    return failure


def _play(
    ledger: Ledger, tries: int, ready: AbstractAsyncContextManager[PlayGames]
) -> Failure | None:
    """Play what a round lacks; `tries` have brought no game. Raises what stops it."""
    if tries >= MOST_TRIES:
        why = f"Boneyard ended {tries} times without playing any further game."
        return Failure(why, tries)
    with kept_private(ledger.book.folder, lambda: ledger.complete):
        if ledger.complete:
            return None
        with writing_beside():
            errors, interrupted = run_async(play_to_end, ledger, ready)
    if interrupted:
        raise KeyboardInterrupt
    if errors:
        raise errors
    if ledger.stage:
        stopped = ", ".join(sorted(ledger.stopped))
        why = f"{stopped} stopped at limits.cents." if stopped else "Its time was up."
        return Failure(why, MOST_TRIES)
    return None


@asynccontextmanager
async def _show_play(
    ready: AbstractAsyncContextManager[PlayGames], show: Callable[[], None], most_s: float
) -> AsyncIterator[PlayGames]:

    async def show_on() -> None:
        while True:
            await trio.to_thread.run_sync(show)
            await trio.sleep(SHOW_EVERY_S)

    async with ready as play, trio.open_nursery() as nursery:
        nursery.start_soon(show_on)
        nursery.cancel_scope.deadline = trio.current_time() + most_s
        yield play
        nursery.cancel_scope.cancel()


def _describe(folder: Folder, error: Exception) -> str:
    """Return why a try failed."""
    if not isinstance(error, ExceptionGroup):
        return save_crash(folder, error, "in a round")
    try:
        return stop_sentence(folder, error, "run", "between two games")
    except UserError as mistake:
        return str(mistake)


def find_full_disk(error: BaseException) -> OSError | None:
    """Return the error of a full disk from which an error came; None if it came from another."""
    if isinstance(error, OSError) and error.errno in NO_ROOM_ERRORS:
        return error
    causes = (*getattr(error, "exceptions", ()), *filter(None, [error.__cause__]))
    return next(filter(None, map(find_full_disk, causes)), None)


# --- its folder ---


def begin_round(league: LeagueFolder, plan: RoundPlan, event: Event) -> Path:
    """Write the folder of a new round, with its commitments; return it. Raises OSError, UserError.

    It appears with all its files or not at all.
    """
    place = league.round(plan.division, plan.number)
    if plan.is_practice:
        # Its logs show hidden tiles, and no reader may have them.
        league.practice.mkdir(mode=0o700, exist_ok=True)
        place = league.practice / first_version(plan.newcomers[0])
        shutil.rmtree(place, ignore_errors=True)  # It was answered before a kill.
    draft = place.with_name(DRAFT_FOLDER)
    if draft.exists():
        shutil.rmtree(draft)
    open_event(Folder(draft), event, None)
    Folder(draft).stderr.mkdir()
    write_atomic(draft / PLAN, [indented_json(plan), b"\n"])
    _sync(draft)
    draft.rename(place)
    _sync(place.parent)
    return place


def count_tries(folder: Folder, games: int) -> int:
    """Note that a round is tried with `games` games played; return the tries that got no further.

    Raises OSError.
    """
    path, tries = folder.path / TRIES_FILE, 0
    with suppress(OSError, ValueError):
        before, tries = map(int, read_file(path).split())
        tries = tries if before == games else 0
    write_atomic(path, [f"{games} {tries + 1}\n".encode()], 0o600)
    return tries


def close_round(folder: Folder, now: datetime, why: str) -> None:
    """Close a round that cannot be played to its end. Raises OSError."""
    closed = EarlyEnd(time=write_utc(now), why=why)
    write_atomic(folder.path / CLOSED_FILE, [indented_json(closed), b"\n"])
    (folder.path / TRIES_FILE).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Let the disk have the names in a folder; Windows opens none."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- the loop ---


FULL_DISK_NOTE = "Nothing that was whole is lost; the league goes on when there is room."
LOOK_S = 5.0
"""Time for which a turn waits until its look at all bots is over, in s."""
RETRY_BASE_S = 4
"""Base of the pause after a try that failed, in s: it is this to the power of the tries."""
LEAP = timedelta(days=1)
"""Time after a turn within which the next one needs no confirmation."""
WallClock = Callable[[], datetime]


def run_league(
    path: Path, *, stops_idle: bool, rounds: int | None, now: datetime | None, jobs: int | None
) -> int:
    """Run a league; return the exit code. Raises UserError, OSError.

    `stops_idle`: it ends when nothing is left to do now. `rounds`: it ends after so many, too.
    `now`: the present for the whole of the run; None: that of the clock. `jobs`: sittings side by
    side.
    """
    folder = LeagueFolder(path.resolve())
    if not folder.settings.is_file():
        raise UserError(
            f"{shown_path(path)} has no league: {folder.settings.name} is missing. "
            f"`boneyard new league {shown_path(path)}` makes one."
        )
    clock = (lambda: now) if now else partial(datetime.now, UTC)
    journal = Journal(folder.log, clock, print_line)
    refusal = f"Another boneyard process runs the league in {shown_path(path)}."
    with lock_file(folder.lock, refusal):
        ends = stops_idle or rounds is not None
        turns = Turns(folder, journal, clock, jobs, ends=ends, confirmed=now is not None)
        try:
            return turns.run(rounds)
        except KeyboardInterrupt:
            ignore_signals()
            turns.end_look()
            journal.note("stopped", "the same command goes on")
            return INTERRUPTED


def archive_league(path: Path, archive: Path) -> None:
    """Copy all that is public of a league that is over to a folder. Raises UserError, OSError."""
    folder, place = LeagueFolder(path.resolve()), archive.resolve()
    league = read_league(folder.path)
    now = parse_time(max(write_utc(datetime.now(UTC)), league.latest))
    draft = place.with_name(f".{place.name}{DRAFT_FOLDER}")
    is_free = not place.exists() or (place.is_dir() and not any(place.iterdir()))
    if place.is_relative_to(folder.path) or not is_free:
        raise UserError(f"{archive} must be a new folder outside the league.")
    with lock_file(folder.lock, f"A process runs the league in {shown_path(path)}. Stop it first."):
        is_played = all(round.is_over and not round.is_tried for round in league.last_rounds)
        if not (
            league.settings.has_closed(now) and is_played and not next_round(league, now).round
        ):
            raise UserError(
                f"{shown_path(path)} is not over: a league is kept after its final (`closes` in "
                f"{folder.settings.name}). Until then {shown_path(folder.site)} is what is public."
            )
        LeagueSite(folder).publish(league, now, at_once=True)
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(folder.site, draft)
        draft.rename(place)


class Turns:
    """The turns of a league in this process, with what it has read."""

    def __init__(
        self,
        folder: LeagueFolder,
        journal: Journal,
        clock: WallClock,
        jobs: int | None,
        *,
        ends: bool,
        confirmed: bool,
    ) -> None:
        """Read the settings. Raises UserError.

        `ends`: the league ends when nothing is left to do now; then mistakes of the organiser are
        raised. `confirmed`: the organiser gave the time.
        """
        self._folder, self._journal, self._clock, self._jobs = folder, journal, clock, jobs
        self._ends, self._confirmed = ends, confirmed
        self._failures: dict[str, str] = {}
        self.settings = load_settings(folder.settings)
        """The settings in force: the last that could be read."""
        self._data: LeagueData | None = None
        self._site = LeagueSite(folder)
        self._valued: set[tuple[Path, bool, bool]] = set()
        self._now, self._looked_at, self._is_over = clock(), 0.0, False
        self._seen = datetime.min.replace(tzinfo=UTC)
        """Time of the last look that is over: it has seen all pushes until then."""
        self._look_failures: list[Exception] = []
        self._look_over, self._is_ending = ThreadEvent(), ThreadEvent()
        """Set while no look at all bots goes on. A thread whose `join` a signal has interrupted
        seems to have ended (Python 3.11), so nobody asks the thread."""
        self._look_over.set()

    def run(self, most: int | None) -> int:
        """Make turns until the league ends, or after `most` rounds; return the exit code."""
        rounds, code = 0, 0
        while True:
            self._failures = {"full disk": "", "waits": "", "failed": ""}
            self._attempt(self.admit)
            played = rounds != most and self._attempt(self.play)
            rounds += played
            has_valued = self._attempt(self.value)
            self._attempt(partial(self.publish, at_once=not played))
            for kind, words in self._failures.items():
                self._journal.note_state(kind, words)
                code = STOPPED if words else code
            if self._ends and (not played or self._failures["full disk"]):
                return code
            if self._is_over and not (has_valued or any(self._failures.values())):
                return code
            if not played:
                self._pause()

    def _attempt(self, part: Callable[[], bool | None]) -> bool:
        """Do a part of a turn, unless the disk is full; return its answer, or False if it fails.

        One that fails keeps neither the others nor the next turn from coming: otherwise whoever
        finds a bug of ours, in a push perhaps, could stop the league for all. Raises UserError and
        OSError if the league ends.
        """
        if self._failures["full disk"]:
            return False
        try:
            return bool(part())
        except (UserError, OSError) as error:
            if find_full_disk(error):
                self._failures["full disk"] = FULL_DISK_NOTE
            elif self._ends:
                raise
            else:
                self._failures["waits"] = str(error)
        except Exception as bug:
            folder = Folder(self._folder.path)
            self._failures["failed"] = save_crash(folder, bug, "in a turn of the league")
        return False

    def _pause(self) -> None:
        """Wait for the next turn, or the end of a look; readers see what was played meanwhile."""
        until, was_over = time.monotonic() + self.settings.every_s, self._look_over.is_set()
        while (left := until - time.monotonic()) > 0 and self._look_over.is_set() == was_over:
            self.show_live()
            time.sleep(min(left, SHOW_EVERY_S))

    # --- settings and bots ---

    def admit(self) -> None:
        """Read league.toml again, look at all bots, and tell which are benched.

        Settings that are wrong change nothing; if the league ends they raise UserError. Raises
        OSError, and UserError if the clock is wrong.
        """
        self._reload()
        self._present(self._data or self._read(self.settings))
        if self._begin_look() or self._ends:
            self._look_over.wait(None if self._ends else LOOK_S)
        if self._look_failures:
            raise self._look_failures.pop()
        data = self._read(self.settings)
        benches = [
            f"{version} in {name}: {why}"
            for name, division in data.divisions.items()
            for version, why in held_versions(data, division).items()
        ]
        self._journal.note_state("benched", "; ".join(benches))

    def _begin_look(self) -> bool:
        """Begin a look at all bots, unless one goes on; tell whether it was begun."""
        if not self._look_over.is_set():
            return False
        self._looked_at = time.monotonic()
        self._look_over.clear()
        Thread(target=self._look, daemon=True).start()
        return True

    def end_look(self) -> None:
        """End the look that goes on, its bots and its pull: what it checks is checked again."""
        self._is_ending.set()
        # Before their parents: a bot without a sandbox would outlive the process that checks it.
        # Without their tracker, which tells nobody its number, the ends of processes print errors.
        tracker: Any = resource_tracker._resource_tracker
        kill_descendants(tracker._pid)
        for process in multiprocessing.active_children():
            process.kill()
        # Python aborts if a thread prints while it shuts down.
        self._look_over.wait(LOOK_S)

    def _look(self) -> None:
        """Pull; admit, refuse or withdraw bots."""
        try:
            has_all = not self.settings.pull or self._pull()
            # The times of the register are in order, also if the clock is set back meanwhile.
            self._now = now = max(self._now, self._clock())
            for entry in update_register(self._folder, self.settings, now, self._is_ending.is_set):
                self._journal.note(*describe_entry(entry))
            self._seen = now if has_all else self._seen
        except Exception as error:
            self._look_failures.append(error)
        finally:
            self._look_over.set()

    def _pull(self) -> bool:
        """Fetch the bots; tell whether all pushes that count are here.

        Git does not know when a push came: the first pull after the league has closed is the last.
        """
        last, now, failure = content(self._folder.pulled).decode(), write_utc(self._clock()), ""
        if last and self.settings.has_closed(parse_time(last)):
            return True
        try:
            if commit := pull(self._folder.repository, self.settings.pull):
                self._journal.note("pulled", commit)
        except PullError as error:
            failure = f"failed: {error}"
        else:
            write_atomic(self._folder.pulled, [now.encode()])
        self._journal.note_state("pull", failure)
        return not failure

    def _reload(self) -> None:
        """Take the settings from league.toml, if they can be read."""
        complaint = ""
        try:
            settings = load_settings(self._folder.settings)
            self._read(settings)
            self.settings = settings
        except UserError as error:
            if self._ends:
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
        self._now = max(self._now, now)
        return now

    # --- rounds ---

    def play(self) -> bool:
        """Play the round that was begun, or else the next one; tell whether there was one.

        A round that failed is tried again at the next call, but not for ever. Raises OSError if
        the disk is full, UserError if this machine cannot lock bots in, and KeyboardInterrupt.
        """
        data = self._read(self.settings)
        self._present(data)
        self.show_live()
        played = next((r for r in data.last_rounds if not r.is_over or r.is_tried), None)
        if played:
            self._journal.note_state("goes on", played.plan.title)
        elif (played := self._begin(data)) is None:
            return False
        self._play(played)
        return True

    def _begin(self, data: LeagueData) -> PlayedRound | None:
        choice, pauses = next_round(data, self._present(data))
        has_seen_all = self.settings.has_closed(self._seen)
        self._is_over = choice is None and has_seen_all
        if self._is_over:
            self._journal.note_state("closed", " ".join(map(": ".join, pauses.items())))
        if choice is None and (begun := begun_practice(self._folder)):
            return begun
        if not self.settings.has_closed(self._now):
            # Looked for at each turn: whoever asks for what cannot be is told so at once.
            practice = practice_to_play(data, self._now)
            choice = choice or practice
        if choice is None or (choice[0].is_final and not has_seen_all):
            return None
        plan, event = choice
        path = begin_round(self._folder, plan, event)
        tables = count_in_digits(len(plan.tables), "table")
        boards = count_in_digits(len(plan.tables) * plan.boards, "board")
        self._journal.note("begun", f"{plan.title}: {tables}, {boards}")
        return read_round(path, 0)

    def _play(self, round: PlayedRound) -> None:
        """Play a round, and write into the log and the register what came of it."""
        is_practice = round.plan.is_practice
        if not is_practice:
            self._site.announce(round)
        began = time.monotonic()
        event = round.event
        sandbox = choose_sandbox(event.sandbox_here, event.limits, self._folder.path)
        self._journal.note_state("sandbox", sandbox.brief.removeprefix("Sandbox: "))
        most_s = PRACTICE_S if is_practice else inf
        failure = play_round(round.folder.path, sandbox, self._jobs, self._follow, most_s)
        if failure is None or (failure.is_last and is_practice):
            seconds = time.monotonic() - began
            over = read_round(round.folder.path, 0)
            games = f"{count_in_digits(len(over.results), 'game')} in {seconds:.1f} s"
            text = ", ".join([games, *describe_fouls(over)])
            self._journal.note("over", f"{round.plan.title}: {text}")
            if is_practice:
                answer_practice(self._folder, over, self.settings.quota.practice_a_day)
        elif failure.is_last:
            self._close(round, failure)
        else:
            self._journal.note("stopped", f"{round.plan.title}: {failure.why} It is tried again.")
            # What the machine is short of may come back.
            time.sleep(min(self.settings.every_s, RETRY_BASE_S**failure.tries))

    def _close(self, round: PlayedRound, failure: Failure) -> None:
        why = self._folder.without_path(failure.why)
        close_round(round.folder, self._clock(), why)
        self._journal.note("closed", f"{round.plan.title}, not all games are played: {why}")

    # --- values ---

    def value(self) -> bool:
        """Compute the luck and the review of the newest round that lacks what the settings ask for.

        Only one a turn, as pushes wait meanwhile; tell whether one lacked any. Raises UserError,
        OSError.
        """
        wanted = self.settings.luck, self.settings.review
        divisions = self._read(self.settings).divisions.values() if any(wanted) else ()
        over = (round for division in divisions for round in division.over if round.closed is None)
        for round in sorted(over, key=lambda r: (r.plan.time, r.plan.number), reverse=True):
            if (key := (round.folder.path, *wanted)) not in self._valued:
                text = " and ".join(value_round(self.settings, round))
                self._valued.add(key)
                if text:
                    self._journal.note("valued", f"{round.plan.title}: {text}")
                    self._site.outdate()
                    return True
        return False

    # --- publication ---

    def publish(self, *, at_once: bool) -> None:
        """Tell authors, and write the site if there is news; soon after it only `at_once`.

        Raises UserError, OSError.
        """
        league = self._read(self.settings)
        tell_authors(league)
        if seconds := self._site.publish(league, self._present(league), at_once=at_once):
            self._journal.note("published", f"the site in {seconds:.1f} s")

    def _follow(self) -> None:
        """Do what cannot wait for the end of a round."""
        self.show_live()
        if time.monotonic() - self._looked_at > self.settings.every_s:
            self._begin_look()

    def show_live(self) -> None:
        """Write a public snapshot of the last round."""
        if self._data:
            self._site.show_live(self._data)


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
    for round in league.rounds:
        path = round.folder.path.relative_to(league.folder.path)
        if round.plan.time > time:
            yield f"{path}"
        elif round.closed and round.closed.time > time:
            yield f"{path / CLOSED_FILE}"
    if lines := sum(entry.time > time for entry in league.register):
        yield f"{count_in_digits(lines, 'line')} at the end of {league.folder.register.name}"


def value_round(settings: LeagueSettings, round: PlayedRound) -> Iterator[str]:
    """Compute what a round that is over lacks of its luck and review; yield what, in words.

    Raises UserError, OSError.
    """
    luck = LuckStore(round.folder, round.event)
    if settings.luck and luck.has_luck and not all(map(luck.known, round.results)):
        rewrite_report(Book(round.folder), luck=True)
        yield "luck"
    has_review = round.folder.review.exists()
    if settings.review and not has_review and not why_no_values(round.event.rules):
        write_review(round.folder)
        yield "review"
