"""The faults that verify finds, each once, and the damage with which no run goes on."""

import os
import re
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from arena.logs.catalog import published_seeds
from arena.logs.checksummed import append_records, compress
from arena.logs.gamelog import read_records
from protocol.codec import decode_result, encode_line
from protocol.records import GameRecord, SittingOver
from tests.support.events import EVENTS, SMALL, boneyard, copy_of, outputs, run
from tests.support.fast_run import slow_except
from tests.support.forgeries import forge
from tests.support.tables import flips
from tournaments.commands import run as play_event
from tournaments.event.book import Book, ResultStore, read_ledger
from tournaments.event.facts import log_facts
from tournaments.event.folder import Folder, load_event, reveal, reveal_more
from tournaments.report.report import report_files
from tournaments.verification.event import verify_folder


def rerun(folder: Path, code: int = 0) -> str:
    return run(folder, *SMALL, code=code)


def faults(folder: Path) -> list[str]:
    return list(verify_folder(Folder(folder)))


def change(path: Path, old: bytes, new: bytes) -> None:
    before = path.read_bytes()
    path.write_bytes(re.sub(old, new, before, count=1))
    assert path.read_bytes() != before


def drop_lines(path: Path, count: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-count]))


def log(folder: Path) -> Path:
    return folder / "games" / "from-1.first.greedy.jsonl"


# Slow: no byte of what an event publishes can be changed unseen; one flip in eleven or three.
@pytest.mark.parametrize(
    ("name", "step"),
    slow_except(
        [("seeds.jsonl", 3)], [("ledger.jsonl", 11), ("seeds.jsonl", 3), ("commitments.jsonl", 3)]
    ),
)
def test_every_flipped_byte_is_found(folder: Path, name: str, step: int) -> None:
    offsets = islice(flips(folder / name), 0, None, step)
    first_faults = [next(verify_folder(Folder(folder)), None) for _ in offsets]
    assert len(first_faults) > 5 * (folder / name).stat().st_size // step
    assert all(first_faults)
    assert faults(folder) == []


def test_the_published_files_are_enough(folder: Path) -> None:
    (folder / "private/secret.key").unlink()
    output = boneyard("verify", str(folder))
    assert "OK: " in output
    digest = re.search("SHA-256 is ([0-9a-f]{64}):", output)
    assert digest
    assert digest[1] in (folder / "report.md").read_text()
    assert digest[1] in (folder / "results.json").read_text()


def reorder(path: Path, *order: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[index] for index in order))


def hide_seeds(folder: Path) -> Path:
    """Return the commitments of an event that has revealed no seed."""
    (folder / "seeds.jsonl").write_bytes(b"")
    return folder / "commitments.jsonl"


