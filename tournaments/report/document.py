"""The report of an event as one document: report.md, report.html and the terminal render it. Pure.

It follows from its data and nothing else. What only the logs know, times and the evidence of fouls,
comes in as `LogFacts` and goes only to media that say so; the rest follows from plan and ledger.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    Item,
    Media,
    Paragraph,
    Section,
    Table,
    bullets,
    paragraphs,
    table,
)
from arena.logs.catalog import replay_address
from arena.rules.english import count_in_digits, join_words
from arena.rules.explain import explain_ruleset
from protocol.codec import printable
from protocol.records import Result
from tournaments.formats.base import Entrant
from tournaments.plan.event import Event
from tournaments.plan.names import file_title
from tournaments.rating.estimate import elo_of
from tournaments.rating.game_result import count_fouls
from tournaments.rating.tables import Pool, Ratings
from tournaments.rating.tally import by_pool, collect
from tournaments.report import event_text
from tournaments.report.html import link_to_games
from tournaments.report.html.charts import forest_of
from tournaments.report.html.game_list import build_game_list
from tournaments.report.log_facts import (
    EXAMPLES,
    FoulExample,
    LogFacts,
    Times,
    describe_same_answers,
)
from tournaments.report.ratings.comparison import compared_sections
from tournaments.report.ratings.standings import scaling_sections
from tournaments.report.review.sums import ReviewSummary, review_section

EVIDENCE_SHOWN = 100
"""The largest number of fouls with evidence."""
WORDS = 2_000
"""The largest length of a bot's words, in characters."""
AT_A_GLANCE = 20
"""The largest number of entrants in the figure at the top of a page, the best ones."""
DIGITS = 12
"""Digits of a fingerprint that tell bots apart."""


class ReportData(NamedTuple):
    """The data that a report shows."""

    event: Event
    results: Sequence[Result]
    shown: Sequence[Result]
    """Those of them that are listed one by one."""
    planned: int
    commitments: str
    notes: Sequence[str]
    """Warnings: unbalanced pairings, and entrants that came when deals were public."""
    ratings: Ratings
    measured: LogFacts
    review: ReviewSummary | None = None


def report_document(data: ReportData) -> Document:
    """Build the report."""
    event, results, known = data.event, data.results, data.measured
    listed = build_game_list(event, data.shown, known.rounds)
    seats, boards = sum(len(one.seats) for one in results), {one.board for one in data.shown}
    evidence = [one for one in known.evidence if one.board in boards]
    headline = event_text.headline(event, len(results), data.planned)
    blocks: list[Block] = [
        *paragraphs(filter(None, [event_text.foul_warning(event, results)]), "strong"),
        Paragraph(
            event_text.result_by_ratings(event, results, data.planned, data.ratings),
            "lead",
            media=Media.HTML,
        ),
        *_result(data.ratings.pools),
        Paragraph(headline, "faint"),
        *paragraphs(describe_file_names(event), "faint"),
        *paragraphs(data.notes, "strong"),
        *(
            Paragraph(said, "strong", media=Media.HTML)
            for said in describe_same_answers(known.times.same_bots, event.entrants)
        ),
        *event.format.report(event, event.active_results(results), link_to_games),
        *scaling_sections(event, data.ratings.pools),
        *_pools(data),
        *([review_section(data.review, seats)] if data.review else []),
        _fouls(results, evidence),
        Section("Games", [Figure(macro="games", value=listed)], id="games", media=Media.HTML),
        time_section(known.times),
        _conditions(data),
    ]
    return Document(event.heading, blocks, listed)


def describe_file_names(event: Event) -> Iterator[str]:
    """Yield which bot is which file, where a name had to be spelt in letters a to z."""
    titles = {one.name: file_title(one) for one in event.entrants if not one.retired}
    spelt = [f"{name} is {printable(title)}" for name, title in titles.items() if title]
    if spelt:
        yield f"{join_words(spelt)}."


def lead_sentence(data: ReportData) -> str:
    """Return the main result in a sentence or two."""
    return event_text.main_result(data.event, data.results, data.planned, data.ratings)


