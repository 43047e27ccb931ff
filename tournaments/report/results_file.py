"""The file results.json: its content, and the ratings in it."""

from contextlib import suppress

import msgspec
from msgspec import UNSET, Struct, UnsetType

from arena.files import DamagedFileError, read_file
from arena.logs.catalog import GAMES_FOLDER
from protocol.codec import DamagedRecordError, decode_json
from tournaments.event.book import Book
from tournaments.event.facts import SandboxSummary
from tournaments.event.folder import digest
from tournaments.event.history import Latecomer
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
