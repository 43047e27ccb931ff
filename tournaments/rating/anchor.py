"""An entrant whose rating the user fixes beforehand: `greedy=1500`."""

from math import isfinite

from msgspec import Struct

from protocol.errors import UserError

FARTHEST = 1e6
"""The highest Elo that an entrant may be anchored at."""
NONE = "none"
"""Word that takes an anchor out of an event's plan."""


class Anchor(Struct, frozen=True, forbid_unknown_fields=True):
    """An entrant whose rating the user fixes beforehand."""

    name: str
    """The entrant."""
    elo: float
    """Its rating in Elo."""

    def __post_init__(self) -> None:
        """Refuse a rating that is not a number within the bounds. Raises ValueError."""
        if not isfinite(self.elo) or abs(self.elo) > FARTHEST:
            raise ValueError(f"an anchor's rating is within {FARTHEST:,.0f} Elo, not {self.elo:g}")


def anchored(said: str | None) -> Anchor | None:
    """Read NAME=ELO from the command line; None stays None. Raises UserError."""
    if said is None:
        return None
    name, _, elo = said.rpartition("=")
    try:
        anchor = Anchor(name, float(elo))
    except ValueError:
        anchor = Anchor("", 0.0)
    if not anchor.name:
        raise UserError(f"An anchor is a name and its Elo, as in greedy=1500, not {said!r}.")
    return anchor
