"""A game reviewed for one seat, in words: its decisions, its rounds and its turning points.

No I/O; text from bots is escaped. The review states only facts of the log: the cost of a round,
the tiles left in the hand, a foul that ended the game.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from msgspec import Raw
from rich.text import Text

from arena.analysis import frames, text
from arena.analysis.text import Look
from arena.analysis.timeline import AskedQuestion, Moment, RoundEnd, Timeline, round_ends
from arena.document.blocks import Column, DocumentBlock, Paragraph, table
from arena.logs.gamelog import LoggedGame, name_crash
from arena.rules.english import count_in_digits
from protocol.codec import printable
from protocol.records import FoulRecord
from protocol.ruleset import side_of

ROUND_COLUMNS = (
    Column("round"),
    Column("end", "word"),
    *map(Column, ("won", "lost", "ahead", "tiles left")),
    Column("pips", spare=True),
    Column("drew"),
    Column("passed", spare=True),
)
SHOWN_ROUNDS = 6

SENTENCES = {
    "place": "place {place} with {points} points{side}; {why}.",
    "side": " for its side",
    "cost": "Round {round} cost the most: {points} points{ended}.",
    "lead": "It was {where} {since}.",
    "tied": "It was tied at the end.",
    "since": "from round {round} to the end",
    "always": "after every round",
}
"""Sentences about a lost game; the report's script fills them in too."""


def heading(logged: LoggedGame, seat: int, questions: Sequence[AskedQuestion], look: Look) -> Text:
    """Describe the seat, its result and the time that it took."""
    words = text.title(logged, look).append(f"\n{look.name(seat)} in seat {seat}: ", "bold")
    result = logged.result
    if result is None:
        return words.append("the game is unfinished and has no result.")
    party = side_of(look.partners, seat)
    side = SENTENCES["side"] if look.partners else ""
    place = SENTENCES["place"].format(
        place=result.places[party],
        points=result.scores[party],
        side=side,
        why=text.WHY[result.why],
    )
    return words.append(f"{place} {_time(questions)}")


def _time(questions: Sequence[AskedQuestion]) -> str:
    if not questions:
        return "It was not asked any question."
    spent = [question.answer.ms if question.answer else 0.0 for question in questions]
    slowest = max(range(len(questions)), key=lambda index: spent[index])
    count = count_in_digits(len(questions), "question")
    return (
        f"{count}, {sum(spent):.0f} ms in total, maximum {spent[slowest]:.1f} ms "
        f"(question {questions[slowest].number})."
    )


# --- for programs ---


def seat_facts(timeline: Timeline, seat: int) -> dict[str, Any]:
    """Return a game for one seat: its result, the end of each round, each question and answer.

    A result or an answer is null if the game was cut off before it.
    """
    logged = timeline.logged
    return {
        "game": logged.game.game,
        "seat": seat,
        "entrant": logged.sitting.seats[seat],
        "result": logged.result,
        "rounds": [*round_ends(timeline, seat)],
        "decisions": [
            {
                "number": question.number,
                "round": question.round,
                "question": Raw(timeline.line(question)[:-1]),
                "answer": question.answer,
            }
            for question in timeline.questions(seat)
        ],
    }


# --- rounds ---


def round_blocks(
    ends: Sequence[RoundEnd],
    look: Look,
    *,
    full: bool,
    more: Mapping[str, Callable[[RoundEnd], str]] = MappingProxyType({}),
) -> Iterator[DocumentBlock]:
    """Yield a table with a line for each round, or only for those that decided a long game.

    `more`: further columns, by their titles.
    """
    shown_ends = ends
    if not full and len(ends) > SHOWN_ROUNDS:
        widest = sorted(ends, key=lambda end: -abs(end.swing))
        shown_ends = sorted(widest[:SHOWN_ROUNDS], key=lambda end: end.round)
    columns = [*ROUND_COLUMNS, *map(Column, more)]
    rows = [(*_row(end, look), *(cell(end) for cell in more.values())) for end in shown_ends]
    yield table("Rounds", columns, rows)
    if len(shown_ends) < len(ends):
        most = max(abs(end.swing) for end in ends if end not in shown_ends)
        count = count_in_digits(len(ends) - len(shown_ends), "other round")
        yield Paragraph(f"In {count} one side gained at most {most} points on the other.", "faint")


