"""Steps about answers: their number, their index, one for each question, several tables."""

from arena.check import judge, later
from arena.check.desk import Desk
from arena.check.lines import Due
from arena.check.seat import Seat
from arena.check.silence import reason
from arena.check.step import SkippedError, Step
from arena.check.steps.games import asking, short, tiny
from arena.check.talk import Talk
from arena.referee import QUESTIONS_A_GAME
from arena.variants import named
from protocol.codec import decode_line
from protocol.messages import Choose

LARGEST = 2**53 // QUESTIONS_A_GAME - 1
"""The largest number of a game: its questions' numbers are still whole in a double."""
SEVERAL = 4
"""Tables at which a bot is asked at once, if it says that it can."""


def second_answer(desk: Desk) -> str:
    """Each question under its own number."""
    talk, seat = desk.kept, desk.seat(named("draw"))
    return desk.play_on(talk, seat)


def only_option(desk: Desk) -> str:
    """A list of one: whoever counts from 1 is found out."""
    one = desk.found(
        named("block"), 2, lambda question: len(question.options) == 1, clock=asking(desk)
    )
    answer = desk.ask(desk.kept, one)
    desk.play_on(desk.kept, one)
    return f"option {answer.choice} of 1"


def every_index(desk: Desk) -> str:
    """Lists of two, three and more options."""
    met: set[int] = set()
    talk, seat = desk.kept, desk.seat(named("old-draw"))
    while seat.question and not desk.hurried:
        met.add(len(seat.question.options))
        desk.ask(talk, seat)
    desk.play_on(talk, seat)
    return f"lists of {min(met, default=0)} to {max(met, default=0)} options"


def large_numbers(desk: Desk) -> str:
    """Numbers of questions near 2^53."""
    with desk.greeted() as talk:
        seat = desk.seat(named("draw"), number=LARGEST)
        desk.ask(talk, seat)
        assert seat.question
        return f"up to {seat.question.id}"


def same_again(desk: Desk) -> str:
    """The same position under another number, in another game."""
    first, second = (desk.seat(named("draw"), board=7) for _ in range(2))
    choices = [desk.ask(desk.kept, first).choice]
    desk.drop()
    choices.append(desk.ask(desk.kept, second).choice)
    choices.append(desk.ask(desk.kept, desk.seat(named("draw"), board=7)).choice)
    desk.drop()
    same = len(set(choices)) == 1
    return "the same answer each time" if same else f"answers differ: {choices}"


def in_pieces(desk: Desk) -> str:
    """A question that comes in three pieces: a read may end anywhere."""
    talk, seat = desk.kept, desk.seat(short("draw"))
    *before, question = seat.lines()
    third = len(question) // 3
    for piece in (b"".join(before) + question[:third], question[third : 2 * third]):
        talk.say(piece)
        judge.unasked(talk, desk.pace.quiet_ms / 3000, "before the question was whole")
    talk.say(question[2 * third :])
    judge.answered(talk, seat, desk.language)
    desk.play_on(talk, seat)
    return ""


def in_one_go(desk: Desk) -> str:
    """The end of a game, the next one and its first question in one write."""
    talk = desk.kept
    first, second = desk.seat(tiny()), desk.seat(short("draw"), board=2)
    # Without the end, which follows with what comes next.
    while first.question:
        desk.ask(talk, first)
    talk.say(*first.lines(), later.WEATHER, *second.lines())
    judge.answered(talk, second, desk.language)
    desk.play_on(talk, second)
    return ""


def several_tables(desk: Desk) -> str:
    """Questions of several games at once, answers in any order."""
    talk = desk.kept
    assert desk.hello
    tables = min(SEVERAL, desk.hello.tables)
    if tables == 1:
        raise SkippedError("It plays at one table (`tables` in its hello).")
    seats = [desk.seat(named("draw"), board=board) for board in range(1, tables + 1)]
    while any(seat.question for seat in seats) and not desk.hurried:
        talk.say(*(line for seat in seats for line in seat.lines()))
        _take_all(desk, talk, [seat for seat in seats if seat.question])
    desk.drop()
    return f"{tables} at once"


def _take_all(desk: Desk, talk: Talk, seats: list[Seat]) -> None:
    """An answer to each open question."""
    open_now = {seat.question.id: seat for seat in seats if seat.question}
    while open_now:
        question = next(iter(open_now.values())).question
        assert question
        line = talk.next_line(question.time_ms / 1000)
        due = Due("choose", len(question.options), question.id)
        said = decode_line(line) if line is not None else None
        if line is None:
            found = reason(talk, due, question.time_ms, desk.language)
            judge.broken(talk, found.fault, found.mend, "", f"{len(open_now)} more answers")
        if not isinstance(said, Choose) or said.id not in open_now:
            judge.broken(
                talk,
                "With several tables its answers have numbers that are not open.",
                "Each answer repeats the `id` of its own question; or leave `tables` out.",
                line.decode(errors="replace"),
                f"an answer to one of {sorted(open_now)}",
            )
        seat = open_now.pop(said.id)
        fault = seat.received(line, 1.0)
        if fault:
            judge.broken(talk, fault.detail, "Count options from 0.", line.decode(), "a choice")
        desk.questions += 1


STEPS = (
    Step("questions", "answers question after question", "Numbers of questions", second_answer),
    Step("one-option", "takes the only option of a list", "Options", only_option),
    Step("indices", "chooses within lists of any length", "Bot: choose", every_index),
    Step("numbers", "repeats very large numbers", "Numbers of questions", large_numbers),
    Step("again", "answers the same position again", "Bot: choose", same_again),
    Step("pieces", "reads a question that comes in pieces", "The pipe", in_pieces),
    Step("one-go", "reads several lines that come at once", "The pipe", in_one_go),
    Step("tables", "plays at as many tables as it says", "Bot: hello", several_tables),
)
