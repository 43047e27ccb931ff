"""A small document that has a block of each kind."""

from arena.document.blocks import (
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    Item,
    Matrix,
    Media,
    Paragraph,
    RowGroup,
    Section,
    Table,
)

PLOT = Cell("", figure=Figure(macro="plot", value="a drawing"))
BOB, CODE = Cell("bob", href="#bob"), Cell("a|b")
STANDINGS = Table(
    "Standings",
    [
        Column("#", "rank"),
        Column("bot", "name"),
        Column("Elo", detail="±"),
        Column("plot", media=Media.HTML, axis=Figure(macro="plot", value="an axis")),
        Column("clean", spare=True),
        Column("command", "code", media=Media.FILES),
    ],
    [
        RowGroup(
            "above", [[Cell("1 (1–2)"), Cell("ada"), Cell("+3", "4"), PLOT, Cell("+9"), CODE]]
        ),
        RowGroup("below", [[Cell("2"), BOB, Cell("-3", "5"), PLOT, Cell("·"), CODE]]),
    ],
)
SELF = Cell("·", tone="self")
MATRIX = Matrix(
    "Crosstable",
    ["ada", "bob"],
    [[SELF, Cell("62", "50–70", tone="ahead")], [Cell("38"), SELF]],
    media=Media.MARKDOWN | Media.TERMINAL,
)
DOCUMENT = Document(
    "league",
    [
        Paragraph("**ada** is the best & <first>.", "lead", media=Media.HTML),
        Section(
            "Standings",
            [
                STANDINGS,
                Paragraph("By `rate`: -3 is **not** a-3.", "faint"),
                Bullets([Item("one", ["more"]), Item("two", media=Media.TERMINAL)]),
                Figure(macro="plot", value="a figure"),
            ],
            id="standings",
            scope=" of pool 1",
            titled=Media.FILES,
        ),
        Section("Crosstable", [MATRIX, Code("run\nrun on", media=Media.FILES)], id="crosstable"),
    ],
)
