"""`limits.cents`: an entrant stops when it has spent them, the others play on, and it may go on."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.sandbox.command import Limits
from protocol.records import Result, UsageSum
from tests.support.planned_events import event, plan_of, result
from tournaments.event.book import Book, Ledger
from tournaments.event.folder import Folder
from tournaments.event.results import ResultStore, read_ledger
from tournaments.plan.event import Event
from tournaments.plan.schedule import describe_spent_out, has_one_of


def limited(cents: float | None) -> Event:
    return replace(event(entrants=3, boards=2), limits=Limits(cents=cents))


def costing(one: Result, cents: float) -> Result:
    """Return the result with a cost for the first entrant of the event."""
    name = limited(None).entrants[0].name
    return replace(one, usage=tuple(UsageSum(cents=cents * (who == name)) for who in one.seats))


def play(ledger: Ledger, one: Event, cents: float) -> None:
    """Play what the ledger allows, as a runner does."""
    stage = ledger.stage
    for plan in stage:
        while games := ledger.playable(plan):
            index = plan.games.index(games[0])
            ledger.add(costing(result(one, plan, index, (1, 2)), cents))
    if ledger.stage is stage and stage:
        ledger.skip_stopped()


@pytest.mark.parametrize("most", [1.0, 3.0])
def test_an_entrant_that_has_spent_its_cents_begins_no_game(most: float, tmp_path: Path) -> None:
    one, folder = limited(most), Folder(tmp_path)
    ledger = Ledger(Book(folder, one))
    play(ledger, one, 1.0)
    first = one.entrants[0].name
    written = [*read_ledger(folder.ledger)]
    order = [game.name for plan in plan_of(one) for game in plan.games]
    assert sum(first in one.seats for one in written) == most
    assert [game for game in order if not has_one_of(game, {first})] == [
        one.game for one in written if first not in one.seats
    ]
    assert [one.game for one in written] == sorted((o.game for o in written), key=order.index)
    assert not ledger.complete
    (said,) = describe_spent_out(one, ledger.results)
    assert said.startswith(f"{first} has spent {most:.2f} of {most:g} cents")
    assert f"{8 - most:g} games of it are not played" in said


def test_with_a_higher_limit_the_ledger_becomes_the_one_of_an_event_without(tmp_path: Path) -> None:
    folder, whole = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    for place in (folder, whole):
        place.path.mkdir()
    play(Ledger(Book(folder, limited(2.0))), limited(2.0), 1.0)
    before = folder.ledger.read_bytes()
    assert Ledger(Book(folder, limited(2.0))).stopped
    assert folder.ledger.read_bytes() == before
    play(Ledger(Book(whole, limited(None))), limited(None), 1.0)
    results = ResultStore(read_ledger(folder.ledger))
    left = [one for one in read_ledger(whole.ledger) if one.game not in results]
    assert len(left) == 6
    assert list(describe_spent_out(limited(None), results)) == []
