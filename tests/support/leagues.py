"""Leagues in memory: a register and rounds of made-up results."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, cast

from arena.rules.variants import find_variant
from protocol.records import Result
from tests.support.results import ELO, game
from tournaments.event.folder import Folder
from tournaments.formats.base import first_version
from tournaments.league.settings import DivisionSettings, LeagueFolder, LeagueSettings
from tournaments.league.state import (
    Admitted,
    AnyEntry,
    ChosenTable,
    DivisionData,
    LeagueData,
    PlayedRound,
    RoundPlan,
)
from tournaments.plan.event import Event

HOUSE = ("greedy", "random")
BOARDS = 5


def admitted(version: str, day: str = "2026-11-01") -> Admitted:
    """Return the line of the register that admits a version."""
    return Admitted(
        time=f"{day}T08:00:00Z", bot=first_version(version), version=version,
        fingerprint="0" * 64, house=version in HOUSE,
    )  # fmt: skip


def round_plan(active: Iterable[str], **inputs: Any) -> RoundPlan:
    """Return the plan of a round; what is not given is usual."""
    usual: dict[str, Any] = {
        "method": "test", "number": 1, "division": "draw", "time": "2026-11-01T12:00:00Z",
        "held": {}, "boards": BOARDS, "most_tables": 1, "until": None, "register": "0" * 64,
        "anchor": "greedy", "tables": (),
    }  # fmt: skip
    return RoundPlan(active=tuple(active), **usual | inputs)


def played_round(
    number: int, day: str, tables: Mapping[Any, Sequence[Result]], *, over: bool = True
) -> PlayedRound:
    """Return a round of these tables (tuples of names), whose boards are numbered from 1."""
    names = {name for table in tables for name in table}
    plan = round_plan(
        sorted(names), number=number, time=f"{day}T12:00:00Z", most_tables=len(tables),
        tables=tuple(ChosenTable(one, "", 0.0) for one in tables),
    )  # fmt: skip
    return PlayedRound(
        plan=plan, folder=Folder(Path(f"rounds/draw/{number:04}")), event=cast("Event", None),
        is_over=over, closed=None, results=[one for own in tables.values() for one in own],
        first_board=BOARDS * (number - 1),
    )  # fmt: skip


def league_of(
    rounds: Sequence[PlayedRound],
    register: Iterable[AnyEntry],
    *,
    seats: int = 2,
    path: Path = Path("league"),
) -> LeagueData:
    """Return a league of one division."""
    settings = DivisionSettings(name="draw")
    division = DivisionData(
        settings=settings, rules=find_variant("draw"), seats=seats, rounds=list(rounds)
    )
    return LeagueData(
        folder=LeagueFolder(path), settings=LeagueSettings(divisions=(settings,), house=HOUSE),
        register=list(register), divisions={"draw": division},
    )  # fmt: skip


def table_results(
    rng: random.Random, strength: Mapping[str, float], names: Sequence[str], luck: float = 100.0
) -> list[Result]:
    """Play a table on all boards in every rotation; strengths and the luck of a board in Elo."""
    results = []
    for board in range(1, BOARDS + 1):
        given = [rng.gauss(0, luck) for _ in names]
        for turn in range(len(names)):
            who = [*names[turn:], *names[:turn]]
            worth = [strength[name] + extra for name, extra in zip(who, given, strict=True)]
            scores = [one / ELO - math.log(-math.log(rng.random())) for one in worth]
            results.append(game(board, who, [round(10_000 * score) for score in scores]))
    return results


def everybody_meets(
    rng: random.Random, strength: Mapping[str, float], number: int, day: str, *, over: bool = True
) -> PlayedRound:
    """Return a round in which every two of these versions meet."""
    tables = {pair: table_results(rng, strength, pair) for pair in combinations(strength, 2)}
    return played_round(number, day, tables, over=over)
