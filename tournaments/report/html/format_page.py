"""What the report page shows of one format: a sequential test, a Swiss, a bracket. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from protocol.records import Result
from tournaments.plan.event import Event, Unit
from tournaments.plan.formats import Knockout, Swiss, Versus
from tournaments.report import sprt_section as sprt_report
from tournaments.report.format_section import half, met, sides, sprt_steps
from tournaments.report.html import charts as figures
from tournaments.report.html.cells import Cell, Table, games, minus
from tournaments.report.html.charts import Walk
from tournaments.schedule import knockout, swiss
from tournaments.schedule.schedule import active_results

STEPS = 10
"""Steps of a sequential test that its table shows."""


class Question(NamedTuple):
    """The sequential test of versus."""

    title: str
    """What is asked."""
    answer: str
    """What is known of it."""
    asked: str
    """The hypotheses, and how sure the answer must be."""
    walk: Walk | None
    """The path of the ratio; None before the first board."""
    bounds: tuple[str, str]
    """The ratios at which H0 and H1 are accepted."""
    steps: Table
    """Some of its steps in numbers."""


class Side(NamedTuple):
    """A line of a match."""

    name: str
    """Who."""
    points: str
    """What it took: the match, then what a tie needed."""
    won: bool
    """Whether it goes on."""


class Match(NamedTuple):
    """A match of a bracket."""

    sides: tuple[Side, ...]
    """The better seed first; a bye has one."""
    note: str
    """What the points do not tell."""
    href: str
    """Its games."""


class Bracket(NamedTuple):
    """A knockout."""

    rounds: list[tuple[str, list[Match]]]
    """Each round and its matches, from the top."""
    winner: str
    """Who has won; nobody while it goes on."""


def question(event: Event, results: Sequence[Result]) -> Question | None:
    """The test of versus; None in other formats."""
    if not isinstance(event.format, Versus):
        return None
    sprt, (one, other) = event.format.sprt, sides(event)
    steps = sprt_steps(event, event.format, active_results(event, results))
    low, high = (minus(f"{bound:.2f}") for bound in sprt.bounds)
    rows = [
        [Cell(minus(text)) for text in (f"{s.boards}", f"{s.llr:+.2f}", f"{s.estimate:+.1f}")]
        for s in sprt_report.subsample(steps, STEPS)
    ]
    return Question(
        title=f"Is {one} better than {other}?",
        answer=sprt_report.sentence(sprt, steps, one),
        asked=sprt_report.question(sprt, one),
        walk=figures.walk(sprt, steps) if steps else None,
        bounds=(low, high),
        steps=Table(("boards", "LLR", f"lead, {sprt_report.UNITS[sprt.measure]}"), rows, 0),
    )


def swiss_table(event: Event, results: Sequence[Result]) -> Table | None:
    """The table of a Swiss; None in other formats."""
    if not isinstance(event.format, Swiss):
        return None
    lines = swiss.standings(event, active_results(event, results))
    place = {line.unit: f"{number}" for number, line in enumerate(lines, 1)}
    rounds = [f"round {n}" for n in range(1, len(lines[0].rounds) + 1)]
    rows = [
        [
            Cell(event.unit_name(line.unit), _games(event, line.unit)),
            *map(Cell, (place[line.unit], half(line.points), half(line.buchholz))),
            Cell(half(line.halves)),
            *(
                Cell(met(place, got, others), _games(event, line.unit, *others) if others else "")
                for got, others in line.rounds
            ),
        ]
        for line in lines
    ]
    head = ("bot", "#", "points", "Buchholz", "game points", *rounds)
    return Table(head, rows, 1, frozenset((0,)))


def _games(event: Event, *units: Unit) -> str:
    """The games in which these met: of each the first member, for partners sit together."""
    return games(*(event.entrants[unit[0]].name for unit in units))


def bracket(event: Event, results: Sequence[Result]) -> Bracket | None:
    """The bracket of a knockout; None in other formats."""
    if not isinstance(event.format, Knockout):
        return None
    known = knockout.bracket(event, event.format, active_results(event, results))
    last = known[-1][0] if len(known[-1]) == 1 else None
    return Bracket(
        rounds=[
            (
                "Final" if len(matches) == 1 else f"Round {number}",
                [_match(event, match) for match in matches],
            )
            for number, matches in enumerate(known, 1)
        ],
        winner=event.unit_name(last.winner) if last and last.winner else "",
    )


def _match(event: Event, match: knockout.Match) -> Match:
    sides = tuple(
        Side(event.unit_name(unit), _points(match, at), unit == match.winner)
        for at, unit in enumerate(match.units)
    )
    if len(sides) == 1:
        return Match(sides, "bye", "")
    return Match(sides, _note(match), _games(event, *match.units))


def _points(match: knockout.Match, at: int) -> str:
    """Points of a side: 7½, or 5 + 2 where a tie went on."""
    return " + ".join(half(halves[at]) for halves in (match.halves, match.more) if halves)


def _note(match: knockout.Match) -> str:
    first, second = (
        sum(halves[at] for halves in (match.halves, match.more) if halves) for at in (0, 1)
    )
    if match.winner is None:
        return "tied: goes on" if match.halves else "to be played"
    return "tied: the better seed goes on" if first == second else ""
