"""Bots for the tests: broken, hostile, sealed, and sample bots on a script."""

import functools
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

import sample_bots
from arena.sandbox.command import OFF, Command, Confinement, Limits
from arena.sandbox.select import TrialResult, examine, try_to_lock
from protocol.messages import (
    PROTOCOL,
    Ask,
    Bye,
    Choose,
    Clock,
    Draw,
    End,
    FromBot,
    GameStarts,
    Hello,
    Leads,
    Option,
    Play,
    Played,
    Stock,
)
from protocol.records import FoulClass
from protocol.ruleset import Ruleset, Tile, tile_set
from tests.attacks.runner import Attacks, attack
from tests.bots.hostile import lines
from tests.support.tables import BOTS, reads

# The table of broken bots: at which step each is found out, and what it is told first.


PATIENT_CHECK = Clock(start_ms=60_000, move_ms=60_000, bank_ms=0)
"""The check's clock for bots that answer, however slow the machine is."""
HASTY_CHECK = Clock(start_ms=1_000, move_ms=500, bank_ms=0)
"""The check's clock for bots on which it waits in vain."""


class Diagnosed(NamedTuple):
    """The step at which a broken bot fails, and the words that the check shows first."""

    step: str
    says: str
    mend: str = ""
    clock: Clock = PATIENT_CHECK
    limits: Limits = Limits()


def waits(step: str, says: str, mend: str = "") -> Diagnosed:
    """Return the row of a bot on which the check waits in vain."""
    return Diagnosed(step, says, mend, HASTY_CHECK)


BROKEN: dict[str, Diagnosed] = {
    # --- buffers and loops ---
    "NeverFlushes": waits("hello", "buffered and was not flushed", "flush=True"),
    "ReadsToTheEnd": waits("hello", "only when its stdin was closed", "line by line"),
    "AnswersOnStderr": waits("first", "wrote its choose to stderr", "stdout"),
    "NeverReads": waits("hello", "does not read its stdin"),
    "SaysNothing": waits("first", "has read all lines and does not answer"),
    "ThinksForEver": waits("first", "still computing", "Load first, then write hello"),
    "ForgetsTheNewline": waits("first", "without a newline", r"\n"),
    "EndsLinesTheOldWay": waits("hello", r"\r alone"),
    "ExpectsALineAtEachRead": Diagnosed("pieces", "crashed: json.decoder.JSONDecodeError"),
    "ReadsShortLines": Diagnosed("large-set", "crashed: json.decoder.JSONDecodeError"),
    # --- what it says; test_diagnosis.py has the other lines ---
    "NeverGreets": waits("hello", "no hello, although it answers questions"),
    "GreetsLate": waits("hello", "answered after", "`--start-ms`"),
    "GreetsTwice": Diagnosed("only-hello", "a second hello after its hello"),
    "PrintsABanner": Diagnosed("hello", "text where a message is expected: '*** Broken", "stderr"),
    "CrashesAtOnce": Diagnosed("hello", "crashed: RuntimeError: no weights"),
    "WasSavedOnWindows": Diagnosed("hello", "crashed: /usr/bin/env", "first line ends with"),
    "LeavesAtOnce": Diagnosed("hello", "exited too early", "loop"),
    "CannotBeTwo": Diagnosed("two", "Address already in use"),
    "PrintsADict": Diagnosed("first", "single quotes", "json.dumps"),
    "CountsFrom1": Diagnosed("one-option", "Perhaps it counts from 1", "counted from 0"),
    "NumbersByItself": waits("first", "answered question 1;", "Copy the `id`"),
    "KeepsTheFirstNumber": waits("once", "It answered the question before", "Copy the `id`"),
    "Has32Bits": waits("numbers", "is open", "Copy the `id`"),
    "AnswersTwice": Diagnosed("once", "wrote an answer after its answer", "one answer"),
    # --- what it makes of messages ---
    "ConfirmsGames": Diagnosed("game", "when a game began: 'ok'"),
    "ThanksForGames": Diagnosed("end", 'at the end of a game: \'{"type":"thanks"}\''),
    "CrashesInItsSecondGame": Diagnosed("one-option", "crashed: ValueError: not again"),
    "DiesWith255": Diagnosed("first", "exited with status 255"),
    "KnowsAllFields": Diagnosed("newer", "crashed: ValueError: what is that?"),
    "KnowsAllRules": Diagnosed("fields", "crashed: TypeError"),
    "KnowsAllMessages": Diagnosed("one-go", "crashed: KeyError: 'weather'"),
    "KnowsPlaysAndDraws": Diagnosed("options", "crashed: KeyError: 'swap'"),
    "KnowsAllEvents": Diagnosed("events", "crashed: KeyError: 'swap'"),
    "ReadsAsciiNames": Diagnosed("names", "crashed: UnicodeEncodeError"),
    "SitsAtTablesOfTwo": Diagnosed("seats", "crashed: ValueError"),
    "NeedsAHand": Diagnosed("guess", "crashed: ValueError"),
    "MixesUpTables": Diagnosed("tables", "numbers that are not open"),
    "AnswersOneOfSeveral": waits("tables", "left a question unanswered", "of all games"),
    "WaitsForAFullBatch": waits("first", "questions from several games", "may be one game only"),
    # --- time and the machine ---
    "IsSlowWithManyOptions": Diagnosed(
        "large-set", "answered after", "time_ms", replace(HASTY_CHECK, start_ms=60_000)
    ),
    "RemembersAll": Diagnosed("memory", "MiB of memory", "24 MiB", limits=Limits(memory_mib=24)),
    "TracesAll": Diagnosed("questions", "bytes to stderr in one game"),
    # --- leaving ---
    "Stays": Diagnosed("bye", "still running", "Exit when stdin ends"),
    "SaysGoodbye": Diagnosed("bye", "wrote to stdout after bye"),
    "NeedsAGame": Diagnosed("no-game", "still running", "Exit when stdin ends"),
    "WaitsForBye": Diagnosed("stdin", "still running", "Exit when stdin ends"),
}

