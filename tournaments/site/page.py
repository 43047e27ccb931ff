"""The page of `watch`, which follows an event over a socket or by a file."""

from collections.abc import Sequence
from pathlib import Path

from arena.ui.html import TABLE_SCRIPTS, page


def watch_page(
    heading: str, links: Sequence[tuple[str, str]], snapshot: str = "", late: str = ""
) -> str:
    """Return the page as HTML.

    `snapshot`: the file that it asks for again and again; without one it listens to a socket.
    `late`: the delay of that file, in words.
    """
    return page(
        "watch.html.j2",
        "live",
        heading,
        folders=(Path(__file__).parent,),
        styles=("table.css", "watch.css"),
        scripts=(*TABLE_SCRIPTS, "panels.js", "watch.js"),
        connect="'self'",
        links=links,
        snapshot=snapshot,
        late=late,
    )
