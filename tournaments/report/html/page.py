"""report.html: the report of an event on one page. From values to values; the template escapes.

The page follows from what it is given and nothing else. What only the logs know, times and the
evidence of fouls, comes in as `Measured`; everything else follows from the plan and the ledger.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from arena.rules.explain import explain
from arena.ui.html import page
from protocol.codec import printable
from protocol.records import Result
from tournaments.formats import swiss
from tournaments.formats.base import Entrant
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.plan.event import Event
from tournaments.rating.anchor import Anchor
from tournaments.rating.fouls import count_fouls
from tournaments.rating.ratings import Clean, Pool, Rating, Ratings
from tournaments.rating.statistics import Floats
from tournaments.rating.tally import Tally, by_pool, collect
from tournaments.report import conditions as how
from tournaments.report import format_section as format_report
from tournaments.report import tables as standings
from tournaments.report.html import charts as figures
from tournaments.report.html import format_page
from tournaments.report.html.cells import Cell, Table, games, minus, pieces, table
from tournaments.report.html.charts import Histograms
from tournaments.report.html.crosstable import Encounter, encounters
from tournaments.report.html.game_list import build_game_list
from tournaments.report.html.replay_links import AT_ONCE, addresses
from tournaments.report.log_facts import EXAMPLES, Evidence, LogFacts
from tournaments.schedule.schedule import PlannedSitting

HERE = Path(__file__).parent
MATRIX = 64
"""The largest number of entrants in a table of all against all; the files have everybody."""
NAMED = 8
"""The largest number of entrants for columns with names; with more, columns have ranks."""
INTERVALS = 12
"""The largest number of entrants for cells with intervals."""
SHOWN = 100
"""The largest number of fouls with evidence."""
EVIDENCE = 2_000
"""The largest length of a bot's words, in characters."""
OPEN = 6
"""The largest number of entrants that are named as possible winners."""


class ReportData(NamedTuple):
    """The data that the page shows."""

    event: Event
    results: Sequence[Result]
    planned: int
    """Games of the plan."""
    commitments: str
    """SHA-256 of commitments.jsonl, in hex."""
    notes: Sequence[str]
    """Warnings: unbalanced pairings, and entrants that came when deals were public."""
    ratings: Ratings
    measured: LogFacts
    plans: Sequence[PlannedSitting]
    """The sittings to which the games belong."""


class Matrix(NamedTuple):
    """A table of all against all."""

    names: list[str]
    """The entrants that fit, best first."""
    rows: list[list[Cell]]
    """The cells, by row."""
    left_out: int
    """The number of entrants that do not fit."""


class PoolSection(NamedTuple):
    """The part of the page about a pool."""

    standings: list[tuple[str, Table, figures.Forest]]
    """Of each group of the table its title, its rows, and their intervals on the same axis."""
    intervals: str
    """The meaning of ±."""
    told: list[str]
    """Sentences under the standings."""
    clean: bool
    """Whether there are ratings without fouls."""
    crosstable: Matrix
    likelihoods: Matrix
    partners: Table | None
    partners_told: list[str]
    margins: Histograms | None
    """The margins; None: no game has a margin that counts."""
    margins_left_out: int
    """The number of entrants whose margins do not fit."""


def report_page(told: ReportData) -> str:
    """Return the page as HTML."""
    event, known = told.event, told.measured
    replays = addresses(told.plans)
    names = [one.name for one in event.entrants]
    found = build_game_list(names, event.seats, told.results, replays)
    return page(
        "report.html.j2",
        "report",
        event.name,
        folders=(HERE,),
        styles=("report.css",),
        scripts=("report.js",),
        data=found,
        pieces=lambda text: list(pieces(text)),
        event=event,
        headline=format_report.headline(event, len(told.results), told.planned),
        notes=told.notes,
        lead=_lead(told),
        question=format_page.question(event, told.results),
        swiss=format_page.swiss_table(event, told.results) if told.results else None,
        met_again=_met_again(told),
        bracket=format_page.bracket(event, told.results),
        pools=_pools(told),
        cautious=standings.RANKS,
        named=NAMED,
        intervals=INTERVALS,
        fouls=_fouls(told.results),
        evidence=[_shown(one) for one in known.evidence[:SHOWN]],
        examples=EXAMPLES,
        evidence_left_out=max(0, len(known.evidence) - SHOWN),
        replays=replays,
        times=_times(known) if known.times.entrants else None,
        lag=standings.lag(known.times),
        listed=found,
        many=len(told.results) > AT_ONCE,
        rules=[(head, list(said)) for head, said in groupby(explain(event.rules), _heading)],
        how=how,
        kept=list(how.sandbox_text(told.measured.sandboxes)),
        machines=[(one, how.share(many, known.sandboxes[0].of)) for one, many in known.machines],
        commitments=told.commitments,
        bots=[(one, _command(one)) for one in event.entrants],
        earlier=format_report.EARLIER,
        versions=list(format_report.versions(event, told.results)),
    )