HARMLESS = ("AnswersTheLastFirst", "CrashesWhenItLeaves", "EndsLinesAsOnWindows")
"""Bots that look broken, and break no promise."""
SANDBOXED = ("ReadsItsWeights",)
"""Bots for which the check has other words in the sandbox."""


PROGRAM = BOTS / "broken"


def command(behaviour: str, tag: str = "", start_ms: int = 0) -> Command:
    argv = (sys.executable, "-I", "-S", str(PROGRAM), behaviour, tag, str(start_ms))
    return Command(argv, str(PROGRAM), reads(PROGRAM))


# The table of hostile behaviours and what each must cost. Plays nothing.


TMP = Path(tempfile.gettempdir())
HOSTILE = BOTS / "hostile"

Place = Literal["off", "best"]
PLACES: Final[tuple[Place, ...]] = ("off", "best")
"""The places of the battery: without a sandbox, and in the best that this machine proves."""

PATIENT = Clock(start_ms=60_000, move_ms=60_000, bank_ms=0)
"""The clock of bots of which none may be late, however slow the machine is."""
HASTY = Clock(start_ms=60_000, move_ms=300, bank_ms=100)
"""The clock of bots that must be late; see `slower`."""
START_SOON = Clock(start_ms=600, move_ms=60_000, bank_ms=0)
"""The clock of bots that must greet too late; see `slower`."""


def slower(clock: Clock) -> Clock:
    """Return a clock with four times the time, for a machine that made the honest bot late."""
    return Clock(start_ms=4 * clock.start_ms, move_ms=4 * clock.move_ms, bank_ms=4 * clock.bank_ms)


class Cost(NamedTuple):
    """The cost of a behaviour: what the referee must do about it."""

    foul: FoulClass | None
    """The foul that it is; None: nothing is broken, and the game is played to its end."""
    detail: str = ""
    """The words of its record."""
    clock: Clock = PATIENT
    memory_mib: int = 512
    survives: bool = False
    """True if something that it started outlives it at `off`: known, and ended by the test."""
    best: "Cost | None" = None
    """The row for the best place, if that is another."""
    needs: tuple[str, ...] = ()
    """Dangerous: it is run only where each of these probes was refused."""

    def cost_at(self, place: Place) -> "Cost":
        return self.best if place == "best" and self.best else self


