"""From what stands on the command line, and perhaps in an event file, to the event in full."""

from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.sandbox.limits import Wish
from arena.written import changed, chosen
from protocol.rules import Ruleset, tables
from protocol.usage import UserError
from tournaments.entrants import entered, spoken
from tournaments.event import BOARDS_A_SITTING, Event, WrittenEvent, ruleset, written


class Wishes(NamedTuple):
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
    sandbox: Wish | None
    """Which sandbox."""
    ask_forced: bool = False
    """Whether a seat is asked although it has only one option."""


def planned(wishes: Wishes, build: Path, *, predictable: bool) -> Event:
    """The event in full, its bots found and built.

    Raises UserError.
    """
    plan, base = _written(wishes)
    rules = _rules(wishes, plan, base)
    return Event(
        name=plan.name,
        rules=rules,
        seats=plan.seats or tables(rules)[0],
        boards=plan.boards,
        boards_a_sitting=BOARDS_A_SITTING,
        clock=plan.clock,
        fouls=plan.fouls,
        sandbox=plan.sandbox,
        limits=plan.limits,
        entrants=tuple(entered(bot, base, build) for bot in plan.bots),
        predictable=predictable,
    )


def _written(wishes: Wishes) -> tuple[WrittenEvent, Path]:
    """The event as its user writes it, in a file or in words, and the folder it speaks of."""
    first = Path(wishes.what[0])
    if first.suffix == ".toml":
        if len(wishes.what) > 1:
            raise UserError(f"Give one event file or bots, not {first} and {wishes.what[1]!r}.")
        event, base = written(first), first.resolve().parent
    else:
        event, base = WrittenEvent(bots=spoken(wishes.what), name="run"), Path.cwd()
    return _overridden(event, wishes), base


def _rules(wishes: Wishes, event: WrittenEvent, base: Path) -> Ruleset:
    """The command line's words count more than the file's."""
    if wishes.rules is not None:
        return changed(chosen(wishes.rules, Path.cwd()), wishes.choices)
    try:
        rules = ruleset(event.rules, base)
    except UserError as error:
        raise UserError(f"{wishes.what[0]}: rules: {error}") from None
    return changed(rules, wishes.choices)


def _overridden(event: WrittenEvent, wishes: Wishes) -> WrittenEvent:
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
    )
