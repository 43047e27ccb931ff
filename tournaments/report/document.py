"""The report of an event as one document: report.md, report.html and the terminal render it. Pure.

It follows from its data and nothing else. What only the logs know, times and the evidence of fouls,
comes in as `LogFacts` and goes only to media that say so; the rest follows from plan and ledger.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf, sqrt
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from arena.document.blocks import (
    UNKNOWN_CELL,
    Bullets,
    Cell,
    Code,
    Column,
    Document,
    DocumentBlock,
    Figure,
    Item,
    Matrix,
    Media,
    Paragraph,
    Section,
    Table,
    bullets,
    minus,
    paragraphs,
    table,
)
from arena.logs.catalog import replay_address
from arena.rules.english import count_in_digits, join_words
from arena.rules.explain import explain_ruleset
from protocol.codec import printable
from protocol.records import Result
from tournaments.event.book import Book
from tournaments.event.facts import EXAMPLES, FoulExample, LogFacts, Times, describe_same_answers
from tournaments.formats.base import Entrant
from tournaments.plan.bots import file_title, pure_path
from tournaments.plan.event import Event
from tournaments.rating.regression import Floats, by_cluster
from tournaments.rating.statistics import elo_of, t_quantile
from tournaments.rating.tables import Anchor, Pool, Rating, count_fouls, without_luck
from tournaments.rating.tally import Tally, meetings, won_lost
from tournaments.report import charts, event_text
from tournaments.report.charts import forest_of, link_to_games
from tournaments.report.page import build_game_list
from tournaments.report.results_file import LuckUsed
from tournaments.report.review import ReviewSummary, review_section
from tournaments.report.standings import (
    READING,
    cost_sections,
    luck_sections,
    partner_sections,
    pool_sections,
    scaling_sections,
    standings_section,
)

# The part of a report that compares the entrants of a pool with each other. Pure.


HALF = 0.5
TAIL_CHANCE = 0.025
"""The probability on either side of a 95 % interval."""


class Encounter(NamedTuple):
    """The result of an entrant against another."""

    games: int
    """Their pairs: at three seats or more a game has several."""
    share: float
    """Share of the points that it took, a tie ½."""
    low: float | None
    """The lower end of the share's 95 % interval; boards are independent."""
    high: float | None
    """The upper end; None: there is one board, or the error is unknown."""

    @property
    def decided(self) -> Literal["", "ahead", "behind"]:
        """Tell which side of one half the interval lies on; empty if it contains one half."""
        if self.low is not None and self.low > HALF:
            return "ahead"
        return "behind" if self.high is not None and self.high < HALF else ""


def encounters(tally: Tally, names: Sequence[str]) -> list[list[Encounter | None]]:
    """Return the encounters of each name with each, in their order; None: they never met.

    All names must be the tally's.
    """
    met, size = meetings(tally), len(tally.names)
    order = [tally.names.index(name) for name in names]
    bot, other = np.divmod(met.pair, size)
    # A bot that partners itself may meet itself.
    use = (bot != other) & np.isin(bot, order) & np.isin(other, order)
    codes, pair = np.unique(met.pair[use], return_inverse=True)
    _, board = np.unique(met.board[use], return_inverse=True)
    by_pair = by_cluster(pair, board, met.half[use], len(codes))
    columns = (by_pair.size, by_pair.clusters, by_pair.mean / 2, by_pair.clustered / 4)
    rows = zip(codes.tolist(), *(column.tolist() for column in columns), strict=True)
    by_code = {code: _encounter(int(n), int(boards), *rest) for code, n, boards, *rest in rows}
    return [[by_code.get(i * size + j) for j in order] for i in order]


def _encounter(games: int, boards: int, share: float, spread: float) -> Encounter:
    """Return the cluster mean and its interval by Student's t.

    A clean sweep has no spread; then boards are taken for tosses of a coin (Clopper and Pearson).
    """
    if share in (0.0, 1.0):
        end = TAIL_CHANCE ** (1 / boards)
        return Encounter(games, share, end * share, 1 - end * (1 - share))
    if boards < 2 or spread == 0:
        return Encounter(games, share, None, None)
    error = sqrt(boards / (boards - 1) * spread) / games
    width = error * t_quantile(1 - TAIL_CHANCE, boards - 1)
    return Encounter(games, share, max(0.0, share - width), min(1.0, share + width))


