"""The command `check`: finds the bots, runs the steps with each, prints the results."""

import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import Any, NamedTuple

import click
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from arena.conformance.connection import Budget, EventGame, StepResult
from arena.conformance.runner import (
    NumberedStep,
    Printer,
    Report,
    describe_steps,
    make_report,
    reports_table,
    run_steps,
    select_steps,
    short_line,
)
from arena.conformance.session import Session
from arena.conformance.steps import limit_to_one_round
from arena.document.terminal import open_console, print_blocks
from arena.files import temporary_folder
from arena.match.bot_process import CannotStartError
from arena.rules.english import count_in_digits
from arena.rules.load import load_ruleset
from arena.sandbox.command import SandboxMode
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_json, print_note, write_in_turn, writing_beside
from protocol.errors import UserError, unknown_name
from protocol.ruleset import check_seats
from tournaments.cli.options import (
    FILE_PATH,
    MOVE_MS,
    OLD_FILE,
    SANDBOX_OPTION,
    command,
    complete_bots,
    flag,
    number,
    option,
)
from tournaments.formats.base import Entrant, plain_name
from tournaments.formats.entrant import own_or
from tournaments.plan.bots import BOT_FILE, own_bots, prepare_entrant
from tournaments.plan.event import EVENT_SUFFIX, WrittenEvent
from tournaments.plan.read_plan import parse_event

BOTS_AT_ONCE = 2
"""Bots that are checked side by side; more would slow each other down."""


class _Check(NamedTuple):
    """All that the checks of several bots have in common."""

    words: tuple[str, ...]
    """The bots, as the user named them."""
    event: WrittenEvent
    sandbox: Sandbox
    game: EventGame | None
    """The game of an event file; without one a bot must know every game."""
    steps: tuple[NumberedStep, ...]
    pace: Budget
    verbose: bool

    def session(self, entrant: Entrant) -> Session:
        """Return a new session of a bot."""
        clock = own_or(entrant.clock, self.event.clock, entrant.command)
        return Session(entrant.command, self.sandbox, clock, self.pace, self.game)


EXAM = "With --exam"


@command()
@click.argument("bots", metavar="BOT...", nargs=-1, shell_complete=complete_bots)
@flag("--all", "Check all bots in folders here.", "takes_all")
@option("--bot", "name", metavar="NAME", help="Only this bot of an event file.")
@option(
    "--only",
    "step_words",
    multiple=True,
    metavar="STEP",
    help="Run only these steps: number (5), range (5-9), name or list (1,5-9); may be repeated.",
)
@flag("--list", "List the steps and exit.", "lists_steps")
@flag("--quick", "Play one round of each game instead of whole games.")
@number("--seconds", "Time after which no further step begins, in s.", 1, 86_400, 300)
@number("--start-ms", "Time for the hello, in ms.", 1, 600_000)
@MOVE_MS
@SANDBOX_OPTION
@flag("--verbose", "Print a line for every step.", "-v")
@flag("--json", "Print every step or answer as JSON.", "in_json")
@flag(
    "--exam",
    "Put 1,000 problems to the bots instead, and say how much their answers lose.",
    "is_exam",
    section=EXAM,
)
@option(
    "--problems",
    section=EXAM,
    type=OLD_FILE,
    help="Another problem set; `boneyard export --problems` makes one.",
)
@number("--jobs", "Processes of a bot side by side.  [default: cores - 1]", 1, 512, section=EXAM)
@option(
    "--out",
    section=EXAM,
    type=FILE_PATH,
    help="Also write the tables (.md) or every answer (.csv).",
)
def check(
    bots: tuple[str, ...],
    takes_all: bool,
    name: str | None,
    step_words: tuple[str, ...],
    lists_steps: bool,
    quick: bool,
    seconds: int,
    start_ms: int | None,
    move_ms: int | None,
    sandbox: SandboxMode | None,
    verbose: bool,
    in_json: bool,
    is_exam: bool,
    problems: Path | None,
    **of_exam: Any,
) -> int:
    """Check bots step by step and say what to fix.

    The check talks to the bot as the referee does. BOT is written as in `run`: a sample bot, a
    file, a command or the folder of a bot.toml (without BOT, the current folder). BOT may also be
    an event file: the check then tries each of its bots, and only in the event's game. A dot is a
    step that passed, F one that failed, s one that was skipped. Each failure shows what was sent,
    what your bot replied, what was expected and how to fix it. Several bots are checked two at a
    time; each gets a line, and a table follows.

    With --exam or --problems the bots answer problems: questions of logged games whose options are
    known to differ in value. Endgames were solved; in middle games each option was tried in many
    deals. The tables show how many points an answer loses on average, by kind and by game.

    Exit code 0: all steps of all bots passed. 1: a step failed or was not reached in time, one of
    several bots could not be started, or a bot fouled in the exam. 2: the command is wrong, or its
    only bot cannot start.

    \b
    Examples:
      boneyard check ./my_bot.py
      boneyard check --all
      boneyard check bots/mine
      boneyard check ./my_bot.py "node bot.mjs" greedy
      boneyard check "node bot.mjs" --quick
      boneyard check friday.toml --bot mine --json
      boneyard check ./my_bot.py --only hello --only 10-20
      boneyard check mine greedy --exam --out exam.csv
      boneyard check mine --problems problems.jsonl
    """
    if lists_steps:
        for line in describe_steps():
            click.echo(line)
        return 0
    if not (bots or takes_all) and Path(BOT_FILE).is_file():
        bots = (".",)
    if takes_all == bool(bots):
        raise click.UsageError("Name bots, or --all for those in folders here.")
    if is_exam or problems:
        from tournaments.cli.exam import examine_bots

        return examine_bots(bots, problems, move_ms, sandbox, in_json=in_json, **of_exam)
    times = {"start_ms": start_ms, "move_ms": move_ms}
    fields: dict[str, Any] = {"clock": {key: ms for key, ms in times.items() if ms}}
    fields |= {"sandbox": sandbox} if sandbox else {}
    pace, console = Budget(total_s=seconds, is_full=not quick), open_console(stderr=in_json)
    reports = check_bots(
        bots,
        fields,
        pace,
        console,
        name=name,
        step_words=step_words,
        verbose=verbose,
    )
    if in_json:
        print_json(reports)
    return 0 if all(report.verdict == "passed" for report in reports) else 1


