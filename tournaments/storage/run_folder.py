"""The folder of a run that names none: called after what is played, and free or its own."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from arena.analysis.find import RUNS
from arena.rules.load import find_overrides
from protocol.errors import UserError
from protocol.ruleset import playable_seat_counts
from tournaments.formats.base import first_version
from tournaments.formats.round_robin import RoundRobin
from tournaments.plan.bot_command import slug
from tournaments.plan.deals.deal_filter import WORDS, parse_filter
from tournaments.plan.event import Event
from tournaments.plan.event_plan import EventPlan
from tournaments.storage.extend import incompatibility
from tournaments.storage.folder import Folder, read_event

BOTS_NAMED = 4
"""The most bots whose names all stand in a folder's name; of more bots, one fewer is named."""
LONGEST = 100
"""The most characters of the bots' names in a folder's name."""

SOURCE = 30
"""The most characters of the name of a file of deals in a folder's name."""


def choose_folders(plan: EventPlan, seed: int | None) -> Iterator[tuple[Path, str]]:
    """Yield the folders of a plan for which the user names none, each with a sentence about it.

    An event file has one folder: `out`, or `runs/` and its name. Bots on the command line have a
    folder for each event that differs: the name tells how, or else a number at its end. The last
    folder is free; those before it have the same event, perhaps with other files of a bot.
    """
    if plan.file:
        here = Path(RUNS, plan.written.name or slug(plan.file.stem))
        path = plan.base / plan.written.out if plan.written.out else here
        yield path, f"Folder: {path}"
        return
    name = event_name(plan, seed)
    for number in count(1):
        path = Path(RUNS, name if number == 1 else f"{name}-{number}")
        old = _event_in(path)
        if old is None:
            others = f", because {RUNS}/{name} has another event" if number > 1 else ""
            yield path, f"Folder: {path}{others}"
            return
        if _is_same(old, plan):
            yield path, f"Folder: {path}, which has this event already"


def event_name(plan: EventPlan, seed: int | None) -> str:
    """Name an event after its bots, its rules, and what is unusual about it."""
    bots = [bot.name for bot in plan.written.bots]
    shown = bots if len(bots) <= BOTS_NAMED else bots[: BOTS_NAMED - 1]
    while len("-".join(shown)) > LONGEST:
        shown = shown[:-1]
    parts = [*shown, *([f"and-{len(bots) - len(shown)}-more"] if len(shown) < len(bots) else [])]
    return "-".join([*parts, slug(plan.rules.name), *_unusual(plan, seed)])


def _unusual(plan: EventPlan, seed: int | None) -> Iterator[str]:
    written, rules = plan.written, plan.rules
    for word in find_overrides(rules) or ():
        yield slug(word)
    seats = written.seats_at_table(rules)
    if seats != playable_seat_counts(rules)[0]:
        yield f"{seats}-seats"
    if not isinstance(written.format, RoundRobin):
        yield written.format.name
    if written.clock.move_ms != type(written.clock)().move_ms:
        yield f"{written.clock.move_ms}-ms"
    if written.clock.forced == "ask":
        yield "ask-forced"
    if written.sandbox != "auto":
        yield f"sandbox-{written.sandbox}"
    if plan.deals:
        yield f"deals-{slug(plan.deals.source.stem)[:SOURCE]}"
    for one in map(parse_filter, written.deals_with):
        yield slug(f"{one.measure}-{WORDS[one.sign]}-{one.number}")
    if seed is not None:
        yield f"seed-{seed}"


def _event_in(path: Path) -> Event | None:
    """Return the event that a folder has; None if it has none that can be read."""
    with suppress(UserError):
        return read_event(Folder(path))
    return None


def _is_same(old: Event, plan: EventPlan) -> bool:
    """Tell whether a plan of the same bots continues an event, whatever their files are now."""
    playing = {first_version(one.name): one for one in old.entrants if not one.retired}
    names = [bot.name for bot in plan.written.bots]
    if playing.keys() != set(names):
        return False
    new = plan.with_boards_of(old).event([replace(playing[name], name=name) for name in names])
    return incompatibility(replace(old, entrants=new.entrants, anchor=new.anchor), new) is None
