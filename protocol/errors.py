"""The user's error, the third fate: one clear sentence with the nearest valid name."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

ALIKE = 0.6
"""How much of two names must agree, 0 to 1, for one to be taken for the other, mistyped."""
LISTED = 20
"""Names that are told where none is near."""


class UserError(Exception):
    """A mistake in what the user wrote; the text is shown as it is and the exit code is 2."""


def unknown_name(
    what: str, name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> UserError:
    """The error for a name that does not exist, with the nearest ones that do.

    `others`: names that mean the same to others, and what they are called here.
    """
    return UserError(f"Unknown {what} {name!r}: {suggestion(name, names, others)}")


def suggestion(
    name: str, names: Iterable[str], others: Mapping[str, Sequence[str]] | None = None
) -> str:
    """The nearest names, or those that there are: the end of a sentence."""
    known = list(names)
    same = [one for one in (others or {}).get(name, ()) if one in known]
    if near := same or _nearest(name, known):
        return f"did you mean {' or '.join(near)}?"
    more = f" … and {len(known) - LISTED} more" if len(known) > LISTED else ""
    return f"there is {', '.join(known[:LISTED])}{more}." if known else "there is none."


def _nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names for which this one may have been mistyped, at most three, best first."""
    # That both are options makes no two names alike.
    bare = {one.lstrip("-"): one for one in names}
    return [bare[one] for one in get_close_matches(name.lstrip("-"), bare, n=3, cutoff=ALIKE)]
