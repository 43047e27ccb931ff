"""The table of broken bots: at which step each is found out, and what it is told first."""

import sys
from typing import NamedTuple

from msgspec.structs import replace

from arena.sandbox.command import Command, Limits
from protocol.messages import Clock
from tests.support.tables import BOTS, reads

PATIENT = Clock(start_ms=60_000, move_ms=60_000, bank_ms=0)
"""For bots that answer, however slow the machine is."""
HASTY = Clock(start_ms=1_000, move_ms=500, bank_ms=0)
"""For bots for which the walk must wait in vain."""


class Row(NamedTuple):
    """What a broken bot must be told first."""

    step: str
    says: str
    mend: str = ""
    clock: Clock = PATIENT
    limits: Limits = Limits()


def waits(step: str, says: str, mend: str = "") -> Row:
    """Return a bot for which the walk must wait in vain."""
    return Row(step, says, mend, HASTY)


BROKEN: dict[str, Row] = {
    # --- buffers and loops ---
    "NeverFlushes": waits("hello", "buffered and was not flushed", "flush=True"),
    "ReadsToTheEnd": waits("hello", "only when its stdin was closed", "line by line"),
    "AnswersOnStderr": waits("first", "wrote its choose to stderr", "stdout"),
    "NeverReads": waits("hello", "does not read its stdin"),
    "SaysNothing": waits("first", "has read all lines and does not answer"),
    "ThinksForEver": waits("first", "still computing", "Load first, then write hello"),
    "ForgetsTheNewline": waits("first", "without a newline", r"\n"),
    "EndsLinesTheOldWay": waits("hello", r"\r alone"),
    "ExpectsALineAtEachRead": Row("pieces", "crashed: json.decoder.JSONDecodeError"),
    "ReadsShortLines": Row("large-set", "crashed: json.decoder.JSONDecodeError"),
    # --- what it says; test_diagnosis.py has the other lines ---
    "NeverGreets": waits("hello", "no hello, although it answers questions"),
    "GreetsLate": waits("hello", "answered after", "`--start-ms`"),
    "GreetsTwice": Row("only-hello", "a second hello after its hello"),
    "PrintsABanner": Row("hello", "text where a message is expected: '*** Broken", "stderr"),
    "CrashesAtOnce": Row("hello", "crashed: RuntimeError: no weights"),
    "WasSavedOnWindows": Row("hello", "crashed: /usr/bin/env", "first line ends with"),
    "LeavesAtOnce": Row("hello", "exited too early", "loop"),
    "CannotBeTwo": Row("two", "Address already in use"),
    "PrintsADict": Row("first", "single quotes", "json.dumps"),
    "CountsFrom1": Row("one-option", "Perhaps it counts from 1", "counted from 0"),
    "NumbersByItself": waits("first", "answered question 1;", "Copy the `id`"),
    "KeepsTheFirstNumber": waits("once", "It answered the question before", "Copy the `id`"),
    "Has32Bits": waits("numbers", "is open", "Copy the `id`"),
    "AnswersTwice": Row("once", "wrote an answer after its answer", "one answer"),
    # --- what it makes of messages ---
    "ConfirmsGames": Row("game", "when a game began: 'ok'"),
    "ThanksForGames": Row("end", 'at the end of a game: \'{"type":"thanks"}\''),
    "CrashesInItsSecondGame": Row("one-option", "crashed: ValueError: not again"),
    "DiesWith255": Row("first", "exited with status 255"),
    "KnowsAllFields": Row("newer", "crashed: ValueError: what is that?"),
    "KnowsAllRules": Row("fields", "crashed: TypeError"),
    "KnowsAllMessages": Row("one-go", "crashed: KeyError: 'weather'"),
    "KnowsPlaysAndDraws": Row("options", "crashed: KeyError: 'swap'"),
    "KnowsAllEvents": Row("events", "crashed: KeyError: 'swap'"),
    "ReadsAsciiNames": Row("names", "crashed: UnicodeEncodeError"),
    "SitsAtTablesOfTwo": Row("seats", "crashed: ValueError"),
    "NeedsAHand": Row("guess", "crashed: ValueError"),
    "MixesUpTables": Row("tables", "numbers that are not open"),
    "AnswersOneOfSeveral": waits("tables", "left a question unanswered", "of all games"),
    "WaitsForAFullBatch": waits("first", "questions from several games", "may be one game only"),
    # --- time and the machine ---
    "IsSlowWithManyOptions": Row(
        "large-set", "answered after", "time_ms", replace(HASTY, start_ms=60_000)
    ),
    "RemembersAll": Row("memory", "MiB of memory", "24 MiB", limits=Limits(memory_mib=24)),
    "TracesAll": Row("questions", "bytes to stderr in one game"),
    # --- leaving ---
    "Stays": Row("bye", "still running", "Exit when stdin ends"),
    "SaysGoodbye": Row("bye", "wrote to stdout after bye"),
    "NeedsAGame": Row("no-game", "still running", "Exit when stdin ends"),
    "WaitsForBye": Row("stdin", "still running", "Exit when stdin ends"),
}

HARMLESS = ("AnswersTheLastFirst", "CrashesWhenItLeaves", "EndsLinesAsOnWindows")
"""Bots that look broken, and break no promise."""
SANDBOXED = ("ReadsItsWeights",)
"""Bots that are told something else in the sandbox."""


PROGRAM = BOTS / "broken"


def command(how: str, tag: str = "", start_ms: int = 0) -> Command:
    argv = (sys.executable, "-I", "-S", str(PROGRAM), how, tag, str(start_ms))
    return Command(argv, str(PROGRAM), reads(PROGRAM))
