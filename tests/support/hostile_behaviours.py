"""The table of hostile behaviours and what each must cost. Plays nothing."""

import functools
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple

from arena.sandbox.limits import LEVELS, REQUIRED, Level
from arena.sandbox.pythons import barrier, runs_as_another
from arena.sandbox.select import LevelResult, examine_level
from protocol.messages import Clock
from protocol.records import FoulClass
from tests.attacks.runner import Attacks, attack
from tests.bots.hostile import lines
from tests.support.tables import BOTS

TMP = Path(tempfile.gettempdir())
HOSTILE = BOTS / "hostile"
"""The program of the hostile bots, see its `__main__`."""

Place = Literal["off", "best"]
PLACES: Final[tuple[Place, ...]] = ("off", "best")
"""Where the battery is run: at no level, and at the best that this machine proves."""

PATIENT = Clock(start_ms=60_000, move_ms=60_000, bank_ms=0)
"""For bots of which none may be late, however slow the machine is."""
HASTY = Clock(start_ms=60_000, move_ms=300, bank_ms=100)
"""For bots that must be late; see `slower`."""
START_SOON = Clock(start_ms=600, move_ms=60_000, bank_ms=0)
"""For bots that must not have greeted in time; see `slower`."""
FROM_THE_BANK = Clock(start_ms=60_000, move_ms=100, bank_ms=60_000)
"""For bots that use up a part of their bank."""


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
    """The clock by which it is played."""
    memory_mib: int = 512
    """Memory that the bot may have, in MiB."""
    survives: bool = False
    """Whether something that it started outlives it at `off`: known, and ended by the test."""
    best: "Row | None" = None
    """The row for the best level, if that is another."""
    slow: bool = False
    """Takes more than a few seconds."""
    needs: tuple[str, ...] = ()
    """Dangerous: it is run only where each of these probes was refused."""
    target: int = 30
    """Points to which the game is played."""
    also: FoulClass | None = None
    """The foul that it may be as well, where two things happen at once."""

    def at(self, place: Place) -> "Row":
        """Return the row for that place."""
        if place != "best" or not self.best:
            return self
        # Level C has no bubblewrap, which would hold a closed pipe open and bear a group's signal.
        bare = self.detail in (CLOSED, TERMINATED) and proved().level not in REQUIRED
        return self if bare else self.best


def places(how: str) -> tuple[Place, ...]:
    """Return the places where a behaviour is tried.

    One that only writes, or costs the same in both places and starts no process, needs one place.
    """
    if how.startswith(("lines/", "timing/")):
        return PLACES[1:]
    both = how.startswith(("processes/", "resources/")) or ROWS[how].best or ROWS[how].needs
    return PLACES if both else PLACES[:1]


@functools.cache
def proved() -> LevelResult:
    """Return the best level of this machine."""
    return next(one for level in LEVELS if (one := examine_level(level, TMP)).confirmed)


@functools.cache
def attacked(level: Level) -> Attacks:
    """Return the attacks that a level refuses."""
    return attack(level, TMP)


def unproven(row: Row, place: Place) -> str:
    """Return why a row cannot be run somewhere; empty when it can."""
    if place == "off":
        return "dangerous without a sandbox" if row.needs else ""
    found = proved()
    if found.level == "off":
        return "no sandbox here: `boneyard doctor` says why"
    if runs_as_another(found.level) and (shut := barrier(BOTS)):
        return f"bots of users of their own may not enter {shut}, where this checkout lies"
    through = sorted(attacked(found.level).through.intersection(row.needs))
    return f"level {found.level} does not refuse {', '.join(through)}" if through else ""


LATE = Row("late", " ms.", HASTY)
FINE = Row(None)
CLOSED = "closed its stdout"
"""The referee's words for a pipe that ended."""
SHUT = Row("gone", CLOSED, best=LATE)
"""bubblewrap holds the pipe open, so that only the clock tells."""
REFUSED = Row(None, best=Row("gone", "status 1"))
"""What it tries is refused, and it does not expect that."""
MEMORY = Row("memory", "64 MiB", memory_mib=64)
KILLED = "was killed by "
TERMINATED = f"{KILLED}SIGTERM"
PROCESSES = ("processes-limit",)
SIGNALS = ("referee-signal", "other-bot-signal", "referee-renice", "referee-limit", "referee-trace")
PRIORITY = ("raise-priority", "real-time")
FILES = ("file-size-limit", "tmp-limit", "shared-folder-limit")
ALL_MEMORY = ("memory-limit", "shared-memory-limit", "memory-file-limit")
NOTHING_LEFT = ("outlive-daemon", "outlive-group", "processes-limit")

