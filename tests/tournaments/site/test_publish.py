"""A site shows all that may be shown of an event, leads nowhere in vain, and holds no secret."""

import base64
import re
import shutil
import zlib
from pathlib import Path
from urllib.parse import unquote

import pytest

from arena.logs.catalog import published_seeds
from arena.logs.checksummed import open_any
from arena.sandbox.command import Command
from tests.support.events import boneyard, copied, copy_of, laid_open
from tests.support.pages import needs_chromium, open_page, serve_folder
from tournaments.event.folder import Folder
from tournaments.site.publish import _without_folder, write_event_site

GAMES = 12


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of("round-robin", tmp_path_factory.mktemp("published") / "event")


@pytest.fixture(scope="module")
def site(event: Path) -> Path:
    publish(event, event.parent / "site", "--url", "https://example.org/friday")
    return event.parent / "site"


def publish(event: Path, site: Path, *words: str, code: int = 0) -> str:
    return boneyard("publish", str(event), str(site), *words, code=code)


def copy_in_play(event: Path, to: Path) -> Folder:
    """Return the event as it was when one game on board 2 was still to be played."""
    folder = Folder(laid_open(copied(event, to)))
    lines = folder.ledger.read_bytes().splitlines(keepends=True)
    assert b'"game":"2.' in lines[-1]
    folder.results.unlink()
    folder.times.unlink()
    folder.ledger.write_bytes(b"".join(lines[:-1]))
    folder.seeds.write_bytes(folder.seeds.read_bytes().splitlines(keepends=True)[0])
    # Of the last log the second game, and the end; of the game some lines are there.
    log = max(folder.logs(), key=lambda path: path.stem.endswith(entrants_of(lines[-1])))
    log_lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(log_lines[:-5]))
    return folder


def entrants_of(line: bytes) -> str:
    match = re.search(rb'"game":"2\.([^"]*)"', line)
    assert match
    return match[1].decode()


def read_site(site: Path) -> dict[str, bytes]:
    """Return the content of all files, and of what is packed in them."""
    contents = {}
    for path in site.rglob("*"):
        if path.is_file():
            with open_any(path) as file:
                assert file
                contents[str(path.relative_to(site))] = file.read()
            if path.parent.name == "replays":
                (data,) = re.findall(rb'"data":"([^"]*)"', path.read_bytes())
                contents[f"unpacked {path.name}"] = zlib.decompress(base64.b64decode(data))
    return contents


def test_links_of_a_site_lead_to_files(site: Path) -> None:
    for page in ("index.html", "games/index.html"):
        text = (site / page).read_text()
        # The report has its games as data: see `pages` in GameList.
        for href in re.findall(r'<a [^>]*href="([^"#:]+)["#]', text):
            assert (site / page).parent.joinpath(unquote(href)).is_file(), href
    assert '"replay":"replay.html#game="' in (site / "index.html").read_text()
    assert len(list((site / "replays").iterdir())) == GAMES
    assert not (site / "report.html").exists()


def test_a_site_can_be_verified(site: Path, tmp_path: Path) -> None:
    assert "OK: " in boneyard("verify", str(site))
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)
    games = copy / "games.csv"
    games.write_bytes(games.read_bytes().replace(b",0,", b",1,", 1))
    assert "games.csv" in boneyard("verify", str(copy), code=1)


def test_a_site_holds_nothing_of_boards_in_play(event: Path, tmp_path: Path) -> None:
    folder = copy_in_play(event, tmp_path / "event")
    output = publish(folder.path, tmp_path / "site")
    assert "6 replays of 11 games." in output
    secret = Folder(event).secret.read_bytes()
    closed = published_seeds(Folder(event).seeds)[2]
    # A game's name, and any record of a board but its commitment.
    pattern = re.compile(rb'(?<![\d.])2\.(first|greedy|random)\.|"board":2,"(?!sha256)')
    for name, data in read_site(tmp_path / "site").items():
        for hidden in (secret, closed):
            assert hidden not in data, name
            assert hidden.hex().encode() not in data.lower(), name
            assert base64.b64encode(hidden) not in data, name
        assert not pattern.search(data), name
    assert "11 of 12 games played" in (tmp_path / "site/index.html").read_text()
    assert not (tmp_path / "site/ledger.jsonl").exists()


def test_no_word_of_a_command_names_a_local_folder() -> None:
    words = {
        "/home/ann/my bots/x.py": "x.py",
        "-I/home/ann/include": "-Iinclude",
        "--model=/home/ann/net": "--model=net",
        "cd /home/ann/bots && exec /opt/ann/bot": "cd . && exec bot",
        "models/net": "models/net",
    }
    command = Command(tuple(words), "/home/ann/bots")
    assert [*_without_folder(command)] == [*words.values()]
    command = Command(("python", "-u", "x.py"), "")
    assert tuple(_without_folder(command)) == command.argv


def test_publishing_replaces_no_other_files(event: Path, tmp_path: Path) -> None:
    assert "in one another" in publish(event, event / "site", code=2)
    assert "in one another" in publish(event, event.parent, code=2)
    target = tmp_path / "other"
    target.mkdir()
    (target / "thesis.tex").touch()
    assert "holds something else: thesis.tex" in publish(event, target, code=2)
    assert "is a file" in publish(event, target / "thesis.tex", code=2)
    assert "holds something else" in publish(event, copied(event, tmp_path / "copy"), code=2)
    words = ("first", "greedy", "--boards", "1", "--set", "target=20", "--sandbox", "off")
    boneyard("run", *words, "--out", str(tmp_path / "second"))
    publish(tmp_path / "second", tmp_path / "its")
    assert "holds something else" in publish(event, tmp_path / "its", code=2)
    assert [path.name for path in target.iterdir()] == ["thesis.tex"]


def test_an_event_that_was_closed_shows_all_that_was_played(event: Path, tmp_path: Path) -> None:
    """Nobody plays its boards any more, so nothing of it has to wait."""
    folder, site = copy_in_play(event, tmp_path / "closed"), tmp_path / "site"
    waiting = write_event_site(folder.path, site, "")
    assert (waiting.is_over, waiting.replays) == (False, GAMES // 2)
    closed = write_event_site(folder.path, site, "", closed=True)
    assert (closed.is_over, closed.replays) == (True, GAMES - 1)
    assert (site / "ledger.jsonl").read_bytes() == folder.ledger.read_bytes()


@needs_chromium
def test_a_sites_page_replays_the_game_in_its_address(site: Path) -> None:
    with serve_folder(site) as address, open_page(f"{address}/index.html", local=True) as page:
        page.locator("#list a", has_text="replay").first.click()
        page.wait_for_selector("main[data-ready^='1.']")
        assert page.locator("#table rect, #table use").count() > 0
        name = page.locator("main").get_attribute("data-ready")
        assert f"#game={name}" in page.url
        # Another game on the same page, as by hand.
        game = "2.greedy.first"
        page.evaluate("(name) => { location.hash = `#game=${name}&at=3`; }", game)
        page.wait_for_selector(f"main[data-ready='{game}']")
