"""A bot whose service is down: what it may void, how often, and that it gains nothing by it."""

from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.logs.gamelog import read_games
from arena.match import bot_pool
from arena.sandbox.command import Command
from protocol.records import FoulRecord, SpentRecord
from tests.support.tables import LIMITS, play, sample

EXCUSE = '{"type":"unavailable","why":"503"}'


def excused_bot(starts: int, notes: Path) -> Command:
    """Return a bot that is unavailable at its first starts; then it is `first`."""
    notes.touch()
    command = sample()
    script = (
        f"echo x >> {notes}; [ $(wc -l < {notes}) -gt {starts} ] || {{ echo '{EXCUSE}'; exit; }};"
        ' exec "$@"'
    )
    return replace(command, argv=("/bin/sh", "-c", script, "sh", *command.argv))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_pool, "FIRST_PAUSE_S", 0.001)


@pytest.mark.parametrize("starts", [2, 4])
async def test_a_start_without_the_service_is_void_a_few_times(starts: int, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    bots = [sample(), excused_bot(starts, tmp_path / "starts")]
    limits = replace(LIMITS, unavailable=3)
    (result,) = await play(bots, log, limits=limits)
    (game,) = read_games(log)
    (spent_record,) = (record for record in game.records if isinstance(record, SpentRecord))
    assert spent_record.voids == (0, min(starts, 3))
    assert (result.why == "foul") == (starts > 3)
    fouls = [record for record in game.records if isinstance(record, FoulRecord)]
    assert [(foul.foul, foul.detail) for foul in fouls] == [
        ("no_hello", "It said that it is unavailable: 503")
    ] * (starts > 3)


async def test_the_voids_of_a_sitting_count_together(tmp_path: Path) -> None:
    """Otherwise each game of the sitting would wait as long again."""
    bots = [sample(), excused_bot(9, tmp_path / "starts")]
    results = await play(bots, tmp_path / "log.jsonl", games=3)
    assert [result.why for result in results] == ["foul"] * 3
    assert len((tmp_path / "starts").read_text().split()) == 3 + 3
    log = read_games(tmp_path / "log.jsonl")
    records = [record for game in log for record in game.records if isinstance(record, SpentRecord)]
    assert [record.voids for record in records] == [(0, 3), UNSET, UNSET]
