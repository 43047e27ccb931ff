"""Secrecy: the bytes that a seat is sent, and their moments, do not depend on hidden tiles.

All that is hidden is dealt anew, the same public game is played, and the byte stream to the seat
from the game's beginning and the moments of its questions must be the same. Every measure has its
leak below: a referee without the measure, which must be caught.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.bot_process import BotProcess
from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.fast_run import FAST_GAMES, examples, slow_except
from tests.support.rulesets import CROWDS, crowd_rules, rules_and_seats
from tests.support.secrecy import LEAKS, Difference, Leak, differences
from tests.support.tables import hostile, play, sample

numbers = st.integers(0, 2**32)
"""They fix chance: numbers that hypothesis chooses for a generator shuffle hardly anything."""


@examples(40)
@given(rules_and_seats(), numbers)
def test_neither_bytes_nor_moments_tell_what_is_hidden(
    table: tuple[Ruleset, int], number: int
) -> None:
    """Every turn is a question here."""
    assert not list(differences(*table, number, random.Random(number)))


@examples(40)
@given(rules_and_seats(), numbers)
def test_no_byte_tells_what_is_hidden_where_only_options_are_not_asked(
    table: tuple[Ruleset, int], number: int
) -> None:
    """The moments tell it: see the leak "an only option is not asked"."""
    leaks = differences(*table, number, random.Random(number), forced="skip")
    assert not [difference for difference in leaks if difference.kind == "bytes"]


# Slow: no named game tells a seat what is hidden from it.
@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_no_named_game_tells_what_is_hidden(name: str) -> None:
    for seats in playable_seat_counts(find_variant(name)):
        assert not list(differences(find_variant(name), seats, seats, random.Random(name)))


@pytest.mark.parametrize(("name", "seats", "differs"), slow_except(CROWDS[:1], CROWDS))
def test_no_game_of_more_than_four_seats_tells_what_is_hidden(
    name: str, seats: int, differs: dict[str, Any]
) -> None:
    assert not list(differences(crowd_rules(name, differs), seats, seats, random.Random(name)))


# --- referees that leak ---

GAMES = 40
"""Games in which a leak must show; most show in the first."""


def leaked_differences(leak: Leak, games: int = GAMES) -> Iterator[Difference]:
    for number in range(games):
        rng = random.Random(number)
        yield from differences(
            leak.rules,
            leak.seats,
            number,
            rng,
            forced=leak.forced,
            begin=leak.begin,
            asks=leak.asks,
        )


@pytest.mark.parametrize("leak_name", LEAKS)
def test_a_leak_is_caught(leak_name: str) -> None:
    leak = LEAKS[leak_name]
    caught = next(leaked_differences(leak), None)
    assert caught is not None, "Nothing was seen of it."
    assert caught.kind == leak.kind


# --- real processes ---


async def test_last_words_reach_no_other_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot's stderr stands in the log and reaches no seat."""
    sent_lines: dict[BotProcess, bytes] = {}

    class Noting(BotProcess):
        def send(self, line: bytes) -> None:
            sent_lines[self] = sent_lines.get(self, b"") + line
            super().send(line)

    monkeypatch.setattr("arena.match.bot_pool.BotProcess", Noting)
    log = tmp_path / "log.jsonl"
    await play([sample(), hostile("plumbing/stderr_terminal_codes"), sample()], log)
    assert b"much ado" in log.read_bytes()
    assert len(sent_lines) == 3
    assert all(b'"type":"bye"' in lines for lines in sent_lines.values())
    assert not [lines for lines in sent_lines.values() if b"much ado" in lines]
