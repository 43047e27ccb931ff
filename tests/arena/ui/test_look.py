"""The common parts of all pages: the theme that the user chose, and the emblems of entrants."""

from pathlib import Path

import pytest

from arena.rules.variants import find_variant
from arena.ui.emblems import emblem_numbers
from arena.ui.replay_page import pack_game, replay_page
from tests.support.browser import needs_chromium, opened
from tests.support.logged_games import any_of, logged

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


# Slow: how it looks, not what it says.
@pytest.mark.slow
@needs_chromium
def test_a_move_glides_unless_the_user_wants_no_motion(tmp_path: Path) -> None:
    path = tmp_path / "replay.html"
    path.write_text(replay_page("one", [pack_game(logged(find_variant("draw"), 2, any_of(2)))]))
    moving = "document.getAnimations().length"
    with opened(path) as page:
        page.wait_for_selector("main[data-ready]:not([data-ready=''])")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.evaluate(moving) > 0
        page.emulate_media(reduced_motion="reduce")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(moving) == 0


# Slow: how it looks, not what it says.
@pytest.mark.slow
@needs_chromium
def test_the_result_its_chart_and_its_turning_points_stand_beside_the_board(tmp_path: Path) -> None:
    game = logged(find_variant("draw"), 2, any_of(2))
    assert game.result
    path = tmp_path / "replay.html"
    path.write_text(replay_page("one", [pack_game(game)], emblems={"ada": 9, "bob": 3}))
    with opened(path) as page:
        page.wait_for_selector("main[data-ready]:not([data-ready=''])")
        ada, bob = game.result.scores
        assert page.inner_text("h1").split() == ["ada", f"{ada}", "–", f"{bob}", "bob"]
        emblems = page.locator("h1 .emblem use").evaluate_all(
            "(all) => all.map((one) => one.href.baseVal)"
        )
        assert emblems == ["#shape-1", "#shape-3"]
        assert page.locator("h1 .emblem.c1.hollow").count() == 1
        rounds = page.locator("#chart .band").count()
        assert rounds == game.result.rounds
        assert page.get_attribute("#chart", "aria-label").endswith(f" {bob}")  # type: ignore[union-attr]
        last = page.locator("#turns button").last
        last.click()
        number = last.inner_text().split()[1].rstrip(":")
        assert page.inner_text("#words").startswith(f"Round {number}.")
        page.locator("#chart .band").first.dispatch_event("click")
        assert page.inner_text("#words").startswith("Round 1.")
        assert page.locator("#chart .band.now").count() == 1
