"""Events that are only planned, and results that let them go on."""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from arena.rules.variants import derive, find_variant
from arena.sandbox.command import Command, Limits
from protocol.messages import Clock
from protocol.records import FoulPolicy, Result
from protocol.ruleset import DOUBLE_SIX_SEATS
from tournaments.formats.base import Entrant
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.tables import Gauntlet, Ladder, RoundRobin
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event, Format
from tournaments.plan.schedule import PlannedSitting, Stage, sittings, stages
from tournaments.rating.sprt import Sprt


def event(
    entrants: int,
    seats: int = 2,
    boards: int = 3,
    a_sitting: int = 2,
    form: Format | None = None,
    teams: tuple[tuple[str, str], ...] = (),
) -> Event:
    bots = tuple(Entrant(f"bot{n}", Command(("x",), "."), "") for n in range(entrants))
    larger = {} if seats <= DOUBLE_SIX_SEATS else {"highest_pip": 9}
    return Event(
        name="test",
        rules=find_variant("partnership")
        if teams
        else derive(find_variant("draw"), "draw", larger),
        seats=seats,
        boards=boards,
        boards_a_sitting=a_sitting,
        format=form or RoundRobin(),
        teams=teams,
        clock=Clock(),
        fouls=FoulPolicy(),
        sandbox="off",
        limits=Limits(),
        entrants=bots,
        predictable=False,
    )


PAIRS = (("bot0", "bot1"), ("bot2", "bot3"), ("bot4", "bot4"))


def teams(boards: int = 3, form: Format | None = None) -> Event:
    return event(5, 4, boards, form=form, teams=PAIRS)


SELF_PARTNERS = (("bot0", "bot0"), ("bot1", "bot1"))
"""Two bots that partner themselves: a table turned twice is the same table."""


def self_partners(boards: int = 3, form: Format | None = None) -> Event:
    return event(2, 4, boards, form=form, teams=SELF_PARTNERS)


def mixed(entrants: int, boards: int = 3) -> Event:
    return replace(event(entrants, 4, boards), rules=find_variant("partnership"))


def result(event: Event, plan: PlannedSitting, game: int, places: Sequence[int]) -> Result:
    planned_game = plan.games[game]
    return Result(
        game=planned_game.name,
        board=planned_game.board,
        seats=tuple(event.entrants[entrant].name for entrant in plan.seats),
        scores=tuple(100 - place for place in places),
        places=tuple(places),
        rounds=1,
        why="target",
    )


def played_through(event: Event, rng: Random, upset: float = 0.5) -> dict[str, Result]:
    """Return an event in which lower numbers usually win."""
    results: dict[str, Result] = {}
    for stage in stages(event, results):
        for plan in stage:
            for game in range(len(plan.games)):
                result = drawn_result(event, plan, game, rng, upset)
                assert result.game not in results
                results[result.game] = result
    return results


def drawn_result(
    event: Event, plan: PlannedSitting, game: int, rng: Random, upset: float = 0.5
) -> Result:
    strength = [n + (rng.random() < upset) * rng.random() * 9 for n in plan.seats]
    sides = 2 if event.rules.deal.partners else event.seats
    strong = [sum(strength[side::sides]) for side in range(sides)]
    places = [1 + sum(s < strong[seat % sides] for s in strong) for seat in range(event.seats)]
    return result(event, plan, game, places)


DYNAMIC = [
    event(7, 2, 3, form=Swiss(4)),
    event(8, 2, 2, form=Swiss(9)),
    event(8, 3, 2, form=Swiss(3)),
    event(9, 4, 2, form=Swiss(3)),
    teams(2, Swiss(2)),
    event(6, 2, 3, form=Knockout(2)),
    event(2, 2, 1, form=Knockout(0)),
    teams(2, Knockout(4)),
    event(2, 2, 60, 10, form=Versus(Sprt(max_boards=60))),
    self_partners(60, Versus(Sprt(max_boards=60))),
    self_partners(2, Knockout(4)),
    event(5, 2, 3, form=Gauntlet(("bot1", "bot3"))),
    event(6, 4, 2, form=Gauntlet()),
    event(5, 3, 3, form=Ladder()),
]


def next_stage(event: Event, before: Sequence[Result]) -> Stage:
    """Return the first stage that is not over after these results."""
    results = {result.game: result for result in before}
    for stage in stages(event, results):
        if not all(game.name in results for plan in stage for game in plan.games):
            return stage
    return ()


def plan_of(event: Event) -> list[PlannedSitting]:
    return list(sittings(event, {}))
