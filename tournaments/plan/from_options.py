"""Build an Event from command-line options and an optional event file."""

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.rules.load import load_ruleset, with_overrides
from arena.sandbox.limits import SandboxMode
from protocol.errors import UserError
from protocol.ruleset import Ruleset
from tournaments.formats.registry import FORMATS, Format
from tournaments.plan.bot_command import parse_bots, prepare_entrant
from tournaments.plan.event import (
    Event,
    WrittenBot,
    WrittenEvent,
    parse_event_file,
    ruleset,
    usual_seats,
)
from tournaments.rating.anchor import anchored
from tournaments.rating.sprt_settings import Measure


class FormatOptions(NamedTuple):
    """Command-line options of the format; None for an option that was not given."""

    format: str | None = None
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


SETTINGS = {
    "rounds": "--rounds",
    "challengers": "--challenger",
    **dict.fromkeys(("h0", "h1", "measure"), "--h0, --h1, --measure"),
}
"""Settings of formats, and the options that give them."""


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
    form = _format(plan.format, wishes.wanted)
    form, boards = form.with_boards(wishes.boards, plan.boards)
    event = Event(
        name=plan.name,
        rules=rules,
        seats=plan.seats or usual_seats(rules, plan.teams),
        boards=boards,
        boards_a_sitting=form.BOARDS_A_SITTING,
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
    form.check_size(event)
    return event


def _format(form: Format, wanted: FormatOptions) -> Format:
    """Override a format's settings by the command line's.

    Raises UserError if an option does not apply to this format.
    """
    if wanted.format and wanted.format != form.name:
        form = FORMATS[wanted.format]
    given = {
        name: value
        for name, value in wanted._asdict().items()
        if name in SETTINGS and value not in (None, ())
    }
    for name in given:
        if name not in form.OPTIONS:
            more = ", and --boards for how much is played" if name == "rounds" else ""
            raise UserError(
                f"{SETTINGS[name]}: a {form.name} has no such choice; see --format{more}."
            )
    return form.with_options(given)


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
