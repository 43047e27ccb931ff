"""`boneyard league DIR status`: what a league plays, who is held out, and what is left."""

import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from arena.document.blocks import UNKNOWN, Block, Column, Paragraph, table
from arena.document.terminal import open_console, print_blocks
from arena.rules.english import count_in_digits, duration
from arena.ui.console import print_json, shown_path
from tournaments.league.conduct import held_versions
from tournaments.league.journal import describe_entry
from tournaments.league.pairing.next_round import boards_to_play, next_round
from tournaments.league.read import (
    DivisionData,
    LeagueData,
    PlayedRound,
    read_league,
    week_of,
    write_utc,
)
from tournaments.league.records import AnyEntry, Refused, RoundPlan, one_line
from tournaments.league.weekly_report import list_section
from tournaments.schedule.schedule import count_all_games
from tournaments.site.status import is_locked

LATEST = 8
"""Lines of the register that are shown."""
LONGEST = 160
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
    """Boards that may be played now: each day of a week allows a seventh more."""
    left_s: float | None
    """Estimated time that the rest of the week's boards take, in s, at the pace of the last round;
    None before the first."""
    held: Mapping[str, str]
    """The versions that are benched, and why."""


class Notice(Struct, frozen=True, kw_only=True):
    """A line of the register."""

    time: str
    kind: str
    """The event: admitted, refused or withdrawn."""
    words: str
    """The version, and what there is to say."""
    plays: str = ""
    """The earlier version that plays on after a refusal; empty if there is none."""


class LeagueStatus(Struct, frozen=True, kw_only=True):
    """The state of a league."""

    title: str
    time: str
    week: str
    running: bool | None
    """True if a process runs the league now; None: this machine does not tell."""
    free_mib: int
    """Free room on the disk with the league's folder, in MiB."""
    divisions: tuple[DivisionStatus, ...]
    refused: Mapping[str, Notice]
    """Bots whose last push was refused."""
    pushes: tuple[Notice, ...]
    """The last lines of the register, the newest first."""
    next: RoundPlan | None
    """The round that would be chosen now; None if no division has anything to play."""


def print_league_status(path: Path, now: datetime, in_json: bool) -> int:
    """Print the state of a league; return the exit code. Raises UserError."""
    found = read_league_status(path.resolve(), now)
    if in_json:
        print_json(found)
    else:
        print_blocks(open_console(), status_blocks(found, path))
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
        week=week_of(now),
        running=is_locked(league.folder.lock),
        free_mib=shutil.disk_usage(path).free // 2**20,
        divisions=tuple(_division(league, one, now) for one in league.divisions.values()),
        refused={
            bot: _notice(one.last, one.present.version if one.present else "")
            for bot, one in sorted(league.histories.items())
            if isinstance(one.last, Refused)
        },
        pushes=tuple(map(_notice, league.register[: -LATEST - 1 : -1])),
        next=following and following[0],
    )


def _division(league: LeagueData, division: DivisionData, now: datetime) -> DivisionStatus:
    own, boards = division.settings, division.boards_in(week_of(now))
    pace = _seconds_a_board(division.over[-1]) if division.over else None
    held = held_versions(league, division)
    return DivisionStatus(
        name=own.name,
        bots=len(league.active(own.name)),
        rounds=len(division.over),
        playing=next(
            (
                RoundStatus(one.plan, len(one.results), count_all_games(one.event, {}))
                for one in division.rounds
                if not one.is_over
            ),
            None,
        ),
        boards=boards,
        boards_a_week=own.boards_a_week,
        boards_left=max(0, boards_to_play(league, division, now)),
        left_s=None if pace is None else round(pace * max(0, own.boards_a_week - boards), 1),
        held={name: one_line(why, LONGEST) for name, why in sorted(held.items())},
    )


def _seconds_a_board(one: PlayedRound) -> float | None:
    """Return the time that a round took for each board, by the times of its files."""
    begun, over = one.folder.event, one.folder.ledger
    if not (over.exists() and begun.exists()):
        return None
    lasted = over.stat().st_mtime - begun.stat().st_mtime
    return max(0.0, lasted) / max(1, len(one.plan.tables) * one.plan.boards)


def _notice(entry: AnyEntry, plays: str = "") -> Notice:
    kind, words = describe_entry(entry)
    return Notice(time=entry.time, kind=kind, words=one_line(words, LONGEST), plays=plays)


# --- words ---


def status_blocks(found: LeagueStatus, path: Path) -> Iterator[Block]:
    """Yield the state of a league as a terminal shows it."""
    state = {True: "is running", False: "is not running", None: "may be running"}[found.running]
    yield Paragraph(
        f"{found.title} {state} in {shown_path(path)}: {found.time}, week {found.week}, "
        f"{found.free_mib / 1024:.1f} GiB of the disk free.",
        "lead",
    )
    columns = [
        Column("division", "name"),
        *map(Column, ("bots", "rounds", "boards")),
        Column("of a week", spare=True),
        Column("may play now", spare=True),
        Column("time left", "word"),
        Column("playing", "word"),
    ]
    yield table("Divisions", columns, (_row(one) for one in found.divisions))
    if found.next:
        tables = (f"{' – '.join(one.entrants)}: {one.why}" for one in found.next.tables)
        yield from list_section(f"Next in {found.next.division}", tables)
    held = ((one.name, *item) for one in found.divisions for item in one.held.items())
    yield from list_section("Held out", (f"{name} in {where}: {why}" for where, name, why in held))
    refused = (
        f"{one.time} {one.words}{f' {one.plays} plays on.' if one.plays else ''}"
        for one in found.refused.values()
    )
    yield from list_section("Refused", refused)
    news = (f"{one.time} {one.kind:<9} {one.words}" for one in found.pushes)
    yield from list_section("Last news", news)


def _row(one: DivisionStatus) -> list[str]:
    playing = "nothing"
    if now := one.playing:
        games = count_in_digits(now.planned, "game")
        playing = f"round {now.plan.number}: {now.played} of {games}"
    numbers = one.bots, one.rounds, one.boards, one.boards_a_week, one.boards_left
    return [
        one.name,
        *(f"{number:,}" for number in numbers),
        UNKNOWN if one.left_s is None else duration(one.left_s / 60),
        playing,
    ]