def _met_again(told: ReportData) -> str:
    if not told.results or not isinstance(told.event.format, Swiss):
        return ""
    return format_report.met_again(
        swiss.standings(told.event, told.event.active_results(told.results))
    )


def _heading(sentence: object) -> str:
    return str(getattr(sentence, "heading", ""))


def _times(known: LogFacts) -> Table:
    (_, *head), rows = standings.time_used(known.times)
    return table(("bot", *head), rows)


def _command(entrant: Entrant) -> str:
    """Return the command's words without folders, which are local."""
    return printable(" ".join(Path(part).name for part in entrant.command.argv))


def _lead(told: ReportData) -> str:
    """Return the main result in a sentence or two."""
    event = told.event
    if not told.ratings.pools:
        return "No game is over yet."
    if asked := format_page.question(event, told.results):
        return f"**{asked.answer}**"
    won = format_report.won(event, told.results, told.planned)
    if won and isinstance(event.format, Knockout):
        return f"**{won[0]}** {won[1]}"
    open_to = _open_to([one for one in told.ratings.pools[0].entrants if one.ranks[0] == 1])
    if won:
        return f"**{won[0]}** {won[1]} {open_to}"
    if isinstance(event.format, Swiss):
        first = swiss.standings(event, event.active_results(told.results))[0]
        rounds, name = event.format.rounds, event.unit_name(first.unit)
        return f"**{name}** leads the Swiss, {len(first.rounds)} of {rounds} rounds. {open_to}"
    return open_to


def _open_to(first: Sequence[Rating]) -> str:
    """Return a sentence about who may be first, by the ratings."""
    names = [one.name for one in first]
    if len(names) == 1:
        return f"**{names[0]}** is the best of them: the results leave nobody else the first rank."
    if len(names) <= OPEN:
        return f"The first rank is open between {', '.join(names[:-1])} and {names[-1]}."
    return f"The first rank is open between {len(names)} bots; {names[0]} is ahead."


def _pools(told: ReportData) -> list[PoolSection]:
    if not told.results:
        return []
    tallies = by_pool(collect(told.results, told.event.rules.deal.partners))
    by_names = {frozenset(tally.names): tally for tally in tallies}
    return [
        _pool(pool, by_names[frozenset(one.name for one in pool.entrants)], told.event.anchor)
        for pool in told.ratings.pools
    ]


def _pool(pool: Pool, tally: Tally, anchor: Anchor | None) -> PoolSection:
    clean = standings.has_clean(pool)
    names = [one.name for one in pool.entrants][:MATRIX]
    margins = _margins(tally, names)
    return PoolSection(
        standings=_standings(pool, clean),
        intervals=standings.intervals(pool),
        told=[
            *standings.placing(pool),
            *standings.unanchored(pool, anchor),
            *standings.without_fouls(pool, anchor),
            standings.PRIOR,
            *map(minus, (*standings.seat_advantages(pool), *standings.duplicate_gain(pool))),
        ],
        clean=clean,
        crosstable=_crosstable(pool, encounters(tally, names), names),
        likelihoods=_likelihoods(pool, names),
        partners=table(*standings.partners(pool), left=2) if pool.partners else None,
        partners_told=standings.partners_told(pool) if pool.partners else [],
        margins=figures.histograms(margins) if margins else None,
        margins_left_out=len(pool.entrants) - len(names),
    )


STANDINGS = (
    "bot",
    "#",
    "ranks",
    "Elo",
    "95 %",
    "games",
    "score\N{NO-BREAK SPACE}%",
    "margin",
    "fouls",
)
"""Columns of the standings; the forest plot stands under `95 %`."""
WITHOUT = "Elo without fouls"


def _standings(pool: Pool, clean: bool) -> list[tuple[str, Table, figures.Forest]]:
    forest, head = figures.forest(pool), (*STANDINGS, *((WITHOUT,) if clean else ()))
    found = []
    for group in standings.groups(pool):
        rows = [_standing(place, one, clean) for place, one in group.placed]
        intervals = [forest.rows[place - 1] for place, _ in group.placed]
        own = forest._replace(rows=intervals)
        found.append((group.title, Table(head, rows, 1, frozenset((0,))), own))
    return found


