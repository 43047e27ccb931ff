"""A document in each medium, and the parts of its texts."""

from arena.document.blocks import (
    Column,
    Media,
    Paragraph,
    Section,
    TextRow,
    bullets,
    cut_rows,
    marked_spans,
    paragraphs,
    select,
    table,
)


def test_a_medium_leaves_out_blocks_columns_and_items_of_others() -> None:
    columns = [Column("bot", "name"), Column("plot", media=Media.HTML)]
    shown = table("bots", columns, [("ada", "|")])
    page_only = Section("Page", paragraphs(["words"]), media=Media.HTML)
    inner = Section("Both", [shown, Paragraph("faint", media=Media.TERMINAL), bullets("ab")])
    (both,) = select([page_only, inner], Media.MARKDOWN)
    assert isinstance(both, Section)
    assert both.blocks == [table("bots", columns[:1], [("ada",)]), bullets("ab")]
    assert select([page_only], Media.HTML) == [page_only]


def test_a_text_is_cut_at_its_marks() -> None:
    text = "Run `boneyard report .`, **now**: 2 * 3 `a`"
    assert [*marked_spans(text)] == [
        ("", "Run "), ("code", "boneyard report ."), ("", ", "), ("strong", "now"),
        ("", ": 2 * 3 "), ("code", "a"),
    ]  # fmt: skip
    assert [*marked_spans("")] == []


def test_a_long_table_says_how_much_is_missing() -> None:
    rows: list[TextRow] = [("1", "a"), ("2", "b"), ("3", "c")]
    assert cut_rows(rows, 3) == rows
    assert cut_rows(rows, 2) == [("1", "a"), ("", "and 2 more")]
    assert cut_rows([], 2) == []
