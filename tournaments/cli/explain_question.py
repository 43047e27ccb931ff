"""The command `explain` for a question: shows it, asks a bot again, weighs the options."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Raw, Struct
from msgspec.structs import replace
from rich.text import Text

from arena.analysis import reask, review, text
from arena.analysis.alternative_deals import position_of
from arena.analysis.find import require_one_game
from arena.analysis.text import OptionValue
from arena.analysis.timeline import (
    AnswerRecord,
    AskedQuestion,
    Timeline,
    find_question,
    question_of,
)
from arena.document.terminal import print_blocks
from arena.engine.view import LineWriter
from arena.files import temporary_folder
from arena.logs.gamelog import LoggedGame
from arena.match import referee
from arena.program import run_async
from arena.sandbox.command import Command, Limits, SandboxMode, program_paths, real_path
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import plain_console, print_json, print_paged, text_look
from arena.valuation.terms import USUAL_WORLDS, why_no_values
from protocol.codec import printable
from protocol.errors import UserError
from protocol.position import Position, read_position, write_position
from protocol.records import ChoiceRecord, FoulRecord
from tournaments.cli.options import ExplainOptions, choose_seat
from tournaments.event.folder import find_event
from tournaments.plan.bots import our_packages, prepare_word
from tournaments.plan.event import Event

UNASKED = (
    "To ask a bot this question, name it after `--`. --ask starts the command that event.json "
    "names, a stranger's program if the folder comes from one."
)
NO_EVENT = (
    "The log is not in its event's folder, so nobody knows the command of the bot. Name a bot "
    "after `--` in place of --ask: a sample bot, a file or a command."
)


OTHER_START = (
    "The position hides tiles, so these deals begin with another one than those of a log or an "
    "open position would: values agree within their errors."
)


class Answers(Struct, frozen=True):
    """The answers to a question, as JSON for programs."""

    game: str
    seat: int
    number: int
    """The question's number among those to this seat in the game, from 1."""
    question: Raw
    """The question as it was asked, then and now."""
    logged: AnswerRecord | None
    """The logged answer and its outcome; null: the game was cut off."""
    sandbox: str
    """The confinement of the bot now: locked or off; empty if the bot was not asked."""
    answers: tuple[AnswerRecord, ...]
    """The answers now, one for each time the bot was asked."""
    outlooks: tuple[OptionValue, ...]
    """The value of each option under other deals, in the order of the options."""
    position: str
    """The question as one line, with what the seat knew; empty: a line cannot have its rules."""
    open_position: str
    """The same line with all tiles; empty if they are not known."""


def explain_question(log: Path, words: Sequence[str], options: ExplainOptions) -> int:
    """Show a question, ask a bot again, print its answers; return the exit code."""
    game, number, *bot = words
    if not number.isdecimal():
        raise UserError(f"A question is a number, not {number}. `--all` shows them.")
    logged = require_one_game(log, game)
    timeline = Timeline(logged)
    questions = timeline.questions(choose_seat(log, logged, options.seat))
    question = find_question(questions, int(number))
    asks = options.times and (bot or options.ask)
    is_choice = len(question.options) > 1 and why_no_values(logged.sitting.rules) is None
    values_wanted = options.review or (is_choice and not asks)
    deals = options.deals or (USUAL_WORLDS if values_wanted else None)
    lines = (*timeline.context(question), timeline.line(question))
    if options.raw:
        sys.stdout.buffer.write(b"".join((referee.hello(), *lines)))
        return 0
    state, replies = "", list[AnswerRecord]()
    if asks:
        event = find_event(log)
        box = _sandbox(options.sandbox, log, event)
        state = box.state
        own_command = None if bot else _own_command(event, logged, question.seat)
        with _prepare_bot(bot, own_command) as command:
            clock = logged.sitting.seat_clocks[question.seat]
            replies = run_async(
                reask.repeat_question, command, question.question, lines, clock, box, options.times
            )
    answers = Answers(
        game=logged.game.game,
        seat=question.seat,
        number=question.number,
        question=Raw(lines[-1][:-1]),
        logged=question.answer,
        sandbox=state,
        answers=tuple(replies),
        outlooks=_outlooks(question, deals, _compared(question, replies)),
        **_positions(question),
    )
    if options.in_json:
        print_json(answers)
    else:
        _print(logged, question, len(questions), answers, options)
    return int(any(isinstance(answer, FoulRecord) for answer in answers.answers))


def explain_position(line: str, options: ExplainOptions) -> int:
    """Show the question of a position, and what its options are worth; return the exit code.

    Raises UserError.
    """
    position = read_position(line)
    question = question_of(position)
    rules = question.game.rules
    is_choice = len(question.options) > 1 and why_no_values(rules) is None
    deals = options.deals or (USUAL_WORLDS if is_choice else None)
    writer = LineWriter(question.game, 0)
    answers = Answers(
        game="",
        seat=question.seat,
        number=0,
        question=Raw(writer.question(question.seat, question.options, 0, 0)[:-1]),
        logged=None,
        sandbox="",
        answers=(),
        outlooks=_outlooks(question, deals, 0),
        **_positions(question, position),
    )
    if options.in_json:
        print_json(answers)
        return 0
    console, names = plain_console(), tuple(f"seat {seat}" for seat in range(question.game.seats))
    look = text.Look(names, console.width, partners=rules.deal.partners)
    title = Text(f"{printable(position.rules)}, target {question.game.target}. ", "bold")
    print_paged([title.append_text(review.table_text(question, look))], console)
    words = ", ".join(map(text.option_words, question.options))
    console.print(Text(f"Options of seat {question.seat}: {words}."), soft_wrap=True)
    if why := why_no_values(rules):
        console.print(Text(f"They have no values: {why}.", "dim"), soft_wrap=True)
    if answers.outlooks:
        _print_outlooks(question, answers, options.deals)
    if answers.outlooks and not (position.is_open or answers.outlooks[0].exact):
        console.print(Text(OTHER_START, "dim"), soft_wrap=not console.is_terminal)
    return 0


