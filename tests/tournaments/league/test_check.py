"""Disputes about a league are answered from its published files: each change of them is found."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.events import boneyard

SETTINGS = """\
house = ["first", "greedy", "random"]
sandbox = "off"

[[divisions]]
name = "short"
rules = { base = "draw", target = 10 }
boards_a_table = 1
boards_a_week = 56
tables_a_round = 2
"""


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two rounds of a league, and publish them."""
    place = tmp_path_factory.mktemp("league")
    (place / "league.toml").write_text(SETTINGS)
    boneyard("league", str(place), "--once", "--now", "2026-11-22T10:00", "--rounds", "2")
    return place


def test_league_and_its_site_verify(league: Path) -> None:
    ok = "OK: 2 rounds, tables chosen again, 8 games replayed, 2 boards' deals recomputed, ratings "
    for path in (league, league / "site"):
        assert boneyard("verify", str(path)).endswith(f"{ok}equal.\n")


def swap(old: str, new: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def remove(path: Path) -> None:
    (shutil.rmtree if path.is_dir() else Path.unlink)(path)


def turn_fingerprint(path: Path) -> None:
    text = path.read_text()
    digits = text.partition('"fingerprint":"')[2][:64]
    path.write_text(text.replace(digits, digits[::-1]))


def overrate(path: Path) -> None:
    """Give the first version another rating, or one at all."""
    table = json.loads(path.read_text())
    table["divisions"][0]["standings"][0]["elo"] = 4321.0
    path.write_text(json.dumps(table))


def forget_register(path: Path) -> None:
    plan = json.loads(path.read_text())
    plan["register"] = None
    path.write_text(json.dumps(plan))


def close(path: Path) -> None:
    path.write_text('{"time":"2026-11-21T10:00:00Z","why":""}')


FIRST, SECOND = "rounds/short/0001", "rounds/short/0002"
CHANGE: tuple[str, Callable[[Path], None], str] = ("league.json", overrate, "but the rounds give")
MORE: list[tuple[str, Callable[[Path], None], str]] = [
    (f"{SECOND}/round.json", swap('"anchor": "greedy"', '"anchor": "first"'), "the choice from"),
    ("register.jsonl", turn_fingerprint, "first has other files than the register admitted"),
    (SECOND, remove, "short has 2 rounds, but 1 can be read"),
    (f"{SECOND}/closed.json", close, "before its tables were chosen"),
    (f"{SECOND}/round.json", forget_register, "neither this round nor a later one was checked"),
    (f"{SECOND}/ledger.jsonl", swap('"scores":[', '"scores":[1'), "ledger.jsonl"),
    (f"{SECOND}/seeds.jsonl", swap('"seed":"', '"seed":"0'), "seeds.jsonl"),
    (f"{SECOND}/round.json", swap('"gain": ', '"gain": 1'), "reasons or gains"),
    (f"{SECOND}/round.json", swap("11-22T", "11-21T"), "before those of the last round"),
    (FIRST, remove, "0002: the next round must be 0001; no later round was checked"),
    ("register.jsonl", swap('"fingerprint":"', '"fingerprint":"f0'), "register was not read"),
    ("register.jsonl", swap('"time":"2026', '"time":"2027'), "before the time of the line above"),
    ("league.json", swap('"title": ', '"titel": '), "the ratings were not checked"),
]


@pytest.mark.parametrize(
    ("file", "change", "fault"),
    [CHANGE, *(pytest.param(*more, marks=pytest.mark.slow) for more in MORE)],
)
def test_change_of_the_site_is_found(
    league: Path, tmp_path: Path, file: str, change: Callable[[Path], None], fault: str
) -> None:
    site = tmp_path / "site"
    shutil.copytree(league / "site", site)
    change(site / file)
    problems = boneyard("verify", str(site), code=1)
    assert fault in problems
    assert "Traceback" not in problems


def test_site_verifies_while_a_round_is_played(league: Path, tmp_path: Path) -> None:
    """The site has the commitments of the open round and of rounds that are not published yet."""
    site = tmp_path / "site"
    shutil.copytree(league / "site", site)
    for number in ("0003", "0004"):
        (site / "rounds/short" / number).mkdir()
        shutil.copy(site / FIRST / "commitments.jsonl", site / "rounds/short" / number)
    assert boneyard("verify", str(site)).startswith("OK: 2 rounds")