def check_bots(
    bots: tuple[str, ...],
    fields: dict[str, Any],
    pace: Budget,
    console: Console,
    *,
    name: str | None = None,
    step_words: tuple[str, ...] = (),
    verbose: bool = False,
) -> list[Report]:
    """Run the steps with bots, print what to fix, and return the report of each.

    `bots`: as the user named them; none: all in folders here. `fields`: those of an event file.
    The others: see the command. Raises UserError.
    """
    folders = (f"{Path(word).parent}" if Path(word).name == BOT_FILE else word for word in bots)
    words = tuple(folders) or tuple(own_bots(Path()))
    if not words:
        raise UserError(f"No folder here has a {BOT_FILE}. Name a bot: boneyard check BOT")
    event, base = parse_event(words, fields)
    game = None
    if Path(words[0]).suffix == EVENT_SUFFIX:
        # The candidates of a tune are the first bot with other values.
        entries = event.bots[:1] if event.tune else event.bots
        matches = (bot for bot in entries if name in (None, bot.name, plain_name(bot.name)))
        event = replace(event, bots=tuple(matches))
        if not event.bots:
            raise unknown_name("bot", f"{name}", [bot.name for bot in entries])
        game = _game(event, base, is_whole=pace.is_full)
    elif name:
        raise UserError("--bot chooses one of an event file's bots: name the file, as friday.toml.")
    steps = select_steps(step_words, of_event=game is not None)
    with temporary_folder("check", shared=True) as path:
        entrants, reports = list[Entrant](), list[Report]()
        for bot in event.bots:
            try:
                entrants.append(prepare_entrant(bot, base, path))
            except UserError as error:
                if len(event.bots) == 1:
                    raise
                reports.append(_not_started(bot.name, "", event, f"{error}"))
        box = choose_sandbox(event.sandbox, event.limits, path)
        if not box.is_locked and event.sandbox != "off":
            print_note(box.brief)
        check = _Check(tuple(bots), event, box, game, steps, pace, verbose)
        if len(event.bots) == 1:
            return [_check_one(check, entrants[0], console)]
        return _check_many(check, entrants, reports, console)


def _game(event: WrittenEvent, base: Path, *, is_whole: bool) -> EventGame:
    rules = load_ruleset(event.rules, base)
    seats = event.seats_at_table(rules)
    check_seats(rules, seats)
    return EventGame(rules if is_whole else limit_to_one_round(rules), seats)


