"""Documents as Markdown."""

from syrupy.assertion import SnapshotAssertion

from arena.document.blocks import to_markdown
from tests.support.pages import DOCUMENT


def test_every_block_has_its_markdown(snapshot: SnapshotAssertion) -> None:
    assert to_markdown(DOCUMENT) == snapshot
