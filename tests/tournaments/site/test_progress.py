"""What a run shows while it goes on: in a pipe plain lines, in a terminal a table that fits."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.codec import decode_json
from protocol.records import Result, SeatFoul
from tests.support.library import copy_of
from tests.support.results import game
from tournaments.forecast.power import Separation
from tournaments.report.results_file import Results
from tournaments.site import progress
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


@pytest.mark.parametrize(
    ("half_width", "needed", "told"),
    [
        (50.0, 9, "a is 20 ± 50 Elo ahead of b; about 6 more boards would probably decide it"),
        (50.0, None, "a is 20 ± 50 Elo ahead of b."),
        (10.0, 3, "a is 20 ± 10 Elo ahead of b."),
        (3004.0, 9, ""),
    ],
)
def test_the_end_says_how_many_boards_would_separate_the_first_two(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    half_width: float,
    needed: int | None,
    told: str,
) -> None:
    """An interval that is wider than any ladder says nothing, so nothing is said."""
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    summary = decode_json(folder.results.read_bytes(), Results)
    (pool,) = summary.ratings.pools
    tied = replace(pool, entrants=tuple(replace(one, ranks=(1, 3)) for one in pool.entrants))
    summary = replace(summary, ratings=replace(summary.ratings, pools=(tied,)))
    pair = Separation(one="a", other="b", elo=20, half_width=half_width, played=3, needed=needed)
    monkeypatch.setattr(progress, "separations", lambda *_: [pair])
    said = progress._outlook(summary, load_event(folder))
    assert said.startswith(told)
    assert bool(said) == bool(told)
