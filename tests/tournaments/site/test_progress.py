"""The progress of a run in a pipe."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.records import Result, SeatFoul
from tests.support.library import copy_of
from tests.support.results import game
from tournaments.site.progress import Progress
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import Ledger


@pytest.fixture
def live(tmp_path: Path) -> Progress:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    event = load_event(folder)
    return Progress(event, Ledger(folder, event))


def fouled(number: int, name: str = "mine") -> Result:
    return replace(game(number, (name, "other"), (0, 9)), fouls=(SeatFoul(0, "late"),))


def test_a_pipe_is_told_of_fouls_as_they_come(
    live: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    with live:
        live.update(game(1, ("mine", "other"), (9, 0)))
        assert capsys.readouterr().err == ""
        live.update(fouled(2))
    assert capsys.readouterr().err == f"mine fouled in {fouled(2).game}: late.\n"
