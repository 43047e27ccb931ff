"""The review of a game on its replay page: its data, what a seat's page leaves out, and its use."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page

from arena.analysis.timeline import Timeline, walk_log
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import derive, find_variant
from arena.ui.replay_page import (
    GRADES,
    GameReview,
    PackedGame,
    _pack,
    pack_game,
    play_back,
    replay_page,
    review_game,
)
from arena.valuation.luck import luck_of_games
from arena.valuation.terms import USUAL_TERMS
from protocol.ruleset import Ruleset
from tests.support.fast_run import slow_except
from tests.support.games import ODD, any_of, log_game, short
from tests.support.pages import needs_chromium, open_page, page_scenes, unpack_game

SMALL = 4
"""The game of these tests: a few rounds of `draw` with choices at random."""


@pytest.fixture(scope="module")
def game() -> LoggedGame:
    return log_game(short("draw"), 2, any_of(SMALL))


@pytest.fixture(scope="module")
def review(game: LoggedGame) -> GameReview:
    return review_game(Timeline(game), USUAL_TERMS)


# Slow: an auction joins bids in its lists, and its playouts take seconds.
@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except(
        [("draw", 2), ("draw-partners", 4)],
        [("draw", 2), ("auction-draw", 3), ("draw-partners", 4)],
    ),
)
def test_the_values_are_those_of_the_options_that_are_shown(name: str, seats: int) -> None:
    game = log_game(short(name), seats, any_of(name))
    scenes, review = page_scenes(game)[0], review_game(Timeline(game), USUAL_TERMS)
    assert len(review.chances) == len(review.leads) == len(scenes)
    prompts = {index: scene["asked"] for index, scene in enumerate(scenes) if scene["asked"]}
    assert [decision.index for decision in review.decisions] == [
        index for index, prompt in prompts.items() if prompt["chosen"] is not None
    ]
    for decision in review.decisions:
        leads, prompt = decision.leads, prompts[decision.index]
        assert decision.seat == prompt["seat"]
        assert len(leads) == len(prompt["options"])
        if not decision.errors:
            assert decision.gap == pytest.approx(max(leads) - leads[prompt["chosen"]], abs=0.16)


def test_only_a_loss_beyond_its_error_is_called_a_mistake(review: GameReview) -> None:
    losses = [decision for decision in review.decisions if decision.gap > review.grades[0] + 0.1]
    sure_losses = [decision for decision in losses if decision.gap > 2 * decision.error + 0.2]
    unsure_losses = [decision for decision in losses if decision.gap < 2 * decision.error - 0.2]
    assert sure_losses
    assert unsure_losses
    assert all(decision.grade for decision in sure_losses)
    assert not any(decision.grade for decision in unsure_losses)


def test_a_mistake_costs_as_many_points_whatever_the_target() -> None:
    """By parts of a target of 30 points every eighth choice was a blunder."""
    draw = find_variant("draw")
    short_game, *others = (derive(draw, "x", {"target": target}) for target in (30, 60))
    assert grades_of(short_game) == grades_of(*others)
    # A mistake is about a tile, a blunder two: the set's tiles have 6 pips on average.
    assert [round(points) for points in grades_of(short_game)] == [2, 5, 10]
    points = derive(find_variant("point-a-round"), "x", {"target": 2})
    assert grades_of(points) == pytest.approx(GRADES, abs=0.01)


def grades_of(rules: Ruleset) -> tuple[float, ...]:
    """Return the grades of the first choices of a game: they follow from its rules."""
    game = log_game(rules, 2, any_of(1))
    cut_game = replace(game, records=game.records[:8], result=None)
    return review_game(Timeline(cut_game), USUAL_TERMS).grades


def test_the_luck_of_tiles_drawn_for_the_lead_is_in_the_review() -> None:
    timeline = Timeline(log_game(short("vietnamese"), 2, any_of("vietnamese")))
    lots = sum(bool(draw.tile) for draw in luck_of_games([timeline])[0].draws)
    assert (
        sum(len(draw.tiles) // 2 for draw in review_game(timeline, USUAL_TERMS).draws) == lots > 0
    )


def test_the_page_of_a_game_without_values_has_no_review() -> None:
    assert not pack_game(log_game(ODD), terms=USUAL_TERMS).reviewed


def test_the_page_of_a_seat_has_no_review(game: LoggedGame) -> None:
    """Even the values of its own options would tell which of its worlds was the real world."""
    for seat in range(2):
        packed_game = pack_game(game, seat, terms=USUAL_TERMS)
        assert not packed_game.reviewed
        assert unpack_game(packed_game.data).review is None
    assert unpack_game(pack_game(game, terms=USUAL_TERMS).data).review


# --- in the browser ---


def review_page(game: LoggedGame, review: GameReview) -> tuple[str, list[int], list[int]]:
    """Return a page with two mistakes and two draws that are known, and their moments."""
    _, second, *_, last = [decision for decision in review.decisions if len(decision.leads) > 1]
    mistakes = [
        replace(second, gap=3.0, error=0.25, grade=1, percent=2.0),
        replace(last, gap=9.0, error=0.0, grade=3),
    ]
    unchanged = [decision for decision in review.decisions if decision not in (second, last)]
    others = [replace(decision, gap=0.0, grade=0) for decision in unchanged]
    tile_draws = [draw for draw in review.draws if draw.tiles]
    drawn = [tile_draws[0], tile_draws[-1]]
    luck = [replace(drawn[0], share=7.0), replace(drawn[1], share=-8.0)]
    rest = [replace(draw, share=0.0) for draw in review.draws if draw not in drawn]
    decisions = sorted([*mistakes, *others], key=lambda decision: decision.index)
    changed_review = replace(review, decisions=tuple(decisions), draws=(*luck, *rest))
    play = replace(play_back(game, walk_log(game)), review=changed_review)
    packed_game = PackedGame(play.about.game, "told", _pack(play), True)
    html = replay_page("one", packed_game)
    return html, [decision.index for decision in mistakes], [decision.index for decision in luck]


def wait_until_ready(page: Page) -> None:
    page.wait_for_selector("main[data-ready]:not([data-ready=''])")


def place(page: Page) -> int:
    return int(page.inner_text("#position").split()[0]) - 1


@needs_chromium
def test_keys_buttons_and_marks_lead_to_mistakes_and_luck(
    game: LoggedGame, review: GameReview, tmp_path: Path
) -> None:
    html, (first, second), luck = review_page(game, review)
    path = tmp_path / "replay.html"
    path.write_text(html)
    with open_page(path) as page:
        wait_until_ready(page)
        page.keyboard.press("Home")
        # The inaccuracy would overlap a draw's mark; keys lead to it all the same.
        assert page.locator("#chances .mark").count() == 3
        for key, index in (("m", first), ("m", second), ("m", second), ("M", first)):
            page.keyboard.press(key)
            assert place(page) == index
        page.keyboard.press("Home")
        for key, index in (("l", luck[0]), ("l", luck[1]), ("L", luck[0])):
            page.keyboard.press(key)
            assert place(page) == index
        assert "lucky, drew" in page.inner_text("#odds")
        page.keyboard.press("Home")
        page.click("#mistake")
        assert place(page) == first
        loss = "3.0 ± 0.5 points and 2.0 % of the game lost"
        assert f"inaccuracy, {loss}" in page.inner_text("#odds")
        assert f"{loss}: inaccuracy" in page.inner_text("#asked")
        assert page.locator("#options .worth").count() == page.locator("#options li").count()
        assert "?! −3.0" in page.locator("#moves [aria-current]").inner_text()
        last = page.locator(f"#chances .mark[data-at='{second}']")
        assert "blunder, 9.0 points and 0.0 % of the game lost" in str(
            last.get_attribute("aria-label")
        )
        last.focus()
        page.keyboard.press("Enter")
        assert place(page) == second
        box = page.locator("#chances").bounding_box()
        assert box
        page.mouse.click(box["x"] + 24, box["y"] + box["height"] / 2)
        assert place(page) == 0
        page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
        assert place(page) == len(review.chances) - 1
        assert "100 %" in str(page.get_attribute("#at", "aria-valuetext"))
