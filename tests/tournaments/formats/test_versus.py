"""Versus: it looks at each board once, and ends with the answer."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from protocol.records import Result
from tests.support.planned_events import event, next_stage, played_through
from tournaments.formats import versus
from tournaments.formats.versus import Versus
from tournaments.rating import sprt
from tournaments.rating.sprt import Outcome, Sprt
from tournaments.schedule.schedule import sittings


def test_versus_looks_at_each_board_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be a million of them."""
    one = event(2, 2, 300, 10, form=Versus(Sprt(h0=-1, h1=1, max_boards=300)))
    results = played_through(one, Random(3), upset=1)
    seen: list[Result] = []
    asked = sprt.outcomes

    def looked(
        test: Sprt, played: Iterable[Result], *words: Any, **more: Any
    ) -> tuple[Outcome, ...]:
        again = list(played)
        seen.extend(again)
        return asked(test, again, *words, **more)

    monkeypatch.setattr(versus, "outcomes", looked)
    assert len(list(sittings(one, results))) == 60
    assert seen == list(results.values())


def test_versus_ends_with_the_block_in_which_the_answer_is_known() -> None:
    one = event(2, 2, 500, 10, form=Versus(Sprt(max_boards=500)))
    results = played_through(one, Random(0), upset=0)
    boards = max(made.board for made in results.values())
    assert boards % 10 == 0
    assert 20 <= boards < 100
    assert next_stage(one, list(results.values())) == ()
