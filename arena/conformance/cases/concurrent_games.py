"""The step about several games at once: they begin and end one by one, as in a sitting."""

import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple, NoReturn

from arena.conformance import expect
from arena.conformance.cases.games import short
from arena.conformance.connection import Connection
from arena.conformance.diagnose_line import Diagnosis, Expected, diagnose
from arena.conformance.diagnose_silence import diagnose_silence, exit_description
from arena.conformance.model import CheckStep, SkippedError
from arena.conformance.scripted_game import ScriptedSeat
from arena.conformance.session import Session
from arena.match.game_setup import Question
from protocol.codec import Fault, decode_line, printable
from protocol.messages import Choose

MANY, FEW = 64, 8
"""Most games at once in a full check, and in a short one."""
IN_TURN = 2
"""Games in a row at each table."""


class Open(NamedTuple):
    """A question that waits for its answer."""

    seat: ScriptedSeat
    """The seat that is asked."""
    question: Question
    """The question."""
    since: float
    """The time of sending, in s of the monotonic clock."""

    @property
    def ends(self) -> float:
        """Return the deadline of the answer, in s of the monotonic clock."""
        return self.since + self.question.time_ms / 1000

    @property
    def due(self) -> Expected:
        """Return the requirements of the answer."""
        return Expected("choose", len(self.question.options), self.question.id)


def several_games(session: Session) -> str:
    """Play as many games at once as the bot allows; when one ends, begin the next."""
    connection = session.kept_connection
    if connection.tables == 1:
        raise SkippedError("It plays one game at a time (`tables` in its hello).")
    places = min(connection.tables, MANY if session.budget.whole else FEW)
    seats = (
        session.new_seat(short("draw"), board=board) for board in range(1, IN_TURN * places + 1)
    )
    waiting, before = _ask(connection, islice(seats, places)), session.questions
    while waiting and not session.is_out_of_time:
        heard = _hear(session, waiting, session.questions - before)
        answered = [_take(session, waiting, line) for line in heard]
        over = sum(seat.question is None for seat in answered)
        waiting |= _ask(connection, [*answered, *islice(seats, over)])
    session.drop()
    return f"{places} at once" + (f" of {connection.tables}" if places < connection.tables else "")


def _ask(connection: Connection, seats: Iterable[ScriptedSeat]) -> dict[int, Open]:
    """Send all news of these games in one write; return the questions by their numbers."""
    seats = list(seats)
    connection.send(*(line for seat in seats for line in seat.lines()))
    asked = [(seat, seat.question) for seat in seats if seat.question]
    return {question.id: Open(seat, question, connection.sent_at) for seat, question in asked}


def _hear(session: Session, waiting: Mapping[int, Open], answered: int) -> list[bytes]:
    """Return the lines that have come, at least one. Raises ViolationError."""
    connection, first = session.kept_connection, min(waiting.values(), key=lambda one: one.ends)
    lines: list[bytes] = []
    line = connection.next_line(first.ends - time.monotonic())
    while line is not None:
        lines.append(line)
        # Not all that may come without end: each line must have its question.
        line = connection.next_line(0) if len(lines) < len(waiting) else None
    if not lines:
        _report_silence(session, waiting, first, answered)
    return lines


def _report_silence(
    session: Session, waiting: Mapping[int, Open], first: Open, answered: int
) -> NoReturn:
    """Report that the first question has no answer, though perhaps others have."""
    connection, limit_ms = session.kept_connection, first.question.time_ms
    if connection.exit_reason:
        found = exit_description(connection)
    elif answered:
        found = Diagnosis(
            f"With several games at once it left a question unanswered for {limit_ms} ms.",
            "Answer the questions of all games: each `game` may have one open.",
        )
    else:
        found = diagnose_silence(connection, first.due, limit_ms)
    expect.report_violation(
        connection, found.fault, found.mend, "", f"answers to {_numbers(waiting)}"
    )


def _take(session: Session, waiting: dict[int, Open], line: bytes) -> ScriptedSeat:
    """Take an answer to any open question. Raises ViolationError."""
    connection, said = session.kept_connection, decode_line(line)
    came, expected = printable(line), f"an answer to {_numbers(waiting)}"
    if isinstance(said, Fault):
        found = diagnose(line, b"", said, next(iter(waiting.values())).due, connection.language)
        expect.report_violation(connection, found.fault, found.mend, came, expected)
    if not isinstance(said, Choose) or said.id not in waiting:
        text = "With several games at once its answers have numbers that are not open."
        mend = "Each answer repeats the `id` of its own question; or leave `tables` out."
        expect.report_violation(connection, text, mend, came, expected)
    one = waiting.pop(said.id)
    ms = max(0.0, (connection.read_at - one.since) * 1000)
    fault = one.seat.receive(line, ms)
    if fault:
        found = diagnose(line, b"", fault, one.due, connection.language)
        expect.report_violation(
            connection, found.fault, found.mend, came, f"a choice for question {said.id}"
        )
    session.count(ms, said.choice, one.due.options)
    return one.seat


def _numbers(waiting: Mapping[int, Open]) -> str:
    """Return the numbers of some open questions."""
    some = sorted(waiting)[:4]
    return f"{', '.join(map(str, some))}{' …' if len(waiting) > len(some) else ''}"


STEPS = (
    CheckStep("tables", "plays several games at once", "Several games at once", several_games),
)
