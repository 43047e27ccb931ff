"""Terminal text of games and of repeated answers. No I/O; text from bots is escaped."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from rich.cells import cell_len
from rich.text import Text

from arena.analysis.frames import Frame
from arena.analysis.timeline import AnswerRecord, AskedQuestion
from arena.document.blocks import Cell, Column, Table, table
from arena.logs.gamelog import LoggedGame, stderr_lines
from arena.rules.english import count_in_digits
from protocol.codec import printable
from protocol.messages import (
    MAX_NOTE,
    Annulled,
    Bade,
    Bid,
    Call,
    Called,
    Draw,
    Drew,
    End,
    Event,
    GoOn,
    Guess,
    Guessed,
    Keep,
    Leads,
    Lot,
    Option,
    Pass,
    Passed,
    Play,
    Played,
    PlayTwo,
    Refuse,
    TurnedUp,
    WhyGame,
)
from protocol.records import ChoiceRecord, FoulRecord, Result, RoundRecord
from protocol.ruleset import Tile, count_sides, high_first, target

# Terminal text of logged games, drawn from frames. No I/O; text from bots is escaped.


EVIDENCE = 4096
"""Most characters of a bot's stderr that are shown."""
STDERR_LINES = 12
"""Most lines of stderr that are shown, the last ones."""
WHY: dict[WhyGame, str] = {
    "target": "the winner reached the target",
    "rounds": "all rounds were played",
    "max_rounds": "the maximum number of rounds was played",
    "foul": "a foul ended the game",
}
ANNULLED = {
    "suit": "holds too many tiles of one number",
    "missing": "holds the double that must lead",
    "doubles": "refuses it because of its doubles",
}
PHRASES: dict[type[Option | Event], str] = {
    Draw: "draw", Pass: "pass", Keep: "keep the deal", Refuse: "refuse the deal",
    Call: "call the round blocked", GoOn: "go on", Guess: "{parity}", Bid: "bid {chips}",
    Play: "{tile}{end}", PlayTwo: "{left} left and {right} right",
    Guessed: "{who} calls {parity}.", Lot: "{who} draws {tile} for the lead.",
    Annulled: "The deal is annulled: {who} {why}.", Leads: "{who} leads.",
    TurnedUp: "{tile} is turned up.", Passed: "{who} passes.", Bade: "{who} bids {chips}.",
    Called: "{who} calls the round blocked.",
}  # fmt: skip
"""The words of options, and of events but plays and draws: several of these share a sentence."""
END_PHRASES: dict[End, str] = {"lead": "", "left": " on the left", "right": " on the right"}
StyledWords = tuple[str, str]
"""Words that stay on one line, and their style."""
EvidenceRow = tuple[str, list[StyledWords]]
"""The label of a row, and its cells."""


class Look(Struct, frozen=True):
    """The style in which frames are drawn."""

    names: tuple[str, ...]
    width: int = 80
    partners: bool = False
    """True if seats 0 and 2 play against 1 and 3."""

    def name(self, seat: int) -> str:
        """Return the entrant in a seat."""
        return printable(self.names[seat])

    def parties(self) -> list[str]:
        """Return the sides that win or lose: the seats, or the two partnerships."""
        names = [self.name(seat) for seat in range(len(self.names))]
        sides = count_sides(self.partners, len(names))
        return [" and ".join(names[side::sides]) for side in range(sides)]


def title(logged: LoggedGame, look: Look) -> Text:
    """Return the heading of a game, before its first frame."""
    rules = logged.sitting.rules
    points = f"target: {target(rules, len(look.names))}"
    end = f"rounds: {rules.game.rounds}" if rules.game.rounds else points
    sides = f"Sides: {' against '.join(look.parties())}." if look.partners else ""
    seats = ", ".join(f"{look.name(seat)} (seat {seat})" for seat in range(len(look.names)))
    lines = (
        f"Game {printable(logged.game.game)}, board {logged.game.board}: {seats}.",
        f"Rules: {printable(rules.name)}; {end}.",
        sides,
        forfeits_text(logged, look),
    )
    return Text("\n".join(filter(None, lines)))


def forfeits_text(logged: LoggedGame, look: Look) -> str:
    """Return a sentence about the seats that lost the game beforehand; empty if none did."""
    losers = " and ".join(look.name(seat) for seat in logged.game.forfeited)
    return f"Lost by earlier fouls in the sitting: {losers}." if losers else ""


def game_line(logged: LoggedGame) -> str:
    """Return a line about a game, for a list."""
    return f"{printable(logged.game.game)}  {outcome_line(logged)}"


