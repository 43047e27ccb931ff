"""report.html: the HTML page of a report's document."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.document.blocks import Document, Media, plain, select
from arena.ui.emblems import emblem_numbers
from arena.ui.html import page
from tournaments.report.html.charts import search_courses, sprt_walk

HERE = Path(__file__).parent
FILE = re.compile(
    r"<code>((?:commitments|seeds)\.jsonl|(?:results|times)\.json|results\.pgn|report\.md|"
    r"(?:games|ratings|crosstable)\.csv)</code>"
)
"""A file that lies beside each report and each site; no text of a bot has the element."""


class SharedText(NamedTuple):
    """The texts that stand for the page where its address is shared."""

    summary: str
    """The result in a sentence or two; marks are left out."""
    site: bool = False
    """True on a site, where one page replays all games."""
    address: str = ""
    """The address of the page's folder, which ends with a slash; empty if it is not known."""
    links: Sequence[tuple[str, str]] = ()
    """Addresses of pages around the site, and their labels."""


def report_page(document: Document, share: SharedText, entrants: Sequence[str]) -> str:
    """Return the page as HTML; the emblem of an entrant is that of its place among `entrants`."""
    html = page(
        "report.html.j2",
        "report",
        document.title,
        folders=(HERE,),
        styles=("report.css",),
        scripts=("emblem.js", "sort.js", "bots.js", "report.js"),
        data=document.data,
        links=share.links,
        share=share._replace(summary=plain(share.summary)),
        draw_walk=sprt_walk,
        draw_tuning=search_courses,
        numbers=emblem_numbers(entrants, entrants),
        blocks=select(document.blocks, Media.HTML),
    )
    return FILE.sub(r'<a href="\1"><code>\1</code></a>', html)
