"""The report page in a browser: it sorts, leads to games, keeps text text, and is fit for all."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from arena.logs.catalog import replay_address
from tests.support.events import boneyard, copy_of, finished
from tests.support.fast_run import slow_except
from tests.support.made_up import evidence, made_up, measured, report_data, write_report
from tests.support.made_up import html as html_of
from tests.support.pages import faults, needs_chromium, open_page
from tests.support.planned_events import event, teams
from tournaments.event.book import read_ledger
from tournaments.event.folder import Folder
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.rating.sprt import Sprt


def lengthen_names(plan: Event) -> Event:
    """Return the same event with the longest possible names."""
    names = [f"{n}_{'long-' * 8}"[:40] for n in range(len(plan.entrants))]
    bots = (replace(bot, name=name) for bot, name in zip(plan.entrants, names, strict=True))
    return replace(plan, name="x" * 40, entrants=tuple(bots))


EVENTS: dict[str, Event] = {
    "two bots": event(2, boards=10),
    "ten bots": lengthen_names(event(10, boards=4)),
    "three seats": event(4, 3, boards=6),
    "four seats": event(4, 4, boards=6),
    "teams": teams(boards=4),
    "partners": replace(teams(boards=6), teams=()),
    "swiss": event(5, boards=4, form=Swiss(rounds=3)),
    "knockout": event(5, boards=4, form=Knockout()),
    "versus": event(2, boards=60, form=Versus(Sprt(max_boards=60))),
}
RUDE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\x1b[31mred \u202eevil \u05e9\u05dc\u05d5\u05dd",
    "\"quoted\" 'twice' &amp; `code` {{ 7 * 7 }}",
)
DIFFERENT = {"ten bots", "three seats", "teams", "partners", "swiss", "knockout", "versus"}
"""Events whose pages have something that no other has; each costs seconds of a browser."""
LOOKED_AT = {"teams", "swiss", "knockout", "versus"}
"""Events whose pages have between them all in which axe-core, which is slow, finds faults."""


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def unfold(page: Page) -> None:
    """Open all that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


