"""The report of an event for people and for programs, from its plan, its ledger and its logs.

Nothing depends on time but times.json and, of report.html, what `measured` reads from the logs: the
same ledger gives the same bytes of all others, and the same logs those of these two.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.codec import printable
from protocol.records import Result
from tournaments.formats.base import Entrant
from tournaments.plan.event import Event, Terms
from tournaments.rating.anchor import Anchor
from tournaments.rating.fouls import count_fouls
from tournaments.rating.ratings import Pool, Ratings, fit_both
from tournaments.report import conditions as how
from tournaments.report import exports
from tournaments.report import format_section as format_report
from tournaments.report import tables as standings
from tournaments.report.html.page import ReportData, report_page
from tournaments.report.log_facts import LogFacts, SandboxSummary, log_facts
from tournaments.report.timing import as_json
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import games, sittings
from tournaments.storage import public_deals as public
from tournaments.storage.folder import Folder, digest
from tournaments.storage.history import read_history
from tournaments.storage.ledger import past_sittings
from tournaments.storage.public_deals import Latecomer, latecomers
from tournaments.storage.result_store import ResultStore

RESULTS_FORMAT = 1


class Version(Struct, frozen=True):
    """The name and the fingerprint of an entrant."""

    name: str
    """The name in the tables."""
    fingerprint: str
    """SHA-256 of its command and of the files that are its own; another one is another version."""


class Results(Struct, frozen=True, kw_only=True):
    """The content of results.json. It leaves out how bots start: that names local folders."""

    format: int = RESULTS_FORMAT
    """Version of this file's format."""
    event: Terms
    """The plan without its entrants."""
    entrants: tuple[Version, ...]
    """The entrants in the order of the plan."""
    played: int
    """Games that have a result."""
    planned: int
    """Games of the plan."""
    commitments: str
    """SHA-256 of commitments.jsonl, in hex."""
    latecomers: tuple[Latecomer, ...]
    """Entrants that have since met boards whose deals were public when they came."""
    sandboxes: tuple[SandboxSummary, ...]
    """The sandbox levels of the sittings."""
    ratings: Ratings
    """Tables, one for each pool of entrants that games connect."""


def files_now(folder: Folder, event: Event, results: ResultStore) -> dict[Path, Iterable[bytes]]:
    """Return the report's files from the ledger's results and the logs as they are."""
    return report_files(folder, event, results, log_facts(folder, results))


def report_files(
    folder: Folder, event: Event, by_game: ResultStore, known: LogFacts
) -> dict[Path, Iterable[bytes]]:
    """Return the report's files after these results, in their order, with the facts of the logs.

    Each comes in pieces that can be read once.
    """
    partners = event.rules.deal.partners
    results = by_game.first()
    ratings = fit_both(results, partners=partners, anchor=event.anchor)
    summary = Results(
        event=msgspec.convert(event, Terms, from_attributes=True),
        entrants=tuple(Version(one.name, one.fingerprint) for one in event.entrants),
        played=len(results),
        planned=games(event, by_game),
        commitments=digest(folder),
        latecomers=latecomers(list(read_history(folder)), event.entrants, results),
        sandboxes=known.sandboxes,
        ratings=ratings,
    )
    plans = (*past_sittings(folder, event), *sittings(event, by_game))
    places = GameIndex(plans, lambda plan, _: plan.name)
    fingerprints = {one.name: one.fingerprint for one in event.entrants}
    uneven = format_report.uneven(event, results, summary.planned)
    notes = [note for note in (uneven, public.describe_latecomers(summary.latecomers)) if note]
    told = ReportData(
        event, results, summary.planned, summary.commitments, notes, ratings, known, plans
    )
    return {
        folder.report: ["\n".join(_page(summary, event, results, notes)).encode()],
        folder.page: [report_page(told).encode()],
        folder.times: [as_json(known.times)],
        folder.results: [msgspec.json.format(msgspec.json.encode(summary), indent=1), b"\n"],
        folder.games: exports.games_csv(results, places, partners),
        folder.ratings: exports.ratings_csv(ratings, fingerprints),
        folder.crosstable: exports.crosstable_csv(ratings),
        folder.pgn: exports.pgn(event.name, results, partners),
    }


def from_logs(folder: Folder) -> tuple[Path, ...]:
    """Return the files with facts from the logs, which differ each time an event is played."""
    return folder.page, folder.times


