"""Many games: events, schedules, ledgers, ratings, reports, and the program's entry."""

from importlib.util import find_spec
from pathlib import Path

for _room in ("arena", "protocol"):
    _spec = find_spec(_room)
    # Other people's distributions have these names too, and may stand before ours on the path.
    if (
        _spec is None
        or not _spec.origin
        or Path(_spec.origin).parents[1] != Path(__file__).parents[1]
    ):
        raise ImportError(
            f"another package called {_room!r} hides Boneyard's own: "
            f"install boneyard-arena into an environment of its own."
        )
