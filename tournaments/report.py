"""What an event came to, for people (report.md) and for programs, from its plan and ledger.

Nothing here depends on time or machine: the same ledger gives the same bytes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from arena.sandbox.limits import called
from protocol.codec import printable
from protocol.records import FoulPolicy, Result
from tournaments import exports, format_report, standings
from tournaments.event import Entrant, Event, Terms
from tournaments.folder import Folder, digest
from tournaments.ledger import past_sittings, read_ledger
from tournaments.ratings import Pool, Ratings, fit_both
from tournaments.sandboxes import Kept, sandboxes
from tournaments.schedule import games, sittings

RESULTS_FORMAT = 1


class Version(Struct, frozen=True):
    """Who is rated."""

    name: str
    """What it is called in the tables."""
    fingerprint: str
    """SHA-256 of its command and of the files that are its own; another one is another version."""


WORKERS_TOLD = 8
"""Workers that the report names one by one."""


class Results(Struct, frozen=True, kw_only=True):
    """results.json. How bots are started is left out: that names this machine's folders."""

    format: int = RESULTS_FORMAT
    """Version of this file's format."""
    event: Terms
    """The plan but for who plays."""
    entrants: tuple[Version, ...]
    """Who plays, in the order of the plan."""
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


def files_now(folder: Folder, event: Event) -> dict[Path, Iterable[bytes]]:
    """The report's files as they follow from the ledger and the logs as they are.

    Raises DamagedFileError.
    """
    results = list(read_ledger(folder.ledger))
    kept = sandboxes(folder, event, {result.game: result for result in results})
    return report_files(folder, event, results, kept)


def report_files(
    folder: Folder, event: Event, results: Sequence[Result], kept: tuple[Kept, ...]
) -> dict[Path, Iterable[bytes]]:
    """The report's files after these results of bots that were kept so.

    Each comes in pieces that can be read once.
    """
    partners = event.rules.deal.partners
    by_game = {result.game: result for result in results}
    ratings = fit_both(results, partners=partners)
    summary = Results(
        event=msgspec.convert(event, Terms, from_attributes=True),
        entrants=tuple(Version(one.name, one.fingerprint) for one in event.entrants),
        played=len(results),
        planned=games(event, by_game),
        commitments=digest(folder),
        sandboxes=kept,
        ratings=ratings,
    )
    plans = (*past_sittings(folder, event), *sittings(event, by_game))
    places = {game.name: plan.name for plan in plans for game in plan.games}
    fingerprints = {one.name: one.fingerprint for one in event.entrants}
    return {
        folder.report: ["\n".join(_page(summary, event, results)).encode()],
        folder.results: [msgspec.json.format(msgspec.json.encode(summary), indent=1), b"\n"],
        folder.games: exports.games_csv(results, places, partners),
        folder.ratings: exports.ratings_csv(ratings, fingerprints),
        folder.crosstable: exports.crosstable_csv(ratings),
        folder.pgn: exports.pgn(event.name, results, partners),
    }


def _page(summary: Results, event: Event, results: Sequence[Result]) -> Iterator[str]:
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
    yield from _bots(event.entrants)
    yield from format_report.versions(event, results)
    yield from _files(summary.event)
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
    if pool.partners:
        yield from ("", "## Partners", "")
        yield from standings.markdown(*standings.partners(pool))
        yield ""
        yield from standings.partners_told(pool)


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


def _how(event: Terms) -> Iterator[str]:
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
        where = f"{called(kept.level)} in {kept.sittings} of the sittings that were played"
        yield f"- Sandbox: {where}{_on(kept.workers)}."
        yield from (f"  - {sentence}" for sentence in kept.missing)


def _on(workers: Sequence[str]) -> str:
    """Where that was, if it was elsewhere; a long list stands with the times."""
    if len(workers) > WORKERS_TOLD:
        return f", on {len(workers)} workers that `times.json` names"
    return f", on {', '.join(workers)}" if workers else ""


def _deals(event: Terms, commitments: str) -> Iterator[str]:
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


def _bots(entrants: Sequence[Entrant]) -> Iterator[str]:
    yield from ("", "## Bots", "", "| bot | fingerprint | command |", "| --- | --- | --- |")
    for entrant in entrants:
        shown = printable(" ".join(Path(part).name for part in entrant.command.argv))
        yield f"| {entrant.name} | {entrant.fingerprint[:12]} | `{shown}` |"


def _files(event: Terms) -> Iterator[str]:
    """What else lies there, for other programs."""
    yield from ("", "## Files for other programs", "")
    yield "- `results.json`: all of this; `boneyard schema results` is its JSON Schema."
    yield "- `games.csv`: a line for each seat of each game. `ratings.csv`, `crosstable.csv`."
    white = "White is seat 0"
    if event.rules.deal.partners:
        white = "a side is one player, called by both names; White are seats 0 and 2"
    elif event.seats > 2:
        white = (
            "each game is broken into its pairs of seats, the lower one White; they are not "
            "independent, so the errors of those programs are too narrow"
        )
    yield f"- `results.pgn` for Ordo and BayesElo: {white}."
    yield "- `boneyard report .` makes them all anew from `event.json` and `ledger.jsonl`."
