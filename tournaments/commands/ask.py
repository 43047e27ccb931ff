"""The command `ask`: finds a logged question and a bot, asks the bot, prints its answers."""

import random
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec import Raw, Struct
from rich.text import Text

from arena.analysis import answer_text, decisions
from arena.analysis import reask as asking
from arena.analysis import review as account
from arena.analysis import what_if as whatif
from arena.analysis.decisions import Decision
from arena.analysis.find import find_seat, require_one_game, usual_folder
from arena.analysis.reask import ReaskResult
from arena.analysis.what_if import OptionValue
from arena.document.terminal import print_blocks
from arena.logs.gamelog import LoggedGame
from arena.match import referee
from arena.sandbox.command import Command
from arena.sandbox.limits import Limits, SandboxMode, level_name
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from arena.sandbox.temporary import temporary_folder
from arena.ui.console import plain_console, print_json, text_look
from protocol.codec import printable
from protocol.errors import UserError
from protocol.records import ChoiceRecord, FoulRecord
from tournaments.plan.bot_command import prepare_word
from tournaments.plan.event import Event
from tournaments.storage.folder import Folder, load_event


class AskOptions(NamedTuple):
    """The command's options; None where the user gave none."""

    log: Path | None
    """A game log or an event's folder."""
    game: str | None
    """A game, or a part of its name."""
    question: int | None
    """The question's number, or its id."""
    bot: tuple[str, ...]
    """A sample bot, a file or a command, perhaps in several words; none: the bot that sat there."""
    seat: str | None
    """A seat's number, or who sat there."""
    times: int
    """Number of times to ask."""
    deals: int | None
    """Number of other deals to try the options under."""
    sandbox: SandboxMode | None
    """The sandbox mode."""
    raw: bool
    """True if only the bytes for the bot are printed."""
    plain: bool
    """True if tiles are printed in ASCII."""
    as_json: bool
    """True if the answers are printed as JSON."""


class Answers(Struct, frozen=True):
    """The answers to a question, as JSON for programs."""

    game: str
    """The game's name."""
    seat: int
    """The seat that was asked."""
    number: int
    """The question's number among those to this seat in the game, from 1."""
    question: Raw
    """The question as it was asked, then and now."""
    logged: ChoiceRecord | FoulRecord | None
    """The logged answer and its outcome; null: the game was cut off."""
    sandbox: str
    """The sandbox level of the bot now: A, B, C, D or off; empty if the bot was not asked."""
    answers: tuple[ReaskResult, ...]
    """The answers now, one for each time the bot was asked."""
    outlooks: tuple[OptionValue, ...]
    """The value of each option under other deals, in the order of the options."""


def ask_again(wanted: AskOptions) -> int:
    """Ask the bot and print its answers; return the exit code. Raises UserError."""
    where = wanted.log or usual_folder()
    logged = require_one_game(where, wanted.game)
    seat = find_seat(logged, wanted.seat)
    if wanted.question is None:
        raise UserError(
            f"Name a question by its number: `boneyard explain {where} {logged.game.game} --seat "
            f"{seat}` shows them."
        )
    found = list(decisions.decisions(logged, seat))
    one = decisions.find_decision(found, wanted.question)
    if wanted.raw:
        sys.stdout.buffer.write(b"".join((referee.hello(), *one.told, one.line)))
        return 0
    answers = _answers(wanted, where, logged, one)
    if wanted.as_json:
        print_json(answers)
    else:
        _print(logged, one, len(found), answers, wanted.plain)
    return 1 if any(answer.foul for answer in answers.answers) else 0


def _answers(wanted: AskOptions, where: Path, logged: LoggedGame, one: Decision) -> Answers:
    """Ask as often as requested and evaluate the options. Raises UserError."""
    level, found = "", list[ReaskResult]()
    if wanted.times:
        event = _event(where)
        sandbox = _sandbox(wanted, where, event)
        level = sandbox.level
        word = wanted.bot[0] if len(wanted.bot) == 1 else shlex.join(wanted.bot)
        with _command(word, logged.sitting.seats[one.question.seat], event) as command:
            clock = logged.sitting.clock
            found = trio.run(asking.repeat_question, command, one, clock, sandbox, wanted.times)
    return Answers(
        game=logged.game.game,
        seat=one.question.seat,
        number=one.number,
        question=Raw(one.line[:-1]),
        logged=one.record,
        sandbox=level,
        answers=tuple(found),
        outlooks=_outlooks(logged, one, wanted.deals, _compared(one, found)),
    )


def _event(where: Path) -> Event | None:
    """Return the event that a log or a folder belongs to; None if it belongs to none."""
    for path in (where, *where.resolve().parents[:2]):
        if Folder(path).event.is_file():
            return load_event(Folder(path))
    return None


def _sandbox(wanted: AskOptions, where: Path, event: Event | None) -> Sandbox:
    """Return the sandbox of the event's runs, unless the user asks for another."""
    wish: SandboxMode = wanted.sandbox or (event.sandbox if event else "auto")
    folder = where.resolve() if where.is_dir() else where.resolve().parent
    return choose_level(wish, event.limits if event else Limits(), folder)


@contextmanager
def _command(bot: str, name: str, event: Event | None) -> Iterator[Command]:
    """Yield the command that starts the bot; remove what was built for it afterwards.

    Raises UserError.
    """
    entrants = {one.name: one for one in event.entrants} if event else {}
    if not bot and name in entrants:
        yield entrants[name].command
        return
    if not bot:
        raise UserError("Say which bot is asked, after `--`: a sample bot, a file or a command.")
    with temporary_folder("ask", shared=True) as path:
        yield prepare_word(bot, path).command


def _compared(one: Decision, found: list[ReaskResult]) -> int:
    """Return the option to compare the others with: the log's, else the bot's, else the first."""
    choices = (account.choice_label(one), *(answer.choice for answer in found))
    return next((choice for choice in choices if choice is not None), 0)


def _outlooks(
    logged: LoggedGame, one: Decision, deals: int | None, compared: int
) -> tuple[OptionValue, ...]:
    """Return the options' values; the same question always gets the same deals."""
    if deals is None:
        return ()
    luck = random.Random(one.line)
    games = list(whatif.sampled_deals(logged, one, deals, luck))
    return whatif.option_values(games, compared, luck)


def _print(logged: LoggedGame, one: Decision, many: int, answers: Answers, plain: bool) -> None:
    console = plain_console()
    look = text_look(logged, console, plain)
    game = printable(logged.game.game)
    head = Text(f"Game {game}, question {one.number} of {many}. ", "bold")
    table = account.table_text(one, one.question.seat, look)
    console.print(head.append_text(table), "", sep="\n", soft_wrap=True)
    if answers.answers:
        console.print(Text(f"Asked again, sandbox {level_name(answers.sandbox)}:", "dim"))
        for line in answer_text.answer_report(one, answers.answers):
            console.print(line, soft_wrap=True)
    if answers.outlooks:
        _print_outlooks(one, answers)


def _print_outlooks(one: Decision, answers: Answers) -> None:
    console = plain_console()
    compared = _compared(one, list(answers.answers))
    again = answers.answers[-1].choice if answers.answers else None
    console.print()
    print_blocks(console, [answer_text.option_value_table(one, answers.outlooks, compared, again)])
    console.print(Text(answer_text.PLAYED_ON, "dim"), soft_wrap=not console.is_terminal)
