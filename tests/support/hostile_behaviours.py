"""The table of hostile behaviours and what each must cost. Plays nothing."""

import functools
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple

from arena.sandbox.command import OFF, Confinement
from arena.sandbox.select import TrialResult, examine, try_to_lock
from protocol.messages import Clock
from protocol.records import FoulClass
from tests.attacks.runner import Attacks, attack
from tests.bots.hostile import lines
from tests.support.tables import BOTS

TMP = Path(tempfile.gettempdir())
HOSTILE = BOTS / "hostile"

Place = Literal["off", "best"]
PLACES: Final[tuple[Place, ...]] = ("off", "best")
"""The places of the battery: without a sandbox, and in the best that this machine proves."""

PATIENT = Clock(start_ms=60_000, move_ms=60_000, bank_ms=0)
"""For bots of which none may be late, however slow the machine is."""
HASTY = Clock(start_ms=60_000, move_ms=300, bank_ms=100)
"""For bots that must be late; see `slower`."""
START_SOON = Clock(start_ms=600, move_ms=60_000, bank_ms=0)
"""For bots that must not have greeted in time; see `slower`."""


def slower(clock: Clock) -> Clock:
    """Return a slower clock, for a machine on which the honest bot was late."""
    return Clock(start_ms=4 * clock.start_ms, move_ms=4 * clock.move_ms, bank_ms=4 * clock.bank_ms)


class Row(NamedTuple):
    """What a behaviour must cost."""

    foul: FoulClass | None
    """The foul that it is; None: nothing is broken, and the game is played to its end."""
    detail: str = ""
    """What its record says."""
    clock: Clock = PATIENT
    memory_mib: int = 512
    survives: bool = False
    """Whether something that it started outlives it at `off`: known, and ended by the test."""
    best: "Row | None" = None
    """The row for the best place, if that is another."""
    needs: tuple[str, ...] = ()
    """Dangerous: it is run only where each of these probes was refused."""

    def at(self, place: Place) -> "Row":
        return self.best if place == "best" and self.best else self


def places(how: str) -> tuple[Place, ...]:
    """Return the places where a behaviour is tried.

    One that only writes, or costs the same in both places and starts no process, needs one place.
    """
    if how.startswith(("lines/", "timing/")):
        return PLACES[1:]
    both = how.startswith(("processes/", "resources/")) or ROWS[how].best or ROWS[how].needs
    return PLACES if both else PLACES[:1]


@functools.cache
def proved() -> TrialResult:
    """Return the best trial of this machine."""
    locked = try_to_lock(TMP)
    return locked if locked.is_proven else examine(OFF, TMP)


@functools.cache
def attacked(confinement: Confinement) -> Attacks:
    """Return what comes of the attacks."""
    return attack(confinement, TMP)


def unproven(row: Row, place: Place) -> str:
    """Return why a row cannot be run somewhere; empty when it can."""
    if place == "off":
        return "dangerous without a sandbox" if row.needs else ""
    confinement = proved().confinement
    if not confinement.is_locked:
        return "no sandbox here: `boneyard doctor` says why"
    through = sorted(attacked(confinement).through.intersection(row.needs))
    return f"the sandbox does not refuse {', '.join(through)}" if through else ""


LATE = Row("late", " ms.", HASTY)
FINE = Row(None)
CLOSED = "closed its stdout"
"""The referee's words for a pipe that ended."""
SHUT = Row("gone", CLOSED, best=LATE)
"""bubblewrap holds the pipe open, so that only the clock tells."""
MEMORY = Row("memory", "64 MiB", memory_mib=64)
TOO_LARGE = MEMORY._replace(best=Row("gone", "status 1", memory_mib=64))
"""In the sandbox the kernel refuses so much memory at once."""
KILLED = "was killed by "
TERMINATED = f"{KILLED}SIGTERM"

ACTS: dict[str, dict[str, Row]] = {
    "timing": {
        "hello_never": Row("no_hello", "No hello within ", START_SOON),
        "silent": LATE,
        "no_newline": LATE,
        "in_drops": FINE,
        "in_slow_drops": LATE,
        "patient": FINE,
        "old_answers": LATE,
        "too_many_old_answers": Row("flooding", "not open"),
        "thinks_three_times": FINE,
        "answers_ahead": FINE,
    },
    "plumbing": {
        "closes_stdin": LATE,
        "closes_stdout": SHUT,
        "closes_stderr": FINE,
        "fills_its_own_stdin": LATE,
        "small_pipes": FINE,
        "endless_line": Row("overlong", "65536"),
        "endless_old_answers": Row("flooding", "not open"),
        "unasked_old_answers": Row("flooding"),
        "endless_words": Row("malformed", "Not a message"),
        "stderr_flood": Row("flooding", "stderr"),
        "stderr_flood_beside": Row("flooding", "stderr"),
        "stderr_chatter": FINE,
        "stderr_terminal_codes": Row("gone", "status 3"),
        "heir": Row("gone", "status 0"),
        "child_talks": Row("malformed", "Not a message"),
        "answers_and_is_gone": Row("gone"),
    },
    "processes": {
        "exit_0": Row("gone"),
        "segfault": Row("gone", KILLED + "SIGSEGV"),
        "realtime_signal": Row("gone", KILLED + "signal 40"),
        "stopped": LATE,
        "kills_its_group": Row("gone", TERMINATED, best=LATE),
        "ignores_signals": LATE,
        "never_leaves": FINE,
        "deletes_itself": FINE,
        "deletes_itself_and_is_gone": Row("gone"),
        "forks_some": FINE,
        "child_in_own_session": Row(None, survives=True),
        "daemon": Row("gone", survives=True),
        "changes_its_name": FINE,
        "fork_storm": LATE._replace(needs=("processes-limit",)),
        "signals_everybody": Row(None, needs=("referee-signal", "other-bot-signal")),
        "busy_daemon": Row(None, needs=("outlive-daemon", "outlive-group", "processes-limit")),
    },
    "resources": {
        "memory_in_steps": MEMORY,
        "memory_in_one_burst": TOO_LARGE,
        "memory_shared": TOO_LARGE,
        "memory_hidden": MEMORY,
        "memory_of_a_child": MEMORY,
    },
}

ROWS: dict[str, Row] = {f"lines/{name}": Row(foul) for name, (_, foul) in lines.LINES.items()} | {
    f"{group}/{name}": row for group, rows in ACTS.items() for name, row in rows.items()
}
"""Behaviour → what it must cost. What a line is stands beside the line."""
