"""From what stands on the command line, and perhaps in an event file, to the event in full."""

from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from protocol.usage import UserError
from tournaments.entrants import entered, spoken
from tournaments.event import BOARDS_A_SITTING, Event, WrittenEvent, ruleset, written


class Wishes(NamedTuple):
    """What stands on the command line; None where nothing was said."""

    what: tuple[str, ...]
    """An event file, or bots."""
    rules: str | None
    """A named game."""
    choices: tuple[str, ...]
    """CHOICE=VALUE."""
    seats: int | None
    """Seats at a table."""
    boards: int | None
    """Boards for each pairing."""
    move_ms: int | None
    """Time for each question, in ms."""


def planned(wishes: Wishes, build: Path, *, predictable: bool) -> Event:
    """The event in full, its bots found and built.

    Raises UserError.
    """
    plan, base = _written(wishes)
    return Event(
        name=plan.name,
        rules=ruleset(plan.rules),
        seats=plan.seats,
        boards=plan.boards,
        boards_a_sitting=BOARDS_A_SITTING,
        clock=plan.clock,
        entrants=tuple(entered(bot, base, build, plan.memory_mib) for bot in plan.bots),
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


def _overridden(event: WrittenEvent, wishes: Wishes) -> WrittenEvent:
    """The command line's words count more than the file's."""
    rules = wishes.rules or event.rules
    if wishes.choices:
        differs = {"base": rules} if isinstance(rules, str) else dict(rules)
        rules = {**differs, **dict(_choice(word) for word in wishes.choices)}
    clock = replace(event.clock, move_ms=wishes.move_ms) if wishes.move_ms else event.clock
    return replace(
        event,
        rules=rules,
        clock=clock,
        seats=wishes.seats or event.seats,
        boards=wishes.boards or event.boards,
    )


def _choice(word: str) -> tuple[str, Any]:
    """CHOICE=VALUE, the value as TOML writes it; a bare word is text."""
    choice, equals, value = word.partition("=")
    if not equals:
        raise UserError(f"--set takes CHOICE=VALUE, not {word!r}.")
    plain = {"true": True, "yes": True, "false": False, "no": False}
    number = int(value) if value.lstrip("-").isdigit() else None
    return choice.strip(), number if number is not None else plain.get(value, value)
