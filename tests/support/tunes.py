"""Tunes whose games are made up: a candidate's lead is a function of its values, and chance."""

from collections.abc import Callable
from random import Random

from msgspec.structs import replace

from protocol.records import Result
from tests.support.planned_events import event
from tournaments.formats.entrant import Parameter, Values
from tournaments.formats.tune import GROUP, Tune, optimiser_here
from tournaments.plan.event import Event
from tournaments.plan.schedule import PlannedSitting, stages

GAME_SD = 60.0
"""Standard deviation of a game's margin between two sample bots in draw: about 45 for a board."""
Strength = Callable[[Values], float]
"""The lead in points of a bot with these values over one without any."""


def tune(boards: int, **parameters: Parameter) -> Event:
    """Plan a tune."""
    form = Tune(tuple(parameters.items()), ("x",), 'run = ["x"]', optimiser_here())
    return replace(event(GROUP + 2, boards=boards, a_sitting=form.BOARDS_A_SITTING), format=form)


def play(
    one: Event, strength: Strength, rng: Random, results: dict[str, Result], most: int | None = None
) -> None:
    """Play what is missing, or at most so many games of it."""
    for stage in stages(one, results):
        for plan in stage:
            for game in plan.games:
                if game.name in results:
                    continue
                if most is not None and len(results) >= most:
                    return
                results[game.name] = result(one, plan, game.name, game.board, strength, rng)


def result(
    one: Event, plan: PlannedSitting, name: str, board: int, strength: Strength, rng: Random
) -> Result:
    """Make up a game."""
    first, second = (strength(values) if values else 0.0 for values in plan.values)
    margin = round(first - second + rng.gauss(0, GAME_SD))
    seats = tuple(one.entrants[entrant].name for entrant in plan.seats)
    places = (1, 1) if margin == 0 else (1, 2) if margin > 0 else (2, 1)
    return Result(
        game=name, board=board, seats=seats, scores=(max(0, margin), max(0, -margin)),
        places=places, rounds=3, why="target",
    )  # fmt: skip
