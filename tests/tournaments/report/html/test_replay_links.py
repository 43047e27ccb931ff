"""Replay pages of whole events: every game of the ledger is reached through its address."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest

from arena.ui.replay_files import placeholder
from tests.support.browser import needs_chromium, opened
from tests.support.events import boneyard, copied
from tournaments.report.html import game_list
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import read_ledger


def addresses_of(folder: Folder) -> Mapping[str, str]:
    results = {result.game: result for result in read_ledger(folder.ledger)}
    return game_list.addresses(sittings(load_event(folder), results))


@pytest.fixture
def shown(event: Path, tmp_path: Path) -> Folder:
    """Return the event with its replays."""
    folder = copied(event, tmp_path)
    boneyard("replay", str(folder), "--html")
    return Folder(folder)


def test_every_address_leads_to_a_page_that_says_how_to_make_it(event: Path) -> None:
    found = addresses_of(Folder(event))
    assert {*found} == {result.game for result in read_ledger(Folder(event).ledger)}
    pages = {address.split("#")[0] for address in found.values()}
    assert {f"replays/{path.name}" for path in (event / "replays").iterdir()} == {
        *map(unquote, pages)
    }
    assert {path.read_text() for path in (event / "replays").iterdir()} == {placeholder()}
    assert "<code>boneyard replay . --html</code>" in placeholder()


@needs_chromium
def test_an_address_leads_to_the_game_and_its_scores(shown: Folder) -> None:
    event = shown
    found = addresses_of(event)
    result = [*read_ledger(event.ledger)][-1]
    with opened(f"{event.path.as_uri()}/{found[result.game]}&at=99999") as page:
        page.wait_for_selector(f"main[data-ready='{result.game}']")
        assert result.game in page.inner_text("#about")
        rows = [row.split("\t") for row in page.inner_text("#seats tbody").splitlines()]
        assert [row[0][2:] for row in rows] == [*result.seats]
        assert [int(row[1].split()[0]) for row in rows] == [*result.scores]
        assert "Round" in page.inner_text("#words")
