"""The report of an event for people and for programs, from its plan, its ledger and its logs.

Nothing depends on time but times.json and, of report.html, what `measured` reads from the logs: the
same ledger and the same review give the same bytes of all others, and the same logs those of these
two.
"""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from arena.document.markdown import to_markdown
from arena.ui.replay_page import event_replay_page
from protocol.codec import indented_json
from tournaments.plan.event import Event
from tournaments.rating.ratings import fit_both
from tournaments.report import event_text, exports
from tournaments.report.document import ReportData, lead_sentence, report_document
from tournaments.report.html.page import SharedText, report_page
from tournaments.report.log_facts import LogFacts, log_facts
from tournaments.report.results_file import Results, luck_used, search_steps, terms_of, versions_of
from tournaments.report.review.sums import read_summary
from tournaments.report.scaling import scalings
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import count_all_games, sittings
from tournaments.schedule.spending import describe_spent_out, stopped_entrants
from tournaments.storage.folder import Folder, digest
from tournaments.storage.ledger import past_sittings
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.public_deals import latecomers, read_history
from tournaments.storage.result_store import ResultStore


class SitePage(NamedTuple):
    """The facts by which the first page of a site differs from the report in the event's folder."""

    boards: Collection[int]
    """The boards whose games are shown one by one: their seeds are revealed."""
    address: str
    """The site's address, which ends with a slash; empty if it is not known."""
    links: Sequence[tuple[str, str]] = ()
    """Addresses of pages around the site, and their labels."""


def files_now(folder: Folder, event: Event, results: ResultStore) -> dict[Path, Iterable[bytes]]:
    """Return the report's files from the ledger's results and the logs as they are."""
    return report_files(folder, event, results, log_facts(folder, results))


def report_files(
    folder: Folder,
    event: Event,
    by_game: ResultStore,
    known: LogFacts,
    site: SitePage | None = None,
    luck: LuckStore | None = None,
) -> dict[Path, Iterable[bytes]]:
    """Return the report's files after these results, in their order, with the facts of the logs.

    Each comes in pieces that can be read once. For a `site` they show the standings after all
    results, but single games only of its boards. `luck`: the luck of its time, if it is not what
    the folder has now.
    """
    partners = event.rules.deal.partners
    results = by_game.first()
    luck = luck or LuckStore(folder, event)
    corrections = luck.corrections(results) or None
    rated = event.rated(results)
    planned = count_all_games(event, by_game)
    ratings = fit_both(
        rated,
        partners=partners,
        anchor=event.anchor,
        corrections=corrections,
        stopped=stopped_entrants(event, results, is_over=len(results) == planned),
    )
    summary = Results(
        event=terms_of(event),
        entrants=versions_of(event),
        played=len(results),
        planned=planned,
        commitments=digest(folder),
        latecomers=latecomers(list(read_history(folder)), event.entrants, results),
        sandboxes=known.sandboxes,
        ratings=ratings,
        luck=luck_used(luck, corrections) if corrections else None,
        scaling=tuple(one for pool in ratings.pools for one in scalings(event, pool)) or UNSET,
        search=search_steps(event, results) or UNSET,
    )
    plans = (*past_sittings(folder, event), *sittings(event, by_game))
    places = GameIndex(plans, lambda plan, _: plan.name)
    fingerprints = {one.name: one.fingerprint for one in event.entrants}
    notes = [*event_text.warnings(event, results, summary), *describe_spent_out(event, by_game)]
    shown = results if site is None else [one for one in results if one.board in site.boards]
    if held := len(results) - len(shown):
        notes.append(
            f"{held} games on boards that are still played count here, but are not shown yet."
        )
    data = ReportData(
        *(event, results, shown, planned, summary.commitments, notes, ratings, known),
        read_summary(folder),
    )
    document = report_document(data)
    share = SharedText(lead_sentence(data), site is not None, *(site[1:] if site else ()))
    around = [(folder.index.name if site else folder.page.name, "Report"), *share.links]
    replay_page = event_replay_page([*fingerprints], around)
    return {
        folder.report: [to_markdown(document).encode()],
        folder.page: [report_page(document, share, [*fingerprints]).encode()],
        folder.replay_page: [replay_page.encode()],
        folder.times: [indented_json(known.times), b"\n"],
        folder.results: [indented_json(summary), b"\n"],
        folder.games: exports.games_csv(shown, places, partners, luck),
        folder.ratings: exports.ratings_csv(ratings, fingerprints),
        folder.crosstable: exports.crosstable_csv(ratings),
        folder.pgn: exports.pgn(event.heading, shown, partners),
    }
