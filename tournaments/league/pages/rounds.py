"""The rounds of a league on its site, each an event's site, and what their logs tell of games.

A round's plan is published last. So a round without it, or whose luck or review came later, is
published again.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from arena.files import has_content, write_atomic
from protocol.codec import decode_json, encode_json
from protocol.records import RoundRecord
from protocol.ruleset import Ruleset
from tournaments.league.folder import CLOSED, PLAN
from tournaments.league.pages.view import RoundFacts
from tournaments.league.read import PlayedRound
from tournaments.report.log_facts import FoulExample, log_facts
from tournaments.report.losses import swings_of
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


def round_facts(played: PlayedRound, *, with_logs: bool) -> RoundFacts:
    """Return what the files of a round tell; `with_logs`: also what takes reading its logs."""
    folder, rules = played.folder, played.event.rules
    luck, review = LuckStore(folder, played.event), read_summary(folder)
    facts = RoundFacts(
        round=played,
        luck={one.game: record.points for one in played.results if (record := luck.known(one))},
        mistakes={
            one.entrant: (one.rounds, one.total.round_loss.mean * one.rounds)
            for one in (review.entrants if review else ())
        },
    )
    if not with_logs:
        return facts
    known = log_facts(folder, {one.game for one in played.results})
    # A bot's words may name the folder in which it runs, that of the league.
    league = encode_json(f"{folder.path.resolve().parents[2]}/").strip(b'"')
    evidence = decode_json(
        encode_json(known.evidence).replace(league, b""), tuple[FoulExample, ...]
    )
    costliest = {
        one.game: costliest_rounds(rules, len(one.seats), known.rounds.get(one.game, ()))
        for one in played.results
    }
    return replace(facts, evidence=evidence, costliest=costliest)


def costliest_rounds(rules: Ruleset, seats: int, rounds: Sequence[RoundRecord]) -> tuple[str, ...]:
    """Return the round of a game that cost each of its seats the most, in words."""
    worst, found = [0] * seats, [""] * seats
    for one, swings in swings_of(rules, seats, rounds):
        blocked = ", blocked" * (one.why == "blocked")
        for seat, swing in enumerate(swings):
            if swing < worst[seat]:
                worst[seat] = swing
                found[seat] = f"round {one.round} cost it {-swing} points{blocked}"
    return tuple(found)
