"""The losses of a bot's points: the sums are those of the ledger and of the rounds in the logs."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.events import boneyard, run, small_event, untouched
from tournaments.commands.games.explain import own_bot
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import read_ledger


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with untouched(small_event(tmp_path_factory.mktemp("event") / "event")) as folder:
        yield folder


def test_the_sums_of_a_bot_are_those_of_its_results(played: Path) -> None:
    (told,) = json.loads(boneyard("explain", str(played), "--bot", "random", "--json"))
    results = [one for one in read_ledger(Folder(played).ledger) if "random" in one.seats]
    seats = [one.seats.index("random") for one in results]
    own = [one.scores[seat] for one, seat in zip(results, seats, strict=True)]
    other = [one.scores[1 - seat] for one, seat in zip(results, seats, strict=True)]
    total = told["total"]
    assert (total["games"], total["points"], total["against"]) == (8, sum(own), sum(other))
    assert total["wins"] == sum(
        one.places[seat] == 1 for one, seat in zip(results, seats, strict=True)
    )
    for parts in (told["seats"], told["opponents"]):
        for name in ("games", "wins", "points", "against", "lost_rounds", "lost", "pips"):
            assert sum(part[name] for part in parts) == total[name]
    assert sum(part["rounds"] for part in told["rounds"]) == sum(one.rounds for one in results)
    assert sum(part["points"] for part in told["rounds"]) == sum(own) - sum(other)
    lost = [part["points"] for part in told["rounds"] if part["points"] < 0]
    assert -sum(lost) == total["lost"]
    margins = sorted(a - b for a, b in zip(own, other, strict=True) if a < b)
    assert [one["points"] - one["against"] for one in told["worst"]] == margins[:5]


def test_what_is_shown_names_the_worst_game_and_how_to_see_it(played: Path) -> None:
    shown = boneyard("explain", str(played), "--bot", "random")
    (told,) = json.loads(boneyard("explain", str(played), "--bot", "random", "--json"))
    assert shown.startswith("random won ")
    assert " % when another went out" in shown
    worst = told["worst"][0]["game"]
    assert f"boneyard explain {played} {worst} --bot random\n" in shown
    assert worst in boneyard("explain", str(played), worst, "--bot", "random")


def test_without_a_bot_of_ones_own_each_gets_a_line_that_agrees_with_its_account(
    played: Path,
) -> None:
    shown = boneyard("explain", str(played))
    lines = [line.split() for line in shown.splitlines()]
    told_all = json.loads(boneyard("explain", str(played), "--json"))
    every = {told["entrant"]: told for told in told_all}
    for bot in ("first", "greedy", "random"):
        told = every[bot]
        (line,) = [line for line in lines if line and line[0] == bot]
        points = {one["end"]: one["points"] for one in told["rounds"]}
        ends = ("won, out", "won, blocked", "lost, out", "lost, blocked")
        assert line[1] == "8"
        assert line[5:] == [f"{points.get(end, 0) / 8:+.1f}" for end in ends]
    assert "did you mean greedy" in boneyard("explain", str(played), "--bot", "gredy", code=2)


def test_the_bot_that_is_no_sample_is_meant(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    shutil.copy("sample_bots/first.py", mine)
    run(tmp_path / "event", str(mine), "greedy", "--boards", "1", "--set", "target=30")
    assert own_bot(load_event(Folder(tmp_path / "event"))) == "mine"
    assert boneyard("explain", str(tmp_path / "event")).startswith("mine won ")


# Slow: the sums of a bot are checked beside it, partners here.
@pytest.mark.slow
def test_partners_share_their_points(tmp_path: Path) -> None:
    bots = ("first", "greedy", "random", "counting")
    words = ("--rules", "partnership", "--boards", "1", "--set", "target=30")
    run(tmp_path / "event", *bots, *words)
    asked = ("explain", str(tmp_path / "event"), "--bot", "greedy")
    (told,) = json.loads(boneyard(*asked, "--json"))
    assert sum(part["games"] for part in told["partners"]) == told["total"]["games"]
    assert "\npartner " in boneyard(*asked)
    results = list(read_ledger(Folder(tmp_path / "event").ledger))
    seats = [one.seats.index("greedy") for one in results]
    gained = [one.scores[seat] for one, seat in zip(results, seats, strict=True)]
    lost = [one.scores[(seat + 1) % 4] for one, seat in zip(results, seats, strict=True)]
    assert (told["total"]["points"], told["total"]["against"]) == (sum(gained), sum(lost))
    assert sum(part["points"] for part in told["rounds"]) == sum(gained) - sum(lost)


def test_the_commands_that_say_more_need_no_folder_or_bot_that_is_meant_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.py"
    shutil.copy("sample_bots/first.py", mine)
    monkeypatch.chdir(tmp_path)
    run(tmp_path / "event", str(mine), "greedy", "--boards", "2", "--set", "target=30")
    (more,) = [line for line in boneyard("explain").splitlines() if line.startswith("See one: ")]
    _, _, *words = more.removeprefix("See one: ").split()
    assert len(words) == 1
    shown = boneyard("explain", *words)
    assert "mine in seat " in shown
    assert f"All decisions: boneyard explain {words[0]} --all\n" in shown
    assert "--seat" in boneyard("explain", *words, "--bot", "greedy")
    assert boneyard("replay", *words, "--round", "99", code=2).count("\n") == 2