ACTS: dict[str, dict[str, Row]] = {
    "timing": {
        "hello_never": Row("no_hello", "No hello within ", START_SOON),
        "hello_without_newline": Row("no_hello", "No hello within ", START_SOON),
        "hello_slow": FINE,
        "silent": LATE,
        "busy": LATE,
        "no_newline": LATE,
        "in_drops": FINE,
        "in_slow_drops": LATE,
        "endless_drops": Row("overlong", "65536"),
        "patient": Row(None, slow=True),
        "after_a_while": Row(None, clock=FROM_THE_BANK),
        "old_answers": LATE,
        "too_many_old_answers": Row("flooding", "not open"),
        "each_answer_twice": Row("flooding", "not open", target=100),
        "thinks_three_times": FINE,
        "answers_ahead": FINE,
        "answer_to_the_next_only": Row("illegal", "never asked"),
    },
    "plumbing": {
        "closes_stdin": LATE,
        "closes_stdout": SHUT,
        "closes_stderr": FINE,
        "answers_and_closes_stdout": SHUT,
        "stderr_for_stdout": SHUT,
        "never_reads": LATE,
        "reads_byte_by_byte": FINE,
        "fills_its_own_stdin": LATE,
        "reads_its_own_stdout": LATE,
        "small_pipes": FINE,
        "nonblocking": FINE,
        "large_pipe_full": Row("flooding", "not open"),
        "endless_line": Row("overlong", "65536"),
        "endless_old_answers": Row("flooding", "not open"),
        "unasked_old_answers": Row("flooding"),
        "endless_words": Row("malformed", "Not a message"),
        "echo": Row("malformed", "ask"),
        "stderr_flood": Row("flooding", "stderr"),
        "stderr_flood_beside": Row("flooding", "stderr"),
        "hello_and_stderr_flood": Row("flooding", "stderr"),
        "stderr_chatter": FINE,
        "stderr_terminal_codes": Row("gone", "status 3"),
        "heir": Row("gone", "status 0"),
        "heir_that_floods": Row("gone", also="flooding"),
        "child_talks": Row("malformed", "Not a message"),
        "answers_and_is_gone": Row("gone"),
    },
    "processes": {
        "exit_0": Row("gone"),
        "crash": Row("gone"),
        "endless_recursion": Row("gone"),
        "segfault": Row("gone", KILLED + "SIGSEGV"),
        "killed": Row("gone", KILLED + "SIGKILL"),
        "realtime_signal": Row("gone", KILLED + "signal 40"),
        "stopped": LATE,
        "kills_its_group": Row("gone", TERMINATED, best=LATE),
        "ignores_signals": LATE,
        "never_leaves": FINE,
        "forks_some": FINE,
        "makes_zombies": FINE,
        "orphans": Row("gone"),
        "child_in_own_group": Row(None, survives=True),
        "child_in_own_session": Row(None, survives=True),
        "daemon": Row("gone", survives=True),
        "daemon_that_talks": Row("gone", survives=True),
        "becomes_a_shell": Row("malformed", "Not a message"),
        "becomes_a_sleeper": LATE,
        "becomes_an_echo": Row("malformed", "ask"),
        "changes_its_name": FINE,
        "is_nicer": REFUSED,
        "traced_by_its_parent": LATE._replace(best=Row("gone")),
        "fork_storm": LATE._replace(needs=PROCESSES),
        "signals_everybody": Row(None, needs=SIGNALS),
        "stops_its_parent": Row(None, needs=SIGNALS),
        "traces_its_parent": Row(None, needs=SIGNALS),
        "slows_its_parent": Row(None, needs=SIGNALS),
        "limits_its_parent": Row(None, needs=SIGNALS),
        "is_most_important": Row(None, needs=PRIORITY),
        "busy_daemon": Row(None, needs=NOTHING_LEFT),
    },
    "resources": {
        "memory_in_steps": MEMORY,
        "memory_in_one_burst": MEMORY._replace(best=Row("gone", "status 1", memory_mib=64)),
        "memory_shared": MEMORY._replace(best=Row("gone", "status 1", memory_mib=64)),
        "memory_hidden": MEMORY,
        "memory_of_a_child": MEMORY,
        "memory_reserved": FINE,
        "threads": FINE,
        "descriptors": FINE,
        "temporary_file": FINE,
        "burns_while_others_think": FINE,
        "fills_the_disk": Row(None, needs=FILES),
        "fills_memory_with_files": Row(None, needs=FILES),
        "memory_hog": MEMORY._replace(needs=ALL_MEMORY),
        "takes_every_descriptor": LATE._replace(needs=PROCESSES),
    },
    "state": {
        "deletes_itself": FINE,
        "deletes_itself_and_is_gone": Row("gone"),
        "locks_its_folder": REFUSED,
        "fills_its_folder": FINE,
        "empties_its_environment": FINE,
        "no_more_files": FINE,
        "no_more_seconds": Row("gone", KILLED + "SIGKILL"),
        "no_more_memory": Row("gone", "status 1"),
        "blocks_all_signals": FINE,
        "another_stdout": FINE,
        "opens_its_pipe_anew": FINE,
    },
}

ROWS: dict[str, Row] = {f"lines/{name}": Row(foul) for name, (_, foul) in lines.LINES.items()} | {
    f"{group}/{name}": row for group, rows in ACTS.items() for name, row in rows.items()
}
"""Behaviour → what it must cost. What a line is stands beside the line."""
