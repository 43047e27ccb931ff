"""Leagues whose results are made up, in memory: a site costs no games."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from protocol.records import Result, SeatFoul
from tests.support.planned_events import event
from tournaments.league.folder import LeagueFolder
from tournaments.league.pages.view import RoundFacts, round_address
from tournaments.league.read import DivisionData, LeagueData, PlayedRound, write_utc
from tournaments.league.records import (
    Admitted,
    AnyEntry,
    CheckedStep,
    CheckSummary,
    ChosenTable,
    RoundPlan,
)
from tournaments.league.settings import LeagueSettings, division_rules
from tournaments.storage.folder import Folder

BEGIN = datetime(2026, 11, 2, 12, tzinfo=UTC)
"""Time of the first admission."""
BOARDS = 5
PASSED = CheckSummary(
    verdict="passed", steps=(CheckedStep("hello", "passed", ""),), sandbox="A", seconds=4.0
)


def made_up_league(
    folder: Path,
    *,
    bots: int = 6,
    versions: int = 2,
    rounds: int = 8,
    tables: int = 6,
    days: int = 10,
    settings: LeagueSettings | None = None,
    seed: int = 1,
) -> LeagueData:
    """Return a league with one division; each bot has so many versions, evenly over the days."""
    rng = random.Random(seed)
    settings = settings or LeagueSettings(title="Friday league")
    register = _register(settings, bots, versions, days)
    strength = {name: rng.gauss(0, 120) for name in _names(register)}
    division = settings.divisions[0]
    rules, seats = division_rules(division, folder)
    league = LeagueFolder(folder)
    plan = event(2, boards=BOARDS)
    played = []
    for number in range(1, rounds + 1):
        time = BEGIN + timedelta(days=days) * (number - 1) / rounds + timedelta(hours=1)
        active = _active(register, write_utc(time))
        chosen = _tables(rng, active, tables)
        results = [one for table in chosen for one in _results(rng, table.entrants, strength)]
        played.append(
            PlayedRound(
                plan=RoundPlan(
                    method="made up", number=number, division=division.name,
                    time=write_utc(time), active=tuple(active), held={}, boards=BOARDS,
                    most_tables=tables, until=None, register="0" * 64, anchor="greedy",
                    tables=tuple(chosen),
                ),
                folder=Folder(league.round(division.name, number)),
                event=plan, is_over=True, closed=None, results=results,
                first_board=(number - 1) * BOARDS,
            )
        )  # fmt: skip
    data = DivisionData(settings=division, rules=rules, seats=seats, rounds=played)
    return LeagueData(
        folder=league, settings=settings, register=register, divisions={division.name: data}
    )


def publish_rounds(data: LeagueData, site: Path) -> None:
    """Write what marks a round as published: its plan, which has none in its folder."""
    for division in data.divisions.values():
        for one in division.rounds:
            if one.is_over:
                place = site / round_address(one)
                place.mkdir(parents=True, exist_ok=True)
                (place / "round.json").touch()


def made_up_facts(one: PlayedRound) -> RoundFacts:
    """Return facts as the luck and the review of a round would tell them."""
    return RoundFacts(
        round=one,
        luck={result.game: (4.0, -4.0) for result in one.results},
        mistakes=dict.fromkeys(one.plan.active, (10, 8.5)),
    )


def _register(settings: LeagueSettings, bots: int, versions: int, days: int) -> list[AnyEntry]:
    entries: list[AnyEntry] = [
        Admitted(time=write_utc(BEGIN), bot=name, version=name, fingerprint="0" * 64, house=True)
        for name in settings.house
    ]
    for version in range(1, versions + 1):
        for bot in range(1, bots + 1):
            at = timedelta(days=days) * (version - 1) / versions + timedelta(minutes=bot)
            name = f"bot-{bot}"
            entries.append(
                Admitted(
                    time=write_utc(BEGIN + at), bot=name,
                    version=name if version == 1 else f"{name}@{version}",
                    fingerprint=f"{bot * 1000 + version:064x}", about=f"idea number {version}",
                    author="Ada", check=PASSED,
                )
            )  # fmt: skip
    return entries


def _names(register: Sequence[AnyEntry]) -> list[str]:
    return [one.version for one in register if isinstance(one, Admitted)]


def _active(register: Sequence[AnyEntry], time: str) -> list[str]:
    present = {
        one.bot: one.version for one in register if isinstance(one, Admitted) and one.time <= time
    }
    return sorted(present.values())


def _tables(rng: random.Random, active: Sequence[str], tables: int) -> list[ChosenTable]:
    pairs = {tuple(sorted(rng.sample(active, 2))) for _ in range(tables)}
    return [ChosenTable(pair, "their order is open", 1.0) for pair in sorted(pairs)]


def _results(rng: random.Random, pair: Sequence[str], strength: dict[str, float]) -> list[Result]:
    found = []
    for board in range(1, BOARDS + 1):
        for seats in (tuple(pair), tuple(reversed(pair))):
            lead = strength[seats[0]] - strength[seats[1]] + rng.gauss(0, 300)
            scores = (100, round(100 - abs(lead) / 10) - 1)
            places = (1, 2)
            if lead < 0:
                scores, places = (scores[1], scores[0]), (2, 1)
            fouls = (SeatFoul(0, "late"),) if rng.random() < 0.003 and lead < 0 else ()
            found.append(
                Result(
                    game=f"{board}.{'.'.join(seats)}", board=board, seats=seats, scores=scores,
                    places=places, rounds=3, why="foul" if fouls else "target", fouls=fouls,
                )
            )  # fmt: skip
    return found
