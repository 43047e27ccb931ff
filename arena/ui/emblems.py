"""The emblems of entrants: each has the same colour and shape on every page of its event."""

from collections.abc import Iterable, Mapping, Sequence

from protocol.codec import printable


def emblem_numbers(entrants: Iterable[str], names: Sequence[str]) -> Mapping[str, int]:
    """Return the emblem's number of each of these names: its place among the event's entrants.

    A name that is not among them is left out.
    """
    places = {printable(name): at for at, name in enumerate(entrants)}
    return {shown: places[shown] for shown in map(printable, names) if shown in places}
