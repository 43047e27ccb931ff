"""Logs checked in several processes: the same faults, in the same order, as in one."""

from pathlib import Path

import pytest

from arena.logs.catalog import published_commitments, published_seeds
from arena.logs.checksummed import read_lines
from arena.processes import map_tasks
from protocol.codec import strip_checksum
from tests.support.events import copied
from tests.support.forgeries import write_sealed
from tournaments.event.folder import Folder
from tournaments.verification.logs import LogTask, Promises, check_log


def tasks(folder: Folder) -> list[LogTask]:
    seeds = published_seeds(folder.seeds)
    promises = Promises(published_commitments(folder.commitments), seeds, frozenset(seeds))
    return [LogTask(log, promises) for log in folder.logs()]


def test_processes_find_what_one_finds_in_order_of_the_logs(event: Path, tmp_path: Path) -> None:
    folder = Folder(copied(event, tmp_path))
    broken, cut, *_ = folder.logs()
    broken.write_bytes(broken.read_bytes().replace(b'"choice":0', b'"choice":1', 1))
    cut.write_bytes(cut.read_bytes()[:-1])
    serial, parallel = ([*map_tasks(check_log, tasks(folder), cores)] for cores in (1, 2))
    assert serial == parallel
    assert [check.path for check in parallel] == folder.logs()
    assert [bool(check.damage) for check in parallel] == [True] + [False] * 5
    assert [check.over for check in parallel] == [False, False] + [True] * 4
    assert all(game.game.game == game.result.game for check in parallel for game in check.games)


def test_a_wrong_seed_or_commitment_is_a_fault_of_each_game(event: Path) -> None:
    log = Folder(event).logs()[0]
    for promises, fault in (
        (Promises({}, {1: b"x" * 32, 2: b"x" * 32}, frozenset()), "follows"),
        (Promises({1: "x", 2: "x"}, {}, frozenset()), "has a different commitment"),
    ):
        (check,) = map_tasks(check_log, [LogTask(log, promises)])
        assert [len(game.faults) for game in check.games] == [1, 1]
        assert all(fault in game.faults[0] for game in check.games)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (b'"ante":0', b'"ante":1', "An ante is paid into a pot"),
        (b'"two":7', b'"two":64', "2 seats × 64 tiles need 128 tiles"),
    ],
)
def test_impossible_rules_are_damage_of_their_log_alone(
    event: Path, tmp_path: Path, before: bytes, after: bytes, sentence: str
) -> None:
    folder = Folder(copied(event, tmp_path))
    log = folder.logs()[0]
    lines = [strip_checksum(line.data) for line in read_lines(log)]
    assert before in lines[0]
    write_sealed(log, [line.replace(before, after) for line in lines])
    checks = [*map_tasks(check_log, tasks(folder), 1)]
    assert [sentence in check.damage for check in checks] == [True] + [False] * 5
