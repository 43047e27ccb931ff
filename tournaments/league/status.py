"""A league for its organiser: its status, the marks of its bots, copies."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from arena.document.blocks import Column, DocumentBlock, Paragraph, Section, bullets, table
from arena.document.terminal import open_console, print_blocks
from arena.files import write_atomic
from arena.rules.english import count_in_digits, join_words
from arena.ui.console import print_json, print_line, shown_path
from protocol.codec import indented_json
from tournaments.league.pairing import boards_to_play, describe_slow, next_round
from tournaments.league.ratings import rate_division
from tournaments.league.settings import NO_BASELINE
from tournaments.league.state import (
    AnyEntry,
    DivisionData,
    LeagueData,
    Refused,
    RoundPlan,
    describe_entry,
    held_versions,
    one_line,
    read_league,
    shown_time,
    week_of,
    write_utc,
)
from tournaments.plan.schedule import count_all_games
from tournaments.rating.statistics import WRONG
from tournaments.report.report import encode_rows
from tournaments.site.status import is_locked

LATEST = 8
"""Lines of the register that are shown."""
MAX_REASON_LENGTH = 160
"""Most characters of a reason or of a push's words: some come from authors."""


class RoundStatus(Struct, frozen=True):
    """A round that is being played, or was when the league stopped."""

    plan: RoundPlan
    played: int
    """Games that have a result in its ledger."""
    planned: int


class DivisionStatus(Struct, frozen=True, kw_only=True):
    """The progress of a division."""

    name: str
    bots: int
    """Versions that play in it, house bots and those held out included."""
    rounds: int
    """Rounds that are over."""
    playing: RoundStatus | None
    """The round that is not over."""
    boards: int
    """Boards of this week's rounds."""
    boards_a_week: int
    """Boards that a week may play."""
    boards_left: int
    """Boards that may be played now, those included that are kept for new versions."""
    held: Mapping[str, str]
    """The versions that are benched, and why."""
    slow: Mapping[str, str]
    """Sentences about the time of slow versions."""


class LeagueStatus(Struct, frozen=True, kw_only=True):
    """The state of a league."""

    title: str
    time: str
    zone: str
    """Time zone in which people read times."""
    week: str
    running: bool | None
    """True if a process runs the league now; None: this machine does not tell."""
    free_mib: int
    """Free room on the disk with the league's folder, in MiB."""
    divisions: tuple[DivisionStatus, ...]
    refused: tuple[Refused, ...]
    """The last line about each bot whose last push was refused."""
    pushes: tuple[AnyEntry, ...]
    """The last lines of the register, the newest first."""
    next: RoundPlan | None
    """The round that would be chosen now; None if no division has anything to play."""
    pauses: Mapping[str, str]
    """For divisions that play nothing now, why and until when."""


def print_league_status(path: Path, now: datetime, in_json: bool) -> int:
    """Print the state of a league; return the exit code. Raises UserError."""
    status = read_league_status(path.resolve(), now)
    if in_json:
        print_json(status)
    else:
        print_blocks(open_console(), status_blocks(status, path))
    return 0


def read_league_status(path: Path, now: datetime) -> LeagueStatus:
    """Read the state of a league, while it runs or not.

    Raises UserError; DamagedFileError is one.
    """
    league = read_league(path)
    following = next_round(league, now)
    return LeagueStatus(
        title=league.settings.title,
        time=write_utc(now),
        zone=league.settings.zone,
        week=week_of(now),
        running=is_locked(league.folder.lock),
        free_mib=shutil.disk_usage(path).free // 2**20,
        divisions=tuple(_division(league, data, now) for data in league.divisions.values()),
        refused=tuple(
            bot.last for _, bot in sorted(league.histories.items()) if isinstance(bot.last, Refused)
        ),
        pushes=tuple(league.register[: -LATEST - 1 : -1]),
        next=following.round and following.round[0],
        pauses=following.pauses,
    )