LATER = "its SHA-256 is not the one in results.json"
UNEQUAL = "has a different commitment from the published one"
TWINS = "board 1 was there before"
SHORT = r"has {} of the 12 results that results.json reports; the report was not checked$"
CUT = "lines are missing at its end: {} of the ledger"
DAMAGE: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "a byte of a log": (
        lambda folder: change(log(folder), b'"type":"choice"', b'"type":"chOice"'),
        (
            r"first\.greedy\.jsonl, line \d+, byte \d+: its checksum does not match; "
            r"nothing after it was checked: 2 results of the ledger are not confirmed$",
        ),
    ),
    "a log's end": (lambda folder: drop_lines(log(folder), 1), (CUT.format("0 results"),)),
    "a game's end": (lambda folder: drop_lines(log(folder), 2), (CUT.format("1 result"),)),
    "a log's lines": (lambda folder: drop_lines(log(folder), 500), (CUT.format("2 results"),)),
    "a log's name": (
        lambda folder: log(folder).rename(folder / "games" / "friday.jsonl"),
        ("greedy.jsonl is missing: 2 results of the ledger are not confirmed$", "no such sitting"),
    ),
    "another log": (
        lambda folder: shutil.copy(folder / "games/from-1.greedy.first.jsonl", log(folder)),
        ("differ from the plan", "1.greedy.first does not belong in this log"),
    ),
    "a log's commitments": (
        lambda folder: forge(
            log(folder), lambda body: re.sub(rb'"commitment":"....', b'"commitment":"0000', body)
        ),
        (UNEQUAL, UNEQUAL),
    ),
    "a seed": (
        lambda folder: change(folder / "seeds.jsonl", rb'"seed":"....', b'"seed":"0000'),
        ("board 1: the revealed seed does not match its commitment",),
    ),
    "a held-back seed": (
        lambda folder: drop_lines(folder / "seeds.jsonl", 1),
        ("board 2 is over, but its seed is missing",),
    ),
    "a seed twice": (lambda folder: reorder(folder / "seeds.jsonl", 0, 1, 0), (TWINS,)),
    "a commitment twice": (lambda folder: reorder(folder / "commitments.jsonl", 0, 1, 0), (TWINS,)),
    "the order of commitments": (
        lambda folder: reorder(folder / "commitments.jsonl", 1, 0),
        (LATER,),
    ),
    "an open board's commitment": (
        lambda folder: change(hide_seeds(folder), rb'"sha256":"....', b'"sha256":"0000'),
        (LATER,),
    ),
    "an open board without one": (
        lambda folder: drop_lines(hide_seeds(folder), 1),
        ("must have a commitment for each of 2 boards",),
    ),
    "a line of the ledger": (
        lambda folder: drop_lines(folder / "ledger.jsonl", 1),
        (SHORT.format(11),),
    ),
    "all of the ledger": (
        lambda folder: drop_lines(folder / "ledger.jsonl", 12),
        (SHORT.format(0),),
    ),
    **{
        name: (lambda folder, name=name: (folder / name).unlink(), (name,))  # type: ignore[misc]
        for name in ("report.md", "report.html", "results.json")
    },
}
FAULT_COUNTS = {
    "another log": 6,
    "a commitment twice": 5,
    "the order of commitments": 5,
    "an open board's commitment": 11,
    "an open board without one": 7,
}
"""Faults of damage that every game or file of the report shows; all other is told once."""


@pytest.mark.parametrize("name", DAMAGE)
def test_verify_names_each_damage(folder: Path, name: str) -> None:
    damage, patterns = DAMAGE[name]
    damage(folder)
    messages = faults(folder)
    assert len(messages) == FAULT_COUNTS.get(name, len(patterns))
    assert all(any(re.search(pattern, fault) for fault in messages) for pattern in patterns)


def test_a_forged_result_is_found_in_log_and_ledger(folder: Path) -> None:
    def lie(body: bytes) -> bytes:
        if b'"result","game":"1.first.greedy"' not in body:
            return body
        return encode_line(decode_result(body.replace(b'"places":[1,2]', b'"places":[2,1]')))[:-1]

    forge(folder / "ledger.jsonl", lie)
    contradiction, *reports = faults(folder)
    assert "the ledger has a different result of 1.first.greedy" in contradiction
    assert all("does not follow from the ledger" in report for report in reports)
    forge(log(folder), lie)
    assert "follows" in faults(folder)[0]


def test_verify_finds_a_game_with_two_results(folder: Path) -> None:
    """A forger's log with two results of one game, its checksums and its end in order."""
    records = [entry.record for entry in read_records(log(folder))]
    games = [index for index, record in enumerate(records) if isinstance(record, GameRecord)]
    first, second = games
    game = getattr(records[first], "game", None)
    doubled = [*records[:second], *records[1:-1]]
    end = SittingOver(games=3, records=len(doubled))
    log(folder).write_bytes(b"")
    descriptor = os.open(log(folder), os.O_WRONLY)
    append_records(descriptor, [*doubled, end], 0)
    os.close(descriptor)
    assert faults(folder) == [f"{log(folder)}: {game} has two results"]


@pytest.mark.parametrize("name", ["round-robin", "swiss"])
def test_a_missing_ledger_is_named_and_the_same_run_restores_it(tmp_path: Path, name: str) -> None:
    copy_of(name, tmp_path)
    reference = outputs(tmp_path)
    (tmp_path / "ledger.jsonl").unlink()
    missing, *later = faults(tmp_path)
    assert missing == f"{tmp_path / 'ledger.jsonl'} is missing; the report was not checked"
    assert all("4 logs of later rounds were not checked" in fault for fault in later)
    assert len(later) == (name == "swiss")
    run(tmp_path, *EVENTS[name])
    assert outputs(tmp_path) == reference
    assert faults(tmp_path) == []