def _result(pools: Sequence[Pool]) -> Iterator[Block]:
    """Yield the figure of the best ratings."""
    best = pools[0].entrants[:AT_A_GLANCE] if pools else ()
    if any(one.elo is not None for one in best):
        ratings = [elo_of(one) for one in best]
        axis, intervals = forest_of(ratings)
        parts = zip(best, ratings, intervals, strict=True)
        lines = [(one.name, rating.cell(), interval) for one, rating, interval in parts]
        yield Figure(macro="result", value=(axis, lines))


def _pools(data: ReportData) -> Iterator[Block]:
    pools = data.ratings.pools
    if not pools:
        return
    rated = data.event.rated(data.results)
    tallies = by_pool(collect(rated, data.event.rules.deal.partners))
    by_names = {frozenset(tally.names): tally for tally in tallies}
    if len(pools) > 1:
        apart = "No games connect the pools: their ratings cannot be compared."
        yield Paragraph(apart, media=Media.HTML)
    for number, pool in enumerate(pools, 1):
        tally = by_names[frozenset(one.name for one in pool.entrants)]
        forest = number > 1 or len(pool.entrants) > AT_A_GLANCE
        sections = compared_sections(pool, data.event.anchor, tally, forest=forest)
        if len(pools) > 1:
            sections = [replace(one, scope=f" of pool {number}") for one in sections]
        # Only the first pool has addresses, so that each leads to one place.
        yield from (replace(one, id="") if number > 1 else one for one in sections)


# --- fouls ---


class FoulEvidence(NamedTuple):
    """A foul with its evidence, as text."""

    foul: FoulExample
    detail: str
    line: str
    stderr: str
    command: str
    replay: str


def _fouls(results: Sequence[Result], evidence: Sequence[FoulExample]) -> Section:
    counts = count_fouls(results, forfeits=True)
    blocks: list[Block] = [Paragraph("None.")]
    media = Media.FILES if counts else Media.MARKDOWN
    if counts:
        fouled = sum(bool(result.fouls) for result in results)
        columns = [Column("bot", "name"), Column("foul", "word"), Column("games")]
        rows = [
            (Cell(one.entrant, href=link_to_games(one.entrant)), one.foul, f"{one.games}")
            for one in counts
        ]
        where = "`report.html` and the game logs have the evidence: `boneyard replay`."
        blocks = [
            Paragraph(f"{fouled} of {len(results)} games.", media=Media.HTML),
            table("Fouls by class", columns, rows),
            Paragraph(f"{event_text.FORFEIT} {where}", media=Media.MARKDOWN),
        ]
        if any(one.foul == "forfeit" for one in counts):
            blocks.append(Paragraph(event_text.FORFEIT, "faint", media=Media.HTML))
    if evidence:
        shown = [_foul_evidence(one) for one in evidence[:EVIDENCE_SHOWN]]
        examples = _examples(shown, len(evidence))
        blocks.append(Section("Evidence", examples, media=Media.HTML, folded=True))
    return Section("Fouls", blocks, id="fouls", media=media)


def _examples(shown: Sequence[FoulEvidence], total: int) -> list[Block]:
    left_out = ""
    if total > len(shown):
        left_out = f", up to {len(shown)} in all; {total - len(shown)} more are left out"
    about = (
        f"The first {EXAMPLES} of each bot and class{left_out}. The game logs have all fouls. "
        "Run the commands in the event's folder."
    )
    return [Paragraph(about, "faint"), Figure(macro="evidence", value=shown)]


def _foul_evidence(one: FoulExample) -> FoulEvidence:
    """Return a foul as text."""
    # In the log a line's end is an escape like any other; here it may end the line.
    stderr = printable(one.stderr, WORDS).replace("\\n", "\n").strip("\n")
    command = f"boneyard explain . {one.game} --seat {one.seat}"
    moment = f"{replay_address(one.game)}&at=foul&seat={one.seat}"
    detail, line = printable(one.detail, WORDS), printable(one.line)
    return FoulEvidence(one, detail, line, stderr, command, moment)


# --- time and games ---


