"""Steps about answers: the question's number, the index, one answer for each question."""

from arena.conformance import expect as judge
from arena.conformance import mutations as later
from arena.conformance.cases.games import asking, short, tiny
from arena.conformance.model import OutOfTimeError, SkippedError, Step
from arena.conformance.session import Session
from arena.match.referee import QUESTIONS_A_GAME
from arena.rules.variants import find_variant

LARGEST = 2**53 // QUESTIONS_A_GAME - 1
"""The largest number of a game: its questions' numbers are still exact in a double."""


def second_answer(desk: Session) -> str:
    """Check that the bot answers each question under its own number."""
    talk, seat = desk.kept_connection, desk.seat(find_variant("draw"))
    return desk.play_on(talk, seat)


def only_option(desk: Session) -> str:
    """Check a list of one option, which exposes a bot that counts from 1."""
    if desk.game and desk.clock.forced == "skip":
        raise SkippedError("This event asks nothing when there is one option (clock.forced).")
    one = desk.found(
        find_variant("block"), 2, lambda question: len(question.options) == 1, clock=asking(desk)
    )
    answer = desk.ask(desk.kept_connection, one)
    desk.play_on(desk.kept_connection, one)
    return f"option {answer.choice} of 1"


def every_index(desk: Session) -> str:
    """Check lists of two, three and more options."""
    met: set[int] = set()
    talk, seat = desk.kept_connection, desk.seat(find_variant("old-draw"))
    while seat.question and not desk.hurried:
        met.add(len(seat.question.options))
        desk.ask(talk, seat)
    desk.play_on(talk, seat)
    return f"lists of {min(met, default=0)} to {max(met, default=0)} options"


def large_numbers(desk: Session) -> str:
    """Check numbers of questions near 2^53."""
    with desk.greeted() as talk:
        seat = desk.seat(find_variant("draw"), number=LARGEST)
        desk.ask(talk, seat)
        assert seat.question
        return f"up to {seat.question.id}"


def same_again(desk: Session) -> str:
    """Ask about the same position again, under another number, in another game."""
    first, second = (desk.seat(find_variant("draw"), board=7) for _ in range(2))
    choices = [desk.ask(desk.kept_connection, first).choice]
    desk.drop()
    choices.append(desk.ask(desk.kept_connection, second).choice)
    choices.append(desk.ask(desk.kept_connection, desk.seat(find_variant("draw"), board=7)).choice)
    desk.drop()
    same = len(set(choices)) == 1
    return "the same answer each time" if same else f"answers differ: {choices}"


def in_pieces(desk: Session) -> str:
    """Send a question in three pieces: a read may end anywhere."""
    talk, seat = desk.kept_connection, desk.seat(short("draw"))
    *before, question = seat.lines()
    third = len(question) // 3
    for piece in (b"".join(before) + question[:third], question[third : 2 * third]):
        talk.send(piece)
        judge.expect_silence(talk, desk.pace.quiet_ms / 3000, "before the question was whole")
    talk.send(question[2 * third :])
    judge.answered(talk, seat, desk.language)
    desk.play_on(talk, seat)
    return ""


def in_one_go(desk: Session) -> str:
    """Send the end of a game, the next game and its first question in one write."""
    talk = desk.kept_connection
    first, second = desk.seat(tiny()), desk.seat(short("draw"), board=2)
    # All but the end, which follows with the next game.
    while first.question:
        if desk.hurried:
            desk.drop()
            raise OutOfTimeError(desk.questions)
        desk.ask(talk, first)
    talk.send(*first.lines(), later.WEATHER, *second.lines())
    judge.answered(talk, second, desk.language)
    desk.play_on(talk, second)
    return ""


STEPS = (
    Step("questions", "answers question after question", "Question ids", second_answer),
    Step("one-option", "takes the only option of a list", "Options", only_option),
    Step("indices", "chooses within lists of any length", "Bot: choose", every_index),
    Step("numbers", "repeats very large numbers", "Question ids", large_numbers),
    Step("again", "answers the same position again", "Bot: choose", same_again),
    Step("pieces", "reads a question that comes in pieces", "The pipe", in_pieces),
    Step("one-go", "reads several lines that come at once", "The pipe", in_one_go),
)
