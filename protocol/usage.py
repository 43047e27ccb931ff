"""The user's error, the third fate: one clear sentence with the nearest valid name."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake in what the user wrote; the text is shown as it is and the exit code is 2."""


def unknown(what: str, name: str, names: Iterable[str]) -> UserError:
    """The error for a name that does not exist, with the nearest ones that do."""
    known = list(names)
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"there is {', '.join(known[:20])}." if known else "there is none."
    return UserError(f"Unknown {what} {name!r}: {hint}")