def _row(end: RoundEnd, look: Look) -> tuple[str, ...]:
    why = "blocked" if end.out is None else f"{look.name(end.out)} out"
    numbers = (end.gained, end.lost, len(end.hand), end.pips, end.drew, end.passed)
    gains, losses, *others = map(str, numbers)
    return (f"{end.round}", why, gains, losses, f"{end.ahead:+}", *others)


def turning_points(
    ends: Sequence[RoundEnd], questions: Sequence[AskedQuestion], look: Look, *, full: bool = True
) -> Iterator[str]:
    """Describe the rounds and fouls that decided the game, judged by points alone.

    `full`: also the round that gained the most.
    """
    yield from _fouls(questions)
    if not ends:
        return
    swing = attrgetter("swing")
    worst, best = min(ends, key=swing), max(ends, key=swing)
    if worst.swing < 0:
        ending = _tell_end(worst, look)
        cost = SENTENCES["cost"].format(round=worst.round, points=-worst.swing, ended=ending)
        left = count_in_digits(len(worst.hand), "tile")
        drew = count_in_digits(worst.drew, "draw")
        passes = count_in_digits(worst.passed, "pass", "passes")
        pips = count_in_digits(worst.pips, "pip")
        yield f"{cost} It was left with {left} ({pips}), after {drew} and {passes}."
    if full and best.swing > 0:
        yield f"Round {best.round} gained the most: {best.swing} points{_tell_end(best, look)}."
    yield _lead(ends)
    wins, losses = ([end for end in ends if sign * end.swing > 0] for sign in (1, -1))
    if wins and losses:
        yield (
            f"In the {_count_rounds(losses)} that it lost, it {_draws_text(losses)}; "
            f"in the {_count_rounds(wins)} that it won, it {_draws_text(wins)}."
        )


def _fouls(questions: Sequence[AskedQuestion]) -> Iterator[str]:
    for question in questions:
        if isinstance(question.answer, FoulRecord):
            words = name_crash(question.answer.stderr)
            ends = f" Its stderr ends: {printable(words)}" if words else ""
            detail = printable(question.answer.detail)
            place = f"question {question.number}, in round {question.round}"
            yield f"It fouled at {place}: {question.answer.foul}. {detail}{ends}"


def _tell_end(end: RoundEnd, look: Look) -> str:
    return ", blocked" if end.out is None else f", {look.name(end.out)} going out"


def _count_rounds(ends: Sequence[RoundEnd]) -> str:
    return "round" if len(ends) == 1 else count_in_digits(len(ends), "round")


def _draws_text(ends: Sequence[RoundEnd]) -> str:
    drew, passed = sum(end.drew for end in ends), sum(end.passed for end in ends)
    if not drew and not passed:
        return "neither drew nor passed"
    drawn = f"drew {count_in_digits(drew, 'tile')}" if drew else "never drew"
    times = {0: "never passed", 1: "passed once", 2: "passed twice"}
    return f"{drawn} and {times.get(passed, f'passed {passed} times')}"


def _lead(ends: Sequence[RoundEnd]) -> str:
    last = _sign(ends[-1].ahead)
    if last == 0:
        return SENTENCES["tied"]
    standing = "ahead" if last > 0 else "behind"
    others = [end.round for end in ends if _sign(end.ahead) != last]
    since = SENTENCES["since"].format(round=others[-1] + 1) if others else SENTENCES["always"]
    return SENTENCES["lead"].format(where=standing, since=since)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


# --- decisions ---


def decision_text(question: AskedQuestion, count: int, look: Look) -> Text:
    """Describe a decision: the table as the seat saw it, the options, the answer."""
    words = Text(f"Question {question.number} of {count}. ", "bold")
    allowed, answer = question.question.time_ms, question.answer
    spent = f"{allowed} ms allowed; the log ends before an answer"
    if answer:
        spent = f"{answer.ms:g} of {allowed} ms"
    words.append_text(table_text(question, look)).append("\n")
    return words.append(text.row("time", [(spent, "")], look))


def table_text(question: AskedQuestion, look: Look) -> Text:
    """Describe the table as the asked seat saw it."""
    game, events, answer = question.game, question.events, question.answer
    moment = Moment(game, game, events, question.question, answer, question.index)
    return text.draw_frame(frames.frame_at(moment, question.seat), look)


def ends_of_rounds(timeline: Timeline, seat: int, look: Look) -> dict[int, Text]:
    """Return the table at the end of each round, with all tiles shown, by the round's number."""
    over = frames.frames(timeline.round_ends(), seat)
    return {frame.round: text.draw_frame(frame, look) for frame in over}
