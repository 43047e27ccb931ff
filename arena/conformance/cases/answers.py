"""Steps about answers: the question's number, the index, one answer for each question."""

from arena.conformance import expect, mutations
from arena.conformance.cases.games import asking, short, tiny
from arena.conformance.model import CheckStep, OutOfTimeError, SkippedError
from arena.conformance.session import Session
from arena.match.referee import QUESTIONS_A_GAME
from arena.rules.variants import find_variant

LARGEST = 2**53 // QUESTIONS_A_GAME - 1
"""The largest number of a game: its questions' numbers are still exact in a double."""


def second_answer(session: Session) -> str:
    """Check that the bot answers each question under its own number."""
    connection, seat = session.kept_connection, session.new_seat(find_variant("draw"))
    return session.play_on(connection, seat)


def only_option(session: Session) -> str:
    """Check a list of one option, which exposes a bot that counts from 1."""
    if session.game and session.clock.forced == "skip":
        raise SkippedError("This event asks nothing when there is one option (clock.forced).")
    one = session.find_seat(
        find_variant("block"), 2, lambda question: len(question.options) == 1, clock=asking(session)
    )
    answer = session.ask(session.kept_connection, one)
    session.play_on(session.kept_connection, one)
    return f"option {answer.choice} of 1"


def every_index(session: Session) -> str:
    """Check lists of two, three and more options."""
    met: set[int] = set()
    connection, seat = session.kept_connection, session.new_seat(find_variant("old-draw"))
    while seat.question and not session.is_out_of_time:
        met.add(len(seat.question.options))
        session.ask(connection, seat)
    session.play_on(connection, seat)
    return f"lists of {min(met, default=0)} to {max(met, default=0)} options"


def large_numbers(session: Session) -> str:
    """Check numbers of questions near 2^53."""
    with session.restart() as connection:
        seat = session.new_seat(find_variant("draw"), number=LARGEST)
        session.ask(connection, seat)
        assert seat.question
        return f"up to {seat.question.id}"


def same_again(session: Session) -> str:
    """Ask about the same position again, under another number, in another game."""
    first, second = (session.new_seat(find_variant("draw"), board=7) for _ in range(2))
    choices = [session.ask(session.kept_connection, first).choice]
    session.drop()
    choices.append(session.ask(session.kept_connection, second).choice)
    choices.append(
        session.ask(session.kept_connection, session.new_seat(find_variant("draw"), board=7)).choice
    )
    session.drop()
    same = len(set(choices)) == 1
    return "the same answer each time" if same else f"answers differ: {choices}"


def in_pieces(session: Session) -> str:
    """Send a question in three pieces: a read may end anywhere."""
    connection, seat = session.kept_connection, session.new_seat(short("draw"))
    *before, question = seat.lines()
    third = len(question) // 3
    for piece in (b"".join(before) + question[:third], question[third : 2 * third]):
        connection.send(piece)
        expect.expect_silence(
            connection, session.budget.quiet_ms / 3000, "before the question was whole"
        )
    connection.send(question[2 * third :])
    expect.await_answer(connection, seat)
    session.play_on(connection, seat)
    return ""


def in_one_go(session: Session) -> str:
    """Send the end of a game, the next game and its first question in one write."""
    connection = session.kept_connection
    first, second = session.new_seat(tiny()), session.new_seat(short("draw"), board=2)
    # All but the end, which follows with the next game.
    while first.question:
        if session.is_out_of_time:
            session.drop()
            raise OutOfTimeError(session.questions)
        session.ask(connection, first)
    connection.send(*first.lines(), mutations.WEATHER, *second.lines())
    expect.await_answer(connection, second)
    session.play_on(connection, second)
    return ""


STEPS = (
    CheckStep("questions", "answers question after question", "Question ids", second_answer),
    CheckStep("one-option", "takes the only option of a list", "Options", only_option),
    CheckStep("indices", "chooses within lists of any length", "Bot: choose", every_index),
    CheckStep("numbers", "repeats very large numbers", "Question ids", large_numbers),
    CheckStep("again", "answers the same position again", "Bot: choose", same_again),
    CheckStep("pieces", "reads a question that comes in pieces", "The pipe", in_pieces),
    CheckStep("one-go", "reads several lines that come at once", "The pipe", in_one_go),
)