def test_a_log_is_checked_though_the_ledger_is_short(tmp_path: Path) -> None:
    """The event is a Swiss, whose later rounds follow from the results before them."""
    copy_of("swiss", tmp_path)
    drop_lines(tmp_path / "ledger.jsonl", 1)
    last = Folder(tmp_path).logs()[-1]
    change(last, b'"type":"choice"', b'"type":"chOice"')
    short, damage = faults(tmp_path)
    assert "results that results.json reports; the report was not checked" in short
    assert f"{last}, line " in damage


def test_reported_games_are_not_replayed_silently(folder: Path) -> None:
    """The seeds of its boards are public."""
    (folder / "ledger.jsonl").unlink()
    path = log(folder)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    output = rerun(folder)
    assert "reported games are missing and will be replayed, on deals that may" in output
    (folder / "ledger.jsonl").unlink()
    shutil.rmtree(folder / "games")
    assert "results.json reports 12 games, but neither ledger.jsonl nor the" in rerun(folder, 2)


def test_a_report_from_before_a_kill_is_no_fault(folder: Path) -> None:
    """The ledger may be longer than the report knows, as after a kill."""
    plan, results = load_event(Folder(folder)), list(read_ledger(folder / "ledger.jsonl"))
    facts = log_facts(Folder(folder), {result.game for result in results[:5]})
    for path, lines in report_files(
        Book(Folder(folder), plan, ResultStore(results[:5])), facts=facts
    ).items():
        path.write_bytes(b"".join(lines))
    assert faults(folder) == []
    change(folder / "report.md", b"5 of 12", b"6 of 12")
    assert len(faults(folder)) == 1


def test_a_lone_log_is_checked_with_its_seeds(folder: Path, tmp_path: Path) -> None:
    lone = tmp_path / "lone" / "somewhere" / "log.jsonl"
    lone.parent.mkdir(parents=True)
    lone.write_bytes(log(folder).read_bytes())
    seeds = str(folder / "seeds.jsonl")
    assert "--seeds" in boneyard("verify", str(lone), code=2)
    assert "OK: " in boneyard("verify", str(lone), "--seeds", seeds)
    forge(lone, lambda body: re.sub(rb'"commitment":"....', b'"commitment":"0000', body))
    assert "its first record" in boneyard("verify", str(lone), "--seeds", seeds, code=1)
    lone.write_bytes(log(folder).read_bytes())
    drop_lines(lone, 1)
    assert "the end is missing" in boneyard("verify", str(lone), "--seeds", seeds, code=1)
    change(lone, b'"type":"choice"', b'"type":"chOice"')
    assert "was checked" in boneyard("verify", str(lone), "--seeds", seeds, code=1)


@pytest.mark.parametrize("name", ["ledger.jsonl", "report.html", "event.json", "seeds.jsonl"])
@pytest.mark.parametrize("command", ["verify", "explain", "replay"])
def test_a_file_that_is_no_log_is_not_called_damaged(event: Path, command: str, name: str) -> None:
    path = event / name
    hint = f"name its event's folder, as in `boneyard verify {event}`."
    assert boneyard(command, str(path), code=2) == f"boneyard: {path} is not a game log; {hint}\n"


@pytest.mark.parametrize("offset", [0, 12, 40])
def test_a_log_with_a_damaged_first_line_is_still_a_log(folder: Path, offset: int) -> None:
    lone = folder / "lone.jsonl"
    data = bytearray(log(folder).read_bytes())
    data[offset] ^= 1
    for path in (lone, log(folder)):
        path.write_bytes(data)
        output = boneyard("verify", str(path), code=1)
        assert "line 1, byte 0: its checksum does not match; nothing after it was checked" in output
    log(folder).write_bytes(data[:40])
    assert "the end is missing" in boneyard("verify", str(log(folder)), code=1)


