"""The picture of a shared site: a PNG in the colours of the pages, whatever the texts are."""

import random
import re
from pathlib import Path

import pytest

from arena.ui.html import HERE
from tests.support.browser import needs_chromium, opened
from tests.support.results import STRENGTH, played
from tournaments.publication.picture import COLOURS, SIZE, standings_picture
from tournaments.rating.ratings import fit


def drawn(title: str, summary: str) -> bytes:
    pools = fit(played(random.Random(1), STRENGTH, 20)).pools
    return standings_picture(title, summary, pools, [*STRENGTH])


def test_the_colours_are_those_of_the_emblems_on_light_pages() -> None:
    shown = re.findall(r"--c\d: light-dark\(#(\w+),", (HERE / "base.css").read_text())
    assert [int(colour, 16) for colour in shown] == [*COLOURS]


def test_texts_of_any_length_and_letters_fit() -> None:
    for text in ("", "x", "\u05d0 \u4e2d \x1b", "W" * 500, "word " * 200):
        assert len(drawn(text, text)) < 200_000
    assert len(standings_picture("empty", "No game is finished yet.", (), ())) > 1000


def test_any_number_of_bots_fits() -> None:
    """Of more than there is room for, the last line counts those that are left out."""
    for count in (2, 8, 9, 40):
        strength = {f"bot{number}": 10.0 * number for number in range(count)}
        pools = fit(played(random.Random(1), strength, 20 * count)).pools
        assert len(pools[0].entrants) == count
        assert len(standings_picture("many", "bot1 leads.", pools, [*strength])) > 1000


@needs_chromium
@pytest.mark.slow
def test_a_browser_shows_it(tmp_path: Path) -> None:
    (tmp_path / "standings.png").write_bytes(drawn("Friday", "ada is first (95 %)."))
    with opened(tmp_path / "standings.png") as page:
        size = page.evaluate("[document.images[0].naturalWidth, document.images[0].naturalHeight]")
        assert tuple(size) == SIZE
