"""Verification of the ratings that a league publishes, from its published rounds."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from tournaments.league.folder import LeagueFolder
from tournaments.league.league_table import DivisionTable, LeagueTable, league_table
from tournaments.league.ratings.standings import division_standings
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import AnyEntry
from tournaments.league.settings import DivisionSettings, LeagueSettings, Quota

DECIMALS = 5
"""Decimals that two computers agree on."""


def table_faults(
    path: Path,
    table: LeagueTable,
    register: list[AnyEntry],
    divisions: Mapping[str, Sequence[PlayedRound]],
) -> Iterator[str]:
    """Yield the first figure of each division that does not follow from its rounds.

    `path`: the file with the table. `register`: as it was published with it.
    """
    settings = LeagueSettings(
        title=table.title,
        house=table.house,
        anchor=table.anchor,
        quota=Quota(foul_sittings=table.foul_sittings),
    )
    for told in table.divisions:
        rounds = [one for one in divisions.get(told.name, ()) if one.is_over][: told.rounds]
        if len(rounds) < told.rounds:
            yield f"{path}: {told.name} has {told.rounds} rounds, but {len(rounds)} can be read"
        elif not rounds and _has_figures(told):
            yield f"{path}: {told.name} has figures, but no round"
        elif rounds:
            league = LeagueData(
                folder=LeagueFolder(path.parent),
                settings=settings,
                register=register,
                divisions={told.name: division_of(told.name, rounds, told.title)},
            )
            again = to_builtins(_again(league, told))
            for where, one, other in _differences(to_builtins(told), again):
                yield f"{path}: {told.name}{where} is {one}, but the rounds give {other}"
                break


def _has_figures(told: DivisionTable) -> bool:
    """Tell whether anything of a table can only come from games."""
    rows = (*told.standings, *told.earlier)
    played = any(row.games or row.elo is not None for row in rows)
    return bool(told.games or played or told.timeline or told.regressions)


def division_of(name: str, rounds: Sequence[PlayedRound], title: str = "") -> DivisionData:
    """Return a division as its published rounds tell it; there must be one."""
    event = rounds[0].event
    return DivisionData(
        settings=DivisionSettings(name=name, title=title, seats=event.seats),
        rules=event.rules,
        seats=event.seats,
        rounds=list(rounds),
    )


def _again(league: LeagueData, told: DivisionTable) -> DivisionTable:
    """Compute the table of a division anew; the next tables are of a round that is not over."""
    standings = {told.name: division_standings(league.divisions[told.name], league)}
    (own,) = league_table(league, standings).divisions
    return replace(own, next=told.next)


def _differences(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the paths at which two values differ, and what is there."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from ((f".{key}{at}", a, b) for at, a, b in _differences(one[key], other[key]))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from ((f"[{number}]{at}", a, b) for at, a, b in _differences(first, second))
    elif isinstance(one, float) and isinstance(other, float):
        if round(one - other, DECIMALS):
            yield "", one, other
    elif one != other:
        yield "", one, other
