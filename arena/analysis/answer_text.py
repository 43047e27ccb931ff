"""Descriptions of the answers of a bot that was asked again. No I/O; a bot's text is escaped."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.text import Text

from arena.analysis.text import EVIDENCE, Look, evidence_rows, option_words, row
from arena.analysis.timeline import Answer, AskedQuestion
from arena.document.blocks import Cell, Column, Table, table
from protocol.codec import printable
from protocol.records import ChoiceRecord, FoulRecord

POINTS = "Points: this side's gain minus the average of the others; game %: its chances then"
PLAYED_ON = (
    "Estimated on other deals of the hidden tiles that agree with everything this seat has seen, "
    "all equally likely. From here on a keen player (heavy tiles, few that fit next) plays "
    f"every seat to the end of the round. {POINTS}; ± is half of a 95 % interval."
)
SOLVED = (
    f"Exact: this seat knows where all tiles are, and both play perfectly from here on. {POINTS}."
)


class OptionValue(Struct, frozen=True):
    """The value of an option, over all deals that were tried."""

    lead: float
    """Points that the seat's side gains beyond the average of the others, until the round's end."""
    half_width: float
    """Half of the 95 % interval of `lead`; 0 if no tile is hidden from the seat."""
    beyond: float
    """`lead` minus that of the compared option under the same deals."""
    beyond_half_width: float
    percent: float
    """The percent of the game that the seat may expect by the scores at the round's end."""
    percent_half_width: float
    exact: bool
    """True if all play perfectly from here on; else the keen player plays on."""


def answer_report(asked: AskedQuestion, found: Sequence[Answer], look: Look) -> Iterator[Text]:
    """Describe the answers: one in full, many counted."""
    choices = [one.choice for one in found if isinstance(one, ChoiceRecord)]
    for one in found[-1:] if len(found) == 1 or len(choices) < len(found) else ():
        time = f"{one.ms:g} of {asked.question.time_ms} ms"
        if isinstance(one, FoulRecord):
            yield Text(f"It fouls: {one.foul}. {printable(one.detail, EVIDENCE)} ({time})", "red")
        else:
            option = option_words(asked.options[one.choice])
            yield Text(f"It chooses {option} ({time}), {_compared(asked, one.choice)}.", "bold")
        for label, cells in evidence_rows(one):
            yield row(label, cells, look)
    if len(found) > 1:
        for choice, times in Counter(choices).most_common():
            option = option_words(asked.options[choice])
            said = f"{option}: {times} of {len(found)} times, {_compared(asked, choice)}."
            yield Text(said, "bold")
        spent = [one.ms for one in found]
        yield Text(
            f"Mean {sum(spent) / len(spent):.1f} ms, maximum {max(spent):.1f} ms, of "
            f"{asked.question.time_ms} ms; a new process each time.",
            "dim",
        )


def _compared(asked: AskedQuestion, choice: int) -> str:
    logged = asked.choice
    if logged is None:
        return "but the log has a foul" if asked.answer else "but the log has no answer"
    if logged == choice:
        return "the same as in the log"
    return f"but {option_words(asked.options[logged])} in the log"


def option_value_table(
    asked: AskedQuestion, outlooks: Sequence[OptionValue], compared: int, again: int | None
) -> Table:
    """Return the value of each option, with marks at the log's choice and at the new one."""
    columns = [Column("option", "word"), Column("", "word"), Column("points", detail="±")]
    columns.append(Column(f"vs. {option_words(asked.options[compared])}", detail="±"))
    columns.append(Column("game %", detail="±"))
    rows: list[Sequence[str | Cell]] = []
    for number, (option, one) in enumerate(zip(asked.options, outlooks, strict=True)):
        marks = {"log": asked.choice == number, "now": again == number}
        marked = ", ".join(mark for mark, is_so in marks.items() if is_so)
        beyond = Cell(f"{one.beyond:+.1f}", f"{one.beyond_half_width:.1f}")
        points = Cell(f"{one.lead:+.1f}", f"{one.half_width:.1f}")
        percent = Cell(f"{one.percent:.1f}", f"{one.percent_half_width:.1f}")
        against = "" if number == compared else beyond
        rows.append((option_words(option), marked, points, against, percent))
    return table("Options", columns, rows)
