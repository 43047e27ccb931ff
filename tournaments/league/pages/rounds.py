"""The rounds of a league on its site: each is published once, with what its logs tell of its games.

`facts.json` is written last. So a round without it, or whose luck or review came later, is
published again, and the pages read a few kilobytes of each round instead of its logs.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from arena.analysis.timeline import opponents
from arena.files import has_content, read_file, write_atomic
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.records import Result, RoundRecord
from protocol.ruleset import Ruleset
from tournaments.league.folder import CLOSED, PLAN
from tournaments.league.read import PlayedRound
from tournaments.report.log_facts import Evidence, log_facts
from tournaments.report.review.files import read_summary
from tournaments.site.publish import write_event_site
from tournaments.storage.folder import Folder, content
from tournaments.storage.luck_store import LuckStore

FACTS = "facts.json"
"""The file of a published round that the pages of the league read."""


class CostliestRound(Struct, frozen=True, array_like=True):
    """The round of a game that cost a seat the most."""

    round: int
    """Its number, from 1; 0 if no round cost the seat any points."""
    points: int
    """Points by which the best other side gained on the seat's side."""
    blocked: bool
    """True if it ended blocked."""


class MistakeSums(Struct, frozen=True):
    """The reviewed decisions of a version in a round of the league."""

    rounds: int
    """Rounds of its games that were reviewed."""
    loss: float
    """Points that its decisions lost in them."""


class RoundFacts(Struct, frozen=True, kw_only=True):
    """Facts from the logs of a round, as far as the league's pages show them."""

    luck: str
    """Size of the luck of its games, and of their review, to see when they change."""
    evidence: tuple[Evidence, ...]
    """Examples of each version's fouls."""
    costliest: dict[str, tuple[CostliestRound, ...]]
    """The costliest round of each seat, by game."""
    points_of_luck: dict[str, tuple[float, ...]]
    """Points that each seat owes to the tiles drawn, by game; only games whose luck is known."""
    mistakes: dict[str, MistakeSums]
    """The reviewed decisions, by version."""


def publish_round(played: PlayedRound, site: Path, links: Sequence[tuple[str, str]]) -> RoundFacts:
    """Publish a round that is over, unless that was done; return its facts.

    `links`: addresses of the league's pages from the round's, and their labels. Raises
    DamagedFileError, UserError, OSError.
    """
    sizes = _sizes(played.folder)
    done = _read_facts(site / FACTS)
    plan = content(played.folder.path / PLAN)
    if done and done.luck == sizes and has_content(site / PLAN, [plan]):
        return done
    closed = played.closed is not None
    write_event_site(played.folder.path, site, "", links, closed=closed)
    # A bot's words may name the folder in which it runs, that of the league.
    league = encode_json(f"{played.folder.path.resolve().parents[2]}/").strip(b'"')
    text = encode_json(_facts(played, sizes)).replace(league, b"")
    if closed:
        write_atomic(site / CLOSED, [content(played.folder.path / CLOSED)])
    write_atomic(site / PLAN, [plan])
    write_atomic(site / FACTS, [text, b"\n"])
    return decode_json(text, RoundFacts)


def _sizes(folder: Folder) -> str:
    files = (folder.luck, folder.review)
    return " ".join(str(one.stat().st_size) if one.is_file() else "-" for one in files)


def _read_facts(path: Path) -> RoundFacts | None:
    """Return the facts of a published round; None if there are none, or other ones."""
    try:
        return decode_json(read_file(path), RoundFacts)
    except (OSError, DamagedRecordError):
        return None


def _facts(played: PlayedRound, sizes: str) -> RoundFacts:
    folder, event = played.folder, played.event
    known = log_facts(folder, {one.game for one in played.results})
    luck = LuckStore(folder, event)
    review = read_summary(folder)
    return RoundFacts(
        luck=sizes,
        evidence=known.evidence,
        costliest={
            one.game: costliest_rounds(event.rules, one, known.rounds.get(one.game, ()))
            for one in played.results
        },
        points_of_luck={
            one.game: record.points for one in played.results if (record := luck.known(one))
        },
        mistakes={
            one.entrant: MistakeSums(one.rounds, one.total.round_loss.mean * one.rounds)
            for one in (review.entrants if review else ())
        },
    )


def costliest_rounds(
    rules: Ruleset, result: Result, rounds: Sequence[RoundRecord]
) -> tuple[CostliestRound, ...]:
    """Return the round of a game that cost each of its seats the most."""
    seats = range(len(result.seats))
    worst = [CostliestRound(0, 0, blocked=False)] * len(seats)
    before = [0] * len(seats)
    for one in rounds:
        gains = [now - was for now, was in zip(one.scores, before, strict=True)]
        for seat in seats:
            cost = max(gains[other] for other in opponents(rules, len(seats), seat)) - gains[seat]
            if cost > worst[seat].points:
                worst[seat] = CostliestRound(one.round, cost, one.why == "blocked")
        before = list(one.scores)
    return tuple(worst)
