"""The live ticker: Elo of partners, and what the screen makes of it."""

import pytest

from protocol.records import Result
from tests.support.made_up import game
from tournaments.rating.tables import NEW_RATING, LiveRating, update
from tournaments.report.standings import live_table


def after(results: list[Result], *, partners: bool = False) -> dict[str, LiveRating]:
    table: dict[str, LiveRating] = {}
    for result in results:
        table |= update(table, result, partners)
    return table


def test_partners_move_together() -> None:
    before = {
        "a": LiveRating(200.0, 1, 1.0),
        "b": NEW_RATING,
        "c": LiveRating(-200.0, 1, 0.0),
        "d": NEW_RATING,
    }
    after_game = update(before, game(0, "abcd", (1, 0, 1, 0)), partners=True)
    assert [after_game[name].elo for name in "abcd"] == pytest.approx([204, -4, -196, -4])


def test_the_live_table_is_sorted() -> None:
    table = after([game(0, "abcd", (4, 3, 2, 1))])
    head, rows = live_table(table).plain()
    assert [row[1] for row in rows] == ["a", "b", "c", "d"]
    assert rows[0] == ("1", "a", "+4", "1", "100.0", "")
    assert {len(row) for row in rows} == {len(head)}
    assert live_table({}).plain()[1] == []