BINS = 21
"""Bars of a histogram; the middle one is about 0."""
REGULAR = 99
"""Percentage of all margins that lie between the outermost bars."""
MATRIX = 64
"""The largest number of entrants with a histogram, and in tables of all against all."""
SELF = Cell(UNKNOWN_CELL, tone="self")


class Pairing(NamedTuple):
    """A cell of all against all: what the row's entrant did against the column's."""

    win: Cell
    chance: Cell
    games: int


class PairingMatrix(NamedTuple):
    """All against all, of which a page shows one number at a time."""

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[Pairing | None]]
    """The cells; None on the diagonal."""
    left_out: int
    """Entrants for which there is no room."""


class Histogram(NamedTuple):
    """The distribution of an entrant's margins."""

    chart: charts.Chart
    summary: str


class BotCard(NamedTuple):
    """The part of a page about one bot."""

    rating: Rating
    elo: Cell
    margins: Histogram | None
    """The ends of its games; None if a foul ended all of them."""


def compared_sections(
    pool: Pool, anchor: Anchor | None, tally: Tally, *, forest: bool
) -> list[Section]:
    """Return all sections about a pool; `forest`: whether the standings draw the intervals."""
    names = [rating.name for rating in pool.entrants]
    cells = _crosstable(pool, tally, names[:MATRIX])
    chances = [
        [
            SELF if row == other else _likelihood(chance)
            for other, chance in enumerate(line[:MATRIX])
        ]
        for row, line in enumerate(pool.los[:MATRIX])
    ]
    texts = (" – ".join(map(str, row)) for row in won_lost(tally).tolist())
    results = dict(zip(tally.names, texts, strict=True))
    return [
        standings_section(pool, anchor, results, forest=forest),
        *cost_sections(pool),
        *luck_sections(pool),
        *_tables(names, cells, chances),
        _pairings(pool, names, cells, chances),
        *partner_sections(pool),
        _bots_of_pool(without_luck(pool), tally, names),
    ]


def _crosstable(pool: Pool, tally: Tally, names: list[str]) -> list[list[Cell]]:
    """Return the cells of the first entrants, whose names these are."""
    met = encounters(tally, names)
    return [
        [
            SELF if row == other else _encounter_cell(cell.games, cell.wins, met[row][other])
            for other, cell in enumerate(cells[:MATRIX])
        ]
        for row, cells in enumerate(pool.crosstable[:MATRIX])
    ]


def _tables(
    names: list[str], cells: list[list[Cell]], chances: list[list[Cell]]
) -> Iterator[Section]:
    """Yield the tables of all against all as text has them."""
    tables = (
        ("Crosstable", "Win % of the row against the column.", cells),
        ("Who is better", "Chance in % that the row is stronger than the column.", chances),
    )
    left_out = len(names) - MATRIX
    more = f" {left_out} more entrants are left out: `crosstable.csv` has everybody."
    for title, note, rows in tables:
        text = f"{note}{more if left_out > 0 else ''}"
        blocks: list[DocumentBlock] = [Paragraph(text), Matrix(title, names[:MATRIX], rows)]
        yield Section(title, blocks, media=Media.MARKDOWN)


def _pairings(
    pool: Pool, names: list[str], cells: list[list[Cell]], chances: list[list[Cell]]
) -> Section:
    rows = [
        [
            None if row == other else Pairing(cells[row][other], chances[row][other], met.games)
            for other, met in enumerate(line[:MATRIX])
        ]
        for row, line in enumerate(pool.crosstable[:MATRIX])
    ]
    # Several pools of one page need names of their own.
    caption = f"All against all, {names[0]} to {names[-1]}"
    matrix = PairingMatrix(caption, names[:MATRIX], rows, len(names[MATRIX:]))
    figure = Figure(macro="pairings", value=matrix)
    return Section("Pairings", [figure], id="pairings", media=Media.HTML)