def time_section(times: Times) -> Section:
    """Return the section about each entrant's time for a question."""
    blocks: list[Block] = []
    if times.entrants:
        blocks.append(_time_table(times))
    if times.workers:
        columns = [Column("worker", "name"), Column("games"), Column("sandbox", "word")]
        rows = [(one.worker, f"{one.games}", ", ".join(one.sandbox)) for one in times.workers]
        blocks.append(table("Games of each worker", columns, rows))
    for one in times.entrants:
        if one.voids:
            many = count_in_digits(one.voids, "time")
            said = f"{one.name} said {many} that it was unavailable, and was started again."
            blocks.append(Paragraph(said))
    if times.worst_lag_ms:
        lag = (
            f"The machine was busy: answers were read up to {times.worst_lag_ms:.0f} ms late, and "
            "no bot was charged for it."
        )
        blocks.append(Paragraph(lag, "faint"))
    source = "From the game logs; times differ from run to run. CPU is in ms per question."
    if not times.entrants:
        source = "The game logs have no times."
    blocks.append(Paragraph(source, "faint", media=Media.HTML))
    shown = Media.HTML | Media.TERMINAL
    return Section("Time", blocks, id="time", titled=Media.HTML, media=shown, folded=True)


def _time_table(times: Times) -> Table:
    columns = [Column("bot", "name")]
    columns += map(Column, ("questions", "mean ms", "worst ms", "lag ms", "CPU ms"))
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            f"{one.questions}",
            f"{one.mean_ms:.1f}{' M' if one.is_effort else ''}",
            f"{one.worst_ms:.1f}{' M' if one.is_effort else ''}",
            f"{one.given_back_ms:.0f}",
            UNKNOWN if one.cpu_ms is None else f"{one.cpu_ms:.2f}",
        )
        for one in times.entrants
    ]
    return table("Time for a question", columns, rows)


# --- conditions ---


def _conditions(data: ReportData) -> Section:
    event, sandboxes = data.event, data.measured.sandboxes
    limits, options = event_text.clock_text(event)
    times = (
        "Times: this page does not depend on them, so that the ledger alone determines it. "
        "`times.json` and `report.html` have the times of the bots."
    )
    machines = [
        f"Machine: {one.machine or 'unknown'}; Boneyard {one.boneyard}; "
        f"{event_text.describe_share(many, sandboxes[0].of)}."
        for one, many in data.measured.machines
    ]
    terms = [
        *map(Item, (event_text.rules_text(event), limits, event_text.foul_policy_text(event))),
        Item(times, media=Media.MARKDOWN),
        Item(options),
        *(Item(level, missing) for level, missing in event_text.sandbox_text(sandboxes)),
        *(Item(machine, media=Media.HTML) for machine in machines),
    ]
    blocks: list[Block] = [
        Bullets(terms),
        Figure(macro="rules", value=explain_ruleset(event.rules)),
        _deals(event, data.commitments),
        _bots(event.entrants),
    ]
    if event.retired:
        earlier = event_text.versions(event, data.results)
        inner: list[Block] = [Paragraph(event_text.EARLIER), bullets(earlier)]
        blocks.append(Section("Earlier versions", inner))
    blocks.append(Section("Files for other programs", [Paragraph(event_text.FILES)]))
    return Section("How it was played", blocks, id="how", media=Media.FILES, folded=True)


def _deals(event: Event, commitments: str) -> Section:
    blocks: list[Block] = [
        *paragraphs(event_text.promise(event)),
        Code(commitments),
        Paragraph(event_text.KEEP),
        Code("\n".join(event_text.CHECKS)),
        Paragraph(event_text.DISTRUST),
    ]
    return Section("Deals", blocks)


def _bots(entrants: Sequence[Entrant]) -> Section:
    columns = [Column("bot", "name"), Column("fingerprint", "digest"), Column("command", "code")]
    rows = [(one.name, one.fingerprint[:DIGITS], command_text(one)) for one in entrants]
    about = (
        f"The first {DIGITS} digits of the SHA-256 of a bot's command and files; `results.json` "
        "has all digits."
    )
    return Section(
        "Bots", [table("Bots", columns, rows), Paragraph(about, "faint", media=Media.HTML)]
    )


def command_text(entrant: Entrant) -> str:
    """Return the command's words without folders, which are local; an address keeps its path."""
    words = (word if "://" in word else Path(word).name for word in entrant.command.argv)
    return printable(" ".join(words))
