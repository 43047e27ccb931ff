"""Facts that the logs alone know: of games that count, bounded, the same at each reading."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.logs.checksummed import append_records, grep_prefix
from arena.machine import machine
from protocol.messages import MAX_INFO, Clock
from protocol.records import (
    FoulRecord,
    GameRecord,
    InfoSum,
    LogRecord,
    Result,
    SeatFoul,
    Sitting,
    SpentRecord,
)
from protocol.ruleset import Ruleset
from tests.support.tables import sitting
from tournaments.event import facts as measuring
from tournaments.event.facts import (
    EXAMPLES,
    LAST_WORDS,
    InfoStats,
    Machine,
    SandboxSummary,
    keep_facts,
    log_facts,
)
from tournaments.event.folder import Folder
from tournaments.report import event_text

SEATS = ("ada", "bob")


def game_record(board: int) -> GameRecord:
    return GameRecord(game=f"{board}.ada.bob", number=board, board=board, commitment="0" * 64)


def foul_record(stderr: str = "", detail: str = "") -> FoulRecord:
    return FoulRecord(seat=1, foul="late", detail=detail, stderr=stderr)


def end_records(board: int, ms: float = 3.0) -> list[LogRecord]:
    return [
        SpentRecord(
            questions=(2, 3), ms=(ms, 6.0), worst_ms=(ms, 4.0), given_back_ms=(7.5, 0.0),
            cpu_ms=(1.0, None), worst_lag_ms=7.5,
            info=({"depth": InfoSum(2, ms + 1, 1.0, ms)}, {}),
        ),
        Result(
            game=f"{board}.ada.bob", board=board, seats=SEATS, scores=(9, 0), places=(1, 2),
            rounds=1, why="foul", fouls=(SeatFoul(1, "late"),),
        ),
    ]  # fmt: skip


def part(machine: str = "a machine", sandbox: str = "locked", worker: str | None = None) -> Sitting:
    return replace(
        sitting(SEATS, range(1, 9), Ruleset(name="draw"), Clock()),
        machine=machine, boneyard="1.2", sandbox=sandbox, worker=worker,
    )  # fmt: skip


def log(path: Path, name: str, records: list[LogRecord], machine: str = "a machine") -> None:
    target = path / "games" / f"{name}.jsonl"
    target.parent.mkdir(exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT)
    append_records(descriptor, [part(machine), *records], 0)
    os.close(descriptor)


def test_only_games_that_count_are_in_the_facts(tmp_path: Path) -> None:
    cut: list[LogRecord] = [game_record(2), foul_record(detail="cut off")]
    records: list[LogRecord] = [game_record(1), foul_record(detail="cut off too"), game_record(1)]
    records += [foul_record(detail="it counts"), *end_records(1)]
    log(tmp_path, "a", [*records, *cut])
    log(tmp_path, "b", [game_record(3), *end_records(3, ms=50.0)], "another machine")
    log(tmp_path, "c", [game_record(4), foul_record(detail="no results yet")], "a third machine")
    facts = log_facts(Folder(tmp_path))
    assert [example.detail for example in facts.evidence] == ["it counts"]
    assert facts.times.worst_lag_ms == 7.5
    ada, bob = facts.times.entrants
    assert ada.info == {"depth": InfoStats(4, 13.75, 1.0, 50.0)}
    assert bob.info is UNSET
    assert (ada.questions, ada.mean_ms, ada.worst_ms, ada.cpu_ms) == (4, 13.25, 50.0, 0.5)
    assert (bob.questions, bob.mean_ms, bob.cpu_ms) == (6, 2.0, None)
    assert (ada.given_back_ms, bob.given_back_ms) == (15.0, 0.0)
    assert facts.machines == (
        (Machine("a machine", "1.2"), 1),
        (Machine("another machine", "1.2"), 1),
    )


def test_evidence_is_bounded_and_in_order(tmp_path: Path) -> None:
    """Whichever log is read first, the first boards stay."""
    for board in (5, 3, 8, 1, 7, 2):
        words = "x" * LAST_WORDS + f" board {board}"
        log(tmp_path, f"{9 - board}", [game_record(board), foul_record(words), *end_records(board)])
    facts = log_facts(Folder(tmp_path))
    boards = [example.board for example in facts.evidence]
    assert boards == [1, 2, 3] == list(range(1, EXAMPLES + 1))
    for example in facts.evidence:
        assert example.stderr.startswith("…xx")
        assert example.stderr.endswith(f" board {example.board}")
        assert len(example.stderr) == LAST_WORDS + 1
        assert (example.entrant, example.seat, example.foul) == ("bob", 1, "late")


def test_facts_name_the_machine_and_no_user(tmp_path: Path) -> None:
    assert machine().startswith("Linux ")
    assert "Python 3." in machine()
    assert os.uname().nodename not in machine()
    assert log_facts(Folder(tmp_path)).machines == ()
    assert measuring.STARTS[0] == b'{"type":"sitting",'


def test_kept_facts_are_those_of_the_logs(tmp_path: Path) -> None:
    """Whatever happened to the logs and to the kept facts since."""
    folder, games = Folder(tmp_path), {f"{board}.ada.bob" for board in range(1, 6)}

    def agree(listed: set[str] | None = None) -> None:
        assert keep_facts(folder, games, listed) == log_facts(folder, games, listed)

    agree()
    for board in (1, 2):
        log(tmp_path, f"{board}", [game_record(board), foul_record("x"), *end_records(board)])
        agree()
    agree({"1.ada.bob"})
    log(tmp_path, "0", [game_record(4), *end_records(4), game_record(6), *end_records(6)])
    agree()
    games |= {"6.ada.bob"}
    agree()
    games -= {"1.ada.bob"}
    agree()
    log(tmp_path, "2", [game_record(3), *end_records(3, ms=80.0), game_record(2), *end_records(2)])
    agree()
    (tmp_path / "games" / "1.jsonl").unlink()
    agree()
    good = folder.facts.read_bytes()
    for start in (0, 300, len(good) - 100):
        folder.facts.write_bytes(good[:start] + b"{")
        agree()
    folder.facts.write_bytes(good.replace(b"80.0", b"90.0"))
    agree()
    folder.facts.unlink()
    folder.facts.mkdir()
    agree()
    (tmp_path / "games" / "gone.jsonl").symlink_to("nowhere")
    (tmp_path / "games" / os.fsdecode(b"\xff.jsonl")).touch()
    agree()


def test_facts_that_other_code_kept_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    log(tmp_path, "1", [game_record(1), *end_records(1)])
    with monkeypatch.context() as other:
        other.setattr(measuring, "KEPT_BY", 1)
        other.setattr(measuring, "_read_log", lambda *_: measuring._LogSums())
        assert keep_facts(folder, {"1.ada.bob"}, None).times.entrants == ()
    assert len(keep_facts(folder, {"1.ada.bob"}, None).times.entrants) == 2


def test_a_log_that_was_restored_is_read_again(tmp_path: Path) -> None:
    """Its size and its time are the old ones."""
    folder, games = Folder(tmp_path), {"1.ada.bob"}
    log(tmp_path, "1", [game_record(1), *end_records(1, ms=3.0)])
    path, status = folder.log("1"), folder.log("1").stat()
    facts = keep_facts(folder, games, games)
    path.write_bytes(path.read_bytes().replace(b"3.0", b"9.0"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    while path.stat().st_ctime_ns == status.st_ctime_ns:
        path.chmod(0o600)  # Until the file system's clock has ticked.
    assert path.stat().st_size == status.st_size
    assert keep_facts(folder, games, games).times != facts.times


def test_the_first_names_of_numbers_are_those_of_all_games(tmp_path: Path) -> None:
    """Also of those that another log has behind many others."""
    counts = [
        {f"k{number}": InfoSum(1, 1.0, 1.0, 1.0) for number in range(first, first + MAX_INFO)}
        for first in (0, MAX_INFO, 8)
    ]
    for name, boards in (("a", (1,)), ("b", (2, 3))):
        records: list[LogRecord] = []
        for board in boards:
            spent, result = end_records(board)
            records += [game_record(board), replace(spent, info=(counts[board - 1], {})), result]
        log(tmp_path, name, records)
    ada, _ = log_facts(Folder(tmp_path)).times.entrants
    assert ada.info
    assert {*ada.info} == {*counts[0]}
    assert [ada.info[name].answers for name in ("k7", "k8", "k15")] == [1, 2, 2]


def test_a_foul_of_a_seat_that_nobody_has_is_left_out(tmp_path: Path) -> None:
    strange = replace(foul_record(), seat=5)
    log(tmp_path, "1", [game_record(1), strange, foul_record(), *end_records(1)])
    assert [example.seat for example in log_facts(Folder(tmp_path)).evidence] == [1]


def test_a_log_that_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, games = Folder(tmp_path), {"1.ada.bob", "2.ada.bob"}
    log(tmp_path, "1", [game_record(1), *end_records(1)])
    keep_facts(folder, games, games)
    log(tmp_path, "2", [game_record(2), *end_records(2)])
    read: list[Path] = []

    def read_and_tell(path: Path, prefixes: tuple[bytes, ...]) -> Iterator[bytes]:
        read.append(path)
        return grep_prefix(path, prefixes)

    monkeypatch.setattr("tournaments.event.facts.grep_prefix", read_and_tell)
    facts = keep_facts(folder, games, games)
    assert read == [folder.log("2")]
    assert facts.times.entrants[0].games == 2


def test_a_sitting_counts_once_for_each_way_in_which_it_was_confined(tmp_path: Path) -> None:
    records: list[LogRecord] = [game_record(1), *end_records(1), game_record(2), *end_records(2)]
    records += [
        part(sandbox="off", worker="lab"),
        game_record(3),
        *end_records(3),
        part(sandbox="sealed"),
        game_record(4),
    ]
    log(tmp_path, "a", records)
    log(tmp_path, "b", [game_record(5), *end_records(5)])
    log(tmp_path, "c", [game_record(6), foul_record()])
    sandboxes = log_facts(Folder(tmp_path)).sandboxes
    assert sandboxes == (
        SandboxSummary("locked", (), 2, 2),
        SandboxSummary("off", (), 1, 2, ("lab",)),
    )
    assert [text for text, _ in event_text.sandbox_text(sandboxes)] == [
        "Sandbox: locked in all 2 sittings.",
        "Sandbox: off in 1 of 2 sittings, on lab.",
    ]
    assert event_text.describe_share(1, 1) == "in the one sitting"
