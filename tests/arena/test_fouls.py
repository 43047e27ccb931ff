"""One misbehaving process for each foul: named, priced, and nothing left behind."""

from pathlib import Path
from typing import get_args

import pytest

from arena.gamelog import read_games
from arena.sandbox.limits import Limits
from protocol.messages import Clock
from protocol.records import FoulClass, FoulRecord
from tests.arena.tables import CLOCK, descriptors, misbehaving, play, sample, vanished

SOON = Clock(start_ms=20_000, move_ms=900, bank_ms=100)
START_SOON = Clock(start_ms=3_000, move_ms=10_000, bank_ms=0)

SMALL = Limits(memory_mib=64)

BEHAVIOURS: dict[str, tuple[FoulClass, Clock, str]] = {
    "late": ("late", SOON, "1000 ms"),
    "dribbling": ("late", SOON, "1000 ms"),
    "illegal": ("illegal", CLOCK, "999"),
    "malformed": ("malformed", CLOCK, "Not a message"),
    "unknown-field": ("malformed", CLOCK, "love"),
    "overlong": ("overlong", CLOCK, "65536"),
    "endless": ("overlong", CLOCK, "65536"),
    "gone": ("gone", CLOCK, "status 3"),
    "crash": ("gone", CLOCK, "status 1"),
    "closed": ("gone", CLOCK, "stdout"),
    "heir": ("gone", CLOCK, "status 0"),
    "signal": ("gone", CLOCK, "signal 40"),
    "stalling": ("late", SOON, " ms."),
    "flooding": ("flooding", CLOCK, "not open"),
    "memory": ("memory", CLOCK, "64 MiB"),
    "deaf": ("late", SOON, "1000 ms"),
    "silent": ("no_hello", START_SOON, "3000 ms"),
    "wrong-version": ("no_hello", CLOCK, "protocol 2"),
    "no-hello": ("no_hello", CLOCK, "Not a message"),
}


def test_every_foul_class_has_its_bot() -> None:
    # A forfeit is no behaviour: it is what earlier fouls cost.
    assert {foul for foul, _, _ in BEHAVIOURS.values()} | {"forfeit"} == set(get_args(FoulClass))


@pytest.mark.parametrize("how", BEHAVIOURS)
async def test_a_misbehaving_bot_costs_its_own_game_and_nothing_else(
    how: str, tmp_path: Path
) -> None:
    foul, clock, detail = BEHAVIOURS[how]
    before = descriptors()
    log = tmp_path / "log.jsonl"
    (result,) = await play([sample(), misbehaving(how, str(tmp_path))], log, clock, limits=SMALL)
    assert [(one.seat, one.foul) for one in result.fouls] == [(1, foul)]
    assert result.places == (1, 2)
    (game,) = read_games(log)
    (record,) = [one for one in game.records if isinstance(one, FoulRecord)]
    assert detail in record.detail
    assert game.result == result
    await vanished(str(tmp_path))
    assert descriptors() == before


async def test_last_words_are_kept_and_harmless(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    await play([sample(), misbehaving("gone")], log)
    (game,) = read_games(log)
    (record,) = [one for one in game.records if isinstance(one, FoulRecord)]
    assert record.stderr == r"\x1b[31mmy last words\n"


async def test_after_a_foul_the_next_game_is_played_by_a_fresh_process(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    results = await play([sample(), misbehaving("illegal")], log, games=3)
    assert [result.why for result in results] == ["foul"] * 3


async def test_at_a_table_of_three_the_others_play_on(tmp_path: Path) -> None:
    bots = [sample(), misbehaving("gone"), sample()]
    (result,) = await play(bots, tmp_path / "log.jsonl")
    assert result.why == "target"
    assert result.places[1] == 3


async def test_two_that_misbehave_end_a_game_of_three(tmp_path: Path) -> None:
    bots = [sample(), misbehaving("gone"), misbehaving("malformed")]
    (result,) = await play(bots, tmp_path / "log.jsonl")
    assert result.why == "foul"
    assert result.places == (1, 2, 2)
