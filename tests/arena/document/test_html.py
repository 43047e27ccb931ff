"""Documents as HTML."""

from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from arena.document.blocks import Media, select
from arena.ui.html import page
from tests.support.pages import DOCUMENT

TEMPLATE = """\
{% from "document.html.j2" import blocks, nav %}
{% macro plot(value) %}<svg>{{ value }}</svg>{% endmacro %}
{% macro bot(name) %}<bdi>{{ name }}</bdi>{% endmacro %}
{{ nav(document) }}{{ blocks(document, {"plot": plot, "bot": bot}) }}
"""


def test_every_block_has_its_elements(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    (tmp_path / "page.html.j2").write_text(TEMPLATE)
    document = select([*DOCUMENT.blocks], Media.HTML)
    assert page("page.html.j2", "", "", folders=(tmp_path,), document=document) == snapshot
