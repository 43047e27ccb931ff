"""The losses of a bot's points: the sums are those of the ledger and of the rounds in the logs."""

import json
from pathlib import Path

from tests.support.events import boneyard
from tournaments.event.folder import Folder
from tournaments.event.results import read_ledger


def test_the_sums_of_a_bot_are_those_of_its_results(event: Path) -> None:
    (told,) = json.loads(boneyard("explain", str(event), "--bot", "random", "--json"))
    results = [one for one in read_ledger(Folder(event).ledger) if "random" in one.seats]
    seats = [one.seats.index("random") for one in results]
    own = [one.scores[seat] for one, seat in zip(results, seats, strict=True)]
    other = [one.scores[1 - seat] for one, seat in zip(results, seats, strict=True)]
    total = told["total"]
    assert (total["games"], total["points"], total["against"]) == (8, sum(own), sum(other))
    assert total["wins"] == sum(
        one.places[seat] == 1 for one, seat in zip(results, seats, strict=True)
    )
    for parts in (told["seats"], told["opponents"]):
        for name in ("games", "wins", "points", "against", "lost_rounds", "lost", "pips"):
            assert sum(part[name] for part in parts) == total[name]
    assert sum(part["rounds"] for part in told["rounds"]) == sum(one.rounds for one in results)
    assert sum(part["points"] for part in told["rounds"]) == sum(own) - sum(other)
    lost = [part["points"] for part in told["rounds"] if part["points"] < 0]
    assert -sum(lost) == total["lost"]
    margins = sorted(a - b for a, b in zip(own, other, strict=True) if a < b)
    assert [one["points"] - one["against"] for one in told["worst"]] == margins[:5]