def _positions(question: AskedQuestion, position: Position | None = None) -> dict[str, str]:
    """Return the question as a line with what the seat knew, and as one with all that is known."""
    with suppress(UserError):
        position = position or position_of(question.history, question.game)
        open_line = write_position(position) if position.is_open else ""
        return {"position": write_position(position.as_seen()), "open_position": open_line}
    return {"position": "", "open_position": ""}


def _own_command(event: Event | None, logged: LoggedGame, seat: int) -> Command:
    entrants = {bot.name: bot.command for bot in event.entrants} if event else {}
    command = entrants.get(logged.sitting.seats[seat])
    if event is None or command is None:
        raise UserError(NO_EVENT)
    command, values = _without_access(command), logged.sitting.values
    return event.format.set_values(command, values[seat]) if values and values[seat] else command


def _without_access(command: Command) -> Command:
    """Return a command that reads its own folder and program alone, without network or variables.

    A stranger may have written what the plan opens to it.
    """
    folder, program = Path(command.folder), Path(command.argv[0])
    installed = {*program_paths(program, folder), *our_packages(program), f"{program}"}
    reads = [path for path in command.reads if path in installed or _lies_in(path, folder)]
    return replace(command, reads=(*reads,), network=(), environment=())


def _lies_in(path: str, folder: Path) -> bool:
    return real_path(Path(path)).is_relative_to(real_path(folder))


def _sandbox(wanted: SandboxMode | None, path: Path, event: Event | None) -> Sandbox:
    """Return the sandbox of the event's runs, unless the user asks for another.

    Nobody but the user takes the sandbox away: the plan may be a stranger's.
    """
    plan: SandboxMode = event.sandbox if event and event.sandbox != "off" else "auto"
    wish = wanted or plan
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    return choose_sandbox(wish, event.limits if event else Limits(), folder)


@contextmanager
def _prepare_bot(bot: Sequence[str], command: Command | None) -> Iterator[Command]:
    """Yield the command that starts the bot; remove what was built for it afterwards.

    `bot`: its words; none: the bot's `command`. Raises UserError.
    """
    if command and not bot:
        yield command
        return
    with temporary_folder("ask", shared=True) as path:
        entrant = prepare_word(bot[0] if len(bot) == 1 else shlex.join(bot), path)
        if entrant.clock:
            raise UserError(f"A logged question keeps its clock. Name {entrant.name} without one.")
        yield entrant.command


def _compared(question: AskedQuestion, answers: Sequence[AnswerRecord]) -> int:
    """Return the option to compare the others with: the log's, else the bot's, else the first."""
    choices = [
        answer.choice for answer in (question.answer, *answers) if isinstance(answer, ChoiceRecord)
    ]
    return next(iter(choices), 0)


def _outlooks(question: AskedQuestion, deals: int | None, compared: int) -> tuple[OptionValue, ...]:
    """Return the options' values; numpy is imported only where they are asked for."""
    if deals is None:
        return ()
    from arena.valuation.decision_loss import option_values

    return option_values(question, compared, deals)


def _print(
    logged: LoggedGame,
    question: AskedQuestion,
    count: int,
    answers: Answers,
    options: ExplainOptions,
) -> None:
    console = plain_console()
    look = text_look(logged, console)
    head = Text(f"Game {printable(logged.game.game)}. ", "bold")
    head.append_text(review.decision_text(question, count, look))
    print_paged([head], console)
    if answers.answers:
        console.print(Text(f"Asked again, sandbox {answers.sandbox}:", "dim"))
        for line in text.answer_report(question, answers.answers, look):
            console.print(line, soft_wrap=True)
    if answers.outlooks:
        _print_outlooks(question, answers, options.deals)
    if answers.position:
        words = f"Position: {answers.position}\nWith all tiles: {answers.open_position}"
        console.print(Text(words, "dim"), soft_wrap=True)
    if options.times and not answers.answers:
        console.print(Text(UNASKED, "dim"), soft_wrap=not console.is_terminal)


def _print_outlooks(question: AskedQuestion, answers: Answers, deals: int | None) -> None:
    console = plain_console()
    compared = _compared(question, answers.answers)
    last = answers.answers[-1] if answers.answers else None
    choice = last.choice if isinstance(last, ChoiceRecord) else None
    console.print()
    print_blocks(console, [text.option_value_table(question, answers.outlooks, compared, choice)])
    played_on = text.PLAYED_ON.format(deals=deals or USUAL_WORLDS)
    note = text.SOLVED if answers.outlooks[0].exact else played_on
    console.print(Text(note, "dim"), soft_wrap=not console.is_terminal)
