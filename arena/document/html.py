"""Documents as HTML: the folder of the template, and its texts. Pure."""

import re
from pathlib import Path

from markupsafe import Markup

from arena.document.blocks import marked_spans

FOLDER = Path(__file__).parent
"""The folder of `document.html.j2`, whose macro `blocks` renders what `select` returns."""
HYPHEN = re.compile(r"(?<![\w-])-(?=\d)")


def minus(text: str) -> str:
    """Replace the hyphen of a number with a minus sign, which is as wide as a plus."""
    return HYPHEN.sub("−", text)


def inline(text: str) -> Markup:
    """Return a text of a document as HTML, escaped, with its marks as elements."""
    return Markup("").join(
        Markup("<{0}>{1}</{0}>").format(span.mark, span.text) if span.mark else minus(span.text)
        for span in marked_spans(text)
    )