def _bots_of_pool(pool: Pool, tally: Tally, names: list[str]) -> Section:
    spread = margins(tally, names[:MATRIX])
    drawn = histograms(spread)
    best = pool.entrants[:MATRIX]
    cards = [BotCard(row, elo_of(row).cell(), drawn.get(row.name)) for row in best]
    blocks: list[DocumentBlock] = [Figure(macro="bots", value=cards)]
    if len(names) > MATRIX:
        left_out = len(names) - MATRIX
        blocks.append(
            Paragraph(f"{left_out} more entrants are left out: `games.csv` has everybody.", "faint")
        )
    return Section("Bots", blocks, id="bots", media=Media.HTML)


def _encounter_cell(games: int, score: float, met: Encounter | None) -> Cell:
    if not games:
        return Cell(UNKNOWN_CELL)
    interval = ""
    if met and met.low is not None and met.high is not None:
        interval = f"{100 * met.low:.0f}–{100 * met.high:.0f}"
    return Cell(f"{100 * (score / games):.0f}", interval, tone=met.decided if met else "")


def _likelihood(likelihood: float) -> Cell:
    if event_text.SURE >= likelihood >= 1 - event_text.SURE:
        return Cell(f"{100 * likelihood:.1f}")
    return Cell(f"{100 * likelihood:.1f}", tone="ahead" if likelihood > HALF else "behind")


def margins(tally: Tally, names: Sequence[str]) -> dict[str, Floats]:
    """Return the margins of each entrant in games that no foul ended; omit those without any."""
    entrants, _, over, is_whole = tally.played.T
    # Kept as integers in the tally: sides x own sum - all sums, over (sides - 1) x members.
    scale = (tally.sides - 1) * tally.left.shape[1]
    by_name = {
        name: over[(entrants == tally.names.index(name)) & (is_whole > 0)] / scale for name in names
    }
    return {name: values for name, values in by_name.items() if len(values)}


def histograms(margins: dict[str, Floats]) -> dict[str, Histogram]:
    """Return the distribution of each entrant's margins, in points; none may be empty.

    All share one scale; each is as tall as its tallest bar.
    """
    if not margins:
        return {}
    everything = np.abs(np.concatenate(list(margins.values())))
    width = charts.nice(max(1.0, float(np.percentile(everything, REGULAR)) * 2 / (BINS - 2)))
    return {
        name: Histogram(_histogram(values, width), _words(values))
        for name, values in margins.items()
    }


def _histogram(values: Floats, width: float) -> charts.Chart:
    """Draw the margins; the outermost bars hold everything beyond."""
    counts = bar_counts(values, width)
    far = width * BINS / 2
    marks: list[charts.ChartMark] = []
    for index, height in enumerate((counts / counts.max()).tolist()):
        left = index * width - far
        kind = "behind" if index < BINS // 2 else "ahead" if index > BINS // 2 else "level"
        if height:
            marks.append(charts.Bar(kind, (left + 0.06 * width, left + 0.94 * width), (0, height)))
    marks += [charts.Stroke("zero", (0, 0)), charts.Stroke("ground", charts.EDGES, (0, 0))]
    ends = [charts.write_tick(sign * (far - width)) for sign in (-1, 1)]
    feet = [(-inf, ends[0], "start"), (0, "0", "middle"), (inf, ends[1], "end")]
    return charts.Chart(
        "histogram", charts.Axes(charts.Axis(-far, far)), marks, feet=feet, height=75
    )


def bar_counts(values: Floats, width: float) -> Floats:
    """Count the margins of each bar."""
    middle = BINS // 2
    # Away from 0, so that a margin and its opposite are in opposite bars.
    place = np.sign(values) * np.ceil(np.abs(values) / width - 0.5)
    bins = np.clip(place, -middle, middle) + middle
    return np.bincount(bins.astype(np.int64), minlength=BINS).astype(np.float64)


