"""A league for its organiser: its status, the marks of its bots, copies."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from arena.document.blocks import Column, DocumentBlock, Paragraph, Section, bullets, table
from arena.document.terminal import open_console, print_blocks
from arena.files import write_atomic
from arena.rules.english import count_in_digits, join_words
from arena.ui.console import print_line, print_note, shown_path
from protocol.codec import indented_json
from tournaments.league.pairing import boards_to_play, describe_slow, next_round
from tournaments.league.ratings import rate_division
from tournaments.league.settings import NO_BASELINE
from tournaments.league.state import (
    AnyEntry,
    DivisionData,
    LeagueData,
    Refused,
    describe_entry,
    held_versions,
    one_line,
    read_league,
    shown_time,
    week_of,
)
from tournaments.plan.schedule import count_all_games
from tournaments.rating.statistics import WRONG
from tournaments.report.report import encode_rows
from tournaments.site.status import is_locked

LATEST = 8
"""Lines of the register that are shown."""
MAX_REASON_LENGTH = 160
"""Most characters of a reason or of a push's words: some come from authors."""


def print_league_status(path: Path, now: datetime) -> int:
    """Print the state of a league, while it runs or not; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    print_blocks(open_console(), status_blocks(read_league(path.resolve()), path, now))
    return 0


def status_blocks(league: LeagueData, path: Path, now: datetime) -> Iterator[DocumentBlock]:
    """Yield the state of a league as a terminal shows it; `path`: its folder."""
    settings, divisions = league.settings, league.divisions
    state = {True: "is running", False: "is not running", None: "may be running"}
    free_gib = shutil.disk_usage(league.folder.path).free / 2**30
    yield Paragraph(
        f"{settings.title} {state[is_locked(league.folder.lock)]} in {shown_path(path)}: "
        f"{shown_time(now, settings.zone)}, week {week_of(now)}, {free_gib:.1f} GiB of the disk "
        "free.",
        "lead",
    )
    columns = [
        Column("division", "name"),
        *map(Column, ("bots", "rounds", "boards")),
        Column("a week at most", spare=True),
        Column("may play now", spare=True),
        Column("playing", "word"),
    ]
    yield table("Divisions", columns, (_row(league, data, now) for data in divisions.values()))
    choice, pauses = next_round(league, now)
    if choice:
        tables = (f"{' – '.join(table.entrants)}: {table.why}" for table in choice[0].tables)
        yield from _list_section(f"Next in {choice[0].division}", tables)
    yield from _list_section("Nothing to play now", map(": ".join, pauses.items()))
    held = (
        f"{name} in {division}: {why}"
        for division, data in divisions.items()
        for name, why in held_versions(league, data).items()
    )
    yield from _list_section("Held out", held)
    slow = (item for data in divisions.values() for item in describe_slow(league, data).items())
    yield from _list_section("Slow", map(": ".join, slow))
    last = (bot.last for _, bot in sorted(league.histories.items()))
    refused = [entry for entry in last if isinstance(entry, Refused)]
    for title, entries in (
        ("Refused", refused),
        ("News", league.register[: -LATEST - 1 : -1]),
    ):
        yield from _list_section(title, (_entry_line(entry, settings.zone) for entry in entries))


def _list_section(title: str, lines: Iterable[str]) -> Iterator[Section]:
    """Yield a section with a list, if it has any items."""
    if items := [*lines]:
        yield Section(title, [bullets(items)])


def _entry_line(entry: AnyEntry, zone: str) -> str:
    words = " ".join([shown_time(entry.time, zone), *describe_entry(entry)])
    return one_line(words, MAX_REASON_LENGTH)


def _row(league: LeagueData, division: DivisionData, now: datetime) -> list[str]:
    settings, playing = division.settings, "nothing"
    if round := division.playing:
        games = count_in_digits(count_all_games(round.event, {}), "game")
        playing = f"round {round.plan.number}: {len(round.results)} of {games}"
    bots, played = len(league.active(settings.name)), division.boards_in(week_of(now))
    left = max(0, *boards_to_play(league, division, now))
    numbers = bots, len(division.over), played, settings.boards_a_week, left
    return [settings.name, *(f"{number:,}" for number in numbers), playing]


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
    if not league.settings.grades:
        print_note(f"Nobody has a mark: {shown_path(league.folder.settings)} has no [grades].")
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
