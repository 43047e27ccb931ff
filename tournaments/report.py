"""What an event came to, for people (report.md) and for programs (results.json), from its ledger.

Nothing here depends on time or machine: the same ledger gives the same bytes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.codec import printable
from protocol.records import FoulPolicy, Result
from tournaments import format_report, standings
from tournaments.event import Event
from tournaments.folder import Folder, digest
from tournaments.ratings import Pool, Ratings, fit_both
from tournaments.sandboxes import Kept, sandboxes
from tournaments.schedule import games


class Results(Struct, frozen=True):
    """results.json."""

    event: Event
    """The plan in full."""
    played: int
    """Games that have a result."""
    planned: int
    """Games of the plan."""
    commitments: str
    """SHA-256 of commitments.jsonl, in hex."""
    sandboxes: tuple[Kept, ...]
    """The levels of the sandbox at which the bots were kept."""
    ratings: Ratings
    """Tables, one for each pool of entrants that games connect."""


def report_files(folder: Folder, event: Event, results: Sequence[Result]) -> dict[Path, bytes]:
    """The report's files and their bytes after these results."""
    ratings = fit_both(results, partners=event.rules.deal.partners)
    by_game = {result.game: result for result in results}
    kept, planned = sandboxes(folder, event, by_game), games(event, by_game)
    summary = Results(event, len(results), planned, digest(folder), kept, ratings)
    return {
        folder.report: "\n".join(_page(summary, results)).encode(),
        folder.results: msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n",
    }


def _page(summary: Results, results: Sequence[Result]) -> Iterator[str]:
    event = summary.event
    yield f"# {event.name}"
    yield ""
    yield format_report.headline(event, summary.played, summary.planned)
    yield from format_report.section(event, results)
    for pool in summary.ratings.pools:
        yield from _pool(pool)
    yield from _fouls(results)
    yield from _how(event)
    yield from _kept(summary.sandboxes)
    yield from _deals(event, summary.commitments)
    yield from _bots(event)
    yield from format_report.versions(event, results)
    yield ""


def _pool(pool: Pool) -> Iterator[str]:
    yield from ("", "## Standings", "")
    yield from standings.markdown(*standings.table(pool))
    yield from (
        "",
        "± is half of the 95 % interval, clustered by board. `>` and `<` mark ratings that are",
        "only a lower or an upper bound. In brackets: the ranks that the results leave open.",
        "The margin leaves out games that a foul ended.",
    )
    if standings.has_clean(pool):
        yield (
            "The last two columns rate the games in which nobody fouled: how well it plays, apart "
            "from what its fouls cost."
        )
    yield ""
    yield from (f"- {line}" for line in standings.seat_advantages(pool))
    if pool.boards_save is not None:
        yield (
            f"- Playing each board in every rotation made the variance "
            f"{pool.boards_save:.2f} times smaller than separate deals would have."
        )
    yield from ("", "## Crosstable", "", "Points that the row took off the column.", "")
    yield from standings.markdown(*standings.crosstable(pool))
    yield from ("", "## Who is better", "", "How likely the row is better than the column.", "")
    yield from standings.markdown(*standings.likelihoods(pool))


def _fouls(results: Sequence[Result]) -> Iterator[str]:
    counts = Counter(
        (result.seats[foul.seat], foul.foul) for result in results for foul in result.fouls
    )
    yield from ("", "## Fouls", "")
    if not counts:
        yield "None."
        return
    rows: standings.Rows = [(*key, f"{count}") for key, count in sorted(counts.items())]
    yield from standings.markdown(("bot", "foul", "games"), rows)
    yield from (
        "",
        "`forfeit`: a game that earlier fouls in the sitting had lost. "
        "The evidence stands in the game logs: `boneyard replay`.",
    )


def _cost(policy: FoulPolicy, seats: int) -> str:
    """What a foul cost, in sentences."""
    cost = "a foul loses the game"
    if policy.lose == "sitting":
        many = "one foul" if policy.after == 1 else f"{policy.after} fouls"
        cost += f", and {many} in a sitting the rest of the sitting"
    if seats == 2:
        return f"{cost}."
    if policy.others == "stop":
        return f"{cost}; it ends at once, the others placed by their scores at that moment."
    return f"{cost}; the others play on, with the first legal option for the seat that fouled."


def _how(event: Event) -> Iterator[str]:
    clock = event.clock
    yield from ("", "## How it was played", "")
    yield f"- Rules: `boneyard rules {event.rules.name}`; in full in `event.json`."
    yield (
        f"- Clock: {clock.start_ms} ms to start, {clock.move_ms} ms for each question, "
        f"{clock.bank_ms} ms in the bank for each game."
    )
    yield f"- Fouls: {_cost(event.fouls, event.seats)}"
    yield (
        "- Times: nothing here depends on them, so that it can be made anew from the ledger. "
        "What the bots used stands in `times.json`."
    )
    yield (
        "- Only options: asked like any other, so that no moment tells of a hand."
        if clock.forced == "ask"
        else "- Only options: taken without a question, which the others can time (`forced`)."
    )


def _kept(sandboxes: Sequence[Kept]) -> Iterator[str]:
    for kept in sandboxes:
        level = "off" if kept.level == "off" else f"level {kept.level}"
        yield f"- Sandbox: {level} in {kept.sittings} of the sittings that were played."
        yield from (f"  - {sentence}" for sentence in kept.missing)


def _deals(event: Event, commitments: str) -> Iterator[str]:
    yield from ("", "## Deals", "")
    if event.predictable:
        yield from ("They come from a seed on the command line. **Anyone can predict them.**", "")
    yield from (
        "Every board's deals were fixed before the first game. `commitments.jsonl` says so; its",
        "SHA-256 is",
        "",
        f"    {commitments}",
        "",
        "Keep that number from the report as it is before the first game, and nobody can change",
        "a deal behind your back. `seeds.jsonl` reveals each board's seed when its games are over.",
        "To check it all:",
        "",
        "    sha256sum commitments.jsonl",
        "    boneyard verify .",
        "",
        "or, without trusting this program, write 30 lines after `protocol/DEALS.md`, or use those",
        "that stand there: `node check_deals.mjs commitments.jsonl seeds.jsonl games/*.jsonl`.",
    )


def _bots(event: Event) -> Iterator[str]:
    yield from ("", "## Bots", "", "| bot | fingerprint | command |", "| --- | --- | --- |")
    for entrant in event.entrants:
        shown = printable(" ".join(Path(part).name for part in entrant.command.argv))
        yield f"| {entrant.name} | {entrant.fingerprint[:12]} | `{shown}` |"
