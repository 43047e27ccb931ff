"""Conduct of bots in a league: benches for fouls, and waits for those that took too much CPU.

Both follow from the rounds that are over, so whoever has the files can compute them again.

**Fouls.** A version is benched in a division once it has fouled in so many sittings in a row, in
the order of the ledgers, and stays so until its bot changes. Only fouls of its own count: neither
games that it had forfeited before, nor what the machine spoils, which is void and in no ledger, nor
`late` in a round in which a house bot was late too, since the machine was too slow for anybody. The
CPU time that a late bot used is no excuse: nobody can tell whether it wanted more. A foul loses its
game, so it spares no bot a strong opponent; and a benched version has no rank, so that nobody keeps
a lucky rating by fouling on purpose.

**CPU.** A bot that has taken its quota in the rounds of a week plays in no division until the next
week, whatever its versions. Counted is what the logs have: the CPU time of its processes from hello
to the end of their last game, or where that is not known the time charged. Its starts, which
`clock.start_ms` bounds, are not.

House bots are never held: they carry the ratings. A fault of theirs is the organiser's.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from arena.logs.catalog import FOLDER, list_logs
from arena.logs.checksummed import grep_prefix
from arena.rules.english import count_in_digits
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.records import Result, SpentRecord
from tournaments.formats.base import first_version
from tournaments.league.read import LeagueData, PlayedRound, week_of, write_time
from tournaments.league.records import Benched
from tournaments.rating.fouls import fouls_committed

SPENT = (line_start(SpentRecord), line_start(Result))
"""Beginnings of the lines of a log that tell who used how much time."""
MINUTE_MS = 60_000


def held_versions(league: LeagueData, division: str, now: datetime) -> dict[str, str]:
    """Return the active versions that a division must not choose now, each with the reason."""
    active = league.active(division)
    held = benched_versions(
        league.divisions[division].rounds,
        league.settings.quota.foul_sittings,
        league.settings.house,
    )
    tired = over_quota(league, week_of(now))
    return {
        name: held.get(name) or tired[first_version(name)]
        for name in active
        if name in held or first_version(name) in tired
    }


def new_benches(league: LeagueData, now: datetime) -> list[Benched]:
    """Return the lines for the register about versions that are benched and not yet in it."""
    written = {(one.division, one.version) for one in league.register if isinstance(one, Benched)}
    quota, house = league.settings.quota, league.settings.house
    return [
        Benched(
            time=write_time(now), bot=first_version(name), version=name, division=division, why=why
        )
        for division, data in league.divisions.items()
        for name, why in benched_versions(data.rounds, quota.foul_sittings, house).items()
        if (division, name) not in written
    ]


def benched_versions(
    rounds: Iterable[PlayedRound], sittings: int, house: Collection[str]
) -> dict[str, str]:
    """Return the versions that fouled in so many sittings in a row, each with the reason."""
    streak: dict[str, int] = {}
    found: dict[str, str] = {}
    for one in rounds:
        for name, fouled in _sittings(one, house) if one.is_over else ():
            streak[name] = streak.get(name, 0) + 1 if fouled else 0
            if streak[name] >= sittings and first_version(name) not in house:
                found.setdefault(
                    name,
                    f"fouled in {count_in_digits(sittings, 'sitting')}"
                    f"{' in a row' * (sittings > 1)}, the last in round {one.plan.number}: benched "
                    "until it changes",
                )
    return found


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


def over_quota(league: LeagueData, week: str) -> dict[str, str]:
    """Return the bots that have taken their CPU time of a week, each with the reason."""
    most = league.settings.quota.cpu_minutes_a_week
    if most is None:
        return {}
    return {
        bot: f"took {minutes:.1f} of {most:g} minutes of CPU time in {week}: held until the next"
        for bot, minutes in cpu_minutes(league, week).items()
        if minutes >= most and bot not in league.settings.house
    }


def cpu_minutes(league: LeagueData, week: str) -> dict[str, float]:
    """Return the CPU minutes that each bot took in the rounds of a week, in all divisions."""
    total = defaultdict[str, float](float)
    for division in league.divisions.values():
        for one in division.rounds:
            if one.week == week:
                read = _cpu_of_finished if one.is_over else _cpu_ms
                for name, spent in read(one.folder.path).items():
                    total[first_version(name)] += spent / MINUTE_MS
    return dict(sorted(total.items()))


def _cpu_ms(folder: Path) -> Mapping[str, float]:
    """Return the CPU time in ms that each version took in the games of a round, by its logs."""
    total = defaultdict[str, float](float)
    for path in list_logs(folder / FOLDER):
        spent: SpentRecord | None = None
        for line in grep_prefix(path, SPENT):
            with suppress(DamagedRecordError):
                record = decode_record(strip_checksum(line))
                if isinstance(record, SpentRecord):
                    spent = record
                elif isinstance(record, Result) and spent:
                    for name, cpu, ms in zip(record.seats, spent.cpu_ms, spent.ms, strict=False):
                        total[name] += ms if cpu is None else cpu
                    spent = None
    return total


_cpu_of_finished = lru_cache(maxsize=4096)(_cpu_ms)
