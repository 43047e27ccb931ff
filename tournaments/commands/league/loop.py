"""The loop of a league: turn after turn, until nothing is left to do or somebody stops it."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from arena.ui.console import print_line, print_note, shown_path
from protocol.errors import UserError
from tournaments.commands.league.play_round import find_full_disk
from tournaments.commands.league.turn import Turns
from tournaments.league.folder import LeagueFolder
from tournaments.league.journal import Journal
from tournaments.runner.exit import INTERRUPTED, STOPPED
from tournaments.storage.folder import lock_file

SHOW_EVERY_S = 3.0
"""Time between two public snapshots in a pause, in s."""

MAKE_ROOM = "nothing that was whole is lost; the league goes on when there is room."


class LoopOptions(NamedTuple):
    """Command-line options of a league."""

    once: bool = False
    """True if the program ends when nothing is left to do now."""
    rounds: int | None = None
    """Rounds after which it ends; None: no bound."""
    now: datetime | None = None
    """The present for the whole of the run; None: that of the clock."""
    jobs: int | None = None
    """Sittings side by side; None: as many as the bots' CPU time allows."""


def run_league(path: Path, options: LoopOptions) -> int:
    """Run a league; return the exit code. Raises UserError, OSError."""
    folder = LeagueFolder(path.resolve())
    if not folder.settings.is_file():
        raise UserError(
            f"{shown_path(path)} has no league: {folder.settings.name} is missing. "
            f"`boneyard league {shown_path(path)} init` makes one."
        )
    clock = _clock(options.now)
    journal = Journal(folder.log, print_line)
    refusal = f"Another boneyard process runs the league in {shown_path(path)}."
    with lock_file(folder.lock, refusal), _interrupted_by_all_signals():
        try:
            turns = Turns(folder, journal, clock, options.jobs)
            return _run(turns, journal, clock, options)
        except KeyboardInterrupt:
            print_note("Stopped; run the same command again to continue.")
            return INTERRUPTED


def _clock(now: datetime | None) -> Callable[[], datetime]:
    return (lambda: now) if now else (lambda: datetime.now(UTC))


def _run(
    turns: Turns, journal: Journal, clock: Callable[[], datetime], options: LoopOptions
) -> int:
    ends = options.once or options.rounds is not None
    rounds = 0
    while True:
        complaint = {"full disk": "", "waits": ""}
        played = False
        try:
            turns.admit(strict=ends)
            played = rounds != options.rounds and turns.play()
            rounds += played
            turns.publish(at_once=not played)
        except OSError as error:
            if not find_full_disk(error):
                raise
            complaint["full disk"] = f"{error.strerror}: {MAKE_ROOM}"
        except UserError as error:
            if ends:
                raise
            complaint["waits"] = str(error)
        for kind, words in complaint.items():
            journal.note_state(clock(), kind, words)
        if ends and complaint["full disk"]:
            return STOPPED
        if ends and not played:
            return 0
        if not played:
            _pause(turns)


def _pause(turns: Turns) -> None:
    """Wait for the next turn; meanwhile readers see what was played some time ago."""
    until = time.monotonic() + turns.settings.every_s
    while (left := until - time.monotonic()) > 0:
        turns.show_live()
        time.sleep(min(left, SHOW_EVERY_S))


@contextmanager
def _interrupted_by_all_signals() -> Iterator[None]:
    """Let each signal that asks the program to end do what Ctrl-C does."""
    asked = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(one, lambda *_: signal.raise_signal(signal.SIGINT)) for one in asked]
    try:
        yield
    finally:
        for one, handler in zip(asked, before, strict=True):
            signal.signal(one, handler)
