"""The page of a person who plays, with a socket that the test holds the other end of."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from arena.rules.variants import find_variant
from arena.ui.replay_page import Fields, game_info
from arena.ui.server import BrowserPlayer
from tests.support.games import NAMES, any_of, log_game
from tests.support.pages import faults, needs_chromium, open_page, page_scenes

SOCKET = """
  window.sent = [];
  window.WebSocket = class extends EventTarget {
    constructor() { super(); window.socket = this; }
    send(text) { window.sent.push(JSON.parse(text)); }
  };
"""


@contextmanager
def open_table(folder: Path, rules: str, seats: int, width: int = 1000) -> Iterator[Page]:
    """Yield the page of the person in seat 0."""
    info = game_info("1.game", NAMES[:seats], find_variant(rules))
    make = BrowserPlayer(info, "boneyard replay", clock=False).site.find("")
    html = make() if make else None
    assert html
    path = folder / "play.html"
    path.write_text(html)
    with open_page(path, before=SOCKET, width=width) as page:
        yield page


def send_message(page: Page, scene: Fields, **fields: Any) -> None:
    """Send a message of the server."""
    message = {"seat": 0, "scene": scene, "id": None, "until": None, "over": False, "moves": []}
    data = json.dumps({**message, **fields})
    page.evaluate("(data) => socket.dispatchEvent(new MessageEvent('message', { data }))", data)


def question_scene(rules: str, seats: int, hand: str, *options: str) -> Fields:
    first = page_scenes(log_game(find_variant(rules), seats, any_of(5)))[0][0]
    question = {"seat": 0, "options": options, "id": 1, "chosen": None, "ms": None, "note": ""}
    hands = [hand, *(2 for _ in range(seats - 1))]
    return {**first, "turn": 0, "line": "4664", "hands": hands, "asked": question}


def sent_choices(page: Page) -> list[int]:
    choices: list[int] = page.evaluate("window.sent.map((answer) => answer.choice)")
    return choices


# Slow: every way to choose an option in the browser works.
@pytest.mark.slow
@needs_chromium
def test_options_are_chosen_in_the_hand_at_an_end_in_the_list_and_by_number(tmp_path: Path) -> None:
    scene = question_scene("dutch", 2, "6453", "53<", "64<", "64>", "draw")
    with open_table(tmp_path, "dutch", 2) as page:
        for number, way in enumerate(
            (
                ["[aria-label='play [5|3] left']"],
                [
                    "[aria-label='play [6|4]: choose an end']",
                    ".ghost[aria-label='play [6|4] right']",
                ],
                [".choice[aria-label^='play [6|4]']", ".ghost[aria-label='play [6|4] left']"],
            )
        ):
            send_message(page, scene, id=number)
            for place in way:
                page.focus(f"#table {place}")
                page.keyboard.press("Enter")
        send_message(page, scene, id=3)
        page.click("#options button:text-is('draw')")
        send_message(page, scene, id=4)
        # Every tile and option says by which key it is taken; arrows choose the end.
        assert page.locator("#table .own .key").all_text_contents() == ["1", "2"]
        assert page.get_attribute("#options button", "data-key") == "3"
        page.keyboard.press("1")
        page.keyboard.press("ArrowRight")
        send_message(page, scene, id=5)
        page.keyboard.press("3")
        assert sent_choices(page) == [0, 2, 1, 3, 2, 3]
        send_message(page, scene, id=6)
        assert faults(page) == []


# Slow: a turn of two tiles; the other tests click one tile a turn.
@pytest.mark.slow
@needs_chromium
def test_two_tiles_are_played_at_once_by_clicking_one_and_then_the_other(tmp_path: Path) -> None:
    options = ("64<41>", "41<64>", "53<41>", "53<")
    scene = question_scene("double-draw", 2, "64415322", *options)
    with open_table(tmp_path, "double-draw", 2) as page:

        def tile(name: str) -> None:
            page.locator("#table .seat .tile", has_text=f"[{name}]").first.click()

        send_message(page, scene, id=1)
        assert page.locator("#table .seat .choice").count() == 3
        tile("5|3")
        assert page.locator("#table .mate").get_attribute("aria-label") == "play [4|1] with [5|3]"
        tile("4|1")
        send_message(page, scene, id=2)
        tile("5|3")
        page.click("#table .ghost[aria-label='play [5|3] left']")
        send_message(page, scene, id=3)
        tile("6|4")
        assert page.locator("#table .ghost").count() == 0
        tile("4|1")
        # Both ways are open: the end is that of the tile which was clicked first.
        page.click("#table .ghost[aria-label='play [4|1] left and [6|4] right']")
        assert sent_choices(page) == [2, 3, 1]


@needs_chromium
def test_the_table_is_told_in_words_and_whose_turn_it_is(tmp_path: Path) -> None:
    scene = question_scene("dutch", 2, "6453", "53<", "64<")
    with open_table(tmp_path, "dutch", 2, width=360) as page:
        send_message(page, scene, id=1)
        for role, words in (
            ("group", "You, 2 tiles: [6|4] [5|3]"),
            ("img", "bob, 2 tiles"),
            ("img", "The line, 2 tiles: [4|6] [6|4]. Its ends are 4 and 4."),
        ):
            assert page.get_by_role(role, name=words, exact=True).count() == 1  # type: ignore[arg-type]
        assert page.get_by_role("status").all_inner_texts()[0] == "Your turn"


@needs_chromium
@pytest.mark.parametrize(
    ("rules", "options", "turn", "button"),
    [
        ("double-draw", ("64<41>", "draw"), "Your turn: two tiles, one for each end", "draw"),
        (
            "auction-draw",
            ("check", "bid 1"),
            "Your turn: bid for the last two tiles, or check",
            "bid",
        ),
        ("paid-draw", ("64<", "draw"), "Your turn", "draw for 1"),
    ],
)
def test_the_board_says_what_another_choice_than_a_tile_is(
    tmp_path: Path, rules: str, options: tuple[str, ...], turn: str, button: str
) -> None:
    with open_table(tmp_path, rules, 2) as page:
        send_message(page, question_scene(rules, 2, "6441", *options), id=1)
        assert page.get_by_role("status").all_inner_texts()[0] == turn
        assert button in page.locator("#options button").last.inner_text()