def test_a_folder_in_which_there_is_nothing_to_check_is_refused(folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    output = boneyard("verify", str(empty), code=2)
    assert output == f"boneyard: {empty} has no event and no game logs.\n"
    (folder / "event.json").unlink()
    assert "has no event: event.json is missing" in boneyard("verify", str(folder), code=2)


# --- what a run goes on with, and what it refuses ---


def test_torn_lines_are_mended_with_a_notice_each(event: Path, folder: Path) -> None:
    torn = {folder / "ledger.jsonl": 12, log(folder): 2}
    for path, lines in torn.items():
        drop_lines(path, lines)
        path.write_bytes(path.read_bytes() + b'{"type"')
    output = rerun(folder)
    for path in torn:
        assert f"{path}: the last line was cut short; its 7 bytes were removed.\n" in output
    assert outputs(folder) == outputs(event)
    assert faults(folder) == []


@pytest.mark.parametrize("name", ["ledger.jsonl", "games/from-1.first.greedy.jsonl"])
def test_damage_is_refused_before_any_game_is_played(folder: Path, name: str) -> None:
    path = folder / name
    if name == "ledger.jsonl":
        change(path, b'"rounds":', b'"roUnds":')
    else:
        (folder / "ledger.jsonl").write_bytes(b"")
        change(path, b'"type":"choice"', b'"type":"chOice"')
    before = {log: log.read_bytes() for log in (folder / "games").iterdir()}
    output = rerun(folder, code=2)
    assert re.search(rf"{re.escape(name)}, line \d+, byte \d+: its checksum does not match", output)
    assert {log: log.read_bytes() for log in (folder / "games").iterdir()} == before


def test_a_ledger_of_other_games_is_refused(folder: Path) -> None:
    forge(folder / "ledger.jsonl", lambda body: body.replace(b"2.first.greedy", b"9.first.greedy"))
    why = "game '9.first.greedy': it should be '2.first.greedy', after its board and seats"
    assert why in rerun(folder, code=2)


def test_a_run_does_not_replace_what_only_logs_that_are_gone_knew(folder: Path) -> None:
    times = (folder / "times.json").read_bytes()
    log(folder).unlink()
    assert "The log of 1.first.greedy is missing" in rerun(folder, code=2)
    assert (folder / "times.json").read_bytes() == times
    (folder / "times.json").unlink()
    rerun(folder)
    rerun(folder)


@pytest.mark.parametrize("name", ["commitments.jsonl", "private/secret.key"])
def test_other_deals_than_were_promised_are_refused(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[20] ^= 1
    (folder / name).write_bytes(data)
    assert "does not match secret.key" in rerun(folder, code=2)


def test_a_finished_event_without_a_report_is_named_and_a_killed_one_is_not(folder: Path) -> None:
    (folder / "results.json").unlink()
    (missing,) = faults(folder)
    assert missing.startswith(f"{folder / 'results.json'}: the file is missing; the same")
    ledger = folder / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    assert not any("results.json" in fault for fault in faults(folder))


def test_a_seed_is_revealed_as_soon_as_its_board_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public: list[list[int]] = []

    def note_reveals(reveal: Callable[..., None]) -> Callable[..., None]:
        def reveal_and_note(*words: object) -> None:
            reveal(*words)
            public.append(list(published_seeds(tmp_path / "seeds.jsonl")))

        return reveal_and_note

    monkeypatch.setattr(play_event, "reveal", note_reveals(reveal))
    monkeypatch.setattr(play_event, "reveal_more", note_reveals(reveal_more))
    rerun(tmp_path)
    *over, sorted_at_the_end = public
    assert over, "No seed waits for the end of the run."
    assert over[-1] == sorted_at_the_end == [1, 2]


def test_a_packed_log_is_found_under_its_own_name(folder: Path) -> None:
    log, *_ = Folder(folder).logs()
    if log.exists():
        compress(log)
    assert not log.exists()
    assert "OK: " in boneyard("verify", str(log))
    assert "greedy" in boneyard("replay", str(log))
    assert "There is no file or folder" in boneyard(
        "verify", str(log.with_name("other.jsonl")), code=2
    )
