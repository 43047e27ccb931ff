"""Two bots that try every wire between them: whole hands pass without the filter, none with it."""

import json
import math
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from arena.logs.gamelog import LoggedGame, read_games
from arena.sandbox import command, process
from arena.sandbox.command import Command
from arena.sandbox.limits import REQUIRED, Level
from arena.sandbox.select import examine_level
from protocol.records import ChoiceRecord
from tests.bots.hostile.wires import BITS, NUMBERS, WIRES
from tests.support.events import boneyard
from tests.support.tables import BOTS, play, reads
from tournaments.storage.folder import Folder

FOLDER = BOTS / "hostile"
ENTRY = """
[[bots]]
name = "{name}"
run = ["{{python}}", "-I", "-S", "wires.py", "0"]
folder = "{folder}"
"""
SIGMAS = 4
"""How far from chance a count is no more chance."""
TRIES = 20
"""Games at most until none but the two bots has moved the memory that all share."""


def bots() -> list[Command]:
    """Return two bots that look at the same files, and at none of another pair's."""
    first = str(secrets.randbelow(20) * len(WIRES) * BITS)
    argv = (sys.executable, "-I", "-S", "wires.py", first)
    return [Command(argv, str(FOLDER), reads(FOLDER))] * 2


class Passed(Counter[str]):
    """The hands that each wire passed, and the remainders by 17 that the memory did, of `tries`."""

    def __init__(self, games: Iterable[LoggedGame]) -> None:
        super().__init__()
        self.tries = 0
        for game in games:
            for left, found in pairs(game):
                self.tries += 1
                self.update(name for name in WIRES if found[name] == left)
                self["memory"] += found["memory"] == left % NUMBERS


def pairs(game: LoggedGame) -> Iterator[tuple[int, dict[str, int | None]]]:
    """Yield the hand that one bot left, and what the other, asked next, found."""
    before: tuple[int, int] | None = None
    for record in game.records:
        if isinstance(record, ChoiceRecord):
            note = json.loads(record.note)
            if before and before[0] != record.seat:
                yield before[1], note["found"]
            before = record.seat, note["left"]


def best() -> Level:
    """Return the best level at which bots cannot notice each other."""
    for level in REQUIRED:
        if examine_level(level, Path(tempfile.gettempdir())).confirmed:
            return level
    pytest.skip("no level A or B here")


def nothing_passed(passed: Passed) -> None:
    """Whole hands are never guessed; remainders are, as often as chance has it."""
    assert passed.tries > 100
    assert not {name: passed[name] for name in WIRES if passed[name]}
    chance = passed.tries / NUMBERS
    assert passed["memory"] < chance + SIGMAS * math.sqrt(chance)


@pytest.mark.slow
def test_no_hand_passes_in_a_whole_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    best()
    entries = "".join(ENTRY.format(name=name, folder=FOLDER) for name in ("one", "other"))
    (tmp_path / "wires.toml").write_text(entries)
    monkeypatch.chdir(tmp_path)
    boneyard("run", "wires.toml", "--boards", "5", "--sandbox", "require", "--out", "out")
    logs = Folder(tmp_path / "out").logs()
    assert logs
    nothing_passed(Passed(game for log in logs for game in read_games(log)))


@pytest.mark.slow
@pytest.mark.parametrize("level", REQUIRED)
async def test_no_hand_passes_at_a_table(level: Level, tmp_path: Path) -> None:
    finding = examine_level(level, Path(tempfile.gettempdir()))
    if not finding.confirmed:
        pytest.skip(finding.why_not)
    await play(bots(), tmp_path / "log", games=5, level=level)
    nothing_passed(Passed(read_games(tmp_path / "log")))


@pytest.mark.slow
async def test_without_the_filter_hands_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = best()
    monkeypatch.setattr(process, "filter_program", lambda **_: None)
    await play(bots(), tmp_path / "log", games=3, level=level)
    passed = Passed(read_games(tmp_path / "log"))
    # A busy machine spoils most tries; but no whole hand is ever guessed.
    assert {name for name in WIRES if passed[name]} == {*WIRES}


@pytest.mark.slow
async def test_without_the_covers_of_proc_hands_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    level = best()
    monkeypatch.setattr(command, "STEADY", frozenset(os.listdir("/proc")))  # noqa: PTH208
    for number in range(TRIES):
        await play(bots(), tmp_path / f"log{number}", games=1, level=level)
        passed = Passed(read_games(tmp_path / f"log{number}"))
        if passed["memory"] > 3 * passed.tries / NUMBERS:
            return
    pytest.fail("no hand was counted")
