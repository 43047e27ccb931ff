"""A document in each medium, and the parts of its texts."""

from arena.document.blocks import (
    Column,
    Media,
    Paragraph,
    Section,
    bullets,
    paragraphs,
    select,
    table,
)


def test_a_medium_leaves_out_blocks_columns_and_items_of_others() -> None:
    columns = [Column("bot", "name"), Column("plot", media=Media.HTML)]
    bots_table = table("bots", columns, [("ada", "|")])
    page_only = Section("Page", paragraphs(["words"]), media=Media.HTML)
    inner = Section("Both", [bots_table, Paragraph("faint", media=Media.TERMINAL), bullets("ab")])
    (section,) = select([page_only, inner], Media.MARKDOWN)
    assert isinstance(section, Section)
    assert section.blocks == [table("bots", columns[:1], [("ada",)]), bullets("ab")]
    assert select([page_only], Media.HTML) == [page_only]
