"""The losses of a bot's points: the sums are those of the ledger and of the rounds in the logs."""

import json
from pathlib import Path

from tests.support.events import boneyard
from tournaments.event.book import read_ledger
from tournaments.event.folder import Folder


def test_the_sums_of_a_bot_are_those_of_its_results(event: Path) -> None:
    (bot,) = json.loads(boneyard("explain", str(event), "--bot", "random", "--json"))
    results = [result for result in read_ledger(Folder(event).ledger) if "random" in result.seats]
    seats = [result.seats.index("random") for result in results]
    points = [result.scores[seat] for result, seat in zip(results, seats, strict=True)]
    conceded = [result.scores[1 - seat] for result, seat in zip(results, seats, strict=True)]
    total = bot["total"]
    assert (total["games"], total["points"], total["against"]) == (8, sum(points), sum(conceded))
    assert total["wins"] == sum(
        result.places[seat] == 1 for result, seat in zip(results, seats, strict=True)
    )
    for parts in (bot["seats"], bot["opponents"]):
        for name in ("games", "wins", "points", "against", "lost_rounds", "lost", "pips"):
            assert sum(part[name] for part in parts) == total[name]
    assert sum(part["rounds"] for part in bot["rounds"]) == sum(result.rounds for result in results)
    assert sum(part["points"] for part in bot["rounds"]) == sum(points) - sum(conceded)
    lost_points = [part["points"] for part in bot["rounds"] if part["points"] < 0]
    assert -sum(lost_points) == total["lost"]
    margins = sorted(a - b for a, b in zip(points, conceded, strict=True) if a < b)
    assert [game["points"] - game["against"] for game in bot["worst"]] == margins[:5]
