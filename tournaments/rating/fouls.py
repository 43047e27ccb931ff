"""What fouls cost in an event beyond their game, worked out anew from its results. Pure."""

from collections.abc import Iterator, Mapping

from protocol.records import FoulPolicy, Result, SeatFoul
from tournaments.schedule.schedule import PlannedSitting


def forfeited(
    policy: FoulPolicy, plan: PlannedSitting, results: Mapping[str, Result]
) -> tuple[int, ...]:
    """The seats that have lost the sitting's next game by their fouls in those played before.

    `results`: those that there are by then, by game.
    """
    if policy.lose == "game":
        return ()
    fouls = [0] * len(plan.seats)
    for before in plan.games:
        for foul in own_fouls(results[before.name]) if before.name in results else ():
            fouls[foul] += 1
    return tuple(seat for seat, many in enumerate(fouls) if many >= policy.after)


def own_fouls(result: Result) -> Iterator[int]:
    """The seats that fouled in a game; one that had lost it before did not."""
    return (foul.seat for foul in fouls_committed(result))


def fouls_committed(result: Result) -> Iterator[SeatFoul]:
    """The fouls of a game but for what earlier games had cost."""
    return (foul for foul in result.fouls if foul.foul != "forfeit")


def fouls_given(result: Result) -> tuple[int, ...]:
    """The seats that had lost a game before it began."""
    return tuple(foul.seat for foul in result.fouls if foul.foul == "forfeit")
