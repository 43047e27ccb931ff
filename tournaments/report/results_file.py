"""The file results.json: its content, and the table of several events that it makes."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Struct, UnsetType

from arena.analysis.find import EVENT_FILE
from arena.document.blocks import Cell, Column, Media, Table, table
from arena.files import DamagedFileError, read_file
from arena.logs.catalog import GAMES_FOLDER
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from tournaments.event.book import Book, Latecomer
from tournaments.event.facts import SandboxSummary
from tournaments.event.folder import Folder, digest
from tournaments.event.luck import LuckStore
from tournaments.formats.entrant import OwnClock, Values
from tournaments.formats.tune import Tune
from tournaments.plan.event import Event, Terms
from tournaments.rating.tables import Corrections, Ratings
from tournaments.report.scaling import Scaling

RESULTS_FORMAT = 1


class Version(Struct, frozen=True):
    """The name and the fingerprint of an entrant."""

    name: str
    fingerprint: str
    """SHA-256 of its command and of the files that are its own; another one is another version."""
    clock: OwnClock | UnsetType = UNSET
    """Its own clock; left out where it has the event's."""
    withdrawn_after: int | UnsetType = UNSET
    """The last board that had begun when it withdrew; left out if it has not."""


class LuckUsed(Struct, frozen=True, kw_only=True):
    """The luck that was taken out of ratings and margins."""

    lines: int
    """Lines of luck.jsonl when the report was made."""
    games: int
    """Games whose luck is known; the others count as they were played."""
    foreseen: dict[str, float]
    """For each bot the share of its choices that its learnt policy thinks best, 0 to 1."""


class SearchStep(Struct, frozen=True):
    """A state of a tune's search."""

    boards: int
    """Boards that the candidates had played by then, counted for each, as `--boards` does."""
    best: Values
    lead: float | None
    """Mean lead of the last candidates over the start, in points a game; None before any."""


class Results(Struct, frozen=True, kw_only=True):
    """The content of results.json. It leaves out how bots start: that names local folders."""

    format: int = RESULTS_FORMAT
    event: Terms
    """The plan without its entrants."""
    entrants: tuple[Version, ...]
    """The entrants in the order of the plan."""
    played: int
    planned: int
    commitments: str
    """SHA-256 of commitments.jsonl, in hex."""
    latecomers: tuple[Latecomer, ...]
    """Entrants that have since met boards whose deals were public when they came."""
    sandboxes: tuple[SandboxSummary, ...]
    ratings: Ratings
    """Tables, one for each pool of entrants that games connect; see `Pool.stored`."""
    luck: LuckUsed | None = None
    """The luck that was taken out; None if it was not computed."""
    scaling: tuple[Scaling, ...] | UnsetType = UNSET
    """Bots that played at several clocks; left out if there is none."""
    search: tuple[SearchStep, ...] | UnsetType = UNSET
    """The way of a tune from the start values to the best ones; left out of other formats."""


def current_results(book: Book) -> Results | None:
    """Return results.json if nothing that the report is made from has changed since; else None."""
    folder, event, played = book.folder, book.event, len(book.results)
    sources = (folder.event, folder.ledger, folder.luck, folder.history, folder.review)
    reports = (folder.report, folder.page, folder.times, folder.results, folder.games)
    tables = (folder.ratings, folder.crosstable, folder.pgn)
    paths = [path for path in (*sources, folder.path / GAMES_FOLDER) if path.exists()]
    with suppress(OSError, DamagedRecordError, DamagedFileError):
        summary = decode_json(read_file(folder.results), Results)
        changed = max(path.stat().st_mtime_ns for path in paths)
        is_newer = all(path.stat().st_mtime_ns > changed for path in (*reports, *tables))
        now = terms_of(event), versions_of(event), played, digest(folder)
        state = summary.event, summary.entrants, summary.played, summary.commitments
        return summary if is_newer and now == state else None
    return None


def events_table(head: str, folders: Sequence[Path], root: Path = Path()) -> Table:
    """Return a row for each event: its last run, its games, who leads, the way to its report.

    `head`: the first column's. `root`: the folder from which reports are reached.
    """
    rows: list[Sequence[str | Cell]] = []
    for path in folders:
        games = leader = ""
        with suppress(OSError, UserError, DamagedRecordError):
            summary = decode_json(read_file(Folder(path).results), Results)
            best = summary.ratings.pools[0].entrants if summary.ratings.pools else ()
            leaders = [rating.name for rating in best if rating.ranks[0] == 1]
            games = f"{summary.played:,} of {summary.planned:,}"
            leader = leaders[0] if len(leaders) == 1 else f"{len(leaders)} are level"
        moment = datetime.fromtimestamp((path / EVENT_FILE).stat().st_mtime)
        address = quote(os.fsencode(Folder(path).page.relative_to(root)))
        report = Cell("report", href=address) if games else ""
        last_run = f"{moment:%Y-%m-%d %H:%M}"
        # A folder's name may be no text.
        name = os.fsencode(path.relative_to(root)).decode(errors="replace")
        rows.append((name, last_run, games, leader, report))
    columns = [Column(head, "name"), Column("last run", "word"), Column("games")]
    columns += [Column("first", "word"), Column("look", "word", media=Media.HTML)]
    return table("Events", columns, rows)


def terms_of(event: Event) -> Terms:
    """Return an event's plan without its entrants."""
    return msgspec.convert(event, Terms, from_attributes=True)


def luck_used(luck: LuckStore, corrections: Corrections) -> LuckUsed:
    """Return the luck that these corrections take out."""
    return LuckUsed(
        lines=len(luck.records),
        games=len(corrections),
        # That of the most boards is the last.
        foreseen={
            policy.entrant: policy.foreseen
            for _, policy in sorted(luck.policies.items())
            if policy.choices
        },
    )


def search_steps(book: Book) -> tuple[SearchStep, ...]:
    """Return the way of a tune's search; nothing of another format. Raises UserError."""
    event = book.event
    if not isinstance(event.format, Tune):
        return ()
    way = event.format.way(event, book.active)
    return tuple(
        SearchStep(index * way.boards_a_step, step.best, lead)
        for index, (step, lead) in enumerate(zip(way.steps, (None, *way.means), strict=True))
    )


def versions_of(event: Event) -> tuple[Version, ...]:
    """Return an event's entrants in the order of the plan."""
    return tuple(
        Version(bot.name, bot.fingerprint, bot.clock, bot.withdrawn_after) for bot in event.entrants
    )
