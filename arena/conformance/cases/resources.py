"""Steps about time and resources: slow positions, pauses, memory, stderr."""

from arena.conformance import expect
from arena.conformance.cases.games import short
from arena.conformance.diagnose_line import Diagnosis
from arena.conformance.model import OutOfTimeError
from arena.conformance.session import CheckStep, Pause, Session
from arena.rules.variants import find_variant
from protocol.ruleset import derive

MIB = 2**20
STRETCH = 400
"""Questions between two measurements of memory."""
SITTING = 20_000
"""Questions that a bot must survive: a very long sitting."""
LARGE: tuple[tuple[str, int, dict[str, int]], ...] = (
    ("draw", 2, {"highest_pip": 18, "hand": 64, "reserve": 0}),
    ("double-draw", 2, {"highest_pip": 18, "hand": 40}),
    ("draw", 4, {"highest_pip": 18, "hand": 40}),
    ("double-draw", 4, {}),
    ("draw", 8, {"highest_pip": 18, "hand": 20}),
)


async def _slow_positions(session: Session) -> str:
    worst = 0.0
    for name, seats, differs in LARGE:
        seat = session.new_seat(derive(short(name), name, differs), seats)
        for _ in range(12):
            if not seat.question or session.is_out_of_time:
                break
            worst = max(worst, (await session.ask(seat)).ms)
        await session.drop()
    care = "; this is near the limit" if worst > session.clock.move_ms / 2 else ""
    return f"{worst:.1f} ms maximum{care}"


async def _begin_pause(session: Session) -> None:
    """Begin a game with a process of its own, which then waits as if others thought for long."""
    connection = await session.start_another()
    try:
        seat = session.new_seat(short("draw"))
        await session.ask(seat, None, connection)
    except BaseException:
        await connection.close()
        raise
    session.pause = Pause(connection, seat, connection.usage().cpu_ms)


async def _after_a_pause(session: Session) -> str:
    """End the pause: the bot must have waited in silence, and answer now."""
    if session.pause is None:
        await session.drop()
        await _begin_pause(session)
    assert session.pause
    (connection, seat, before), session.pause = session.pause, None
    async with connection:
        left = connection.read_at + session.budget.pause_ms / 1000 - connection.now()
        await expect.expect_silence(connection, max(0.0, left), "while others were thinking")
        busy = connection.usage().cpu_ms - before
        await session.play_on(seat, None, connection)
    care = f"; it computes meanwhile ({busy:.0f} ms of CPU)" if busy > 100 else ""
    return f"{session.budget.pause_ms} ms{care}"


async def _bounded_memory(session: Session) -> str:
    """Ask question after question: memory that grows with them would end a long sitting."""
    limit, asked = session.sandbox.limits.memory, 0
    await session.play(session.new_seat(short("draw")))
    kept = (await session.keep_connection()).usage().memory
    while True:
        before = kept
        questions, kept = await _stretch(session, STRETCH if session.budget.whole else STRETCH // 4)
        asked += questions
        if kept > limit:
            found = Diagnosis(
                f"After {asked} questions it keeps {kept // MIB} MiB of memory.",
                f"Bound your tables: {limit // MIB} MiB are allowed.",
            )
            expected = f"at most {limit // MIB} MiB, resident"
            raise expect.violation(await session.keep_connection(), found, b"", expected)
        if not questions:
            raise OutOfTimeError(asked)
        grown = kept - before
        if kept + grown * SITTING // questions < limit:
            return f"{kept // MIB} MiB after {asked} questions"
        if session.is_out_of_time:
            return f"take care: {grown // questions} bytes more with each question"


async def _stretch(session: Session, most: int) -> tuple[int, int]:
    """Ask up to `most` questions; return their number and the memory then in use, in bytes."""
    connection, asked, board, memory = await session.keep_connection(), 0, 0, 0
    while asked < most and not session.is_out_of_time and memory <= session.sandbox.limits.memory:
        board += 1
        seat = session.new_seat(short("draw"), board=board)
        while seat.question and not session.is_out_of_time:
            await session.ask(seat)
            asked += 1
        memory = connection.usage().memory
        await session.play_on(seat)
    return asked, memory


async def _little_stderr(session: Session) -> str:
    rules = find_variant("draw") if session.budget.whole else short("draw")
    await session.play(session.new_seat(rules))
    connection = await session.keep_connection()
    expect.check_stderr(connection)
    wrote = connection.stderr_bytes
    return f"{wrote} bytes in a game" if wrote else "nothing written"


PAUSE = CheckStep(
    "pause", "answers after a pause", "Who speaks when", _after_a_pause, begin=_begin_pause
)
STEPS = (
    CheckStep("positions", "answers the largest positions in time", "Time", _slow_positions),
    CheckStep("memory", "keeps its memory bounded", "Fouls", _bounded_memory),
    CheckStep("stderr", "keeps within its stderr limit", "The pipe", _little_stderr),
)
