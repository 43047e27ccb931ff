"""Changes of a plan after an event has begun: versions, newcomers, and what is forbidden. Pure."""

from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from tournaments.formats.base import Entrant, first_version, plain_name, version_number
from tournaments.plan.event import Event
from tournaments.rating.anchor import Anchor

FIXED = {
    "name": "the event's name",
    "rules": "the rules",
    "seats": "the number of seats",
    "boards_a_sitting": "the format",
    "clock": "the clock",
    "fouls": "what a foul costs",
    "sandbox": "the sandbox",
    "limits": "the limits of bots",
    "predictable": "the seed",
    "deals_set": "where the deals come from",
    "deals_with": "the filters of deals",
}
"""Parts of a plan that cannot change, with their names for the user."""


def resolve_versions(old: Event, new: Event, played: Container[str]) -> Event:
    """Return the new plan with the versions of the old plan's entrants.

    An entrant whose files are those of an earlier version is that version. Any other files make a
    new version: `mine` becomes `mine@2`, and the earlier one is retired, unless none of its games
    was `played`. A plan that names no anchor keeps the old one's.
    """
    names = {one.name: _version(old, one, played) for one in new.entrants}
    active = [_as_before(old, replace(one, name=names[one.name])) for one in new.entrants]
    kept = [
        replace(one, retired=True)
        for one in old.entrants
        if one.name not in names.values()
        and first_version(one.name) in names
        and one.name in played
    ]
    form = new.format.renamed(names)
    teams = tuple((names.get(a, a), names.get(b, b)) for a, b in new.teams)
    entrants = (*active, *kept)
    anchor = _kept_anchor(old, entrants, names)
    if new.anchor:
        anchor = replace(new.anchor, name=names.get(new.anchor.name, new.anchor.name))
    title = new.title or old.title
    return replace(new, title=title, entrants=entrants, format=form, teams=teams, anchor=anchor)


def _kept_anchor(
    old: Event, entrants: Iterable[Entrant], names: Mapping[str, str]
) -> Anchor | None:
    """Return the old plan's anchor: the version that has the rating, or the one in its place.

    None for one who plays no more, which `incompatibility` forbids in words of its own.
    """
    if old.anchor is None or old.anchor.name in {one.name for one in entrants}:
        return old.anchor
    first = first_version(old.anchor.name)
    return replace(old.anchor, name=names[first]) if first in names else None


def _as_before(old: Event, entrant: Entrant) -> Entrant:
    """Keep the first board of an entrant that played already."""
    same = (one for one in old.entrants if (one.name, one.fingerprint) == _who(entrant))
    return next((replace(entrant, first_board=one.first_board) for one in same), entrant)


def _who(entrant: Entrant) -> tuple[str, str]:
    return entrant.name, entrant.fingerprint


def newcomers(old: Event, new: Event) -> frozenset[str]:
    """Return the names that are new in the new plan, or whose files are."""
    before = set(map(_who, old.entrants))
    return frozenset(one.name for one in new.entrants if _who(one) not in before)


def delayed(new: Event, late: Container[str], first_board: int) -> Event:
    """Return the new plan with these bots playing only from this board on."""
    entrants = (
        replace(one, first_board=first_board) if one.name in late else one for one in new.entrants
    )
    return replace(new, entrants=tuple(entrants))


def _version(old: Event, entrant: Entrant, played: Container[str]) -> str:
    """Return the version of a bot in the event, by its files."""
    before = [one for one in old.entrants if first_version(one.name) == entrant.name]
    for one in before:
        if one.fingerprint == entrant.fingerprint:
            return one.name
    last = max((one.name for one in before if one.name in played), key=version_number, default=None)
    if last is None:
        return entrant.name
    return f"{entrant.name}@{version_number(last) + 1}"


def new_versions(old: Event, new: Event) -> Iterator[tuple[str, str]]:
    """Yield each version that is retired now, with the version that replaces it."""
    playing = {first_version(one.name): one.name for one in new.entrants if not one.retired}
    for name in sorted(new.retired - old.retired):
        yield name, playing[first_version(name)]


def incompatibility(old: Event, new: Event) -> str | None:
    """Return why the new plan cannot extend the event; None if it can, without losing anything."""
    # Patience and money change no game.
    may = {name: getattr(new.limits, name) for name in ("unavailable", "cents")}
    old = replace(old, limits=replace(old.limits, **may))
    fixed = [said for name, said in FIXED.items() if getattr(old, name) != getattr(new, name)]
    if fixed:
        return f"{' and '.join(fixed)} cannot change"
    names = {entrant.name for entrant in new.entrants}
    for entrant in old.entrants:
        if entrant.name not in names and first_version(entrant.name) not in map(
            first_version, names
        ):
            other = [one for one in names if plain_name(one) == plain_name(entrant.name)]
            more = f"; with another clock it is another bot, {', '.join(sorted(other))}"
            return f"bot {entrant.name} cannot be removed{more * bool(other)}"
    if new.boards < old.boards:
        return f"it has {old.boards} boards and cannot have fewer (boards)"
    return old.format.why_not_extended(old, new)