def _words(values: Floats) -> str:
    low, middle, high = (f"{value:+.0f}" for value in np.percentile(values, (25, 50, 75)))
    games = f"{count_in_digits(len(values), 'game')} without a foul"
    if len(values) == 1:
        return minus(f"{games}: {middle}.")
    return minus(f"{games}, half of them from {low} to {high}; median {middle}.")


# --- the document ---


EVIDENCE_SHOWN = 100
"""The largest number of fouls with evidence."""
MAX_BOT_TEXT_LENGTH = 2_000
"""The largest length of a bot's words, in characters."""
AT_A_GLANCE = 20
"""The largest number of entrants in the figure at the top of a page, the best ones."""
FINGERPRINT_DIGITS = 12
"""Digits of a fingerprint that tell bots apart."""


class ReportData(NamedTuple):
    """The data that a report shows."""

    book: Book
    listing: Sequence[Result]
    """Those of its results that are listed one by one."""
    commitments: str
    notes: Sequence[str]
    """Warnings: unbalanced pairings, and entrants that came when deals were public."""
    measured: LogFacts
    review: ReviewSummary | None = None
    luck: LuckUsed | None = None


def report_document(data: ReportData) -> Document:
    """Build the report."""
    book, facts = data.book, data.measured
    event, results, pools = book.event, book.played, book.ratings.pools
    games = build_game_list(event, data.listing, facts.rounds)
    boards = {result.board for result in data.listing} if facts.evidence else ()
    evidence = [example for example in facts.evidence if example.board in boards]
    blocks: list[DocumentBlock] = [
        *_beginning(book),
        *paragraphs(describe_file_names(event), "faint"),
        *paragraphs(data.notes, "strong"),
        *(
            Paragraph(sentence, "strong", media=Media.HTML)
            for sentence in describe_same_answers(facts.times.same_bots, event.entrants)
        ),
        *event_text.format_sections(book, link_to_games),
        *scaling_sections(event, pools),
        *_pools(book),
        *([review_section(data.review, event.seats * len(results))] if data.review else []),
        _fouls(results, evidence),
        Section("Games", [Figure(macro="games", value=games)], id="games", media=Media.HTML),
        time_section(facts.times),
        _conditions(data),
    ]
    return Document(event.heading, blocks, games)


def summary_document(book: Book) -> Document:
    """Build the report's beginning and its standings, for a place with little room."""
    tables = (pool_sections(pool, book.event.anchor) for pool in book.ratings.pools)
    return Document(book.event.heading, [*_beginning(book), *chain.from_iterable(tables)])


def _beginning(book: Book) -> Iterator[DocumentBlock]:
    """Yield the result in a sentence and as a figure, and what was played."""
    yield from paragraphs(filter(None, [event_text.foul_warning(book)]), "strong")
    yield Paragraph(event_text.result_by_ratings(book), "lead", media=Media.FILES)
    yield from _result(book.ratings.pools)
    yield Paragraph(event_text.headline(book), "faint")


def describe_file_names(event: Event) -> Iterator[str]:
    """Yield which bot is which file, where a name had to be spelt in letters a to z."""
    titles = {bot.name: file_title(bot) for bot in event.entrants if not bot.retired}
    spelt = [f"{name} is {printable(title)}" for name, title in titles.items() if title]
    if spelt:
        yield f"{join_words(spelt)}."


def _result(pools: Sequence[Pool]) -> Iterator[DocumentBlock]:
    """Yield the figure of the best ratings."""
    best = without_luck(pools[0]).entrants[:AT_A_GLANCE] if pools else ()
    if any(row.elo is not None for row in best):
        ratings = [elo_of(row) for row in best]
        axis, intervals = forest_of(ratings)
        parts = zip(best, ratings, intervals, strict=True)
        lines = [(row.name, rating.cell(), interval) for row, rating, interval in parts]
        yield Figure(macro="result", value=(axis, lines))


