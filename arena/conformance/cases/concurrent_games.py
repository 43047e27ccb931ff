"""The step about several games at once: they begin and end one by one, as in a sitting."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

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
from protocol.codec import Fault, decode_line
from protocol.messages import Choose

MANY, FEW = 64, 8
"""Most games at once in a full check, and in a short one."""
IN_TURN = 2
"""Games in a row at each table."""


class Open(NamedTuple):
    """A question that waits for its answer."""

    seat: ScriptedSeat
    question: OpenQuestion
    since: float
    """The time of sending, in s of the monotonic clock."""


async def _several_games(session: Session) -> str:
    """Play as many games at once as the bot allows; when one ends, begin the next."""
    connection = await session.keep_connection()
    if connection.tables == 1:
        raise SkippedError("It plays one game at a time (`tables` in its hello).")
    places = min(connection.tables, MANY if session.budget.whole else FEW)
    seats = (
        session.new_seat(short("draw"), board=board) for board in range(1, IN_TURN * places + 1)
    )
    waiting, before = _ask(connection, islice(seats, places)), session.questions
    while waiting and not session.is_out_of_time:
        # The dictionary is in the order of sending.
        first = next(iter(waiting.values()))
        line = await connection.read_line(first.question.time_ms, first.since)
        if line is None:
            raise await _silence(connection, waiting, first, session.questions > before)
        answered = []
        while line is not None:
            answered.append(_take(session, connection, waiting, line))
            line = connection.next_line() if waiting else None
        over = sum(seat.question is None for seat in answered)
        waiting |= _ask(connection, [*answered, *islice(seats, over)])
    await session.drop()
    return f"{places} at once" + (f" of {connection.tables}" if places < connection.tables else "")


def _ask(connection: Connection, seats: Iterable[ScriptedSeat]) -> dict[int, Open]:
    """Send all news of these games in one write; return the questions by their numbers."""
    seats = list(seats)
    connection.send(*(line for seat in seats for line in seat.lines()))
    asked = [(seat, seat.question) for seat in seats if seat.question]
    return {question.id: Open(seat, question, connection.sent_at) for seat, question in asked}


async def _silence(
    connection: Connection, waiting: Mapping[int, Open], first: Open, has_answered: bool
) -> ViolationError:
    """Return the error for the first question without an answer, though perhaps others have one."""
    limit_ms = first.question.time_ms
    if connection.exit_reason:
        found = exit_description(connection)
    elif has_answered:
        found = Diagnosis(
            f"With several games at once it left a question unanswered for {limit_ms} ms.",
            "Answer the questions of all games: each `game` may have one open.",
        )
    else:
        found = await diagnose_silence(connection, due_of(first.question), limit_ms)
    return expect.violation(connection, found, b"", f"answers to {_numbers(waiting)}")


def _take(
    session: Session, connection: Connection, waiting: dict[int, Open], line: bytes
) -> ScriptedSeat:
    """Take an answer to any open question. Raises ViolationError."""
    said, expected = decode_line(line), f"an answer to {_numbers(waiting)}"
    if isinstance(said, Fault):
        due = due_of(next(iter(waiting.values())).question)
        found = diagnose(line, b"", said, due, connection.language)
        raise expect.violation(connection, found, line, expected)
    if not isinstance(said, Choose) or said.id not in waiting:
        found = Diagnosis(
            "With several games at once its answers have numbers that are not open.",
            "Each answer repeats the `id` of its own question; or leave `tables` out.",
        )
        raise expect.violation(connection, found, line, expected)
    seat, question, since = waiting.pop(said.id)
    ms = max(0.0, (connection.read_at - since) * 1000)
    if fault := seat.receive(line, ms):
        found = diagnose(line, b"", fault, due_of(question), connection.language)
        raise expect.violation(connection, found, line, f"a choice for question {said.id}")
    session.count(AcceptedAnswer(said.choice, ms, len(question.options)))
    return seat


def _numbers(waiting: Mapping[int, Open]) -> str:
    some = sorted(waiting)[:4]
    return f"{', '.join(map(str, some))}{' …' if len(waiting) > len(some) else ''}"


STEPS = (
    CheckStep("tables", "plays several games at once", "Several games at once", _several_games),
)
