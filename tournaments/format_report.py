"""What the report says about an event's format: a line, a table or a bracket, from its results."""

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from protocol.records import Result
from tournaments import knockout, sprt_report, standings, swiss
from tournaments.event import Event, Unit
from tournaments.extend import first_version
from tournaments.formats import Gauntlet, Knockout, Ladder, RoundRobin, Swiss, Versus
from tournaments.schedule import counted
from tournaments.sprt import Step, outcomes, walk


def headline(event: Event, played: int, planned: int) -> str:
    """What is played, and how much of it."""
    boards = "1 board" if event.boards == 1 else f"{event.boards} boards"
    each = f"{boards} for each pairing"
    match event.format:
        case RoundRobin() | Gauntlet() | Ladder():
            of = f"{planned}"
        case Swiss(rounds=rounds):
            of, each = f"{planned}", f"{rounds} rounds of {boards} each"
        case Knockout():
            of, each = f"about {planned}", f"{boards} for each match"
        case Versus():
            of, each = f"at most {planned}", f"at most {boards}"
        case form:
            assert_never(form)
    done = f"{played} of {of if played < planned else planned} games are played."
    return (
        f"{event.rules.name}, {event.seats} seats, {each}, "
        f"each board rotated through all seats. {_format(event)}{done}"
    )


def _format(event: Event) -> str:
    names = ", ".join(event.unit_name(event.units[place]) for place in event.challengers)
    match event.format:
        case RoundRobin():
            return ""
        case Gauntlet():
            return f"A gauntlet: {names} against the field. "
        case Ladder():
            return f"A ladder: {names} against the field, which met before. "
        case Swiss():
            return "A Swiss. "
        case Knockout():
            return "A knockout. "
        case Versus():
            return "Versus: two bots, until the answer is known. "
        case form:
            assert_never(form)


def section(event: Event, results: Sequence[Result]) -> Iterator[str]:
    """What only this format has to tell; nothing in a round robin."""
    still = counted(event, results)
    match event.format:
        case RoundRobin() | Gauntlet() | Ladder():
            return
        case Swiss():
            yield from _swiss(event, still)
        case Knockout() as form:
            yield from _knockout(event, form, still)
        case Versus() as form:
            yield from _versus(event, form, still)
        case form:
            assert_never(form)


def _swiss(event: Event, results: Sequence[Result]) -> Iterator[str]:
    table = swiss.standings(event, results)
    rounds = len(table[0].rounds)
    place = {line.unit: f"{number}" for number, line in enumerate(table, 1)}
    head = ("#", "bot", "points", "Buchholz", "game points", *(f"{n + 1}" for n in range(rounds)))
    rows: standings.Rows = [
        (
            place[line.unit],
            event.unit_name(line.unit),
            half(line.points),
            half(line.buchholz),
            half(line.halves),
            *(met(place, got, others) for got, others in line.rounds),
        )
        for line in table
    ]
    yield from ("", "## Swiss", "", *standings.markdown(head, rows), "")
    yield (
        "A round gives a point for each opponent beaten, all its games together, ½ for a tie; in "
        "brackets: whom it met. Buchholz: the points of all whom it met."
    )


def met(place: dict[Unit, str], got: int, others: Sequence[Unit]) -> str:
    """What a unit made in a round, and the places of those whom it met."""
    return f"{half(got)} ({', '.join(place[other] for other in others) or 'bye'})"


def half(halves: int) -> str:
    """Half points as people write them: 2½."""
    whole = halves // 2
    return f"{whole}" if halves % 2 == 0 else f"{whole or ''}½"


def _knockout(event: Event, form: Knockout, results: Sequence[Result]) -> Iterator[str]:
    known = knockout.bracket(event, form, results)
    yield from ("", "## Knockout")
    for number, matches in enumerate(known, 1):
        left = len(matches)
        name = "Final" if left == 1 else f"Round {number}"
        yield from ("", f"{name}:", "")
        yield from (f"- {_match(event, match)}" for match in matches)
    last = known[-1][0]
    if len(known[-1]) == 1 and last.winner:
        yield from ("", f"**{event.unit_name(last.winner)}** has won.")


def _match(event: Event, match: knockout.Match) -> str:
    names = [event.unit_name(unit) for unit in match.units]
    if len(names) == 1:
        return f"{names[0]}: bye"
    said = f"{names[0]} – {names[1]}"
    for halves, what in ((match.halves, ":"), (match.more, ", then")):
        if halves:
            said += f"{what} {half(halves[0])} – {half(halves[1])}"
    if match.winner is None:
        return said
    seeded = sum(match.halves[:1] + match.more[:1]) == sum(match.halves[1:] + match.more[1:])
    return f"{said}; {event.unit_name(match.winner)} goes on{' as the better seed' * seeded}"


def question_line(event: Event, results: Iterable[Result]) -> str:
    """Where the sequential test of versus stands, in one line; empty in other formats."""
    if not isinstance(event.format, Versus):
        return ""
    steps = walked(event, event.format, counted(event, results))
    return f"Is {sides(event)[0]} better? {sprt_report.live(event.format.sprt, steps)}"


def _versus(event: Event, form: Versus, results: Iterable[Result]) -> Iterator[str]:
    yield from sprt_report.section(form.sprt, walked(event, form, results), *sides(event))


def walked(event: Event, form: Versus, results: Iterable[Result]) -> tuple[Step, ...]:
    """The sequential test of versus, board by board."""
    one, _ = sides(event)
    return walk(form.sprt, outcomes(form.sprt, results, one, lost_by=event.target))


def sides(event: Event) -> list[str]:
    """The two of versus, by name: is the first one better?"""
    return [event.entrants[unit[0]].name for unit in event.units]


EARLIER = "Their games count in the ratings under their own names; they play no more."
"""What is to be said of earlier versions."""


def versions(event: Event, results: Sequence[Result]) -> Iterator[str]:
    """Which entrants are earlier versions, and what there is of them; a sentence each."""
    for one in event.entrants:
        if one.retired:
            played = sum(one.name in result.seats for result in results)
            after = next(
                other.name
                for other in event.entrants
                if not other.retired and first_version(other.name) == first_version(one.name)
            )
            yield f"`{one.name}`, {played} games; `{after}` plays on with other files."