def places(behaviour: str) -> tuple[Place, ...]:
    """Return the places where a behaviour is tried.

    One that only writes, or costs the same in both places and starts no process, needs one place.
    """
    if behaviour.startswith(("lines/", "timing/")):
        return PLACES[1:]
    row = ROWS[behaviour]
    both = behaviour.startswith(("processes/", "resources/")) or row.best or row.needs
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


def unproven(row: Cost, place: Place) -> str:
    """Return why a row cannot be run somewhere; empty when it can."""
    if place == "off":
        return "dangerous without a sandbox" if row.needs else ""
    confinement = proved().confinement
    if not confinement.is_locked:
        return "no sandbox here: `boneyard doctor` says why"
    through = sorted(attacked(confinement).through.intersection(row.needs))
    return f"the sandbox does not refuse {', '.join(through)}" if through else ""


LATE = Cost("late", " ms.", HASTY)
FINE = Cost(None)
CLOSED = "closed its stdout"
"""The referee's words for a pipe that ended."""
SHUT = Cost("gone", CLOSED, best=LATE)
"""The cost of a closed stdout; bubblewrap holds the pipe open, and only the clock tells."""
MEMORY = Cost("memory", "64 MiB", memory_mib=64)
TOO_LARGE = MEMORY._replace(best=Cost("gone", "status 1", memory_mib=64))
"""The cost of much memory at once, which the kernel refuses in the sandbox."""
KILLED = "was killed by "
TERMINATED = f"{KILLED}SIGTERM"

ACTS: dict[str, dict[str, Cost]] = {
    "timing": {
        "hello_never": Cost("no_hello", "No hello within ", START_SOON),
        "silent": LATE,
        "no_newline": LATE,
        "in_drops": FINE,
        "in_slow_drops": LATE,
        "patient": FINE,
        "old_answers": LATE,
        "too_many_old_answers": Cost("flooding", "not open"),
        "thinks_three_times": FINE,
        "answers_ahead": FINE,
    },
    "plumbing": {
        "closes_stdin": LATE,
        "closes_stdout": SHUT,
        "closes_stderr": FINE,
        "fills_its_own_stdin": LATE,
        "small_pipes": FINE,
        "endless_line": Cost("overlong", "65536"),
        "endless_old_answers": Cost("flooding", "not open"),
        "unasked_old_answers": Cost("flooding"),
        "endless_words": Cost("malformed", "Not a message"),
        "stderr_flood": Cost("flooding", "stderr"),
        "stderr_flood_beside": Cost("flooding", "stderr"),
        "stderr_chatter": FINE,
        "stderr_terminal_codes": Cost("gone", "status 3"),
        "heir": Cost("gone", "status 0"),
        "child_talks": Cost("malformed", "Not a message"),
        "answers_and_is_gone": Cost("gone"),
    },
    "processes": {
        "exit_0": Cost("gone"),
        "segfault": Cost("gone", KILLED + "SIGSEGV"),
        "realtime_signal": Cost("gone", KILLED + "signal 40"),
        "stopped": LATE,
        "kills_its_group": Cost("gone", TERMINATED, best=LATE),
        "ignores_signals": LATE,
        "never_leaves": FINE,
        "deletes_itself": FINE,
        "deletes_itself_and_is_gone": Cost("gone"),
        "forks_some": FINE,
        "child_in_own_session": Cost(None, survives=True),
        "daemon": Cost("gone", survives=True),
        "changes_its_name": FINE,
        "fork_storm": LATE._replace(needs=("processes-limit",)),
        "signals_everybody": Cost(None, needs=("referee-signal", "other-bot-signal")),
        "busy_daemon": Cost(None, needs=("outlive-daemon", "outlive-group", "processes-limit")),
    },
    "resources": {
        "memory_in_steps": MEMORY,
        "memory_in_one_burst": TOO_LARGE,
        "memory_shared": TOO_LARGE,
        "memory_hidden": MEMORY,
        "memory_of_a_child": MEMORY,
    },
}

ROWS: dict[str, Cost] = {f"lines/{name}": Cost(foul) for name, (_, foul) in lines.LINES.items()} | {
    f"{group}/{name}": row for group, rows in ACTS.items() for name, row in rows.items()
}
"""The cost of each behaviour, by name; `lines.LINES` has that of each line."""


# Sample bots as processes on a script: what each is asked, and what it answers.