def _pools(book: Book) -> Iterator[DocumentBlock]:
    event, pools = book.event, book.ratings.pools
    if not pools:
        return
    by_names = {frozenset(tally.names): tally._replace(luck=None) for tally in book.tallies}
    if len(pools) > 1:
        note = "No games connect the pools: their ratings cannot be compared."
        yield Paragraph(note, media=Media.FILES)
    for number, pool in enumerate(pools, 1):
        tally = by_names[frozenset(rating.name for rating in pool.entrants)]
        forest = number > 1 or len(pool.entrants) > AT_A_GLANCE
        sections = compared_sections(pool, event.anchor, tally, forest=forest)
        if number == 1:
            reading = Section("How to read", [bullets(READING)], media=Media.HTML, folded=True)
            sections[0] = replace(sections[0], blocks=[*sections[0].blocks, reading])
        if len(pools) > 1:
            sections = [replace(section, scope=f" in pool {number}") for section in sections]
        # Only the first pool has addresses, so that each leads to one place.
        yield from (replace(section, id="") if number > 1 else section for section in sections)


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
    blocks: list[DocumentBlock] = [Paragraph("None.")]
    media = Media.FILES if counts else Media.MARKDOWN
    if counts:
        fouled = sum(bool(result.fouls) for result in results)
        columns = [Column("bot", "name"), Column("foul", "word"), Column("games")]
        rows = [
            (Cell(row.entrant, href=link_to_games(row.entrant)), row.foul, f"{row.games}")
            for row in counts
        ]
        source = "`report.html` and the game logs have the evidence: `boneyard replay`."
        blocks = [
            Paragraph(f"{fouled} of {len(results)} games.", media=Media.HTML),
            table("Fouls by class", columns, rows),
            Paragraph(source, media=Media.MARKDOWN),
        ]
        if any(row.foul == "forfeit" for row in counts):
            blocks.append(Paragraph(event_text.FORFEIT, "faint", media=Media.FILES))
    if evidence:
        fouls = [_foul_evidence(example) for example in evidence[:EVIDENCE_SHOWN]]
        examples = _examples(fouls, len(evidence))
        blocks.append(Section("Evidence", examples, media=Media.HTML, folded=True))
    return Section("Fouls", blocks, id="fouls", media=media)


def _examples(fouls: Sequence[FoulEvidence], total: int) -> list[DocumentBlock]:
    left_out = ""
    if total > len(fouls):
        left_out = f", up to {len(fouls)} in all; {total - len(fouls)} more are left out"
    note = (
        f"The first {EXAMPLES} of each bot and class{left_out}. The game logs have all fouls. "
        "Run the commands in the event's folder."
    )
    return [Paragraph(note, "faint"), Figure(macro="evidence", value=fouls)]


def _foul_evidence(example: FoulExample) -> FoulEvidence:
    """Return a foul as text."""
    # In the log a line's end is an escape like any other; here it may end the line.
    stderr = printable(example.stderr, MAX_BOT_TEXT_LENGTH).replace("\\n", "\n").strip("\n")
    command = f"boneyard explain . {example.game} --seat {example.seat}"
    moment = f"{replay_address(example.game)}&at=foul&seat={example.seat}"
    detail, line = printable(example.detail, MAX_BOT_TEXT_LENGTH), printable(example.line)
    return FoulEvidence(example, detail, line, stderr, command, moment)


# --- time and games ---


def time_section(times: Times) -> Section:
    """Return the section about each entrant's time for a question."""
    blocks: list[DocumentBlock] = []
    if times.entrants:
        blocks.append(_time_table(times))
    if times.workers:
        columns = [Column("worker", "name"), Column("games"), Column("sandbox", "word")]
        rows = [(row.worker, f"{row.games}", ", ".join(row.sandbox)) for row in times.workers]
        blocks.append(table("Games of each worker", columns, rows))
    for stats in times.entrants:
        if stats.voids:
            count = count_in_digits(stats.voids, "time")
            text = f"{stats.name} said {count} that it was unavailable, and was started again."
            blocks.append(Paragraph(text))
    blocks += _info_tables(times)
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
    media = Media.HTML | Media.TERMINAL
    return Section("Time", blocks, id="time", titled=Media.HTML, media=media, folded=True)


