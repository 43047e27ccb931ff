"""Steps about time and resources: slow positions, pauses, memory, stderr."""

import time

from arena.conformance import expect
from arena.conformance.cases.games import short
from arena.conformance.model import CheckStep, OutOfTimeError
from arena.conformance.session import Pause, Session
from arena.rules.variants import find_variant
from protocol.ruleset import derive

MIB = 2**20
STRETCH = 400
"""Questions between two measurements of memory."""
SITTING = 20_000
"""Questions that a bot must survive: a very long sitting."""


def slow_positions(session: Session) -> str:
    """Ask at the most options, the longest lines, the most seats: none may take too long."""
    worst = 0.0
    for name, seats, differs in (
        ("draw", 2, {"highest_pip": 18, "hand": 64, "reserve": 0}),
        ("double-draw", 2, {"highest_pip": 18, "hand": 40}),
        ("draw", 4, {"highest_pip": 18, "hand": 40}),
        ("double-draw", 4, {}),
        ("draw", 8, {"highest_pip": 18, "hand": 20}),
    ):
        connection, seat = (
            session.kept_connection,
            session.new_seat(derive(short(name), name, differs), seats),
        )
        for _ in range(12):
            if not seat.question or session.is_out_of_time:
                break
            worst = max(worst, session.ask(connection, seat).ms)
        session.drop()
    care = "; this is near the limit" if worst > session.clock.move_ms / 2 else ""
    return f"{worst:.1f} ms maximum{care}"


def begin_pause(session: Session) -> None:
    """Begin a game with a process of its own, which then waits as if others thought for long."""
    connection = session.start_another()
    try:
        seat = session.new_seat(short("draw"))
        session.ask(connection, seat)
    except BaseException:
        connection.close()
        raise
    session.pause = Pause(connection, seat, connection.usage().cpu_ms)


def after_a_pause(session: Session) -> str:
    """End the pause: the bot must have waited in silence, and answer now."""
    if session.pause is None:
        session.drop()
        begin_pause(session)
    assert session.pause
    (connection, seat, before), session.pause = session.pause, None
    with connection:
        left = connection.read_at + session.budget.pause_ms / 1000 - time.monotonic()
        expect.expect_silence(connection, left, "while others were thinking")
        busy = connection.usage().cpu_ms - before
        session.play_on(connection, seat)
    care = f"; it computes meanwhile ({busy:.0f} ms of CPU)" if busy > 100 else ""
    return f"{session.budget.pause_ms} ms{care}"


def bounded_memory(session: Session) -> str:
    """Ask question after question: memory that grows with them would end a long sitting."""
    connection, limit, asked = session.kept_connection, session.sandbox.limits.memory, 0
    session.play(connection, session.new_seat(short("draw")))
    kept = connection.usage().memory
    while True:
        before = kept
        questions, kept = _stretch(session, STRETCH if session.budget.whole else STRETCH // 4)
        asked += questions
        if kept > limit:
            expect.report_violation(
                connection,
                f"After {asked} questions it keeps {kept // MIB} MiB of memory.",
                f"Bound your tables: {limit // MIB} MiB are allowed.",
                "",
                f"at most {limit // MIB} MiB, resident",
            )
        if not questions:
            raise OutOfTimeError(asked)
        grown = kept - before
        if kept + grown * SITTING // questions < limit:
            return f"{kept // MIB} MiB after {asked} questions"
        if session.is_out_of_time:
            return f"take care: {grown // questions} bytes more with each question"


def _stretch(session: Session, most: int) -> tuple[int, int]:
    """Ask up to `most` questions; return their number and the memory then in use, in bytes."""
    connection, asked, board, memory = session.kept_connection, 0, 0, 0
    while asked < most and not session.is_out_of_time and memory <= session.sandbox.limits.memory:
        board += 1
        seat = session.new_seat(short("draw"), board=board)
        while seat.question and not session.is_out_of_time:
            session.ask(connection, seat)
            asked += 1
        memory = connection.usage().memory
        session.play_on(connection, seat)
    return asked, memory


def little_stderr(session: Session) -> str:
    """Check that the bot writes no more to stderr than its budget a game."""
    connection = session.kept_connection
    session.play(
        connection,
        session.new_seat(find_variant("draw") if session.budget.whole else short("draw")),
    )
    expect.check_stderr(connection)
    return (
        f"{connection.stderr_bytes} bytes in a game"
        if connection.stderr_bytes
        else "nothing written"
    )


PAUSE = CheckStep(
    "pause", "answers after a pause", "Who speaks when", after_a_pause, begin=begin_pause
)
STEPS = (
    CheckStep("positions", "answers the largest positions in time", "Time", slow_positions),
    CheckStep("memory", "keeps its memory bounded", "Fouls", bounded_memory),
    CheckStep("stderr", "keeps within its stderr limit", "The pipe", little_stderr),
)
