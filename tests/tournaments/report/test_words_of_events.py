"""The words of finished events, of every format: `pytest --snapshot-update` renews them."""

import re
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.events import EVENTS, boneyard, finished, fits, summary
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder, load_event

CHANGING = re.compile(r"\b[0-9a-f]{12}([0-9a-f]{52})?\b|\b\d+(\.\d+)? (?=m?s\b)")
"""Fingerprints of bots and commitments, and times."""


def words(name: str, command: str, *more: str) -> str:
    """Return the output of a command about an event, without what differs between two runs."""
    folder = str(finished(name))
    output = boneyard(command, folder, *more).replace(folder, "EVENT")
    return CHANGING.sub("…", re.sub(r" +$", "", output, flags=re.MULTILINE))


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_shown_explained_and_verified(name: str, snapshot: SnapshotAssertion) -> None:
    assert fits(finished(name))
    counts, folder = summary(finished(name)), Folder(finished(name))
    assert Ledger(Book(folder, load_event(folder))).planned == counts["played"] == counts["planned"]
    assert words(name, "show") == snapshot(name="show")
    assert words(name, "explain") == snapshot(name="explain")


@pytest.mark.parametrize("name", ["partners", "fouls", "reviewed"])
def test_the_report_of_an_event(name: str, snapshot: SnapshotAssertion) -> None:
    report = (finished(name) / "report.md").read_text()
    # The tests' own interpreter is called python3 elsewhere.
    report = report.replace(f"`{Path(sys.executable).name} ", "`python ")
    assert CHANGING.sub("…", report) == snapshot
