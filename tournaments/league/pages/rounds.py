"""The rounds of a league on its site, each an event's site, and what luck and mistakes did there.

A round's plan is published last. So a round without it, or whose luck or review came later, is
published again.
"""

from collections.abc import Sequence
from pathlib import Path

from arena.files import has_content, write_atomic
from tournaments.league.folder import CLOSED, PLAN
from tournaments.league.pages.view import RoundFacts
from tournaments.league.read import PlayedRound
from tournaments.report.review.sums import read_summary
from tournaments.site.publish import write_event_site
from tournaments.storage.folder import Folder, content
from tournaments.storage.luck_store import LuckStore


def publish_round(played: PlayedRound, site: Path, links: Sequence[tuple[str, str]]) -> None:
    """Publish a round that is over, unless that was done.

    `links`: addresses of the league's pages from the round's, and their labels. Raises
    DamagedFileError, UserError, OSError.
    """
    folder, there, closed = played.folder, Folder(site), played.closed is not None
    plan = [content(folder.path / PLAN)]
    if (
        has_content(site / PLAN, plan)
        and _is_copied(folder.luck, there.luck)
        and _is_copied(folder.review, there.review)
    ):
        return
    write_event_site(folder.path, site, "", links, closed=closed)
    if closed:
        write_atomic(site / CLOSED, [content(folder.path / CLOSED)])
    write_atomic(site / PLAN, plan)


def _is_copied(one: Path, other: Path) -> bool:
    return has_content(other, [content(one)]) if one.exists() else not other.exists()


def round_facts(played: PlayedRound) -> RoundFacts:
    """Return what a round's files tell of luck and mistakes."""
    luck, review = LuckStore(played.folder, played.event), read_summary(played.folder)
    return RoundFacts(
        round=played,
        luck={one.game: record.points for one in played.results if (record := luck.known(one))},
        mistakes={
            one.entrant: (one.total.decisions, one.total.loss.mean * one.total.decisions)
            for one in (review.entrants if review else ())
        },
    )
