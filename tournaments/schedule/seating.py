"""Seats of a planned sitting: the setup of its games, and the first record of its log. Pure."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET

from arena.match.game_setup import GameSetup
from arena.sandbox.command import Command
from arena.sandbox.limits import Confinement
from arena.sealed.module import SEALED, host_name, is_module
from protocol import __version__
from protocol.messages import Clock
from protocol.records import LOG_FORMAT, FoulPolicy, Result, Sitting
from tournaments.plan.event import Event
from tournaments.rating.game_result import own_fouls
from tournaments.schedule.schedule import PlannedGame, PlannedSitting
from tournaments.tuning.parameters import Values


def game_names(event: Event, plan: PlannedSitting) -> tuple[str, ...]:
    """Return the name of the entrant in each seat."""
    return tuple(event.entrants[entrant].name for entrant in plan.seats)


def seat_clocks(event: Event, plan: PlannedSitting) -> tuple[Clock, ...]:
    """Return the clock of each seat; nothing if all have the event's."""
    clocks = tuple(map(event.clock_of, plan.seats))
    own = any(event.entrants[entrant].clock for entrant in plan.seats)
    return clocks if own or any(clock != event.clock for clock in clocks) else ()


def seating(
    event: Event,
    plan: PlannedSitting,
    game: PlannedGame,
    number: int,
    results: Mapping[str, Result],
) -> GameSetup:
    """Return the setup of a game for its referee; bots know the game by this number.

    `results`: the results of its sitting so far, by game.
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
        clocks=seat_clocks(event, plan),
    )


def sitting(
    event: Event,
    plan: PlannedSitting,
    confinement: Confinement,
    machine: str,
    worker: str | None = None,
) -> Sitting:
    """Return the first record of a sitting's log: its plan, sandbox and machine."""
    sealed = [is_module(event.entrants[entrant].command.argv) for entrant in plan.seats]
    return Sitting(
        format=LOG_FORMAT,
        boneyard=__version__,
        event=event.name,
        seats=game_names(event, plan),
        boards=tuple(game.board for game in plan.games),
        rules=event.rules,
        clock=event.clock,
        fouls=event.fouls,
        # Whatever holds the hosts of sealed bots in, they are locked in.
        sandbox=SEALED if all(sealed) else confinement.state,
        missing=() if all(sealed) else confinement.missing,
        machine=machine,
        worker=worker,
        clocks=seat_clocks(event, plan) or UNSET,
        values=plan.values or UNSET,
        host=host_name() if any(sealed) else UNSET,
    )


def with_values(
    event: Event, values: Sequence[Values], commands: Sequence[Command]
) -> list[Command]:
    """Return the commands of a sitting's bots with the values of their parameters, if any."""
    pairs = zip(commands, values or [{}] * len(commands), strict=True)
    return [
        event.format.set_values(command, given) if given else command for command, given in pairs
    ]


def has_dependent_games(event: Event) -> bool:
    """Tell whether a sitting's games depend on earlier ones: a foul can cost the whole sitting."""
    return event.fouls.lose == "sitting"


def forfeited(
    policy: FoulPolicy, plan: PlannedSitting, results: Mapping[str, Result]
) -> tuple[int, ...]:
    """Return the seats that forfeit the sitting's next game by their fouls in earlier games.

    `results`: the results so far, by game.
    """
    if policy.lose == "game":
        return ()
    fouls = [0] * len(plan.seats)
    for before in plan.games:
        for foul in own_fouls(results[before.name]) if before.name in results else ():
            fouls[foul] += 1
    return tuple(seat for seat, many in enumerate(fouls) if many >= policy.after)
