"""results.json stands for the results only while nothing that it is made from has changed."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.events import SMALL, boneyard, copy_of, run
from tournaments.event.book import Book, ResultStore
from tournaments.event.folder import Folder, load_event
from tournaments.rating import tables
from tournaments.report.event_text import by_ratings
from tournaments.report.results_file import current_results
from tournaments.report.standings import pool_sections

FAR = 2**62  # A moment later than every other, in ns.


def test_a_report_is_current_until_a_source_changes(tmp_path: Path) -> None:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    boneyard("report", str(folder.path))
    event = load_event(folder)
    summary = current_results(Book(folder, event))
    assert summary
    assert summary.played == 12
    shorter = ResultStore(list(Book(folder, event).results.values())[:11])
    assert current_results(Book(folder, event, shorter)) is None
    for source in (folder.event, folder.ledger, folder.path / "games"):
        before = source.stat().st_mtime_ns
        os.utime(source, ns=(FAR, FAR))
        assert current_results(Book(folder, event)) is None
        os.utime(source, ns=(before, before))
    folder.commitments.write_bytes(folder.commitments.read_bytes() + b"\n")
    assert current_results(Book(folder, event)) is None


def test_a_large_pool_is_stored_without_its_matrices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    for most in (3, 2):
        monkeypatch.setattr(tables, "MOST_COMPARED", most)
        boneyard("report", str(folder.path))
        summary = current_results(Book(folder))
        assert summary
        (pool,), (full,) = summary.ratings.pools, Book(folder).ratings.pools
        assert len(full.los) == len(pool.entrants) == 3
        matrices = (pool.errors, pool.los, pool.crosstable)
        assert matrices == ((full.errors, full.los, full.crosstable) if most == 3 else ((),) * 3)
        assert replace(full, errors=(), los=(), crosstable=()) == replace(
            pool, errors=(), los=(), crosstable=()
        )
        assert pool_sections(pool, None) == pool_sections(full, None)
        assert by_ratings(pool) == by_ratings(full)
        assert "greedy" in boneyard("show", str(folder.path))


def test_a_run_with_nothing_to_do_writes_no_report(tmp_path: Path) -> None:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    boneyard("report", str(folder.path))
    before = folder.page.stat().st_mtime_ns
    run(folder.path, *SMALL)
    assert folder.page.stat().st_mtime_ns == before
    folder.crosstable.unlink()
    run(folder.path, *SMALL)
    assert folder.page.stat().st_mtime_ns > before
    assert folder.crosstable.exists()
