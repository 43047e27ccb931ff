"""Build an Event from command-line options and an optional event file."""

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
    """Command-line options of the format; None for an option that was not given."""

    format: FormatName | None = None
    """The format, which decides who meets whom."""
    rounds: int | None = None
    """Rounds of a Swiss."""
    challengers: tuple[str, ...] = ()
    """Names of the challengers of a gauntlet or a ladder."""
    h0: float | None = None
    """Lead under H0 in versus,"""
    h1: float | None = None
    """lead under H1,"""
    measure: Measure | None = None
    """and the unit of both."""


class EventOptions(NamedTuple):
    """Command-line options of an event; None for an option that was not given."""

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
    """Time to answer a question, in ms."""
    sandbox: SandboxMode | None
    """The sandbox."""
    ask_forced: bool = False
    """True if a seat is asked although it has only one option."""
    fresh_boards: bool = False
    """True if bots that join a begun event play only boards whose deals nobody has seen."""
    anchor: str | None = None
    """NAME=ELO: an entrant whose rating is fixed beforehand."""
    wanted: FormatOptions = FormatOptions()
    """The format."""


def bots_in_file(wishes: EventOptions) -> tuple[tuple[WrittenBot, ...], Path]:
    """Return the bots as their user writes them, in the event's order, and their paths' folder.

    Raises UserError.
    """
    plan, base = _written(wishes)
    return plan.bots, base


def fresh_boards(wishes: EventOptions) -> bool:
    """Tell whether bots that join now play only boards whose deals nobody has seen.

    Raises UserError.
    """
    return wishes.fresh_boards or _written(wishes)[0].fresh_boards


def build_event(wishes: EventOptions, build: Path, *, predictable: bool) -> Event:
    """Build the whole event: find and build its bots, read its rules.

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
    """Override a format's settings by the command line's.

    Raises UserError if an option does not apply to this format.
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
    """Return the most boards of versus, from the command line or else from the event file.

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
    """Change a test's settings; UserError for a test that cannot decide."""
    try:
        return replace(test, **changes)
    except ValueError as error:
        raise UserError(f"Versus: {error}.") from error


def _written(wishes: EventOptions) -> tuple[WrittenEvent, Path]:
    """Read the event as its user writes it, in a file or as words, and its paths' folder."""
    first = Path(wishes.what[0])
    if first.suffix == ".toml":
        if len(wishes.what) > 1:
            raise UserError(f"Give one event file or bots, not {first} and {wishes.what[1]!r}.")
        event, base = parse_event_file(first), first.resolve().parent
    else:
        event, base = WrittenEvent(bots=parse_bots(wishes.what), name="run"), Path.cwd()
    return _overridden(event, wishes), base


def _rules(wishes: EventOptions, event: WrittenEvent, base: Path) -> Ruleset:
    """Return the event's ruleset, with the command line's choices in place of the file's."""
    if wishes.rules is not None:
        return with_overrides(load_ruleset(wishes.rules, Path.cwd()), wishes.choices)
    try:
        rules = ruleset(event.rules, base)
    except UserError as error:
        raise UserError(f"{wishes.what[0]}: rules: {error}") from None
    return with_overrides(rules, wishes.choices)


def _overridden(event: WrittenEvent, wishes: EventOptions) -> WrittenEvent:
    """Override an event file's settings by the command line's."""
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