def outcome_line(logged: LoggedGame) -> str:
    """Return the result of a game in a line."""
    names = [*map(printable, logged.sitting.seats)]
    if logged.result is None:
        return f"{', '.join(names)}: cut off"
    fouls = [f"{names[foul.seat]} fouled: {foul.foul}" for foul in logged.result.fouls]
    if len(names) == 2:
        left, right = logged.result.scores
        return "; ".join([f"{names[0]} {left} – {right} {names[1]}", *fouls])
    scores = zip(names, logged.result.scores, strict=False)
    first = [name for name, place in zip(names, logged.result.places, strict=False) if place == 1]
    verb = "win" if logged.sitting.rules.deal.partners and len(first) == 2 else "tie"
    won = f"{first[0]} wins" if len(first) == 1 else f"{' and '.join(first)} {verb}"
    points = ", ".join(f"{name} {score}" for name, score in scores)
    return "; ".join([f"{points}: {won}", *fouls])


def draw_frame(frame: Frame, look: Look) -> Text:
    """Return one frame as text."""
    text = Text().append(f"Round {frame.round}.", "bold")
    for sentence in frame_sentences(frame, look):
        text.append(f" {sentence}")
    if frame.turn is not None and not isinstance(frame.record, FoulRecord):
        name = look.name(frame.turn)
        text.append(" It is your turn." if name == PERSON else f" {name} is to move.")
    rows = [*_record(frame, look)]
    if not isinstance(frame.record, Result):
        rows += _table(frame, look)
    for label, cells in rows:
        text.append("\n").append(row(label, cells, look))
    return text


def tile_text(tile: Tile) -> str:
    """Return a tile as [6|4]."""
    return f"[{tile[0]}|{tile[1]}]"


SPELLINGS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("tile", "left", "right"), tile_text),
    "end": lambda end: "" if end == "lead" else f" {end}",
    "why": ANNULLED.__getitem__,
}
"""Functions that put a value into words, by its field; other fields need none."""


PERSON = "you"
"""The name that a person at the table has in logs, if it chose no other."""
PERSON_ACTS = re.compile(rf"^{PERSON} (\w+?)(?:(?<=ss)es|s)\b")


def frame_sentences(frame: Frame, look: Look) -> Iterator[str]:
    """Yield sentences about what has happened up to a frame; "you plays" becomes "You play"."""
    for sentence in _frame_sentences(frame, look):
        is_person = sentence.startswith(PERSON)
        yield PERSON_ACTS.sub(r"You \1", sentence) if is_person else sentence


def _frame_sentences(frame: Frame, look: Look) -> Iterator[str]:
    yield from event_sentences(frame.events, look)
    match frame.record:
        case FoulRecord(seat=seat, foul=foul):
            yield f"{look.name(seat)} fouls: {foul}."
        case RoundRecord(why="out"):
            yield f"The round is over: {look.name(frame.hands.index(()))} went out."
        case RoundRecord():
            yield "The round is over: blocked."
        case Result(why=why):
            yield f"The game is over: {WHY[why]}."
        case _:
            pass


def event_sentences(events: Iterable[Event], look: Look) -> Iterator[str]:
    """Yield a sentence for each event; plays or draws of a seat in a row share one."""
    for _, group in groupby(events, lambda event: (type(event), _doer(event))):
        members = list(group)
        draws = [event for event in members if isinstance(event, Drew)]
        plays = [event for event in members if isinstance(event, Played)]
        if draws:
            yield _draws(look.name(draws[0].seat), [event.tile for event in draws])
        elif plays:
            tiles = (f"{tile_text(high_first(play.tile))}{END_PHRASES[play.end]}" for play in plays)
            yield f"{look.name(plays[0].seat)} plays {' and '.join(tiles)}."
        else:
            yield from (_event(event, look) for event in members)


def _doer(event: Event) -> int | None:
    return None if isinstance(event, TurnedUp) else event.seat


def _event(event: Event, look: Look) -> str:
    seat = _doer(event)
    phrase = "{who} checks." if event == Bade(seat or 0, 0) else PHRASES[type(event)]
    name = "nobody" if seat is None else look.name(seat)
    return phrase.format(who=name, **_spell(event))


def _spell(item: Event | Option) -> dict[str, str]:
    """Return the fields of an event or an option in words."""
    return {name: SPELLINGS.get(name, str)(value) for name, value in asdict(item).items()}


def _draws(name: str, tiles: list[Tile | None]) -> str:
    amount = "a tile" if len(tiles) == 1 else f"{len(tiles)} tiles"
    names = " ".join(tile_text(tile) for tile in tiles if tile)
    return f"{name} draws {amount}{names and ': '}{names}."


def option_words(option: Option) -> str:
    """Return an option in words."""
    return "check" if option == Bid(0) else PHRASES[type(option)].format(**_spell(option))


