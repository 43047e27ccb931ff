"""What an event comes to play, as far as it can be guessed before its first game. Pure.

The rounds of a Swiss and of a knockout follow from results: here the better always wins. Versus
lasts as long as it would if every board were as those that were tried.
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

from msgspec.structs import replace

from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.plan.formats import Gauntlet, Knockout, Ladder, RoundRobin, Swiss, Versus
from tournaments.schedule.schedule import PlannedSitting, Stage, sittings, stages


def expected_sittings(
    event: Event, elo: Mapping[str, float], answer: int | None
) -> Iterator[PlannedSitting]:
    """The sittings, if the bots are so strong and versus has its answer after so many boards.

    Who has no rating is taken for average. Without an answer versus plays all its boards.
    """
    match event.format:
        case RoundRobin() | Gauntlet() | Ladder():
            return sittings(event, {})
        case Swiss() | Knockout():
            return _won_by_the_better(event, elo)
        case Versus():
            boards = min(event.boards, answer or event.boards)
            return sittings(replace(event, format=RoundRobin(), boards=boards), {})
        case form:
            assert_never(form)


def _won_by_the_better(event: Event, elo: Mapping[str, float]) -> Iterator[PlannedSitting]:
    results: dict[str, Result] = {}
    for stage in stages(event, results):
        yield from stage
        results |= _results(event, stage, elo)


def _results(event: Event, stage: Stage, elo: Mapping[str, float]) -> Iterator[tuple[str, Result]]:
    names = [one.name for one in event.entrants]
    sides = 2 if event.rules.deal.partners else event.seats
    for plan in stage:
        seats = tuple(names[one] for one in plan.seats)
        strong = [sum(elo.get(name, 0.0) for name in seats[side::sides]) for side in range(sides)]
        # Equals in the order of the plan: there are no ties, which would ask for more boards.
        ahead = sorted(range(sides), key=lambda side: (-strong[side], plan.seats[side]))
        places = tuple(1 + ahead.index(seat % sides) for seat in range(event.seats))
        for game in plan.games:
            yield (
                game.name,
                Result(
                    game=game.name,
                    board=game.board,
                    seats=seats,
                    scores=places[::-1],
                    places=places,
                    rounds=1,
                    why="target",
                ),
            )