class Tags(HTMLParser):
    """The tags of a page that no browser has touched."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@needs_chromium
# Slow: the page of every format is without faults on a screen, on paper and on a phone.
@pytest.mark.parametrize("name", slow_except(["partners"], filter(DIFFERENT.__contains__, EVENTS)))
def test_every_kind_of_event_has_a_page_for_everybody(tmp_path: Path, name: str) -> None:
    """No complaint, no serious fault, nothing wider than a phone or a printed page."""
    plan = EVENTS[name]
    results = made_up(plan, foul_every=9)
    fouls = [evidence(result, stderr="x" * 900) for result in results if result.fouls][:4]
    path = write_report(tmp_path, plan, results, measured(plan, *fouls))
    with open_page(path, dark=len(name) % 2 == 0) as page:
        assert name not in LOOKED_AT or faults(page) == []
        assert texts(page, "#standings tbody th") == [
            rating.name for rating in report_data(plan, results).book.ratings.pools[0].entrants
        ]
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= 718
        assert not page.locator("#games").is_visible()
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") == 360


@needs_chromium
def test_columns_sort_by_click_and_by_key(tmp_path: Path) -> None:
    plan = event(4, boards=6)
    results = made_up(plan)
    best = [rating.name for rating in report_data(plan, results).book.ratings.pools[0].entrants]
    with open_page(write_report(tmp_path, plan, results)) as page:
        names = "#standings tbody th"
        assert texts(page, names) == best != sorted(best)
        page.locator("#standings").get_by_role("button", name="bot", exact=True).click()
        assert texts(page, names) == sorted(best)
        elo = page.locator("#standings th", has=page.get_by_role("button", name="Elo", exact=True))
        elo.get_by_role("button").focus()
        page.keyboard.press("Enter")
        assert elo.get_attribute("aria-sort") == "descending"
        assert texts(page, names) == best
        page.keyboard.press("Enter")
        assert elo.get_attribute("aria-sort") == "ascending"
        assert texts(page, names) == best[::-1]
        assert page.locator("#standings th[aria-sort]").count() == 1
        assert page.evaluate("number('>−1,234')") == -1234


@needs_chromium
def test_a_cell_of_the_pairings_leads_to_the_games_of_two(tmp_path: Path) -> None:
    plan = event(4, 3, boards=7)
    results = made_up(plan)
    meetings = [result for result in results if {"bot1", "bot3"} <= set(result.seats)]
    with open_page(write_report(tmp_path, plan, results)) as page:
        assert page.get_by_role("status").inner_text() == f"{len(results)} games, 1 to 25"
        order = texts(page, "#pairings tbody th")
        row = page.locator("#pairings tbody tr").nth(order.index("bot1"))
        row.locator("td").nth(order.index("bot3")).click()
        page.wait_for_url("**#games/bot1/bot3")
        title = f"{len(meetings)} games of bot1 and bot3, 1 to 25"
        expect(page.get_by_role("status")).to_have_text(title)  # once the address is followed
        assert page.evaluate("document.activeElement.textContent") == "Games"
        links = page.locator("#list .links a")
        addresses = [links.nth(n).get_attribute("href") for n in range(links.count())]
        page.get_by_role("button", name="next").click()
        addresses += [links.nth(n).get_attribute("href") for n in range(links.count())]
        assert addresses == [replay_address(result.game) for result in meetings][:50]
        page.get_by_role("button", name="why ").first.click()
        game = meetings[25]
        last = game.places.index(max(game.places))
        sentence = f"{game.seats[last]} in seat {last}: place {game.places[last]} with "
        assert texts(page, ".why p")[0].startswith(sentence)


@needs_chromium
def test_a_lost_game_is_explained_in_the_words_of_the_command() -> None:
    event = finished("partners")
    result = next(read_ledger(Folder(event).ledger))
    explanation = " ".join(boneyard("explain", str(event), result.game, "--all").split())
    with open_page(event / "report.html", width=390) as page:
        page.get_by_role("button", name=f"why {result.game}", exact=False).first.click()
        expect(page.locator(".why table")).to_be_visible()
        head, *sentences = texts(page, ".why p")
        assert head.replace("−", "-") in explanation
        assert len(sentences) >= 1
        for sentence in sentences:
            start, _, _ = sentence.removesuffix(".").partition(", blocked")
            assert start in explanation
        scores = [row.split()[-1] for row in texts(page, ".why tbody td:last-child")]
        assert scores[-1] == f"{result.scores[-1]}".replace("-", "−")
        assert len(scores) == result.rounds


@needs_chromium
def test_text_of_bots_is_escaped(tmp_path: Path) -> None:
    plan = event(3, boards=2)
    entrants = tuple(
        replace(entrant, command=replace(entrant.command, argv=(entrant.name, words)))
        for entrant, words in zip(plan.entrants, RUDE, strict=False)
    )
    plan = replace(plan, entrants=entrants)
    results = made_up(plan, foul_every=3)
    foul_results = [result for result in results if result.fouls]
    examples = [
        evidence(result, detail=words, line=words, stderr=words)
        for result, words in zip(foul_results, RUDE, strict=False)
    ]
    path = write_report(tmp_path, plan, results, measured(plan, *examples))
    assert len([tag for tag, _ in Tags(path.read_text()).found if tag == "script"]) == 3
    assert "\x1b" not in path.read_text()
    assert "\u202e" not in path.read_text()
    with open_page(path) as page:
        assert page.locator("img").count() == 0
        unfold(page)
        lines = texts(page, ".evidence pre")
        assert lines[0] == lines[1] == RUDE[0]
        assert lines[2] == RUDE[1]
        assert lines[4] == "\\x1b[31mred \\u202eevil \u05e9\u05dc\u05d5\u05dd"
        assert lines[6] == RUDE[3]
        assert RUDE[0].split("/")[-1] in "".join(texts(page, "#how table code"))


def test_without_a_script_everything_but_lists_stands_there() -> None:
    plan = event(4, boards=4)
    results = made_up(plan, foul_every=7)
    html = html_of(plan, results, measured(plan))
    tags = Tags(html).found
    assert sum(tag == "circle" for tag, _ in tags) == 4
    assert html.count("<noscript>") == 2
    for words in ("Machine: Linux 6", "0.1; in 3 of 4 sittings", "0123456789abcdef" * 4, "20.5"):
        assert words in html
    assert not [attributes for _, attributes in tags if {"style", "onclick"} & attributes.keys()]
    addresses = [attributes["href"] or "" for tag, attributes in tags if tag == "a"]
    assert not [address for address in addresses if re.match(r"[a-z]+:|//", address)]


def test_every_link_within_the_page_has_a_target(tmp_path: Path) -> None:
    for name, plan in EVENTS.items():
        tags = Tags(write_report(tmp_path, plan, made_up(plan, foul_every=9)).read_text()).found
        names = {attributes["id"] for _, attributes in tags if "id" in attributes}
        addresses = [str(attributes.get("href", "")) for _, attributes in tags]
        links = {address[1:] for address in addresses if address.startswith("#")}
        parts = {link for link in links if link.startswith("bot/")}
        assert {f"bot/{entrant.name}" for entrant in plan.entrants} == parts
        page_links = {link for link in links if not link.startswith("games/")}
        assert len(page_links) > 7, name
        assert page_links <= names, name
        entrants = {entrant.name for entrant in plan.entrants}
        assert {part for link in links - page_links for part in link.split("/")[1:]} <= entrants


def test_a_swiss_is_won_when_its_last_game_is_over() -> None:
    plan = EVENTS["swiss"]
    html = html_of(plan, made_up(plan)[:-1])
    assert "leads the Swiss, 3 of 3 rounds" in html
    assert "has won the Swiss" not in html


@needs_chromium
def test_a_game_links_to_its_replay(tmp_path: Path) -> None:
    event = copy_of("fouls", tmp_path)
    boneyard("replay", f"{event}", "--html")
    with open_page(event / "report.html", local=True) as page:
        page.locator("#list .links a").first.click()
        page.wait_for_url("**/replay.html#game=*")
        first = next(iter(read_ledger(event / "ledger.jsonl")))
        page.wait_for_selector(f"main[data-ready='{first.game}']")
        assert all(name in page.locator("body").inner_text() for name in first.seats)
        # And from there the way back; from the evidence, the moment of the foul.
        page.locator("header a").click()
        page.wait_for_url("**/report.html")
        unfold(page)
        page.locator(".evidence a").first.click()
        page.wait_for_selector("main[data-ready]:not([data-ready=''])")
        assert "rude fouls" in page.inner_text("#words")
        assert "I <b>object</b>" in page.locator("#evidence dd").all_inner_texts()
