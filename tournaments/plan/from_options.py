"""From what stands on the command line, and perhaps in an event file, to the event in full."""

from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from arena.rules.load import load_ruleset, with_overrides
from arena.sandbox.limits import SandboxMode
from protocol.errors import UserError
from protocol.ruleset import Ruleset
from tournaments.plan.anchor import anchored
from tournaments.plan.bot_command import parse_bots, prepare_entrant
from tournaments.plan.event import (
    BOARDS,
    BOARDS_A_SITTING,
    VERSUS_BOARDS_A_SITTING,
    Event,
    WrittenBot,
    WrittenEvent,
    parse_event_file,
    ruleset,
    usual_seats,
)
from tournaments.plan.formats import (
    FORMATS,
    Format,
    FormatName,
    Gauntlet,
    Ladder,
    Swiss,
    Versus,
    name_of,
)
from tournaments.plan.sizes import check_size
from tournaments.plan.sprt_settings import Measure, Sprt


class FormatOptions(NamedTuple):
    """What the command line says about the format; None where nothing was said."""

    format: FormatName | None = None
    """How it is decided who meets whom."""
    rounds: int | None = None
    """Rounds of a Swiss."""
    challengers: tuple[str, ...] = ()
    """Whom a gauntlet or a ladder is about."""
    h0: float | None = None
    """What versus asks: the lead under H0,"""
    h1: float | None = None
    """under H1,"""
    measure: Measure | None = None
    """and in which unit."""


class EventOptions(NamedTuple):
    """What stands on the command line; None where nothing was said."""

    what: tuple[str, ...]
    """An event file, or bots."""
    rules: str | None
    """A named game, or a file of rules."""
    choices: tuple[str, ...]
    """CHOICE=VALUE."""
    seats: int | None
    """Seats at a table."""
    boards: int | None
    """Boards for each pairing."""
    move_ms: int | None
    """Time for each question, in ms."""
    sandbox: SandboxMode | None
    """Which sandbox."""
    ask_forced: bool = False
    """Whether a seat is asked although it has only one option."""
    fresh_boards: bool = False
    """Whether bots that come to an event which has begun play on boards that nobody has seen."""
    anchor: str | None = None
    """NAME=ELO: who is given a rating beforehand."""
    wanted: FormatOptions = FormatOptions()
    """The format."""


def bots_in_file(wishes: EventOptions) -> tuple[tuple[WrittenBot, ...], Path]:
    """The bots as their user writes them, in the order of `planned`, and the folder they speak of.

    Raises UserError.
    """
    plan, base = _written(wishes)
    return plan.bots, base


def fresh_boards(wishes: EventOptions) -> bool:
    """Whether bots that come now shall play on boards that nobody has seen.

    Raises UserError.
    """
    return wishes.fresh_boards or _written(wishes)[0].fresh_boards


def build_event(wishes: EventOptions, build: Path, *, predictable: bool) -> Event:
    """The event in full, its bots found and built.

    Raises UserError.
    """
    plan, base = _written(wishes)
    rules = _rules(wishes, plan, base)
    form, boards = _format(plan.format, wishes.wanted), plan.boards or BOARDS
    if isinstance(form, Versus):
        boards = _most_boards(form.sprt, wishes.boards, plan.boards)
        form = replace(form, sprt=_sprt(form.sprt, max_boards=boards))
    event = Event(
        name=plan.name,
        rules=rules,
        seats=plan.seats or usual_seats(rules, plan.teams),
        boards=boards,
        boards_a_sitting=VERSUS_BOARDS_A_SITTING if isinstance(form, Versus) else BOARDS_A_SITTING,
        format=form,
        teams=plan.teams,
        clock=plan.clock,
        fouls=plan.fouls,
        sandbox=plan.sandbox,
        limits=plan.limits,
        entrants=tuple(prepare_entrant(bot, base, build) for bot in plan.bots),
        anchor=plan.anchor,
        predictable=predictable,
    )
    check_size(event)
    return event


