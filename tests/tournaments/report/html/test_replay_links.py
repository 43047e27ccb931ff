"""Replay pages of whole events: every game of the ledger is reached through its address."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from arena.ui.replay_files import placeholder
from tournaments.report.html import game_list
from tournaments.schedule.schedule import sittings
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import read_ledger


def addresses_of(folder: Folder) -> Mapping[str, str]:
    results = {result.game: result for result in read_ledger(folder.ledger)}
    return game_list.addresses(sittings(load_event(folder), results))


def test_every_address_leads_to_a_page_that_says_how_to_make_it(event: Path) -> None:
    found = addresses_of(Folder(event))
    assert {*found} == {result.game for result in read_ledger(Folder(event).ledger)}
    pages = {address.split("#")[0] for address in found.values()}
    assert {f"replays/{path.name}" for path in (event / "replays").iterdir()} == {
        *map(unquote, pages)
    }
    assert {path.read_text() for path in (event / "replays").iterdir()} == {placeholder()}
    assert "<code>boneyard replay . --html</code>" in placeholder()
