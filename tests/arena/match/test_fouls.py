"""What a foul costs a table: who plays on, who comes last, and who sits there next."""

from pathlib import Path

from tests.support.tables import hostile, play, sample

GONE, WORDS = "processes/exit_3", "lines/words"


async def test_after_a_foul_the_next_game_is_played_by_a_fresh_process(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    results = await play([sample(), hostile(WORDS)], log, games=3)
    assert [result.why for result in results] == ["foul"] * 3


async def test_at_a_table_of_three_the_others_play_on(tmp_path: Path) -> None:
    bots = [sample(), hostile(GONE), sample()]
    (result,) = await play(bots, tmp_path / "log.jsonl")
    assert result.why == "target"
    assert result.places[1] == 3


async def test_two_that_misbehave_end_a_game_of_three(tmp_path: Path) -> None:
    bots = [sample(), hostile(GONE), hostile(WORDS)]
    (result,) = await play(bots, tmp_path / "log.jsonl")
    assert result.why == "foul"
    assert result.places == (1, 2, 2)