def _format(form: Format, wanted: FormatOptions) -> Format:
    """The command line's words count more than the file's.

    Raises UserError for words that say nothing about this format.
    """
    if wanted.format and wanted.format != name_of(form):
        form = FORMATS[wanted.format]
    changes: dict[str, Any] = {}
    asked = {"h0": wanted.h0, "h1": wanted.h1, "measure": wanted.measure}
    for option, of, change in (
        ("--rounds", Swiss, {"rounds": wanted.rounds}),
        ("--challenger", Gauntlet | Ladder, {"challengers": wanted.challengers}),
        ("--h0, --h1, --measure", Versus, {"sprt": asked}),
    ):
        said = {name: value for name, value in change.items() if _said(value)}
        if said and not isinstance(form, of):
            more = ", and --boards for how much is played" if option == "--rounds" else ""
            raise UserError(f"{option}: a {name_of(form)} has no such choice; see --format{more}.")
        changes |= said
    if isinstance(form, Versus) and "sprt" in changes:
        changes["sprt"] = _sprt(form.sprt, **_only_said(changes["sprt"]))
    return replace(form, **changes)


def _said(value: Any) -> bool:
    return any(map(_said, value.values())) if isinstance(value, dict) else value not in (None, ())


def _only_said(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _most_boards(test: Sprt, asked: int | None, boards: int | None) -> int:
    """The most boards of versus: as asked on the command line, or as the file says in one way.

    Raises UserError.
    """
    if not asked and boards and test.max_boards not in (boards, Sprt().max_boards):
        raise UserError(
            f"Versus plays max_boards at the most: boards = {boards} and max_boards = "
            f"{test.max_boards} cannot both be, so leave one out."
        )
    most = asked or boards or test.max_boards
    if most < test.min_boards:
        raise UserError(
            f"Versus decides nothing before {test.min_boards} boards (min_boards): "
            f"{'--boards' if asked else 'boards'} must be at least {test.min_boards}, not {most}."
        )
    return most


def _sprt(test: Sprt, **changes: Any) -> Sprt:
    """Raises UserError for a test that cannot decide."""
    try:
        return replace(test, **changes)
    except ValueError as error:
        raise UserError(f"Versus: {error}.") from error


def _written(wishes: EventOptions) -> tuple[WrittenEvent, Path]:
    """The event as its user writes it, in a file or in words, and the folder it speaks of."""
    first = Path(wishes.what[0])
    if first.suffix == ".toml":
        if len(wishes.what) > 1:
            raise UserError(f"Give one event file or bots, not {first} and {wishes.what[1]!r}.")
        event, base = parse_event_file(first), first.resolve().parent
    else:
        event, base = WrittenEvent(bots=parse_bots(wishes.what), name="run"), Path.cwd()
    return _overridden(event, wishes), base


def _rules(wishes: EventOptions, event: WrittenEvent, base: Path) -> Ruleset:
    """The command line's words count more than the file's."""
    if wishes.rules is not None:
        return with_overrides(load_ruleset(wishes.rules, Path.cwd()), wishes.choices)
    try:
        rules = ruleset(event.rules, base)
    except UserError as error:
        raise UserError(f"{wishes.what[0]}: rules: {error}") from None
    return with_overrides(rules, wishes.choices)


def _overridden(event: WrittenEvent, wishes: EventOptions) -> WrittenEvent:
    """The command line's words count more than the file's."""
    clock = event.clock
    if wishes.move_ms:
        clock = replace(clock, move_ms=wishes.move_ms)
    if wishes.ask_forced:
        clock = replace(clock, forced="ask")
    return replace(
        event,
        clock=clock,
        seats=wishes.seats or event.seats,
        boards=wishes.boards or event.boards,
        sandbox=wishes.sandbox or event.sandbox,
        anchor=anchored(wishes.anchor) or event.anchor,
    )