def _division(league: LeagueData, division: DivisionData, now: datetime) -> DivisionStatus:
    settings, playing = division.settings, division.playing
    return DivisionStatus(
        name=settings.name,
        bots=len(league.active(settings.name)),
        rounds=len(division.over),
        playing=(
            RoundStatus(playing.plan, len(playing.results), count_all_games(playing.event, {}))
            if playing
            else None
        ),
        boards=division.boards_in(week_of(now)),
        boards_a_week=settings.boards_a_week,
        boards_left=max(0, *boards_to_play(league, division, now)),
        held=held_versions(league, division),
        slow=describe_slow(league, division),
    )


# --- words ---


def status_blocks(status: LeagueStatus, path: Path) -> Iterator[DocumentBlock]:
    """Yield the state of a league as a terminal shows it."""
    state = {True: "is running", False: "is not running", None: "may be running"}[status.running]
    place, time = shown_path(path), shown_time(status.time, status.zone)
    yield Paragraph(
        f"{status.title} {state} in {place}: {time}, week {status.week}, "
        f"{status.free_mib / 1024:.1f} GiB of the disk free.",
        "lead",
    )
    columns = [
        Column("division", "name"),
        *map(Column, ("bots", "rounds", "boards")),
        Column("of a week", spare=True),
        Column("may play now", spare=True),
        Column("playing", "word"),
    ]
    yield table("Divisions", columns, (_row(division) for division in status.divisions))
    if status.next:
        tables = (f"{' – '.join(table.entrants)}: {table.why}" for table in status.next.tables)
        yield from _list_section(f"Next in {status.next.division}", tables)
    pauses = (f"{name}: {words}" for name, words in status.pauses.items())
    yield from _list_section("Nothing to play now", pauses)
    rows = ((row.name, *item) for row in status.divisions for item in row.held.items())
    yield from _list_section("Held out", (f"{name} in {place}: {why}" for place, name, why in rows))
    slow = (item for row in status.divisions for item in row.slow.items())
    yield from _list_section("Slow", (f"{name}: {words}" for name, words in slow))
    for title, entries in (("Refused", status.refused), ("Last news", status.pushes)):
        yield from _list_section(title, (_entry_line(entry, status.zone) for entry in entries))


def _list_section(title: str, lines: Iterable[str]) -> Iterator[Section]:
    """Yield a section with a list, if it has any items."""
    if items := [*lines]:
        yield Section(title, [bullets(items)])


def _entry_line(entry: AnyEntry, zone: str) -> str:
    words = " ".join([shown_time(entry.time, zone), *describe_entry(entry)])
    return one_line(words, MAX_REASON_LENGTH)


def _row(status: DivisionStatus) -> list[str]:
    playing = "nothing"
    if now := status.playing:
        games = count_in_digits(now.planned, "game")
        playing = f"round {now.plan.number}: {now.played} of {games}"
    numbers = status.bots, status.rounds, status.boards, status.boards_a_week, status.boards_left
    return [
        status.name,
        *(f"{number:,}" for number in numbers),
        playing,
    ]


# --- `boneyard league DIR grades` ---


GradeRow = dict[str, str | float | None]
"""The mark of a bot in a division and what it follows from, by the columns of grades.csv."""


def write_league_grades(path: Path) -> int:
    """Write the marks of a league into its folder; return the exit code. Raises UserError, OSError.

    grades.csv has all bots; of each Gradescope reads a results.json.
    """
    league = read_league(path.resolve())
    rows = [row for division in league.divisions.values() for row in _grades(league, division)]
    folder = league.folder.grades
    folder.mkdir(exist_ok=True)
    lines = [["" if cell is None else f"{cell}" for cell in row.values()] for row in rows]
    write_atomic(folder / "grades.csv", [encode_rows([*([*row] for row in rows[:1]), *lines])])
    bots = {f"{row['bot']}" for row in rows}
    for old in folder.glob("*/results.json"):
        # Whoever hands out the folders would give the mark of a bot that has left.
        if old.parent.name not in bots:
            old.unlink()
    for bot in bots:
        (folder / bot).mkdir(exist_ok=True)
        bot_rows = [row for row in rows if row["bot"] == bot]
        results = indented_json(gradescope_results(bot_rows, league.settings.grades))
        write_atomic(folder / bot / "results.json", [results, b"\n"])
    count = count_in_digits(len(bots), "bot")
    print_line(f"Wrote grades.csv and results.json of {count} into {shown_path(folder)}.")
    return 0


