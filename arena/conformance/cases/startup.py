"""Steps about the first lines: hello, the first game, one answer for one question, other starts."""

from arena.conformance import expect
from arena.conformance.cases.games import tiny
from arena.conformance.connection import Connection
from arena.conformance.model import CheckStep
from arena.conformance.session import Session
from arena.rules.variants import find_variant
from protocol.codec import printable

ANSWERS = 3
"""Answers after each of which the check listens for more, if a game has so many questions."""
STARTS = 3
"""Starts that are timed."""


def says_hello(session: Session) -> str:
    """Check that the first line is a hello and comes in time."""
    session.start_ms = _since_start(session.kept_connection)
    return f"after {session.start_ms:.0f} ms"


def only_hello(session: Session) -> str:
    """Check that the bot sends one line and then waits."""
    expect.expect_silence(
        session.kept_connection, session.budget.quiet_ms / 1000, "after its hello"
    )
    assert session.hello
    return printable(f"{session.hello.name} {session.hello.version}".strip())


def silent_at_game(session: Session) -> str:
    """Check that the bot is silent when a game begins: nothing is asked yet."""
    game, *_ = session.new_seat(find_variant("draw")).lines()
    session.kept_connection.send(game)
    expect.expect_silence(
        session.kept_connection, session.budget.quiet_ms / 1000, "when a game began"
    )
    # A game that has begun must be played to its end.
    session.drop()
    return ""


def answers_once(session: Session) -> str:
    """Check that the bot sends one line for one question."""
    connection, seat = session.kept_connection, session.new_seat(find_variant("draw"))
    for _ in range(ANSWERS):
        if seat.question is None:
            break
        session.ask(connection, seat)
        expect.expect_silence(connection, session.budget.quiet_ms / 3000, "after its answer")
    # Another step plays it to its end.
    session.drop()
    return ""


def silent_at_end(session: Session) -> str:
    """Check that the bot is silent at the end of a round and of a game."""
    connection = session.kept_connection
    session.play(connection, session.new_seat(tiny()))
    expect.expect_silence(connection, session.budget.quiet_ms / 1000, "at the end of a game")
    return ""


def first_answer(session: Session) -> str:
    """Check that the first answer is one whole line in time."""
    answer = session.ask(session.kept_connection, session.new_seat(find_variant("draw")))
    session.drop()
    return f"option {answer.choice} after {answer.ms:.1f} ms"


def start_times(session: Session) -> str:
    """Time the starts, in the sandbox and, if a user asked for that, outside."""
    session.drop()
    starts = STARTS if session.budget.whole else 1
    within = min(
        _time_start(Connection(session.command, session.sandbox), session) for _ in range(starts)
    )
    session.start_ms = within
    level = "off" if session.sandbox.level == "off" else f"level {session.sandbox.level}"
    note = f"{within:.0f} ms at {level}"
    if session.outside:
        outside = min(
            _time_start(Connection(session.command, session.outside), session)
            for _ in range(starts)
        )
        note += f", {outside:.0f} ms outside"
    return note


def two_at_once(session: Session) -> str:
    """Start two processes: sittings run side by side, so a bot may lock no file, take no port."""
    with session.restart() as one, session.start_another() as two:
        for connection in (one, two):
            session.ask(connection, session.new_seat(find_variant("draw")))
    session.runs_twice = True
    return ""


def newer_hello(session: Session) -> str:
    """Send the hello of a later version, which has more fields."""
    hello = b'{"type":"hello","protocol":1,"referee":"boneyard 9.9.1","minor":7,"wants":["x"]}\n'
    with session.restart(hello) as connection:
        session.ask(connection, session.new_seat(find_variant("draw")))
    return ""


def _time_start(connection: Connection, session: Session) -> float:
    with connection:
        expect.expect_hello(connection, session.clock.start_ms)
        return _since_start(connection)


def _since_start(connection: Connection) -> float:
    return (connection.read_at - connection.began) * 1000


STEPS = (
    CheckStep("hello", "sends hello in time", "Bot: hello", says_hello, gate=True),
    CheckStep("only-hello", "writes nothing else until it is asked", "The pipe", only_hello),
    CheckStep("game", "writes nothing when a game begins", "Who speaks when", silent_at_game),
    CheckStep("first", "answers the first question", "Bot: choose", first_answer, gate=True),
    CheckStep("starts", "starts quickly", "Time", start_times),
    # From here on waits begin early; nothing may start beside the starts that are timed.
    CheckStep("two", "runs twice at the same time", "Who speaks when", two_at_once),
    CheckStep("once", "answers each question once", "Question ids", answers_once),
    CheckStep("end", "writes nothing when a game ends", "Who speaks when", silent_at_end),
    CheckStep("newer", "understands the hello of a newer referee", "Versions", newer_hello),
)
