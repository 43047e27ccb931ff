"""Verification of a league from its folder, or from the files of its site alone.

The site has each round that is over, with its plan, logs, seeds and ledger; the register; and
league.json. So whoever doubts a rank needs nothing that is not published: which versions could
play follows from the register, who met whom from the rounds before, each game from its board's
seed, and the ratings from all of them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from arena.files import DamagedFileError, read_file
from arena.processes import ShowProgress
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, working
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from tournaments.event.folder import content
from tournaments.formats.tables import Matches
from tournaments.league.pairing import (
    NO_ENCOUNTERS,
    PAIRING_METHOD,
    Encounters,
    choose_tables,
    count_encounters,
    final_tables,
    finalists,
)
from tournaments.league.ratings import DivisionTable, LeagueTable, rate_division
from tournaments.league.settings import DivisionSettings, LeagueFolder, LeagueSettings, Quota
from tournaments.league.state import (
    BENCHED,
    Admitted,
    AnyEntry,
    DivisionData,
    LeagueData,
    PlayedRound,
    RoundPlan,
    active_versions,
    benched_versions,
    bot_histories,
    read_register,
    read_round,
    register_digests,
)
from tournaments.verification.event import (
    Checked,
    Verified,
    describe_extent,
    no_progress,
    print_faults,
    verify_folder,
)

AGREED_DECIMALS = 5
"""Decimals that two computers agree on."""


def print_league_check(path: Path, in_json: bool) -> int:
    """Check a league or its site, and print the problems; return the exit code.

    Raises UserError.
    """
    with working("Games replayed") as tell:
        faults, (rounds, verified) = print_faults(verify_league(path, tell), in_json)
    if in_json:
        print_json({"problems": faults, "rounds": rounds, **verified._asdict()})
    elif not faults:
        extent = f"{count_in_digits(rounds, 'round', 'rounds')}, tables chosen again"
        print_line(f"OK: {extent}, {describe_extent(verified)}.")
    return 1 if faults else 0


def verify_league(
    path: Path, progress: ShowProgress = no_progress
) -> Checked[tuple[int, Verified]]:
    """Yield every inconsistency of a league, or of its site; return rounds and extent."""
    folder = LeagueFolder(path)
    is_site = not folder.settings.is_file()
    site = LeagueFolder(path if is_site else folder.site)
    table = yield from _read_table(site.table)
    register = yield from _check_register(folder.register)
    divisions = {}
    for name in sorted({place.parent.name for place in folder.rounds.glob("*/[0-9]*")}):
        divisions[name] = yield from _read_rounds(folder, name, is_site)
    games = sum(len(round.results) for rounds in divisions.values() for round in rounds)
    extents: list[Verified] = []
    for rounds in divisions.values():
        yield from _plan_faults(rounds, register, folder.register)
        for round in rounds:
            if round is rounds[-1] and not is_site and round.is_tried:
                break  # It has no report yet.
            extents.append((yield from verify_folder(round.folder)))
            progress(sum(each.games for each in extents), games)
    if table:
        if not content(folder.register).startswith(content(site.register)):
            yield f"{site.register}: is not the beginning of {folder.register}"
        published = yield from _check_register(site.register)
        yield from _table_faults(site.table, table, published, divisions, is_site)
    boards = sum(each.boards for each in extents)
    checked = Verified(sum(each.games for each in extents), boards, ratings=table is not None)
    return len(extents), checked


def _read_table(path: Path) -> Checked[LeagueTable | None]:
    if not path.is_file():
        return None
    try:
        return decode_json(read_file(path), LeagueTable)
    except DamagedRecordError as error:
        yield f"{path}: {error}; the ratings were not checked"
        return None


def _check_register(path: Path) -> Checked[list[AnyEntry]]:
    """Read the register; yield what is wrong with its lines."""
    register: list[AnyEntry] = []
    versions: set[str] = set()
    try:
        for number, entry in enumerate(read_register(path), 1):
            if register and entry.time < register[-1].time:
                yield f"{path}, line {number}: {entry.time} is before the time of the line above"
            if isinstance(entry, Admitted):
                if entry.version in versions:
                    yield f"{path}, line {number}: {entry.version} was admitted before"
                versions.add(entry.version)
            register.append(entry)
    except (DamagedFileError, OSError) as error:
        yield f"{error}; the register was not read further"
    return register


def _read_rounds(folder: LeagueFolder, name: str, is_site: bool) -> Checked[list[PlayedRound]]:
    """Read the rounds of a division up to the first that cannot be read."""
    rounds: list[PlayedRound] = []
    paths = folder.rounds_of(name)
    for path in paths:
        due = folder.round(name, len(rounds) + 1)
        if path != due:
            yield f"{path}: the next round must be {due.name}; no later round was checked"
            break
        try:
            round = read_round(path, sum(before.event.all_boards for before in rounds))
        except (UserError, DamagedFileError, OSError) as error:
            yield f"{str(error).rstrip('.')}; neither this round nor a later one was checked"
            break
        rounds.append(round)
        if not round.is_over and (is_site or path != paths[-1]):
            yield f"{path}: games are missing, although the round is over"
    return rounds


def _plan_faults(
    rounds: Sequence[PlayedRound], register: Sequence[AnyEntry], path: Path
) -> Iterator[str]:
    """Yield the plans that do not follow from the register at `path` and the rounds before."""
    lines = _lines_by_digest(path)
    encounters, before = NO_ENCOUNTERS, list[PlayedRound]()
    for round in rounds:
        faults = [*_order_faults(round, before), *_event_faults(round, register)]
        faults += _choice_faults(round, encounters)
        if round.plan.register in lines:
            faults += _active_faults(round.plan, register[: lines[round.plan.register]], before)
        else:
            faults.append(f"{path} has other lines than when its tables were chosen")
        yield from (f"{round.folder.path}: {fault}" for fault in faults)
        partners = round.event.rules.deal.partners
        encounters = encounters.plus(count_encounters(round.results, partners))
        before.append(round)


def _lines_by_digest(register: Path) -> dict[str, int]:
    """Return how many lines of a register each digest covers."""
    return {digest: number for number, digest in enumerate(register_digests(register))}


def _order_faults(round: PlayedRound, before: Sequence[PlayedRound]) -> Iterator[str]:
    plan, event = round.plan, round.event
    if (plan.division, plan.number) != (round.folder.path.parent.name, len(before) + 1):
        yield f"its plan is that of round {plan.number} of {plan.division}"
    if before and plan.time < before[-1].plan.time:
        yield f"its tables were chosen at {plan.time}, before those of the last round"
    if before and (event.rules, event.seats) != (before[0].event.rules, before[0].event.seats):
        yield "its rules or seats are not those of the rounds before"


def _choice_faults(round: PlayedRound, encounters: Encounters) -> Iterator[str]:
    partners, seats = round.event.rules.deal.partners, round.event.seats
    if round.plan.is_final:
        if round.plan.tables != final_tables(round.plan.active, seats):
            yield "its tables are not those of a final among all that are active"
    elif round.plan.method != PAIRING_METHOD:
        yield (
            f"its tables were chosen by the method {round.plan.method!r}, which this version of "
            "Boneyard does not have; they were not chosen again"
        )
    elif [*round.plan.tables] != choose_tables(round.plan, encounters, seats, partners=partners):
        yield "tables, reasons or gains are not those of the choice from the rounds before it"


def _event_faults(round: PlayedRound, register: Sequence[AnyEntry]) -> Iterator[str]:
    plan, event = round.plan, round.event
    tables = tuple(table.entrants for table in plan.tables)
    if not isinstance(event.format, Matches) or event.format.tables != tables:
        yield "its event has other tables than its plan"
    if event.boards != plan.boards:
        yield f"its event has {event.boards} boards, its plan {plan.boards}"
    if round.closed and round.closed.time < plan.time:
        yield f"it was closed at {round.closed.time}, before its tables were chosen"
    files = {entry.version: entry.fingerprint for entry in register if isinstance(entry, Admitted)}
    for entrant in event.entrants:
        if entrant.fingerprint != files.get(entrant.name):
            yield f"{entrant.name} has other files than the register admitted"


def _active_faults(
    plan: RoundPlan, register: Sequence[AnyEntry], before: Sequence[PlayedRound]
) -> Iterator[str]:
    """Yield the versions that could play although the register has none such, or the other way.

    `register`: as it was at the choice.
    """
    # House bots are a setting.
    house = {entry.bot for entry in register if isinstance(entry, Admitted) and entry.house}
    versions = {*plan.active, *plan.held} - house
    present = {*active_versions(bot_histories(register), (), plan.division)}
    for name in sorted(versions - present):
        yield f"by the register {name} could not play at {plan.time}"
    for name in sorted(present - versions):
        yield f"{name} was in the register, but is neither active nor held"
    for name in sorted({*plan.active} & plan.held.keys()):
        yield f"{name} is active, and held"
    for name, why in plan.held.items():
        if why.endswith(BENCHED) and not _is_benched(name, why, before, house):
            yield f"{name} is held, but the rounds before do not say so: {why}"


def _is_benched(name: str, why: str, before: Sequence[PlayedRound], house: set[str]) -> bool:
    """Tell whether a version was benched for this reason; how many fouls it takes is a setting."""
    number = re.search(r" in (\d{1,4}) sitting", why, re.ASCII)
    benched = benched_versions(before, int(number[1]) if number else 1, house)
    return name in benched and benched[name].why == why


# --- league.json ---


def _table_faults(
    path: Path,
    table: LeagueTable,
    register: list[AnyEntry],
    divisions: Mapping[str, Sequence[PlayedRound]],
    is_site: bool,
) -> Iterator[str]:
    """Yield what is wrong with the figures of each division.

    `path`: the file with the table. `register`: as it was published with it. A league may have
    played on since; of a site the table has all rounds.
    """
    names = {division.name for division in table.divisions}
    for name, rounds in divisions.items():
        if is_site and rounds and name not in names:
            yield f"{path}: {name} is missing"
    for division in table.divisions:
        rounds = [round for round in divisions.get(division.name, ()) if round.is_over]
        if division.rounds > len(rounds) or (is_site and division.rounds < len(rounds)):
            yield (
                f"{path}: {division.name} has {division.rounds} rounds, but {len(rounds)} can be "
                "read. If it was copied while it was written, copy it again"
            )
        elif rounds:
            played = rounds[: division.rounds]
            yield from _figure_faults(path, table, division, register, played)
        elif any(row.games or row.elo is not None for row in division.all_versions):
            yield f"{path}: {division.name} has figures, but no round"


def _figure_faults(
    path: Path,
    table: LeagueTable,
    division: DivisionTable,
    register: list[AnyEntry],
    rounds: list[PlayedRound],
) -> Iterator[str]:
    """Yield the finals with other entrants, and the first figure that the rounds do not give."""
    event = rounds[0].event
    settings = DivisionSettings(name=division.name, title=division.title, seats=event.seats)
    data = DivisionData(settings=settings, rules=event.rules, seats=event.seats, rounds=rounds)
    league = LeagueData(
        folder=LeagueFolder(path.parent),
        settings=LeagueSettings(
            title=table.title,
            house=table.house,
            anchor=table.anchor,
            quota=Quota(foul_sittings=table.foul_sittings),
        ),
        register=register,
        divisions={division.name: data},
    )
    yield from _finalist_faults(league, data)
    # The next tables are of a round that is not over.
    figures = to_builtins(replace(rate_division(data, league), next=division.next))
    for place, figure, other in _differences(to_builtins(division), figures):
        yield f"{path}: {division.name}{place} is {figure}, but the rounds give {other}"
        break


def _finalist_faults(league: LeagueData, division: DivisionData) -> Iterator[str]:
    """Yield the finals whose entrants were not the first in the standings before them."""
    lines = _lines_by_digest(league.folder.register)
    for place, round in enumerate(division.rounds):
        plan = round.plan
        if plan.is_final:
            then = replace(league, register=league.register[: lines.get(plan.register, 0)])
            before = replace(division, rounds=division.rounds[:place])
            names = finalists(then, before, plan.held.keys(), len(plan.active))
            if [*plan.active] != names:
                yield f"{round.folder.path}: others than the first of the standings play the final"


def _differences(value: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, dict) and isinstance(other, dict) and value.keys() == other.keys():
        for key in value:
            yield from (
                (f".{key}{path}", a, b) for path, a, b in _differences(value[key], other[key])
            )
    elif isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        for number, (first, second) in enumerate(zip(value, other, strict=True)):
            yield from ((f"[{number}]{path}", a, b) for path, a, b in _differences(first, second))
    elif isinstance(value, float) and isinstance(other, float):
        if round(value - other, AGREED_DECIMALS):
            yield "", value, other
    elif value != other:
        yield "", value, other