def _grades(league: LeagueData, division: DivisionData) -> Iterator[GradeRow]:
    settings, copies = league.settings, division.copies()
    for row in rate_division(division, league).standings:
        if row.is_house:
            continue
        versions = len(league.histories[row.bot].admitted)
        mark, certainty = mark_of(row.better, settings.grades, versions)
        twins = {pair - {row.name}: count for pair, count in copies.items() if row.name in pair}
        alike = (f"{name} ({count} questions)" for (name,), count in twins.items())
        yield {
            **{"division": division.settings.name, "bot": row.bot, "version": row.name},
            **{"place": row.rank, "best_place": row.ranks[0], "last_place": row.ranks[1]},
            **{"elo": None if row.elo is None else round(row.elo, 1), "elo_bound": row.bound},
            **{"elo_half_width": row.half_width and round(row.half_width, 1), "games": row.games},
            **{
                f"better_than_{name}": _verdict(row.better.get(name), versions)
                for name in settings.house
            },
            **{"mark": mark, "certainty": certainty, "fouls": row.fouls, "versions": versions},
            "same_answers_as": ", ".join(sorted(alike)),
        }


def _verdict(chance: float | None, versions: int) -> str:
    """Word if a bot is better; the 5 % of a wrong answer are for both, and for all its versions.

    Else who pushes the same bot often enough has a version with a lucky mark.
    """
    wrong = WRONG / 2 / versions
    if chance is None or wrong <= chance <= 1 - wrong:
        return "too early"
    return "yes" if chance > 1 / 2 else "no"


def mark_of(
    better: Mapping[str, float], marks: Mapping[str, float | str], versions: int
) -> tuple[str, str]:
    """Return a bot's mark, the lowest that is open, and how certain it is.

    `better`: its probability to be better than each house bot. `marks`: as in the settings.
    `versions`: the number of versions that it has had.
    """
    if not marks:
        return "", ""
    open_marks = []
    for name in reversed([name for name in marks if name != NO_BASELINE]):
        verdict = _verdict(better.get(name), versions)
        open_marks += [_mark_text(marks[name])] if verdict != "no" else []
        if verdict == "yes":
            break
    else:
        open_marks.append(_mark_text(marks.get(NO_BASELINE, NO_BASELINE)))
    # Two house bots may have one mark.
    *higher, mark = dict.fromkeys(open_marks)
    return mark, f"too early: {join_words([*higher, mark], 'or')}" if higher else "with 95 %"


def _mark_text(mark: float | str) -> str:
    return f"{mark:g}" if isinstance(mark, float) else mark


def gradescope_results(
    rows: Sequence[GradeRow], marks: Mapping[str, float | str]
) -> dict[str, object]:
    """Return a bot's results.json: a test for each division, and columns of the leaderboard.

    `marks`: as in the settings; one that is no number scores 0.
    """
    scores = {_mark_text(mark): mark for mark in marks.values() if isinstance(mark, float)}
    return {
        "tests": [
            {
                "name": f"{row['version']} in {row['division']}",
                "score": scores.get(f"{row['mark']}", 0.0),
                "max_score": max(scores.values(), default=0.0),
                "output": f"Mark {row['mark']}, {row['certainty']}." if row["mark"] else "",
            }
            for row in rows
        ],
        "leaderboard": [
            {"name": f"{name} in {row['division']}", "value": row[name], "order": order}
            for row in rows
            for name, order in (("elo", "desc"), ("place", "asc"), ("fouls", "asc"))
            if row[name] is not None
        ],
    }
