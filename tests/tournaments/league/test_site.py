"""A league's site leads nowhere in vain, shows what is over, and keeps an author's text text."""

import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from tests.support.events import boneyard
from tests.support.made_up import made_up_facts, made_up_league, publish_rounds
from tests.support.pages import faults, needs_chromium, open_page, serve_folder
from tournaments.league.pages import LeagueSite
from tournaments.league.pairing import Outlook
from tournaments.league.settings import LeagueFolder
from tournaments.league.state import (
    CheckedStep,
    CheckSummary,
    LeagueData,
    PlayedRound,
    Refused,
    Withdrawn,
)

NOW = datetime(2026, 11, 16, tzinfo=UTC)
RUDE = "</script><img src=x onerror=alert(1)>\x1b[31m\x00\u202e\"'&amp;{{ 7 * 7 }} ]]> `code`"
SETTINGS = """\
title = "Club"
house = ["first", "greedy", "random"]
sandbox = "off"

[[divisions]]
name = "draw"
rules = { base = "draw", target = 10 }
boards_a_table = 1
boards_a_week = 2
"""
HIDDEN = 876_543
"""A score of a game in a round that is not over."""


def publish(data: LeagueData, site: Path) -> dict[str, bytes]:
    """Publish a league; return the files of its site without its rounds."""
    if not site.exists():
        publish_rounds(data, site)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tournaments.league.pages.round_facts", made_up_facts)
        patch.setattr("tournaments.league.pages.next_round", lambda *_: Outlook(None, {}))
        public = LeagueSite(LeagueFolder(site.parent))
        public.outdate()
        public.publish(data, NOW, at_once=True)
    return {
        str(path.relative_to(site)): path.read_bytes()
        for path in sorted(site.rglob("*"))
        if path.is_file() and "/0" not in str(path.relative_to(site))
    }


def with_open_round(data: LeagueData) -> PlayedRound:
    """Add a round that is being played."""
    rounds = data.divisions["draw"].rounds
    last = rounds[-1]
    result = replace(last.results[0], scores=(HIDDEN, 0), board=77, game="77.open.game")
    plan = replace(last.plan, number=len(rounds) + 1)
    rounds.append(replace(last, plan=plan, is_over=False, results=[result]))
    return rounds[-1]


def rude_league(folder: Path) -> LeagueData:
    """Return a league whose authors write what they like."""
    data = made_up_league(folder)
    step = CheckedStep(RUDE, "failed", RUDE)
    check = CheckSummary(verdict=RUDE, steps=(step,), sandbox=RUDE, seconds=1.0)
    time = "2026-11-13T10:00:00Z"
    data.register[-1] = replace(data.versions["bot-6@2"], about=RUDE, author=RUDE[:40], check=check)
    data.register.append(Refused(time=time, bot="bot-1", fingerprint="", why=RUDE, check=check))
    data.register.append(Refused(time=time, bot="new", fingerprint="", why=RUDE))
    data.register.append(Withdrawn(time=time, bot="bot-3", version="bot-3@2"))
    return data


@pytest.fixture(scope="module")
def rude(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("rude")
    return publish(rude_league(folder / "league"), folder / "site")


def test_every_link_is_relative_and_leads_to_a_file(rude: dict[str, bytes]) -> None:
    """A site can therefore be served from any folder of a server."""
    links = 0
    for name, data in rude.items():
        if not name.endswith(".html"):
            continue
        for href in re.findall(r'(?:href|src)="([^"#]+)[^"]*"', data.decode()):
            if href.startswith("data:"):
                continue
            links += 1
            assert "://" not in href
            assert not href.startswith("/")
            path = Path("/", name).parent.joinpath(unquote(href)).resolve().relative_to("/")
            if not re.search(r"rounds/draw/\d", str(path)):
                assert str(path) in rude, (name, href)
    assert links > 300


def test_an_authors_text_stays_text(rude: dict[str, bytes]) -> None:
    """No element, no control character and no direction mark comes from a text of an author."""
    names = {name for name, data in rude.items() if b"onerror" in data}
    assert {"bots/bot-6.html", "bots/bot-1.html", "bots/new.html"} <= names
    for name, data in rude.items():
        text = data.decode()
        if name.endswith(".html"):
            assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text), name
            assert "<img src=x" not in text
            assert " style=" not in text
            assert "javascript:" not in "".join(re.findall(r'href="([^"]*)', text))