def _record(frame: Frame, look: Look) -> Iterator[EvidenceRow]:
    match frame.record:
        case ChoiceRecord() as answer:
            options = _options(frame, look.name(answer.seat), answer.choice)
            yield "options", [*options, (f"({answer.ms:g} ms)", "dim")]
            yield from evidence_rows(answer)
        case FoulRecord(detail=str(detail)) as foul if detail:
            fault = _free(printable(detail, EVIDENCE), "bold red")
            yield "foul", [*fault, (f"({foul.ms:g} ms)", "dim")]
            yield "options", [*_options(frame, look.name(foul.seat), None)]
            yield from evidence_rows(foul)
        case RoundRecord() as over:
            yield "points", _each(over.points, look)
            yield "standing", _each(over.scores, look)
        case Result() as result:
            yield "scores", _each(result.scores, look)
            yield "places", _each(result.places, look)
        case _:
            pass


def options_text(options: Iterable[Option], choice: int | None) -> Iterator[tuple[str, bool]]:
    """Yield each option in words, and whether it is the chosen one; bids in a row are joined."""
    for group, marked in group_options(options, choice):
        first, last = option_words(group[0]), option_words(group[-1])
        words = f"{first} to {last.removeprefix('bid ')}"
        yield (first if len(group) == 1 else words), marked


def group_options(
    options: Iterable[Option], choice: int | None
) -> Iterator[tuple[tuple[Option, ...], bool]]:
    """Yield options one by one, bids in a row together, and whether they hold the chosen one."""

    def kind(numbered: tuple[int, Option]) -> int | None:
        number, option = numbered
        joined = isinstance(option, Bid) and option.chips and number != choice
        return None if joined else number

    for number, group in groupby(enumerate(options), kind):
        yield tuple(option for _, option in group), number is not None and number == choice


def _options(frame: Frame, name: str, choice: int | None) -> Iterator[StyledWords]:
    """Yield the options, the chosen one marked, after the name of the seat that was asked."""
    yield f"{name} had", "dim"
    cells = list(options_text(frame.options, choice))
    for number, (words, marked) in enumerate(cells, 1):
        comma = "," if number < len(cells) else ""
        yield (f">{words}<{comma}", "bold green") if marked else (f"{words}{comma}", "")


def evidence_rows(answer: AnswerRecord) -> Iterator[EvidenceRow]:
    """Yield what a bot wrote with an answer or a foul, and the figures of a late answer."""
    style = "dim"
    if isinstance(answer, FoulRecord):
        style = "red"
        if answer.line:
            yield "wrote", _free(printable(answer.line, EVIDENCE), "red")
        if answer.limit_ms:
            yield "clock", _free(lateness_text(answer), "dim")
    elif answer.note:
        yield "note", _free(printable(answer.note, MAX_NOTE), "italic")
    if isinstance(answer, ChoiceRecord) and answer.info:
        # A stranger's log may have any names.
        numbers = (f"{printable(name, 32)} {n:.6g}" for name, n in answer.info.items())
        yield "info", _free(", ".join(numbers), style)
    for line in stderr_lines(answer.stderr[-EVIDENCE:])[-STDERR_LINES:]:
        yield "stderr", _free(printable(line, EVIDENCE), style)


def lateness_text(foul: FoulRecord) -> str:
    """Return the figures of a late answer."""
    cpu = "unknown" if foul.cpu_ms is None else f"{foul.cpu_ms:g} ms"
    return f"limit {foul.limit_ms} ms; CPU {cpu}; lag {foul.given_back_ms:g} ms"


def _each(numbers: Iterable[int], look: Look) -> list[StyledWords]:
    cells = [f"{name} {number}" for name, number in zip(look.parties(), numbers, strict=False)]
    return [(f"{words},", "") for words in cells[:-1]] + [(cells[-1], "")]


def _table(frame: Frame, look: Look) -> Iterator[EvidenceRow]:
    if not any(frame.hands):
        return
    yield "line", _tiles(frame.line) or [("empty", "dim")]
    if frame.line:
        yield "ends", [(f"{frame.line[0][0]} and {frame.line[-1][1]}", "")]
    for seat, hand in enumerate(frame.hands):
        cells = [(_count_tiles(hand), "dim")] if isinstance(hand, int) else _tiles(hand)
        if frame.pips:
            cells.append((f"({frame.pips[seat]} pips)", "dim"))
        yield look.name(seat), cells
    stock = frame.stock if isinstance(frame.stock, int) else len(frame.stock)
    cells = [(f"{_count_tiles(stock)}, {frame.drawable} to draw", "")]
    if not isinstance(frame.stock, int):
        cells += _tiles(frame.stock)
    yield "boneyard", cells
    if frame.pot is not None:
        yield "pot", [(str(frame.pot), "")]
    if frame.chips is not None and not isinstance(frame.record, RoundRecord | Result):
        name = "chips" if frame.chips else "scores"
        yield name, _each([frame.chips + score for score in frame.scores], look)


