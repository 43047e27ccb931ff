"""Documents as HTML."""

from pathlib import Path

import pytest

from arena.document.blocks import Block, Media, select
from arena.ui.html import page
from tests.support.documents import DOCUMENT

TEMPLATE = """\
{% from "document.html.j2" import blocks, nav %}
{% macro plot(value) %}<svg>{{ value }}</svg>{% endmacro %}
{% macro bot(name) %}<bdi>{{ name }}</bdi>{% endmacro %}
{{ nav(shown) }}{{ blocks(shown, {"plot": plot, "bot": bot}) }}
"""


def html(folder: Path, blocks: list[Block]) -> str:
    (folder / "page.html.j2").write_text(TEMPLATE)
    return page("page.html.j2", "", "", folders=(folder,), shown=select(blocks, Media.HTML))


@pytest.mark.parametrize(
    "expected",
    [
        '<p class="lead"><strong>ada</strong> is the best &amp; &lt;first&gt;.</p>',
        '<a href="#standings">Standings</a>',
        '<section id="standings">\n<h2 tabindex="-1">Standings of pool 1</h2>',
        "<h3>Above</h3>",
        '<caption class="hide">Standings of pool 1: above</caption>',
        '<span class="hide">plot</span><svg>an axis</svg>',
        '<td class="n">−3 <small>±5</small></td>',
        '<td class="plot"><svg>a drawing</svg></td>',
        '<th scope="row"><a href="#bob"><bdi>bob</bdi></a></th>',
        "<code><bdi>a|b</bdi></code>",
        '<p class="faint">By <code>rate</code>: −3 is <strong>not</strong> a-3.</p>',
        "<li>one<ul><li>more</li></ul></li>\n</ul>",
        "<svg>a figure</svg>",
        '<pre tabindex="0">run\nrun on</pre>',
    ],
)
def test_every_block_has_its_elements(tmp_path: Path, expected: str) -> None:
    assert expected in html(tmp_path, [*DOCUMENT.blocks])
