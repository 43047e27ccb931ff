"""Words of a league for an author alone: the games of practice; stderr, fouls and times of a bot.

Everything is in results/BOT, which nobody but the league's own account may open until the organiser
lets the author in. It is written when a round is over, never before: tables of a round share their
boards, and an author with two bots would read from the first what the second will meet.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path

from msgspec import UNSET, Struct

from arena.files import has_content, read_file, write_atomic
from protocol.codec import DamagedRecordError, decode_json, indented_json
from protocol.errors import UserError
from tournaments.event.facts import Times
from tournaments.event.folder import content
from tournaments.formats.base import first_version, version_number
from tournaments.league.pairing import AbleBots, NextRound, able_bots, practice_round
from tournaments.league.push import RefusedPushError
from tournaments.league.settings import PLAN, LeagueFolder
from tournaments.league.state import Admitted, LeagueData, PlayedRound, parse_time, read_round
from tournaments.league.update import DAY, bot_file_of
from tournaments.rating.tables import own_fouls

PRACTICE_S = 60.0
"""Time after which a practice ends, in s: who pushes meanwhile waits for it."""
MOST_ACCOUNT = 2**18
"""Characters of the account of a round."""
MOST_ACCOUNTS = 20
"""Rounds of a division, and practices, of which a bot's accounts stay: the last ones."""


class PracticeHistory(Struct, frozen=True):
    """The practice that a bot has had."""

    version: str = ""
    """The last version that was answered."""
    times: tuple[str, ...] = ()
    """When its last rounds began, as many as count for a day."""


def begun_practice(league: LeagueFolder) -> PlayedRound | None:
    """Return the practice that a kill cut off. Raises OSError."""
    for path in league.practice.glob(f"[!.]*/{PLAN}"):
        with suppress(UserError, FileNotFoundError):  # A kill may have left half of its files.
            begun = read_round(path.parent, 0)
            (version,) = begun.plan.newcomers
            if _history(league, first_version(version)).version != version:
                return begun
        shutil.rmtree(path.parent)  # Or it was answered before a kill.
    return None


def practice_to_play(league: LeagueData, now: datetime) -> NextRound | None:
    """Return the next practice, of who waits longest; None if nobody waits for any.

    Every author whose request cannot be granted is told why. Raises UserError, OSError.
    """
    present = (history.present for history in league.histories.values())
    authors = (entry for entry in present if entry and not entry.house)
    waiting = sorted(authors, key=lambda entry: entry.time)
    find_able = cache(partial(able_bots, league))  # It reads files of each bot.
    practices = [_practice_of(league, entry, now, find_able) for entry in waiting]
    return next(filter(None, practices), None)


def _practice_of(
    league: LeagueData, entry: Admitted, now: datetime, find_able: Callable[[str], AbleBots]
) -> NextRound | None:
    """Return the practice of a version that waits for one and may have it now."""
    history, most = _history(league.folder, entry.bot), league.settings.quota.practice_a_day
    if history.version == entry.version:
        return None
    try:
        rivals = bot_file_of(league.folder, entry).practice.against
        if not rivals:
            return None
        if sum(now - parse_time(time) < DAY for time in history.times) >= most:
            raise UserError(f"A bot has {most} rounds of practice in 24 hours. This one waits.")
        return practice_round(league, entry, rivals, now, find_able)
    except (UserError, RefusedPushError, OSError) as error:
        text = league.folder.without_path(f"{entry.version}: {error}\n")
        _tell_author(league.folder, entry.version, _practice_file(entry.version), [text])
    return None


def _history(league: LeagueFolder, bot: str) -> PracticeHistory:
    data = content(league.practice / f"{bot}.json")
    with suppress(DamagedRecordError):
        return decode_json(data, PracticeHistory) if data else PracticeHistory()
    return PracticeHistory()


def answer_practice(league: LeagueFolder, practice: PlayedRound, most: int) -> None:
    """Tell an author how a practice ended, and remove it: its logs show the tiles of others.

    `most`: the times that count for a day. Killed at any moment, it ends the same when it is called
    again. Raises OSError.
    """
    (version,) = practice.plan.newcomers
    bot = first_version(version)
    _tell_author(league, version, _practice_file(version), account_of(practice, version))
    times = (*_history(league, bot).times, practice.plan.time)[-max(1, most) :]
    history = indented_json(PracticeHistory(version, times))
    write_atomic(league.practice / f"{bot}.json", [history, b"\n"])
    shutil.rmtree(practice.folder.path)


def _practice_file(version: str) -> Path:
    return Path(f"practice-{version_number(version):04}.txt")


def tell_authors(league: LeagueData) -> None:
    """Write the accounts of rounds that are over, unless that was done. Raises OSError."""
    for round in league.rounds:
        if not round.is_over or round.is_tried or not round.folder.stderr.is_dir():
            continue
        name = Path(round.plan.division, f"{round.folder.path.name}.txt")
        for version in {name for table in round.plan.tables for name in table.entrants}:
            place = league.folder.results / first_version(version) / name
            # A kill may have come while the files were removed from which it was written.
            if first_version(version) not in league.settings.house and not place.exists():
                _tell_author(league.folder, version, name, account_of(round, version))
        shutil.rmtree(round.folder.stderr)


def account_of(round: PlayedRound, version: str) -> Iterator[str]:
    """Yield what the author of a version may know of its games, line by line.

    Nothing of it is of another bot but its name and that the game was played.
    """
    yield f"{round.plan.title}, {round.plan.time}: {version}"
    with suppress(OSError, DamagedRecordError):  # A round that was closed may have no reports.
        times = decode_json(read_file(round.folder.times), Times)
        for row in times.entrants:
            if row.name == version:
                unit = "ms" if row.is_effort is UNSET else "million instructions"
                means = f"{row.mean_ms:.1f} {unit} on average, {row.worst_ms:.1f} at most"
                yield f"{row.questions} questions: {means}"
    for result in round.results:
        if version in result.seats:
            seat = result.seats.index(version)
            rivals = ", ".join(name for name in result.seats if name != version)
            foul = ", a foul" if seat in own_fouls(result) else ""
            score = f"{result.scores[seat]} points, place {result.places[seat]}{foul}"
            yield f"{result.game}: {score}, against {rivals}"
    yield "" if round.is_over else "Not all of its games were played."
    room = MOST_ACCOUNT
    for path in sorted((round.folder.stderr / version).glob("*.txt")):
        text = path.read_text(errors="replace")[: max(0, room)]
        room -= len(text)
        yield text


def _tell_author(league: LeagueFolder, version: str, name: Path, lines: Iterable[str]) -> None:
    """Write a file for a bot's author, and remove the oldest; a new folder is ours alone.

    An author whose folder cannot be written is told nothing, and keeps nobody else waiting.
    """
    home = league.results / first_version(version)
    path, data = home / name, ["\n".join(lines).encode()]
    if any(folder.is_symlink() for folder in (league.results, home, path.parent)):
        return
    with suppress(FileExistsError, NotADirectoryError, PermissionError):
        for folder in (league.results, home, path.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        if not has_content(path, data):
            write_atomic(path, data)
        for old in sorted(path.parent.glob("*.txt"))[:-MOST_ACCOUNTS]:
            old.unlink()
