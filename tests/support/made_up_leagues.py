"""Leagues whose results are made up, in memory, as a site shows them: a site costs no games."""

import random
from datetime import date, timedelta
from pathlib import Path

from msgspec.structs import replace

from protocol.records import SeatFoul
from tests.support.leagues import BOARDS, HOUSE, admitted, league_of, played_round, table_results
from tests.support.planned_events import event
from tournaments.event.folder import Folder
from tournaments.league.pages import RoundFacts, round_address
from tournaments.league.settings import LeagueFolder
from tournaments.league.state import Admitted, CheckedStep, CheckSummary, LeagueData, PlayedRound

BEGIN = date(2026, 11, 2)
BOTS, TABLES = 6, 6
PASSED = CheckSummary(
    verdict="passed", steps=(CheckedStep("hello", "passed", ""),), sandbox="locked", seconds=4.0
)


def made_up_league(folder: Path, *, rounds: int = 8, days: int = 10) -> LeagueData:
    """Return a league of one division; each bot has a second version after half of the days."""
    rng = random.Random(2)
    register = [admitted(name, f"{BEGIN}") for name in HOUSE]
    for version, day in (("", BEGIN), ("@2", BEGIN + timedelta(days=days // 2))):
        for bot in range(1, BOTS + 1):
            entry = admitted(f"bot-{bot}{version}", f"{day}")
            idea = f"idea number {version or 1}"
            register.append(replace(entry, about=idea, author="Ada", check=PASSED))
    strength = {one.version: rng.gauss(0, 120) for one in register}
    played = [
        _round(rng, folder, number, BEGIN + timedelta(days=days * (number - 1) // rounds), register,
               strength)
        for number in range(1, rounds + 1)
    ]  # fmt: skip
    return league_of(played, register, path=folder)


def _round(
    rng: random.Random,
    folder: Path,
    number: int,
    day: date,
    register: list[Admitted],
    strength: dict[str, float],
) -> PlayedRound:
    """Return a round of those who are there on its day; a bot fouls once in the second."""
    active = sorted(
        {one.bot: one.version for one in register if one.time[:10] <= f"{day}"}.values()
    )
    pairs = sorted({tuple(sorted(rng.sample(active, 2))) for _ in range(TABLES)})
    tables = {pair: table_results(rng, strength, pair, luck=300) for pair in pairs}
    if number == 2:
        own = tables[pairs[0]]
        own[0] = replace(own[0], why="foul", fouls=(SeatFoul(0, "late"),), places=(2, 1))
    one = played_round(number, f"{day}", tables)
    place = Folder(LeagueFolder(folder).round("draw", number))
    return replace(one, event=event(2, boards=BOARDS), folder=place)


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
