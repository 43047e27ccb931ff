"""How a planned sitting is seated: what its log and its referees are told. Pure."""

from collections.abc import Mapping

from arena.match.referee import GameSetup
from protocol import __version__
from protocol.records import LOG_FORMAT, FoulPolicy, Result, Sitting
from tournaments.plan.event import Event
from tournaments.rating.fouls import own_fouls
from tournaments.schedule.schedule import PlannedGame, PlannedSitting


def game_names(event: Event, plan: PlannedSitting) -> tuple[str, ...]:
    """The entrant in each seat."""
    return tuple(event.entrants[entrant].name for entrant in plan.seats)


def seating(
    event: Event,
    plan: PlannedSitting,
    game: PlannedGame,
    number: int,
    results: Mapping[str, Result],
) -> GameSetup:
    """What a game's referee is told, which bots know by this number.

    `results`: those that its sitting has so far, by game.
    """
    return GameSetup(
        game=game.name,
        number=number,
        board=game.board,
        seats=game_names(event, plan),
        rules=event.rules,
        clock=event.clock,
        fouls=event.fouls,
        forfeited=forfeited(event.fouls, plan, results),
    )


def sitting(
    event: Event,
    plan: PlannedSitting,
    level: str,
    missing: tuple[str, ...],
    machine: str,
    worker: str | None = None,
) -> Sitting:
    """The line that begins a sitting's log: played at this level of the sandbox, there."""
    return Sitting(
        format=LOG_FORMAT,
        boneyard=__version__,
        event=event.name,
        seats=game_names(event, plan),
        boards=tuple(game.board for game in plan.games),
        rules=event.rules,
        clock=event.clock,
        fouls=event.fouls,
        sandbox=level,
        missing=missing,
        machine=machine,
        worker=worker,
    )


def rotate(event: Event) -> bool:
    """Whether a game of a sitting depends on those before it: fouls cost more than their game."""
    return event.fouls.lose == "sitting"


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