def _standing(place: int, one: Rating, clean: bool) -> list[Cell]:
    best, worst = one.ranks
    half = "" if one.margin_half_width is None else f"±{one.margin_half_width:.1f}"
    cells = [
        Cell(one.name, games(one.name)),
        Cell(f"{place}"),
        Cell(f"{best}" if best == worst else f"{best}–{worst}"),
        _elo(one),
        Cell("", kind="forest"),
        Cell(f"{one.games}"),
        Cell(f"{100 * one.score:.1f}"),
        Cell("·" if one.margin is None else minus(f"{one.margin:+.1f}"), small=half),
        Cell(f"{one.fouls}", "#fouls" if one.fouls else ""),
    ]
    if clean:
        cells.append(_elo(one.clean) if one.clean else Cell("·"))
    return cells


def _elo(one: Rating | Clean) -> Cell:
    half = standings.half_width(one)
    return Cell(minus(standings.elo(one)), small=f"±{half}" if half else "")


def _crosstable(pool: Pool, met: list[list[Encounter | None]], names: list[str]) -> Matrix:
    small = len(names) <= INTERVALS
    rows = [[_encounter(one, small) for one in row] for row in met]
    for at, row in enumerate(rows):
        row[at] = Cell("", kind="self")
    return Matrix(names, rows, len(pool.entrants) - len(names))


def _encounter(met: Encounter | None, small: bool) -> Cell:
    if met is None:
        return Cell("·")
    interval = ""
    if small and met.low is not None and met.high is not None:
        interval = f"{100 * met.low:.0f}–{100 * met.high:.0f}"
    return Cell(f"{100 * met.share:.0f}", kind=met.decided, small=interval)


SURE = 0.975
"""The probability from which a cell is shaded: the limit of a 95 % interval."""


def _likelihoods(pool: Pool, names: list[str]) -> Matrix:
    rows = [
        [_likelihood(likely, own == other) for other, likely in enumerate(row[: len(names)])]
        for own, row in enumerate(pool.los[: len(names)])
    ]
    return Matrix(names, rows, len(pool.entrants) - len(names))


def _likelihood(likely: float, own: bool) -> Cell:
    if own:
        return Cell("", kind="self")
    kind = "ahead" if likely > SURE else "behind" if likely < 1 - SURE else ""
    return Cell(f"{100 * likely:.1f}", kind=kind)


def _margins(tally: Tally, names: Sequence[str]) -> dict[str, Floats]:
    """Return the margins of each entrant in games that no foul ended; omit those without any."""
    who, _, over, whole = tally.played.T
    # Kept as integers in the tally: sides x own sum - all sums, over (sides - 1) x members.
    scale = (tally.sides - 1) * tally.left.shape[1]
    found = {name: over[(who == tally.names.index(name)) & (whole > 0)] / scale for name in names}
    return {name: values for name, values in found.items() if len(values)}


class Fouls(NamedTuple):
    """The numbers of fouls by entrant and class."""

    table: Table
    games: int
    """Games with a foul."""
    forfeits: bool
    """Whether games were forfeited."""


def _fouls(results: Sequence[Result]) -> Fouls | None:
    counts = Counter(
        {(one.entrant, one.foul): one.games for one in count_fouls(results, forfeits=True)}
    )
    if not counts:
        return None
    classes = sorted({foul for _, foul in counts})
    names = sorted({name for name, _ in counts})
    rows = [
        [
            Cell(name, games(name)),
            *(Cell(f"{counts[name, foul] or '·'}") for foul in classes),
            Cell(f"{sum(counts[name, foul] for foul in classes)}"),
        ]
        for name in names
    ]
    head = ("bot", *classes, "all")
    many = sum(bool(result.fouls) for result in results)
    return Fouls(Table(head, rows, 1, frozenset((0,))), many, "forfeit" in classes)


class FoulEvidence(NamedTuple):
    """A foul with its evidence, as text."""

    foul: Evidence
    detail: str
    """A sentence for the bot's author."""
    line: str
    """The offending line."""
    stderr: str
    """The last lines of stderr."""
    command: str
    """The command that explains the foul in the terminal."""


def _shown(one: Evidence) -> FoulEvidence:
    # In the log a line's end is an escape like any other; here it may end the line.
    stderr = printable(one.stderr, EVIDENCE).replace("\\n", "\n").strip("\n")
    command = f"boneyard explain . {one.game} --seat {one.seat}"
    return FoulEvidence(one, printable(one.detail, EVIDENCE), printable(one.line), stderr, command)
