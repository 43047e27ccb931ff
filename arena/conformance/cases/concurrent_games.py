"""The step about several games at once: they begin and end one by one, as in a sitting."""

from collections.abc import Iterable
from itertools import islice

from arena.conformance import expect
from arena.conformance.cases.games import short
from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Diagnosis, diagnose
from arena.conformance.diagnose_silence import diagnose_silence, exit_description
from arena.conformance.expect import AcceptedAnswer, due_of
from arena.conformance.model import SkippedError, ViolationError
from arena.conformance.scripted_game import ScriptedSeat
from arena.conformance.session import CheckStep, Session
from arena.match.game_setup import OpenQuestion
from protocol.codec import decode_line
from protocol.messages import Choose

MANY, FEW = 64, 8
"""Most games at once in a full check, and in a short one."""
IN_TURN = 2
"""Games in a row at each table."""

Waiting = dict[int, ScriptedSeat]
"""The seats whose questions wait, by the numbers of these, in the order of sending."""


async def _several_games(session: Session) -> str:
    """Play as many games at once as the bot allows; when one ends, begin the next."""
    connection = await session.keep_connection()
    if connection.tables == 1:
        raise SkippedError("It plays one game at a time (`tables` in its hello).")
    places = min(connection.tables, MANY if session.budget.whole else FEW)
    seats = (
        session.new_seat(short("draw"), board=board) for board in range(1, IN_TURN * places + 1)
    )
    waiting, before = _ask(connection, islice(seats, places)), len(session.answers)
    while waiting and not session.is_out_of_time:
        first = next(iter(waiting.values()))
        assert first.question
        line = await connection.read_line(first.question.time_ms, first.asked_at)
        if line is None:
            has_answered = len(session.answers) > before
            raise await _silence(connection, waiting, first.question, has_answered)
        answered = []
        while line is not None:
            answered.append(_take(session, connection, waiting, line))
            line = connection.next_line() if waiting else None
        over = sum(seat.question is None for seat in answered)
        waiting |= _ask(connection, [*answered, *islice(seats, over)])
    await session.drop()
    return f"{places} at once" + (f" of {connection.tables}" if places < connection.tables else "")


def _ask(connection: Connection, seats: Iterable[ScriptedSeat]) -> Waiting:
    seats = list(seats)
    connection.send(*(line for seat in seats for line in seat.lines()))
    for seat in seats:
        seat.asked_at = connection.sent_at
    return {seat.question.id: seat for seat in seats if seat.question}


async def _silence(
    connection: Connection, waiting: Waiting, question: OpenQuestion, has_answered: bool
) -> ViolationError:
    """Return the error for the first question without an answer, though perhaps others have one."""
    if connection.exit_reason:
        found = exit_description(connection)
    elif has_answered:
        found = Diagnosis(
            f"With several games at once it left a question unanswered for {question.time_ms} ms.",
            "Answer the questions of all games: each `game` may have one open.",
        )
    else:
        found = await diagnose_silence(connection, due_of(question), question.time_ms)
    return expect.violation(connection, found, b"", f"answers to {_numbers(waiting)}")


def _take(session: Session, connection: Connection, waiting: Waiting, line: bytes) -> ScriptedSeat:
    """Give a line to the seat whose question it answers, and return the seat."""
    said, expected = decode_line(line), f"an answer to {_numbers(waiting)}"
    if isinstance(said, Choose) and said.id not in waiting:
        found = Diagnosis(
            "With several games at once its answers have numbers that are not open.",
            "Each answer repeats the `id` of its own question; or leave `tables` out.",
        )
        raise expect.violation(connection, found, line, expected)
    number = said.id if isinstance(said, Choose) else next(iter(waiting))
    seat = waiting.pop(number)
    question, ms = seat.question, max(0.0, (connection.read_at - seat.asked_at) * 1000)
    assert question
    if fault := seat.receive(line, ms):
        found = diagnose(line, b"", fault, due_of(question), connection.language)
        raise expect.violation(connection, found, line, expected)
    assert isinstance(said, Choose)
    session.answers.append(AcceptedAnswer(said.choice, ms, len(question.options)))
    return seat


def _numbers(waiting: Waiting) -> str:
    some = sorted(waiting)[:4]
    return f"{', '.join(map(str, some))}{' …' if len(waiting) > len(some) else ''}"


STEPS = (
    CheckStep("tables", "plays several games at once", "Several games at once", _several_games),
)