def test_nothing_is_shown_of_a_round_that_is_not_over_but_its_tables(tmp_path: Path) -> None:
    """The next pairings are public before they are played; no result is."""
    data = made_up_league(tmp_path / "league")
    open_round = with_open_round(data)
    files = publish(data, tmp_path / "site")
    for name, content in files.items():
        assert b"876543" not in content, name
        assert b"876,543" not in content, name
        assert b"77.open" not in content, name
    assert not (tmp_path / "site/rounds/draw/0009").exists()
    front = files["index.html"].decode()
    assert "Next: round 9" in front
    version = open_round.plan.tables[0].entrants[0]
    page = files[f"bots/{version.partition('@')[0]}.html"].decode()
    assert "in round 9." in page


def test_what_a_kill_left_is_mended_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    """Files of ours that should not be there go; those of others stay."""
    data, site = made_up_league(tmp_path / "league", rounds=3), tmp_path / "site"
    files = publish(data, site)
    (site / "bots/gone.html").write_text("gone")
    (site / "bots/bot-1.html.new").write_text("half")
    (site / "pairings/other").mkdir()
    (site / "rounds/draw/0099").mkdir()
    (site / "rounds/draw/0099/index.html").touch()
    (site / "index.html").unlink()
    (site / "bots/bot-1.html").write_bytes(b"")
    (site / "live").mkdir()
    (site / "live/index.html").touch()
    (site / "CNAME").write_text("example.org")
    mended = publish(data, site)
    assert {*mended} - {*files} == {"live/index.html", "CNAME"}
    assert mended["bots/bot-1.html"] == files["bots/bot-1.html"]
    assert not (site / "rounds/draw/0099").exists()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> LeagueFolder:
    """Return a league that was played and published from the command line."""
    place = tmp_path_factory.mktemp("real") / "club"
    (place / "bots/bad").mkdir(parents=True)
    (place / "league.toml").write_text(SETTINGS)
    (place / "bots/bad/bot.toml").write_text('run = ["{python}", "no.py"]\nabout = "<i>bad</i>"\n')
    boneyard("league", str(place), "--once", "--now", "2026-11-22T10:00")
    return LeagueFolder(place)


# Slow: what `verify` and `publish` promise of an event holds of each round of a league's site.
@pytest.mark.slow
def test_a_published_round_can_be_verified_and_holds_no_secret(real: LeagueFolder) -> None:
    """A site has all but the secret: it alone is enough to check a round."""
    rounds = sorted((real.site / "rounds/draw").glob("[0-9]*"))
    assert rounds
    assert "OK: " in boneyard("verify", str(rounds[0]))
    assert (real.site / "bots/bad.html").read_text().count("must pass first") == 1
    secrets = [path.read_bytes() for path in real.rounds.rglob("secret.key")]
    hidden = [*secrets, *(secret.hex().encode() for secret in secrets), str(real.path).encode()]
    for path in real.site.rglob("*"):
        assert path.name != "private"
        data = path.read_bytes() if path.is_file() else b""
        assert not any(part in data for part in hidden), path


# Slow: real pages in a browser; the fast tests read the same pages as text.
@needs_chromium
@pytest.mark.slow
def test_pages_have_no_faults_and_lead_to_replays(real: LeagueFolder, tmp_path: Path) -> None:
    """No complaint, no serious fault, nothing wider than a phone, light and dark."""
    rude = tmp_path / "site"
    publish(rude_league(tmp_path / "league"), rude)
    looked_at = [(real.site, "index.html"), (rude, "index.html"), (rude, "bots/bot-1.html")]
    looked_at.append((rude, "weeks/2026-W46.html"))
    for number, (site, name) in enumerate(looked_at):
        dark = number % 2 == 0
        with (
            serve_folder(site) as address,
            open_page(f"{address}/{name}", local=True, dark=dark, width=1280) as page,
        ):
            assert faults(page) == [], name
            page.set_viewport_size({"width": 360, "height": 700})
            assert page.evaluate("document.documentElement.scrollWidth") == 360, name
    with serve_folder(real.site) as address, open_page(f"{address}/index.html", local=True) as page:
        page.get_by_role("link", name="replay").first.click()
        page.wait_for_selector("main[data-ready^='1.']")
        page.get_by_role("link", name="Club", exact=True).click()
        page.get_by_role("button", name="games").click()
        assert page.locator("th[aria-sort]").inner_text() == "games"
