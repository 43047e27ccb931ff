"""Replay pages of whole events: every game of the ledger is reached through its address."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.browser import needs_chromium, opened
from tests.support.events import SMALL, run, small_event, untouched
from tournaments.report.html import replay_links as replays
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import read_ledger


def addresses_of(folder: Folder) -> Mapping[str, str]:
    results = {result.game: result for result in read_ledger(folder.ledger)}
    return replays.addresses(sittings(load_event(folder), results))


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    with untouched(small_event(tmp_path_factory.mktemp("event"))) as folder:
        yield Folder(folder)


def test_a_run_makes_a_page_for_every_sitting(event: Folder) -> None:
    found = addresses_of(event)
    assert {*found} == {result.game for result in read_ledger(event.ledger)}
    pages = {address.split("#")[0] for address in found.values()}
    assert {f"replays/{path.name}" for path in (event.path / "replays").iterdir()} == {
        *map(unquote, pages)
    }


@needs_chromium
def test_an_address_leads_to_the_game_and_its_scores(event: Folder) -> None:
    found = addresses_of(event)
    result = [*read_ledger(event.ledger)][-1]
    with opened(f"{event.path.as_uri()}/{found[result.game]}&at=99999") as page:
        page.wait_for_selector(f"main[data-ready='{result.game}']")
        assert page.inner_text("h1") == result.game
        rows = [row.split("\t") for row in page.inner_text("#seats tbody").splitlines()]
        assert [row[0][2:] for row in rows] == [*result.seats]
        assert [int(row[1].split()[0]) for row in rows] == [*result.scores]
        assert "Round" in page.inner_text("#words")


def test_the_pages_of_a_large_event_wait_until_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "AT_ONCE", 11)
    said = run(tmp_path, *SMALL)
    assert f"boneyard replay {tmp_path} --html" in said
    assert not (tmp_path / "replays").exists()