def _info_tables(times: Times) -> list[Table]:
    """Return a table of the numbers that bots sent with their answers, if any did."""
    rows = [
        (
            row.name,
            printable(name),
            f"{own.answers}",
            *(f"{n:.6g}" for n in (own.mean, own.least, own.most)),
        )
        for row in times.entrants
        for name, own in (row.info or {}).items()
    ]
    columns = [Column("bot", "name"), Column("number", "name")]
    columns += map(Column, ("answers", "mean", "least", "most"))
    return [table("The bots' own numbers", columns, rows)] if rows else []


def _time_table(times: Times) -> Table:
    columns = [Column("bot", "name")]
    columns += map(Column, ("questions", "mean ms", "worst ms", "lag ms in all", "CPU ms"))
    rows = [
        (
            Cell(row.name, href=link_to_games(row.name)),
            f"{row.questions}",
            f"{row.mean_ms:.1f}{' M' if row.is_effort else ''}",
            f"{row.worst_ms:.1f}{' M' if row.is_effort else ''}",
            f"{row.given_back_ms:.0f}",
            UNKNOWN_CELL if row.cpu_ms is None else f"{row.cpu_ms:.2f}",
        )
        for row in times.entrants
    ]
    return table("Time for a question", columns, rows)


# --- conditions ---


def _conditions(data: ReportData) -> Section:
    event, sandboxes = data.book.event, data.measured.sandboxes
    limits, options = event_text.clock_text(event)
    times = (
        "Times: this page does not depend on them, so that the ledger alone determines it. "
        "`times.json` and `report.html` have the times of the bots."
    )
    machines = [
        f"Machine: {machine.machine or 'unknown'}; Boneyard {machine.boneyard}; "
        f"{event_text.describe_share(count, sandboxes[0].of)}."
        for machine, count in data.measured.machines
    ]
    terms = [
        *map(Item, (event_text.rules_text(event), limits, event_text.foul_policy_text(event))),
        Item(times, media=Media.MARKDOWN),
        Item(options),
        *(Item(level, missing) for level, missing in event_text.sandbox_text(sandboxes)),
        *(Item(machine, media=Media.HTML) for machine in machines),
        *(Item(sentence) for sentence in filter(None, [event_text.choices_foreseen(data.luck)])),
    ]
    blocks: list[DocumentBlock] = [
        Bullets(terms),
        Figure(macro="rules", value=explain_ruleset(event.rules)),
        _deals(event, data.commitments),
        _bots(event.entrants),
    ]
    if event.replaced:
        earlier = event_text.versions(data.book)
        inner: list[DocumentBlock] = [Paragraph(event_text.EARLIER), bullets(earlier)]
        blocks.append(Section("Earlier versions", inner))
    blocks.append(Section("Files for other programs", [Paragraph(event_text.FILES_TEXT)]))
    return Section("How it was played", blocks, id="how", media=Media.FILES, folded=True)


def _deals(event: Event, commitments: str) -> Section:
    blocks: list[DocumentBlock] = [
        *paragraphs(event_text.promise(event)),
        Code(commitments),
        Paragraph(event_text.COMMITMENT_TEXT),
        Code("\n".join(event_text.CHECKS)),
        Paragraph(event_text.DISTRUST),
    ]
    return Section("Deals", blocks)


def _bots(entrants: Sequence[Entrant]) -> Section:
    columns = [Column("bot", "name"), Column("fingerprint", "digest"), Column("command", "code")]
    rows = [(bot.name, bot.fingerprint[:FINGERPRINT_DIGITS], command_text(bot)) for bot in entrants]
    note = (
        f"The first {FINGERPRINT_DIGITS} digits of the SHA-256 of a bot's command and files; "
        "`results.json` has all digits."
    )
    return Section(
        "Bots", [table("Bots", columns, rows), Paragraph(note, "faint", media=Media.HTML)]
    )


def command_text(entrant: Entrant) -> str:
    """Return the command's words without folders, which are local; an address keeps its path."""
    words = (word if "://" in word else pure_path(word).name for word in entrant.command.argv)
    return printable(" ".join(words))
