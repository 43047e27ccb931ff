"""Tables as lines of Markdown."""

from collections.abc import Sequence

Rows = list[tuple[str, ...]]


def markdown(head: Sequence[str], rows: Rows) -> list[str]:
    """Format a table as Markdown, the first two columns aligned left."""
    rule = ["---" if column < 2 else "---:" for column in range(len(head))]
    return [_line(head), _line(rule), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
