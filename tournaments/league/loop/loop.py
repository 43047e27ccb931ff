"""The loop of a league: turn after turn, until nothing is left to do or somebody stops it."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from arena.ui.console import print_line, shown_path
from protocol.errors import UserError
from tournaments.league.folder import LeagueFolder
from tournaments.league.journal import Journal
from tournaments.league.loop.play_round import SHOW_EVERY_S, find_full_disk
from tournaments.league.loop.turn import Turns
from tournaments.runner.exit import INTERRUPTED, STOPPED, ending_signals, save_crash
from tournaments.storage.folder import Folder, lock_file

MAKE_ROOM = "Nothing that was whole is lost; the league goes on when there is room."
Clock = Callable[[], datetime]


def run_league(
    path: Path, *, once: bool, rounds: int | None, now: datetime | None, jobs: int | None
) -> int:
    """Run a league; return the exit code. Raises UserError, OSError.

    `once`: it ends when nothing is left to do now. `rounds`: it ends after so many, too. `now`: the
    present for the whole of the run; None: that of the clock. `jobs`: sittings side by side.
    """
    folder = LeagueFolder(path.resolve())
    if not folder.settings.is_file():
        raise UserError(
            f"{shown_path(path)} has no league: {folder.settings.name} is missing. "
            f"`boneyard new league {shown_path(path)}` makes one."
        )
    clock = _clock(now)
    journal = Journal(folder.log, clock, print_line)
    refusal = f"Another boneyard process runs the league in {shown_path(path)}."
    with lock_file(folder.lock, refusal), _interrupted_by_all_signals():
        try:
            turns = Turns(folder, journal, clock, jobs, confirmed=now is not None)
            return _run(turns, folder, journal, rounds, ends=once or rounds is not None)
        except KeyboardInterrupt:
            journal.note("stopped", "the same command goes on")
            return INTERRUPTED


def _clock(now: datetime | None) -> Clock:
    return (lambda: now) if now else (lambda: datetime.now(UTC))


def _run(
    turns: Turns, folder: LeagueFolder, journal: Journal, most: int | None, *, ends: bool
) -> int:
    rounds, code = 0, 0
    while True:
        attempts = _Attempts(folder, strict=ends)
        attempts.make(partial(turns.admit, strict=ends))
        played = rounds != most and attempts.make(turns.play)
        rounds += played
        attempts.make(turns.value)
        attempts.make(partial(turns.publish, at_once=not played))
        for kind, words in attempts.complaints.items():
            journal.note_state(kind, words)
            code = STOPPED if words else code
        if ends and (not played or attempts.complaints["full disk"]):
            return code
        if not played:
            _pause(turns)


class _Attempts:
    """The parts of a turn: one that fails keeps neither the others nor the next turn from coming.

    Otherwise whoever finds a bug of ours, in a push perhaps, could stop the league for all.
    """

    def __init__(self, folder: LeagueFolder, *, strict: bool) -> None:
        """`strict`: mistakes of the organiser are raised."""
        self._folder = folder
        self._strict = strict
        self.complaints = {"full disk": "", "waits": "", "failed": ""}
        """The failures of the turn, by kind."""

    def make(self, action: Callable[[], bool | None]) -> bool:
        """Do a part, unless the disk is full; return its answer, or False if it fails.

        Raises UserError and OSError if that is wished.
        """
        if self.complaints["full disk"]:
            return False
        try:
            return bool(action())
        except (UserError, OSError) as error:
            if find_full_disk(error):
                self.complaints["full disk"] = MAKE_ROOM
            elif self._strict:
                raise
            else:
                self.complaints["waits"] = str(error)
        except Exception as bug:
            folder = Folder(self._folder.path)
            self.complaints["failed"] = save_crash(folder, bug, "in a turn of the league")
        return False


def _pause(turns: Turns) -> None:
    """Wait for the next turn; meanwhile readers see what was played some time ago."""
    until = time.monotonic() + turns.settings.every_s
    while (left := until - time.monotonic()) > 0:
        turns.show_live()
        time.sleep(min(left, SHOW_EVERY_S))


@contextmanager
def _interrupted_by_all_signals() -> Iterator[None]:
    """Let each signal that asks the program to end do what Ctrl-C does.

    A shell lets its background jobs ignore Ctrl-C; then Python would not raise KeyboardInterrupt.
    """
    handlers = dict.fromkeys(ending_signals(), lambda *_: signal.raise_signal(signal.SIGINT))
    before = {one: signal.signal(one, handler) for one, handler in handlers.items()}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
