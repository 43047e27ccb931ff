"""The command `check`: finds the bots, runs the steps with each, prints the results."""

import time
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Console

from arena.conformance.cases.games import limit_to_one_round
from arena.conformance.model import Budget, EventGame, StepResult
from arena.conformance.report import Printer, Report, summary
from arena.conformance.runner import NumberedStep, run_steps, select_steps
from arena.conformance.session import Session
from arena.match.piped_process import CannotStartError
from arena.rules.load import load_ruleset
from arena.sandbox.limits import Level, SandboxMode, level_name
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_level
from arena.sandbox.temporary import temporary_folder
from arena.ui.console import print_json, print_note
from protocol.errors import UserError, unknown_name
from protocol.ruleset import check_seats
from tournaments.formats.base import Entrant
from tournaments.plan.bot_command import prepare_entrant
from tournaments.plan.event import files_of
from tournaments.plan.event_file import SUFFIX, WrittenBot, WrittenEvent
from tournaments.plan.from_options import parse_event


class CheckOptions(NamedTuple):
    """The command's options."""

    bot: str
    """A bot, as `run` takes it, or an event file."""
    name: str | None
    """The name of one of the event file's bots."""
    only: tuple[str, ...]
    """The steps to run."""
    quick: bool
    """True if one round of each game is played instead of a whole game."""
    seconds: int
    """Time after which no further step begins, in s."""
    start_ms: int | None
    """Another limit for the hello, in ms."""
    move_ms: int | None
    """Another limit for each question, in ms."""
    sandbox: SandboxMode | None
    """The sandbox mode."""
    compare: bool
    """True if the bot is started without the sandbox too."""
    as_json: bool
    """True if the reports are printed as JSON."""


def check_bots(options: CheckOptions) -> int:
    """Check each bot; return 1 when one of them breaks a promise, else 0. Raises UserError."""
    event, base, game = _written(options)
    steps = select_steps(options.only, of_event=game is not None)
    with temporary_folder("check", shared=True) as path:
        entrants = [prepare_entrant(bot, base, path) for bot in event.bots]
        sandbox = choose_level(event.sandbox, event.limits, path, files_of(entrants))
        outside = outside_of(event, sandbox.level, options.compare)
        if sandbox.level == "off" != event.sandbox:
            print_note(" ".join(sandbox.notices))
        reports = []
        for entrant in entrants:
            pace = Budget(total_s=options.seconds, whole=not options.quick)
            desk = Session(entrant.command, sandbox, event.clock, pace, outside, game)
            reports.append(_walked(entrant, desk, steps, options.as_json))
    if options.as_json:
        print_json(reports)
    return 0 if all(report.kept for report in reports) else 1


def _written(options: CheckOptions) -> tuple[WrittenEvent, Path, EventGame | None]:
    """Return the bots with their clock and sandbox, their folder, and the game to play.

    The game is that of an event file; without one (None) a bot must know every game.
    """
    game = None
    in_file = Path(options.bot).suffix == SUFFIX
    if options.name and not in_file:
        raise UserError("--bot chooses one of an event file's bots: name the file, as friday.toml.")
    event, base = parse_event((options.bot,))
    if in_file:
        event = replace(event, bots=_meant(event.bots, options.name))
        game = _game(event, base, whole=not options.quick)
    clock = event.clock
    times = {"start_ms": options.start_ms, "move_ms": options.move_ms}
    clock = replace(clock, **{name: ms for name, ms in times.items() if ms})
    return replace(event, clock=clock, sandbox=options.sandbox or event.sandbox), base, game


def _game(event: WrittenEvent, base: Path, *, whole: bool) -> EventGame:
    rules = load_ruleset(event.rules, base)
    seats = event.seats_at_table(rules)
    check_seats(rules, seats)
    return EventGame(rules if whole else limit_to_one_round(rules), seats)


def _meant(bots: tuple[WrittenBot, ...], name: str | None) -> tuple[WrittenBot, ...]:
    if name is None:
        return bots
    found = tuple(bot for bot in bots if bot.name == name)
    if not found:
        raise unknown_name("bot", name, [bot.name for bot in bots])
    return found


def outside_of(event: WrittenEvent, level: Level, compare: bool) -> Sandbox | None:
    """Return plain processes to compare with, if the user asked for them.

    Raises UserError for a bot that must be locked in.
    """
    if compare and event.sandbox == "require":
        raise UserError(
            "--compare starts bots without a sandbox, and sandbox = require forbids it: leave one "
            "of them out."
        )
    return Sandbox("off", event.limits) if compare and level != "off" else None


def _walked(
    entrant: Entrant, desk: Session, steps: tuple[NumberedStep, ...], in_json: bool
) -> Report:
    """Run the steps with a bot, print each when it ends, and return the report.

    Raises UserError when the bot cannot be started.
    """
    began = time.monotonic()
    console = Console(highlight=False, stderr=in_json)
    _head(console, entrant, desk, len(steps))
    printer = Printer(console)
    outcomes: list[StepResult] = []
    try:
        with console.status(steps[0][1].title) as status:
            for outcome in run_steps(desk, steps):
                outcomes.append(outcome)
                printer.print_result(outcome)
                left = [step.title for number, step in steps if number > outcome.number]
                status.update(left[0] if left else "")
            printer.flush()
    except CannotStartError as error:
        raise UserError(f"Bot {entrant.name}: {error}.") from error
    report = _report(entrant.name, desk, outcomes, time.monotonic() - began)
    for sentence in summary(report):
        console.print(sentence, soft_wrap=not console.is_terminal)
    return report


def _head(console: Console, entrant: Entrant, desk: Session, steps: int) -> None:
    level, seconds = level_name(desk.sandbox.level), desk.budget.total_s
    console.print(
        f"{entrant.name}: {steps} steps in at most {seconds:.0f} s, sandbox {level}.",
        soft_wrap=True,
    )


def _report(name: str, desk: Session, outcomes: list[StepResult], seconds: float) -> Report:
    return Report(
        name=name,
        level=desk.sandbox.level,
        seconds=round(seconds, 3),
        questions=desk.questions,
        mean_ms=round(desk.ms / desk.questions, 3) if desk.questions else 0.0,
        worst_ms=round(desk.worst_ms, 3),
        outcomes=tuple(outcomes),
        choices=desk.choices,
        first_choices=desk.first_choices,
    )
