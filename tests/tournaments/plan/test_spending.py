"""`limits.cents`: an entrant stops when it has spent them, the others play on, and it may go on."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.sandbox.command import Limits
from protocol.records import Result, UsageSum
from tests.support.planned_events import event, plan_of, result
from tournaments.event.book import Book, Ledger, ResultStore, read_ledger
from tournaments.event.folder import Folder
from tournaments.plan.event import Event
from tournaments.plan.schedule import describe_spent_out, has_one_of


def limited_event(cents: float | None) -> Event:
    return replace(event(entrants=3, boards=2), limits=Limits(cents=cents))


def add_cost(result: Result, cents: float) -> Result:
    """Return the result with a cost for the first entrant of the event."""
    name = limited_event(None).entrants[0].name
    usage = tuple(UsageSum(cents=cents * (seat == name)) for seat in result.seats)
    return replace(result, usage=usage)


def play(ledger: Ledger, event: Event, cents: float) -> None:
    """Play what the ledger allows, as a runner does."""
    stage = ledger.stage
    for plan in stage:
        while games := ledger.playable(plan):
            index = plan.games.index(games[0])
            ledger.add(add_cost(result(event, plan, index, (1, 2)), cents))
    if ledger.stage is stage and stage:
        ledger.skip_stopped()


@pytest.mark.parametrize("most", [1.0, 3.0])
def test_an_entrant_that_has_spent_its_cents_begins_no_game(most: float, tmp_path: Path) -> None:
    event, folder = limited_event(most), Folder(tmp_path)
    ledger = Ledger(Book(folder, event))
    play(ledger, event, 1.0)
    first = event.entrants[0].name
    results = [*read_ledger(folder.ledger)]
    order = [game.name for plan in plan_of(event) for game in plan.games]
    assert sum(first in result.seats for result in results) == most
    assert [game for game in order if not has_one_of(game, {first})] == [
        result.game for result in results if first not in result.seats
    ]
    games = [result.game for result in results]
    assert games == sorted(games, key=order.index)
    assert not ledger.complete
    (sentence,) = describe_spent_out(event, ledger.results)
    assert sentence.startswith(f"{first} has spent {most:.2f} of {most:g} cents")
    assert f"{8 - most:g} games of it are not played" in sentence


def test_with_a_higher_limit_the_ledger_becomes_the_one_of_an_event_without(tmp_path: Path) -> None:
    folder, reference = Folder(tmp_path / "a"), Folder(tmp_path / "b")
    for place in (folder, reference):
        place.path.mkdir()
    play(Ledger(Book(folder, limited_event(2.0))), limited_event(2.0), 1.0)
    before = folder.ledger.read_bytes()
    assert Ledger(Book(folder, limited_event(2.0))).stopped
    assert folder.ledger.read_bytes() == before
    play(Ledger(Book(reference, limited_event(None))), limited_event(None), 1.0)
    results = ResultStore(read_ledger(folder.ledger))
    left = [result for result in read_ledger(reference.ledger) if result.game not in results]
    assert len(left) == 6
    assert list(describe_spent_out(limited_event(None), results)) == []