def _page(
    summary: Results, event: Event, results: Sequence[Result], notes: Iterable[str]
) -> Iterator[str]:
    yield f"# {event.name}"
    yield ""
    yield format_report.headline(event, summary.played, summary.planned)
    for note in notes:
        yield from ("", note)
    yield from format_report.section(event, results)
    for pool in summary.ratings.pools:
        yield from _pool(pool, event.anchor)
    yield from _fouls(results)
    yield from _how(event, summary.sandboxes)
    yield from _deals(event, summary.commitments)
    yield from _bots(event.entrants)
    yield from _versions(event, results)
    yield from _files(summary.event)
    yield ""


def _pool(pool: Pool, anchor: Anchor | None) -> Iterator[str]:
    yield from ("", "## Standings", "")
    yield from standings.markdown(*standings.table(pool))
    yield from (
        "",
        standings.intervals(pool),
        f"In brackets: the ranks that the results leave open. {standings.RANKS}",
        "The margin leaves out games that a foul ended.",
    )
    for sentence in (
        *standings.placing(pool),
        *standings.unanchored(pool, anchor),
        *standings.without_fouls(pool, anchor),
    ):
        yield from ("", sentence)
    yield from ("", standings.PRIOR, "")
    yield from (f"- {line}" for line in standings.seat_advantages(pool))
    yield from (f"- {line}" for line in standings.duplicate_gain(pool))
    yield from ("", "## Crosstable", "", "Points that the row took off the column.", "")
    yield from standings.markdown(*standings.crosstable(pool))
    yield from ("", "## Who is better", "", "How likely the row is better than the column.", "")
    yield from standings.markdown(*standings.likelihoods(pool))
    if pool.partners:
        yield from ("", "## Partners", "")
        yield from standings.markdown(*standings.partners(pool))
        yield ""
        yield from standings.partners_told(pool)


def _fouls(results: Sequence[Result]) -> Iterator[str]:
    counts = count_fouls(results, forfeits=True)
    yield from ("", "## Fouls", "")
    if not counts:
        yield "None."
        return
    rows: standings.Rows = [(one.entrant, one.foul, f"{one.games}") for one in counts]
    yield from standings.markdown(("bot", "foul", "games"), rows)
    yield from (
        "",
        f"{how.FORFEIT} The evidence stands in `report.html` and the game logs: `boneyard replay`.",
    )


def _how(event: Terms, kept: Sequence[SandboxSummary]) -> Iterator[str]:
    yield from ("", "## How it was played", "")
    yield f"- {how.rules_text(event)}"
    limits, options = how.clock_text(event)
    yield from (f"- {limits}", f"- {how.foul_policy_text(event)}")
    yield (
        "- Times: nothing here depends on them, so that it can be made anew from the ledger. "
        "What the bots used stands in `times.json` and in `report.html`."
    )
    yield f"- {options}"
    for level, missing in how.sandbox_text(kept):
        yield f"- {level}"
        yield from (f"  - {sentence}" for sentence in missing)


def _deals(event: Terms, commitments: str) -> Iterator[str]:
    yield from ("", "## Deals", "")
    *predictable, promised = how.promise(event)
    for sentence in predictable:
        yield from (sentence, "")
    yield from (promised, "", f"    {commitments}", "", how.KEEP, "")
    yield from (f"    {command}" for command in how.CHECKS)
    yield from ("", how.DISTRUST)


def _bots(entrants: Sequence[Entrant]) -> Iterator[str]:
    yield from ("", "## Bots", "", "| bot | fingerprint | command |", "| --- | --- | --- |")
    for entrant in entrants:
        shown = printable(" ".join(Path(part).name for part in entrant.command.argv))
        shown = shown.replace("|", "\\|")
        yield f"| {entrant.name} | {entrant.fingerprint[:12]} | `{shown}` |"


def _versions(event: Event, results: Sequence[Result]) -> Iterator[str]:
    if event.retired:
        yield from ("", "## Earlier versions", "", format_report.EARLIER, "")
        yield from (f"- {one}" for one in format_report.versions(event, results))


def _files(event: Terms) -> Iterator[str]:
    yield from ("", "## Files for other programs", "")
    yield from (f"- {file}" for file in how.files(event))
