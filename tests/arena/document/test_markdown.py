"""Documents as Markdown."""

from arena.document.markdown import to_markdown
from tests.support.documents import DOCUMENT

EXPECTED = """\
# league

## Standings

| # | bot | Elo | ± | clean | command |
| --- | --- | ---: | ---: | ---: | --- |
|  | — above — |  |  |  |  |
| 1 (1–2) | ada | +3 | 4 | +9 | `a\\|b` |
|  | — below — |  |  |  |  |
| 2 | bob | -3 | 5 | · | `a\\|b` |

By `rate`: -3 is **not** a-3.

- one
  - more

## Crosstable

|  | ada | bob |
| --- | --- | ---: |
| ada | · | 62 |
| bob | 38 | · |

    run
    run on
"""


def test_every_block_has_its_markdown() -> None:
    assert to_markdown(DOCUMENT) == EXPECTED
