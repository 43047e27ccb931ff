"""The common parts of all pages: the theme that the user chose, and the emblems of entrants."""

from pathlib import Path

from arena.ui.emblems import emblem_numbers
from arena.ui.replay_page import pack_game, replay_page
from tests.support.browser import needs_chromium, opened
from tests.support.logged_games import logged

PAPER = "getComputedStyle(document.body).backgroundColor"
FRESH = "void 0;"
"""A script that does nothing gives the page a browser profile of its own."""


@needs_chromium
def test_the_theme_is_switched_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "replay.html"
    path.write_text(replay_page("one", [pack_game(logged())]))
    with opened(path, before=FRESH) as page:
        light = page.evaluate(PAPER)
        assert page.inner_text("#theme") == "◐ auto"
        page.click("#theme")
        assert page.evaluate(PAPER) == light
        page.click("#theme")
        assert page.get_attribute("#theme", "aria-label") == "Theme: dark"
        dark = page.evaluate(PAPER)
        assert dark != light
        page.reload()
        assert page.evaluate(PAPER) == dark
        page.click("#theme")
        assert page.evaluate(PAPER) == light
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(PAPER) == dark


def test_an_emblem_is_a_place_among_the_events_entrants() -> None:
    assert emblem_numbers(["ada", "bob", "\x1b"], ("bob", "eve", "\x1b")) == {"bob": 1, "\\x1b": 2}
    assert emblem_numbers(["ada", "bob", "eve"], ("bob",)) == {"bob": 1}
