"""The quiz of dear decisions: its cards tell what a seat knew, and its page keeps the score."""

import html
from pathlib import Path

import pytest
from playwright.sync_api import expect

from arena.analysis.timeline import Timeline
from arena.rules.variants import find_variant
from arena.ui.position_pages import MOST_CARDS, QuizCard, anki_cards, make_card, quiz_page
from arena.valuation.decision_loss import review_seat
from protocol.codec import encode_json
from protocol.position import read_position
from tests.support.events import boneyard
from tests.support.fast_run import share, slow_except
from tests.support.games import any_of, log_game, short, write
from tests.support.pages import faults, needs_chromium, open_page, pairs


def cards_of(name: str, seats: int, count: int = MOST_CARDS) -> list[QuizCard]:
    """Return cards of seat 0 of a game of random choices, the dearest decisions first."""
    timeline = Timeline(log_game(find_variant(name), seats, any_of(name)))
    decisions = sorted(review_seat(timeline, 0), key=lambda decision: -decision.gap)
    cards = (make_card(timeline, 0, decision.number) for decision in decisions)
    return [card for card in cards if card][:count]


@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except([("draw", 2)], [("draw", 2), ("dutch", 3), ("block", 2)]),
)
def test_a_card_is_the_same_in_every_world_that_its_seat_cannot_tell(name: str, seats: int) -> None:
    cards = 0
    for seat, game, world in pairs(name, seats, share(3)):
        timelines = Timeline(game), Timeline(world)
        questions = [question for question in timelines[0].questions(seat) if question.choice]
        for question in questions[:8]:
            first, second = (make_card(timeline, seat, question.number) for timeline in timelines)
            assert encode_json(first) == encode_json(second)
            cards += first is not None
    assert cards


# Slow: values of many options; the commands' test makes cards, too.
@pytest.mark.slow
def test_a_card_asks_what_its_position_says() -> None:
    for card in cards_of("draw", 2, 5):
        position = read_position(card.position)
        assert not position.is_open
        assert position.seat == card.seat
        assert card.scene.asked
        assert len(card.options) == len(card.scene.asked.options) == len(card.leads)
        assert card.fair[card.best]
        assert not card.fair[card.chosen]


# Slow: as above.
@pytest.mark.slow
def test_cards_for_anki_have_three_fields_a_line() -> None:
    cards = cards_of("draw", 2)
    head, rows = anki_cards(cards).split("\n#columns:", 1)
    assert head == "#separator:tab\n#html:true"
    fields = [row.split("\t") for row in rows.splitlines()[1:]]
    assert [len(row) for row in fields] == [3] * len(cards)
    for (question, answer, position), card in zip(fields, cards, strict=True):
        assert card.title in question
        assert html.unescape(answer).startswith(f"<pre>{card.options[card.best]}<br>")
        assert f"<pre>{card.position}</pre>" == html.unescape(position)


# Slow: ten cards in a browser.
@pytest.mark.slow
@needs_chromium
def test_ten_mistakes_are_solved_in_a_browser(tmp_path: Path) -> None:
    """The best option and the game's are chosen in turn; by keys, by clicks and on a phone."""
    cards = cards_of("draw", 2)
    assert len(cards) == MOST_CARDS
    path = tmp_path / "quiz.html"
    path.write_text(quiz_page(cards))
    with open_page(path, width=390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert faults(page) == []
        for number, card in enumerate(cards):
            expect(page.locator("#card")).to_contain_text(card.title)
            # Before the answer no value and no mark is there.
            assert page.locator("#options button").count() == len(card.options)
            assert "±" not in page.inner_text("#question")
            choice = card.chosen if number % 2 else card.best
            if choice < 9:
                page.keyboard.press(f"{choice + 1}")
            else:
                page.locator("#options button").nth(choice).click()
            items = page.locator("#options li")
            expect(items.nth(card.best)).to_have_class("best")
            assert (page.locator("#options li.wrong").count() == 1) == bool(number % 2)
            right = "Right" if choice == card.best else "is better"
            expect(page.locator("#answer")).to_contain_text(right)
            assert page.input_value("#line") == card.position
            page.click("#next")
        expect(page.locator("#verdict")).to_contain_text("5 of 10 right")
        assert page.locator("#lessons li").count() == MOST_CARDS
        page.click("#again")
        expect(page.locator("#card")).to_contain_text("1 of 10")


def test_the_commands_write_the_page_and_the_cards(tmp_path: Path) -> None:
    folder = tmp_path / "event"
    (folder / "games").mkdir(parents=True)
    log = write(folder / "games" / "1.ada.bob.jsonl", log_game(short("draw"), 2, any_of(1)))
    output = boneyard("explain", str(log), "--review", "--seat", "0", "--quiz")
    assert "quiz.html" in output
    page = (folder / "quiz.html").read_text()
    assert "1 of" not in page.partition('id="data"')[0]
    assert "bone1@draw+" in page
    cards = str(tmp_path / "cards.txt")
    assert "2 cards" in boneyard("export", str(log), "--quiz", "--bot", "ada", "--out", cards)
    assert "no decision that cost clearly" in boneyard("export", str(log), "--quiz", code=2)
    assert "--quiz goes with --review" in boneyard("explain", str(log), "--quiz", code=2)
