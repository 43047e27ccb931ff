"""The part of the report page about the format: a sequential test, a Swiss, a bracket. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from protocol.records import Result
from tournaments.formats import knockout, swiss
from tournaments.formats.base import Unit
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.report import sprt_section as sprt_report
from tournaments.report.format_section import half, met, sides, sprt_steps
from tournaments.report.html import charts as figures
from tournaments.report.html.cells import Cell, Table, games, minus
from tournaments.report.html.charts import Walk

STEPS = 10
"""The largest number of steps in the table of a sequential test."""


class Question(NamedTuple):
    """The sequential test of versus."""

    title: str
    """The question."""
    answer: str
    """The answer so far."""
    asked: str
    """The hypotheses and the error rates."""
    walk: Walk | None
    """The path of the ratio; None before the first board."""
    bounds: tuple[str, str]
    """The ratios at which H0 and H1 are accepted."""
    steps: Table
    """A selection of its steps in numbers."""


class Side(NamedTuple):
    """A line of a match."""

    name: str
    """The entrants."""
    points: str
    """The points of the match, then those of the extra boards after a tie."""
    won: bool
    """Whether it advances."""


class Match(NamedTuple):
    """A match of a bracket."""

    sides: tuple[Side, ...]
    """The better seed first; a bye has one."""
    note: str
    """A remark on the result."""
    href: str
    """The link to its games."""


class Bracket(NamedTuple):
    """A knockout's bracket."""

    rounds: list[tuple[str, list[Match]]]
    """Each round and its matches, from the top."""
    winner: str
    """The winner; empty while it goes on."""


def question(event: Event, results: Sequence[Result]) -> Question | None:
    """Return the test of versus; None in other formats."""
    if not isinstance(event.format, Versus):
        return None
    sprt, (one, other) = event.format.sprt, sides(event)
    steps = sprt_steps(event, event.format, event.active_results(results))
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
    """Return the table of a Swiss; None in other formats."""
    if not isinstance(event.format, Swiss):
        return None
    lines = swiss.standings(event, event.active_results(results))
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
    """Return the link to these units' games, by the first member, because partners sit together."""
    return games(*(event.entrants[unit[0]].name for unit in units))


def bracket(event: Event, results: Sequence[Result]) -> Bracket | None:
    """Return the bracket of a knockout; None in other formats."""
    if not isinstance(event.format, Knockout):
        return None
    known = knockout.bracket(event, event.format, event.active_results(results))
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
    """Return the points of a side: 7½, or 5 + 2 where a tie was played on."""
    return " + ".join(half(halves[at]) for halves in (match.halves, match.more) if halves)


def _note(match: knockout.Match) -> str:
    first, second = (
        sum(halves[at] for halves in (match.halves, match.more) if halves) for at in (0, 1)
    )
    if match.winner is None:
        return "tied: goes on" if match.halves else "to be played"
    return "tied: the better seed goes on" if first == second else ""