FOLDER = Path(sample_bots.__file__).parent
SAMPLE_BOTS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "bots.toml").read_text())
PATIENCE = 120.0
"""Seconds for a whole conversation; it takes a fraction of one."""
TIME_MS = 60_000
"""The time for an answer, so much that no bot thinks less than it would on a fast machine."""
HELLO = msgspec.json.encode(Hello(protocol=PROTOCOL, referee="test 0"))
BYE = msgspec.json.encode(Bye())
FREE = Ruleset(name="draw")


def game(rules: Ruleset = FREE, seats: int = 2) -> bytes:
    return msgspec.json.encode(
        GameStarts(
            game=1, seat=0, seats=seats, partners=False, rules=rules, target=100, clock=Clock()
        )
    )


def plays(hand: Sequence[Tile], ends: tuple[int, ...]) -> list[Option]:
    """List the plays of a hand; the referee's own list is tested elsewhere."""
    if not ends:
        return [Play(tile, "lead") for tile in hand]
    sides: tuple[End, ...] = ("left", "right")
    return [
        Play(tile, side)
        for tile in hand
        for side, end in zip(sides, ends, strict=True)
        if end in tile
    ]


def ask(
    number: int,
    hand: Sequence[Tile],
    line: Sequence[Tile] = (),
    *,
    options: Sequence[Option] | None = None,
    events: Sequence[Any] = (),
    hands: tuple[int, ...] = (7, 7),
) -> bytes:
    ends = (line[0][0], line[-1][1]) if line else ()
    if options is None:
        options = [*plays(hand, ends), Draw()]
    return msgspec.json.encode(
        Ask(
            id=number,
            game=1,
            round=1,
            time_ms=TIME_MS,
            seat=0,
            hand=tuple(hand),
            line=tuple(line),
            ends=ends,
            boneyard=Stock(tiles=14, drawable=12),
            hands=hands,
            scores=(0,) * len(hands),
            pot=0,
            events=[Leads(0), *events],
            options=tuple(options),
        )
    )


def strange(number: int, options: str) -> bytes:
    """Ask as a later version may: fields, events and options that no bot knows."""
    question = ask(number, [(6, 5), (2, 1)], [(5, 5)], events=[Played(1, (5, 5), "lead")])
    head, _, _ = question.rpartition(b'"options":')
    head = head.replace(b'"events":[', b'"wind":"east","events":[{"do":"bid","seat":1,"chips":3},')
    return head + b'"options":' + options.encode() + b"}"


UNKNOWN = (
    '[{"do":"trade","left":[6,5],"right":[2,1]},{"do":"bid","chips":4},{"do":"bid","chips":5}]'
)
LATER = b'{"type":"weather","id":5,"options":[{"do":"rain"}]}'


class Case(NamedTuple):
    """A question, and how many options it has."""

    name: str
    question: bytes
    options: int


WHOLE_SET = sorted(tile_set(18))
QUESTIONS = {
    "a lead with doubles": ask(3, [(6, 5), (4, 4), (1, 1), (6, 4)]),
    "a lead without a double": ask(4, [(3, 2), (6, 4), (6, 5), (5, 1)]),
    "0-0, a double": ask(7, [(6, 0), (0, 0)], [(0, 5), (5, 6)]),
    "few that fit": ask(8, [(6, 6), (5, 1), (4, 3), (2, 0)], [(3, 1), (1, 2)]),
    "a large number": ask(2**53, [(5, 2), (5, 4)], [(5, 5)]),
    "draw listed first": ask(
        9, [(5, 2), (5, 4)], options=[Draw(), Play((5, 2), "lead"), Play((5, 4), "lead")]
    ),
    "unknown options": strange(10, UNKNOWN),
    "a play among unknown options": strange(
        11, UNKNOWN[:-1] + ',{"do":"play","tile":[6,5],"end":"left","why":"x"}]'
    ),
    "three seats": ask(12, [(6, 5), (5, 5)], [(5, 0)], hands=(7, 7, 7)),
    "a very long line": ask(13, WHOLE_SET, [(a, b) for b, a in WHOLE_SET]),
}
CASES = [Case(name, line, len(json.loads(line)["options"])) for name, line in QUESTIONS.items()]


