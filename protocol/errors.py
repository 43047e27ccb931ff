"""User errors: one clear sentence with the nearest valid name."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

ALIKE = 0.6
"""The similarity, 0 to 1, from which one name is taken for the other, mistyped."""
LISTED = 20
"""The most names that an error lists if none is near."""


class UserError(Exception):
    """A mistake in what the user wrote; the user sees the text as it is, and exit code 2."""


def unknown_name(
    what: str, name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> UserError:
    """Return the error for a name that does not exist, with the nearest ones that do.

    `others`: names that other programs use, each with our names for the same thing.
    """
    return UserError(f"Unknown {what} {name!r}: {suggestion(name, names, others)}")


def suggestion(
    name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the end of a sentence: the nearest names, or else all that exist."""
    known = list(names)
    same = [one for one in (others or {}).get(name, ()) if one in known]
    if near := same or _nearest(name, known):
        return f"did you mean {' or '.join(near)}?"
    more = f" … and {len(known) - LISTED} more" if len(known) > LISTED else ""
    verb = "is" if len(known) == 1 else "are"
    return f"there {verb} {', '.join(known[:LISTED])}{more}." if known else "there is none."


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Return the names for which this one may have been mistyped, at most three, best first."""
    if name.isdecimal() and all(one.isdecimal() for one in names):
        return []  # 5 is not 15 mistyped.
    # The dashes of two options do not make their names alike.
    bare = {one.lstrip("-"): one for one in names}
    return [bare[one] for one in get_close_matches(name.lstrip("-"), bare, n=3, cutoff=ALIKE)]