# --- one bot ---


def _check_one(check: _Check, entrant: Entrant, console: Console) -> Report:
    """Run the steps with a bot; print a mark for each, the faults and the verdict.

    Raises UserError when the bot cannot be started.
    """
    sandbox, seconds = check.sandbox.state, check.pace.total_s
    console.print(
        f"{entrant.name}: {count_in_digits(len(check.steps), 'step')} in at most {seconds} s, "
        f"sandbox {sandbox}.",
        soft_wrap=True,
    )
    printer = Printer(console, verbose=check.verbose)
    with console.status(check.steps[0][1].title) as status:

        def show(outcome: StepResult) -> None:
            printer.print_result(outcome)
            title = next((step.title for n, step in check.steps if n > outcome.number), "")
            status.update(Text.assemble(printer.marks, " ", (title, "dim")))

        try:
            with writing_beside():
                report = _examine(
                    check, entrant, lambda outcome: write_in_turn(partial(show, outcome))
                )
        except CannotStartError as error:
            raise UserError(f"Bot {entrant.name}: {error}.") from error
    printer.finish(report)
    return report


def _examine(check: _Check, entrant: Entrant, show: Callable[[StepResult], None]) -> Report:
    """Run the steps with a bot; show each result. Raises CannotStartError, and what `show` does."""
    began = time.monotonic()
    session = check.session(entrant)
    outcomes = run_steps(session, check.steps, show)
    return make_report(entrant.name, session, outcomes, time.monotonic() - began)


# --- many bots ---


def _not_started(name: str, sandbox: str, event: WrittenEvent, error: str) -> Report:
    limit = event.clock.start_ms
    return Report(
        name=name, verdict="not started", sandbox=sandbox, start_limit_ms=limit, error=error
    )


class _StoppedError(Exception):
    """The user has stopped the check."""


def _check_many(
    check: _Check, entrants: Sequence[Entrant], failed: Sequence[Report], console: Console
) -> list[Report]:
    """Check bots side by side: print a line for each when it is done, and a table at the end.

    `failed`: reports of bots that could not be built. Return the reports in the bots' order.
    """
    stop = Signal()

    def show(_: StepResult) -> None:
        if stop.is_set():
            raise _StoppedError

    def examine(entrant: Entrant) -> Report:
        try:
            return _examine(check, entrant, show)
        except CannotStartError as error:
            return _not_started(entrant.name, check.sandbox.state, check.event, f"{error}")

    reports = {report.name: report for report in failed}
    count, sandbox = len(check.event.bots), check.sandbox.state
    head = (
        f"{count} bots, {len(check.steps)} steps each, {BOTS_AT_ONCE} at a time, sandbox {sandbox}."
    )
    console.print(head, soft_wrap=True)
    for report in failed:
        console.print(short_line(report), soft_wrap=not console.is_terminal, markup=False)
    with ThreadPoolExecutor(BOTS_AT_ONCE) as pool, console.status("") as status:
        try:
            for future in as_completed([pool.submit(examine, entrant) for entrant in entrants]):
                report = future.result()
                reports[report.name] = report
                _print_report(check, report, console)
                status.update(f"{len(reports)} of {count} bots")
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    ordered = [reports[bot.name] for bot in check.event.bots]
    console.print()
    print_blocks(console, [reports_table(ordered)])
    passed = sum(report.verdict == "passed" for report in ordered)
    for place, report in enumerate(ordered):
        if report.first_failure:
            more = shlex.join(("boneyard", "check", *_words_of(check, place)))
            console.print(f"More about {report.name}: {more}", soft_wrap=True, markup=False)
    console.print(f"{passed} of {count} bots passed.")
    return ordered


def _words_of(check: _Check, place: int) -> tuple[str, ...]:
    """Return the words by which a user checks one of the bots alone."""
    words, name = check.words, check.event.bots[place].name
    if check.game:
        return words[0], "--bot", name
    return (words[place] if words else name,)


def _print_report(check: _Check, report: Report, console: Console) -> None:
    if check.verbose and report.outcomes:
        console.print(Text(f"{report.name}:", "bold"))
        printer = Printer(console, verbose=True)
        for outcome in report.outcomes:
            printer.print_result(outcome)
        printer.finish(report)
    else:
        console.print(short_line(report), soft_wrap=not console.is_terminal, markup=False)
