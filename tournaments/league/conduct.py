"""Benches for fouls. They follow from the rounds that are over, so they can be computed again.

A version is benched in a division once it has fouled in so many sittings in a row, in the order of
the ledgers, and stays so until its bot changes. Only fouls of its own count: neither games that it
had forfeited before, nor what the machine spoils, which is void and in no ledger, nor `late` in a
round in which a house bot was late too, since the machine was too slow for anybody. A foul loses
its game, so it spares no bot a strong opponent; and a benched version has no rank, so that nobody
keeps a lucky rating by fouling on purpose. House bots are never held: they carry the ratings.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from arena.rules.english import count_in_digits
from tournaments.formats.base import first_version
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import EarlyEnd
from tournaments.rating.game_result import fouls_committed, own_fouls


def held_versions(league: LeagueData, division: DivisionData) -> dict[str, str]:
    """Return the active versions that a division must not choose now, each with the reason."""
    quota, house = league.settings.quota, league.settings.house
    held = benched_versions(division.rounds, quota.foul_sittings, house)
    return {name: held[name].why for name in league.active(division.settings.name) if name in held}


def benched_versions(
    rounds: Iterable[PlayedRound], sittings: int, house: Collection[str]
) -> dict[str, EarlyEnd]:
    """Return the versions that fouled in so many sittings in a row, with the last round's time."""
    streak: dict[str, int] = {}
    found: dict[str, EarlyEnd] = {}
    for one in rounds:
        why = (
            f"fouled in {count_in_digits(sittings, 'sitting')}{' in a row' * (sittings > 1)}, the "
            f"last in round {one.plan.number}: benched until it changes"
        )
        for name, fouled in _sittings(one, house) if one.is_over else ():
            streak[name] = streak.get(name, 0) + 1 if fouled else 0
            if streak[name] >= sittings and first_version(name) not in house:
                found.setdefault(name, EarlyEnd(time=one.plan.time, why=why))
    return found


def describe_fouls(rounds: Iterable[PlayedRound]) -> Iterator[str]:
    """Yield in how many games of these rounds each version fouled, those of most games first."""
    games = Counter(
        name
        for one in rounds
        for result in one.results
        for name in {result.seats[seat] for seat in own_fouls(result)}
    )
    for name, many in games.most_common():
        yield f"{name} fouled in {count_in_digits(many, 'game')}"


def _sittings(one: PlayedRound, house: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield for each sitting of a round its entrants, and whether they fouled in it."""
    committed = [
        (result.seats, result.seats[foul.seat], foul.foul)
        for result in one.results
        for foul in fouls_committed(result)
    ]
    slow = any(foul == "late" and first_version(name) in house for _, name, foul in committed)
    fouls = {result.seats: set[str]() for result in one.results}
    for seats, name, foul in committed:
        if not (slow and foul == "late"):
            fouls[seats].add(name)
    for seats, names in fouls.items():
        yield from ((name, name in names) for name in dict.fromkeys(seats))