def talk(command: list[str], lines: Sequence[bytes], folder: Path = FOLDER) -> list[bytes]:
    """Return all that the bot writes after these lines; it must then leave of its own accord."""
    done = subprocess.run(
        command,
        cwd=folder,
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr
    return done.stdout.splitlines()


def decode_choice(answer: bytes) -> Choose:
    choice = msgspec.json.decode(answer, type=FromBot)
    assert isinstance(choice, Choose)
    return choice


# Sealed bots for the tests, in the text form of WebAssembly: they need no compiler.


TEXT = r"""
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get"
    (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  IMPORTS
  (memory (export "memory") 4)
  (data (i32.const 64)
    "{\22type\22:\22hello\22,\22name\22:\22w\22,\22version\22:\221\22,\22tables\22:9}\0a")
  (data (i32.const 256) "{\22type\22:\22choose\22,\22id\22:")
  (data (i32.const 400) ",\22choice\22:0,\22note\22:\22")
  (global $note (mut i64) (i64.const 0))
  (global $asked (mut i32) (i32.const 0))
  (func $say (param $to i32) (param $at i32) (param $size i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $size))
    (drop (call $write (local.get $to) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $spin (param $times i32)
    (loop $more
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $more (local.get $times))))
  MORE
  (func (export "_start") (local $from i32) (local $to i32)
    START
    (loop $next
      (i32.store (i32.const 0) (i32.const 1024))
      (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.eqz (i32.load (i32.const 8))) (then return))
      LINE
      (if (i32.eq (i32.load8_u (i32.const 1033)) (i32.const 104)) (then
        (call $say (i32.const 1) (i32.const 64) (i32.const 53))))
      (if (i32.eq (i32.load8_u (i32.const 1033)) (i32.const 97)) (then
        (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
        ASK
        (local.set $from (i32.const 1043))
        (local.set $to (i32.const 278))
        (loop $digits
          (i32.store8 (local.get $to) (i32.load8_u (local.get $from)))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (br_if $digits (i32.ne (i32.load8_u (local.get $from)) (i32.const 44))))
        (memory.copy (local.get $to) (i32.const 400) (i32.const 20))
        (local.set $to (i32.add (local.get $to) (i32.const 20)))
        (local.set $from (i32.const 16))
        (loop $letters
          (i32.store8 (local.get $to)
            (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (global.get $note) (i64.const 15)))))
          (global.set $note (i64.shr_u (global.get $note) (i64.const 4)))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (local.set $from (i32.sub (local.get $from) (i32.const 1)))
          (br_if $letters (local.get $from)))
        (i32.store (local.get $to) (i32.const 0x0a7d22))
        (call $say (i32.const 1) (i32.const 256)
          (i32.sub (i32.add (local.get $to) (i32.const 3)) (i32.const 256)))
        AFTER))
      (br $next))))
"""
"""A bot that takes the first option; what stands in capitals is filled in. Its note is a number in
letters."""


def text(**parts: str) -> str:
    """Return the bot's text with these parts filled in."""
    module = TEXT
    for name in ("IMPORTS", "MORE", "START", "LINE", "ASK", "AFTER"):
        module = module.replace(f"{name}\n", f"{parts.get(name.lower(), '')}\n", 1)
        if name == "AFTER":
            module = module.replace("AFTER))", f"{parts.get('after', '')}))")
    return module


def sealed(folder: Path, name: str = "w", **parts: str) -> Command:
    """Write a sealed bot into a folder; return its command."""
    from wasmtime import wat2wasm

    path = folder / f"{name}.wasm"
    path.write_bytes(wat2wasm(text(**parts)))
    return sealed_command(path)


def sealed_command(path: Path, *words: str) -> Command:
    return Command((f"{path}", *words), f"{path.parent}", (f"{path}",), (f"{path}",))


def spin(million: float) -> str:
    """Return code that takes about so many million instructions."""
    return f"(call $spin (i32.const {int(million * 1e6 / 6)}))"


NOTE_CHANCE = "(drop (call $random (i32.const 16) (i32.const 8)))" + (
    "(global.set $note (i64.load (i32.const 16)))"
)
NOTE_TIME = "(drop (call $clock (i32.const 0) (i64.const 0) (i32.const 16)))" + (
    "(global.set $note (i64.load (i32.const 16)))"
)
NOTE_COUNT = "(global.set $note (i64.extend_i32_u (global.get $asked)))"
