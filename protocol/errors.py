"""User errors: one clear sentence with the nearest valid name."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

CUTOFF = 0.6
"""The least similarity, 0 to 1, at which one name counts as the other one mistyped."""
MAX_NAMES_LISTED = 20
"""The most names that an error lists if none is near."""


class UserError(Exception):
    """A mistake in what the user wrote; the user sees the text as it is, and exit code 2."""


def unknown_name(
    kind: str, name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> UserError:
    """Return the error for a name that does not exist, with the nearest ones that do.

    `others`: names that other programs use, each with our names for the same thing.
    """
    return UserError(f"Unknown {kind} {name!r}: {suggestion(name, names, others)}")


def suggestion(
    name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the end of a sentence: the nearest names, or else all that exist."""
    choices = list(names)
    equivalents = [choice for choice in (others or {}).get(name, ()) if choice in choices]
    if near := equivalents or _nearest(name, choices):
        return f"did you mean {' or '.join(near)}?"
    more = (
        f" … and {len(choices) - MAX_NAMES_LISTED} more" if len(choices) > MAX_NAMES_LISTED else ""
    )
    verb = "is" if len(choices) == 1 else "are"
    return (
        f"there {verb} {', '.join(choices[:MAX_NAMES_LISTED])}{more}."
        if choices
        else "there is none."
    )


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return the names for which this one may have been mistyped, at most three, best first."""
    if name.isdecimal() and all(other.isdecimal() for other in names):
        return []  # 5 is not 15 mistyped.
    # The dashes of two options do not make their names alike.
    bare = {other.lstrip("-"): other for other in names}
    return [bare[key] for key in get_close_matches(name.lstrip("-"), bare, n=3, cutoff=CUTOFF)]
