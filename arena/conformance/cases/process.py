"""Steps about a process: its first lines, its starts, and how it leaves."""

from functools import partial

from arena.analysis.crash import crash_line
from arena.conformance import expect
from arena.conformance.cases.games import tiny
from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Diagnosis
from arena.conformance.model import UndecidedError
from arena.conformance.session import CheckStep, Session
from arena.match import referee
from arena.match.piped_process import SHUT_DOWN_S
from arena.rules.variants import find_variant
from arena.sandbox.sandbox import Sandbox
from protocol.codec import printable

ANSWERS = 3
"""Answers after each of which the check listens for more, if a game has so many questions."""
TIMED_STARTS = 3
NEWER_HELLO = b'{"type":"hello","protocol":1,"referee":"boneyard 9.9.1","minor":7,"wants":["x"]}\n'


# --- the first lines ---


async def _hello(session: Session) -> str:
    connection = await session.keep_connection()
    session.start_ms = _start_ms(connection)
    return f"after {session.start_ms:.0f} ms"


async def _only_hello(session: Session) -> str:
    await session.expect_silence("after its hello")
    assert session.hello
    return printable(f"{session.hello.name} {session.hello.version}".strip())


async def _silent_at_game(session: Session) -> str:
    game, *_ = session.new_seat(find_variant("draw")).lines()
    (await session.keep_connection()).send(game)
    await session.expect_silence("when a game began")
    # A game that has begun must be played to its end.
    await session.drop()
    return ""


async def _answers_once(session: Session) -> str:
    seat = session.new_seat(find_variant("draw"))
    for _ in range(ANSWERS):
        if seat.question is None:
            break
        await session.ask(seat)
        await session.expect_silence("after its answer", 1 / 3)
    # Another step plays it to its end.
    await session.drop()
    return ""


async def _silent_at_end(session: Session) -> str:
    await session.play(session.new_seat(tiny()))
    await session.expect_silence("at the end of a game")
    return ""


async def _first_answer(session: Session) -> str:
    answer = await session.ask(session.new_seat(find_variant("draw")))
    await session.drop()
    return f"option {answer.choice} after {answer.ms:.1f} ms"


# --- starts ---


async def _start_times(session: Session) -> str:
    await session.drop()
    session.start_ms = await _fastest_start(session, session.sandbox)
    note = f"{session.start_ms:.0f} ms with the sandbox {session.sandbox.state}"
    if session.outside:
        note += f", {await _fastest_start(session, session.outside):.0f} ms outside"
    return note


async def _fastest_start(session: Session, sandbox: Sandbox) -> float:
    times = []
    for _ in range(TIMED_STARTS if session.budget.whole else 1):
        async with Connection(session.poller, session.command, sandbox) as connection:
            await expect.expect_hello(connection, session.clock.start_ms)
            times.append(_start_ms(connection))
    return min(times)


def _start_ms(connection: Connection) -> float:
    return (connection.read_at - connection.began) * 1000


async def _two_at_once(session: Session) -> str:
    """Start two processes: sittings run side by side, so a bot may lock no file, take no port."""
    async with await session.restart() as one, await session.start_another() as two:
        for connection in (one, two):
            await session.ask(session.new_seat(find_variant("draw")), None, connection)
    session.runs_twice = True
    return ""


async def _newer_hello(session: Session) -> str:
    async with await session.restart(NEWER_HELLO) as connection:
        await session.ask(session.new_seat(find_variant("draw")), None, connection)
    return ""


STEPS = (
    CheckStep("hello", "sends hello in time", "Bot: hello", _hello, gate=True),
    CheckStep("only-hello", "writes nothing else until it is asked", "The pipe", _only_hello),
    CheckStep("game", "writes nothing when a game begins", "Who speaks when", _silent_at_game),
    CheckStep("first", "answers the first question", "Bot: choose", _first_answer, gate=True),
    CheckStep("starts", "starts quickly", "Time", _start_times),
    # From here on waits begin early; nothing may start beside the starts that are timed.
    CheckStep("two", "runs twice at the same time", "Who speaks when", _two_at_once),
    CheckStep("once", "answers each question once", "Question ids", _answers_once),
    CheckStep("end", "writes nothing when a game ends", "Who speaks when", _silent_at_end),
    CheckStep("newer", "understands the hello of a newer referee", "Versions", _newer_hello),
)

# --- leaving ---

LATEST_EXIT_S = 5.0
"""Seconds in which a bot that leaves too late still leaves by itself: the machine may be busy."""
STAYS = Diagnosis(
    f"It was still running {LATEST_EXIT_S:.0f} s after its stdin was closed.",
    "Exit when stdin ends, and end the threads and programs that you started.",
)
SPEAKS = Diagnosis(
    "It wrote to stdout after bye or the end of stdin.", "Exit without writing anything."
)


async def _leaves(before: str, goodbye: bytes, session: Session) -> str:
    """Check that the bot leaves in time and says nothing more; without a goodbye stdin ends.

    `before`: "game", after a game; "question", in the middle of one, when others are to move;
    empty: before any, as every run does when it checks the bots' greetings.
    """
    async with await session.restart() as connection:
        if before == "game":
            await session.play(session.new_seat(tiny()), None, connection)
        elif before == "question":
            await session.ask(session.new_seat(find_variant("draw")), None, connection)
        ms = await connection.exits_within(LATEST_EXIT_S, goodbye)
        said = connection.rest()
        if ms is None or said:
            expected = f"the process ends within {SHUT_DOWN_S:.0f} s, and writes nothing"
            raise expect.violation(connection, SPEAKS if ms else STAYS, said, expected)
        if ms > 1000 * SHUT_DOWN_S:
            late = f"It left after {ms:.0f} ms and has {SHUT_DOWN_S:.0f} s"
            raise UndecidedError(f"{late}: if this machine was busy, try again.")
        named_crash = crash_line(connection.stderr_text)
        last = f", with {named_crash!r} on stderr" if named_crash else ""
        return f"{ms:.0f} ms, {connection.exit_reason}{last}"


# A bye with a reason tells the bot that it has fouled.
FOULED = referee.bye("It closed its stdout.")
LEAVING = tuple(
    CheckStep(name, f"exits {when}", "Leaving", partial(_leaves, before, goodbye))
    for name, when, before, goodbye in (
        ("bye", "at bye", "game", referee.bye()),
        ("no-game", "at bye before any game", "", referee.bye()),
        ("void", "at bye in the middle of a game", "question", FOULED),
        ("stdin", "when stdin ends", "game", b""),
        ("stdin-in-game", "when stdin ends in a game", "question", b""),
    )
)
