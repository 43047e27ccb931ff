"""Steps about time and resources: slow positions, pauses, memory, stderr."""

from arena.conformance import expect as judge
from arena.conformance.cases.games import short
from arena.conformance.model import OutOfTimeError, Step
from arena.conformance.session import Session
from arena.rules.variants import find_variant
from protocol.ruleset import derive

MIB = 2**20
STRETCH = 400
"""Questions between two measurements of memory."""
SITTING = 20_000
"""Questions that a bot must survive: a very long sitting."""


def slow_positions(desk: Session) -> str:
    """Ask at the most options, the longest lines, the most seats: none may take too long."""
    worst = 0.0
    for name, seats, differs in (
        ("draw", 2, {"highest_pip": 18, "hand": 64, "reserve": 0}),
        ("double-draw", 2, {"highest_pip": 18, "hand": 40}),
        ("draw", 4, {"highest_pip": 18, "hand": 40}),
        ("double-draw", 4, {}),
        ("draw", 8, {"highest_pip": 18, "hand": 20}),
    ):
        talk, seat = desk.kept_connection, desk.seat(derive(short(name), name, differs), seats)
        for _ in range(12):
            if not seat.question or desk.hurried:
                break
            worst = max(worst, desk.ask(talk, seat).ms)
        desk.drop()
    care = "; take care, that is near the limit" if worst > desk.clock.move_ms / 2 else ""
    return f"{worst:.1f} ms at the worst{care}"


def after_a_pause(desk: Session) -> str:
    """Pause as if others thought for long: the bot must wait in silence, and answer then."""
    talk, seat = desk.kept_connection, desk.seat(short("draw"))
    desk.ask(talk, seat)
    before = talk.spent().cpu_ms
    judge.expect_silence(talk, desk.pace.pause_ms / 1000, "while others were thinking")
    busy = talk.spent().cpu_ms - before
    desk.play_on(talk, seat)
    care = f"; it computes meanwhile ({busy:.0f} ms of CPU)" if busy > 100 else ""
    return f"{desk.pace.pause_ms} ms{care}"


def bounded_memory(desk: Session) -> str:
    """Ask question after question: memory that grows with them would end a long sitting."""
    talk, limit, asked = desk.kept_connection, desk.sandbox.limits.memory, 0
    desk.play(talk, desk.seat(short("draw")))
    kept = talk.spent().memory
    while True:
        before = kept
        questions, kept = _stretch(desk, STRETCH if desk.pace.whole else STRETCH // 4)
        asked += questions
        if kept > limit:
            judge.violation(
                talk,
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
        if desk.hurried:
            return f"take care: {grown // questions} bytes more with each question"


def _stretch(desk: Session, most: int) -> tuple[int, int]:
    """Ask up to `most` questions; return their number and the memory then in use, in bytes."""
    talk, asked, board, memory = desk.kept_connection, 0, 0, 0
    while asked < most and not desk.hurried and memory <= desk.sandbox.limits.memory:
        board += 1
        seat = desk.seat(short("draw"), board=board)
        while seat.question and not desk.hurried:
            desk.ask(talk, seat)
            asked += 1
        memory = talk.spent().memory
        desk.play_on(talk, seat)
    return asked, memory


def little_stderr(desk: Session) -> str:
    """Check that the bot writes no more to stderr than its budget a game."""
    talk = desk.kept_connection
    desk.play(talk, desk.seat(find_variant("draw") if desk.pace.whole else short("draw")))
    judge.within_stderr(talk)
    return f"{talk.stderr_bytes} bytes in a game" if talk.stderr_bytes else "nothing written"


STEPS = (
    Step("positions", "answers the largest positions in time", "Time", slow_positions),
    Step("pause", "answers after a pause", "Who speaks when", after_a_pause),
    Step("memory", "keeps its memory bounded", "Fouls", bounded_memory),
    Step("stderr", "keeps within its budget of stderr", "The pipe", little_stderr),
)
