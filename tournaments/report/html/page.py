"""report.html: the HTML page of a report's document."""

from pathlib import Path

from arena.document.blocks import Document, Media, select
from arena.ui.html import page
from tournaments.report.html.charts import sprt_walk

HERE = Path(__file__).parent


def report_page(document: Document) -> str:
    """Return the page as HTML."""
    return page(
        "report.html.j2",
        "report",
        document.title,
        folders=(HERE,),
        styles=("report.css",),
        scripts=("report.js",),
        data=document.data,
        draw_walk=sprt_walk,
        blocks=select(document.blocks, Media.HTML),
    )
