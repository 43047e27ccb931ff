"""The counts by depth in perft.jsonl are what the engine counts, for every named game."""

import msgspec
import pytest

from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import playable_seat_counts
from tests.support.fast_run import FAST_GAMES, slow_except
from tests.support.perft import FILE, recounted

ENTRIES = [msgspec.json.decode(line) for line in FILE.read_bytes().splitlines()]


# Slow: no change of the engine adds or loses an option anywhere.
@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_counts_by_depth(name: str) -> None:
    entries = [entry for entry in ENTRIES if entry["game"] == name]
    assert {entry["seats"] for entry in entries} == set(playable_seat_counts(find_variant(name)))
    for entry in entries:
        assert recounted(entry) == entry["counts"]