def _count_tiles(tiles: int) -> str:
    return count_in_digits(tiles, "tile")


def _tiles(tiles: Iterable[Tile]) -> list[StyledWords]:
    return [(tile_text(tile), "") for tile in tiles]


def _free(text: str, style: str) -> list[StyledWords]:
    return [(word, style) for word in text.split(" ")]


def row(label: str, cells: list[StyledWords], look: Look) -> Text:
    """Return a row of a frame, wrapped between its cells."""
    names = map(look.name, range(len(look.names)))
    margin, width = 4 + max(map(cell_len, ("boneyard", *names))), look.width
    text = Text("  ").append(label, "dim")
    column = 2 + cell_len(label)
    indent = margin - column
    for words, style in cells:
        if column + indent + cell_len(words) > width and column >= margin:
            text.append("\n")
            column, indent = 0, margin
        text.append(" " * indent).append(words, style)
        column, indent = column + indent + cell_len(words), 1
    return text


# Descriptions of the answers of a bot that was asked again. No I/O; a bot's text is escaped.


POINTS_LEGEND = "Points: this side's gain minus the average of the others; game %: its chances then"
PLAYED_ON = (
    "Means over {deals} deals of the hidden tiles that agree with everything this seat has seen, "
    "all equally likely. From here on a simple bot (it plays heavy tiles and blocks the next seat) "
    f"plays every seat to the end of the round. {POINTS_LEGEND}; ± is half of a 95 % interval."
)
"""The note under the values of options, to be formatted with the number of deals."""
SOLVED = (
    "Exact: this seat knows where all tiles are, and both play perfectly from here on. "
    f"{POINTS_LEGEND}."
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


def answer_report(
    question: AskedQuestion, answers: Sequence[AnswerRecord], look: Look
) -> Iterator[Text]:
    """Describe the answers: one in full, many counted."""
    choices = [answer.choice for answer in answers if isinstance(answer, ChoiceRecord)]
    for answer in answers[-1:] if len(answers) == 1 or len(choices) < len(answers) else ():
        time = f"{answer.ms:g} of {question.question.time_ms} ms"
        if isinstance(answer, FoulRecord):
            detail = printable(answer.detail, EVIDENCE)
            yield Text(f"It fouls: {answer.foul}. {detail} ({time})", "red")
        else:
            option = option_words(question.options[answer.choice])
            comparison = _compared(question, answer.choice)
            yield Text(f"It chooses {option} ({time}), {comparison}.", "bold")
        for label, cells in evidence_rows(answer):
            yield row(label, cells, look)
    if len(answers) > 1:
        for choice, times in Counter(choices).most_common():
            option = option_words(question.options[choice])
            sentence = f"{option}: {times} of {len(answers)} times, {_compared(question, choice)}."
            yield Text(sentence, "bold")
        spent = [answer.ms for answer in answers]
        yield Text(
            f"Mean {sum(spent) / len(spent):.1f} ms, maximum {max(spent):.1f} ms, of "
            f"{question.question.time_ms} ms; a new process each time.",
            "dim",
        )


def _compared(question: AskedQuestion, choice: int) -> str:
    logged = question.choice
    if logged is None:
        return "but the log has a foul" if question.answer else "but the log has no answer"
    if logged == choice:
        return "the same as in the log"
    return f"but {option_words(question.options[logged])} in the log"


def option_value_table(
    question: AskedQuestion, outlooks: Sequence[OptionValue], compared: int, new_choice: int | None
) -> Table:
    """Return the value of each option, with marks at the log's choice and at the new one."""
    columns = [Column("option", "word"), Column("", "word"), Column("points", detail="±")]
    columns.append(Column(f"vs. {option_words(question.options[compared])}", detail="±"))
    columns.append(Column("game %", detail="±"))
    rows: list[Sequence[str | Cell]] = []
    for number, (option, value) in enumerate(zip(question.options, outlooks, strict=True)):
        marks = {"played": question.choice == number, "now": new_choice == number}
        marked = ", ".join(mark for mark, is_so in marks.items() if is_so)
        gap = Cell(f"{value.beyond:+.1f}", f"{value.beyond_half_width:.1f}")
        points = Cell(f"{value.lead:+.1f}", f"{value.half_width:.1f}")
        percent = Cell(f"{value.percent:.1f}", f"{value.percent_half_width:.1f}")
        difference = "" if number == compared else gap
        rows.append((option_words(option), marked, points, difference, percent))
    has_marks = question.choice is not None or new_choice is not None
    return table("Options", columns, rows).keep([True, has_marks, True, True, True])
