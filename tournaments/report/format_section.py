"""The section of the Markdown report about the format: a line, a table or a bracket."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from arena.rules.english import count_in_digits
from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.formats import knockout, swiss
from tournaments.formats.base import Unit, first_version
from tournaments.formats.gauntlet import ChallengeFormat, Gauntlet
from tournaments.formats.knockout import Knockout
from tournaments.formats.ladder import Ladder
from tournaments.formats.round_robin import RoundRobin
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.rating.sprt import Step, outcomes, walk
from tournaments.report import sprt_section as sprt_report
from tournaments.report import tables as standings

UNEVEN_TOLD = 3
"""The largest number of uneven pairings that are named."""


def headline(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the game, the format and the number of games played."""
    boards = count_in_digits(event.boards, "board")
    each = f"{boards} for each pairing"
    match event.format:
        case RoundRobin() | Gauntlet() | Ladder():
            pass
        case Swiss(rounds=rounds):
            each = f"{rounds} rounds of {boards} each"
        case Knockout():
            each = f"{boards} for each match"
        case Versus():
            each = f"at most {boards}"
        case form:
            assert_never(form)
    return (
        f"{event.rules.name}, {event.seats} seats, {each}, each board rotated through all seats. "
        f"{_format(event)}{done(event, played, planned)}"
    )


def done(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the number of games played."""
    of = ""
    if played < planned:
        of = {Knockout: "about ", Versus: "at most "}.get(type(event.format), "")
    return f"{played} of {of}{planned} games are played."


def _format(event: Event) -> str:
    match event.format:
        case RoundRobin():
            return ""
        case Gauntlet() as form:
            return f"A gauntlet: {_challengers(event, form)} against the field. "
        case Ladder() as form:
            return f"A ladder: {_challengers(event, form)} against the field, which met before. "
        case Swiss():
            return "A Swiss. "
        case Knockout():
            return "A knockout. "
        case Versus():
            return "Versus: two bots, until the answer is known. "
        case form:
            assert_never(form)


def _challengers(event: Event, form: ChallengeFormat) -> str:
    return ", ".join(event.unit_name(event.units[place]) for place in form.places(event)[0])


def section(event: Event, results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines that only this format has; none in a round robin."""
    still = event.active_results(results)
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
    yield from ("", met_again(table))


def met_again(table: Sequence[swiss.Standing]) -> str:
    """Return a sentence about the rematches of a Swiss."""
    many = swiss.rematches(table)
    if not many:
        return "No two met twice."
    return f"{many} rematch{'es' * (many > 1)}: only where no round without one was found."


def met(place: dict[Unit, str], got: int, others: Sequence[Unit]) -> str:
    """Return a unit's points in a round and the places of its opponents."""
    return f"{half(got)} ({', '.join(place[other] for other in others) or 'bye'})"


def half(halves: int) -> str:
    """Format half points as people write them: 2½."""
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


def won(event: Event, results: Sequence[Result], planned: int) -> tuple[str, str] | None:
    """Return the winner of a knockout or a Swiss and the title; None before its end.

    Other formats have no winner: None.
    """
    still = event.active_results(results)
    match event.format:
        case Knockout() as form:
            last = knockout.bracket(event, form, still)[-1]
            winner = last[0].winner if len(last) == 1 else None
            return (event.unit_name(winner), "has won the knockout.") if winner else None
        case Swiss(rounds=rounds) if len(results) == planned:
            table = swiss.standings(event, still)
            if len(table[0].rounds) < rounds:
                return None
            first = [event.unit_name(one.unit) for one in table if one.order == table[0].order]
            what = "has won" if len(first) == 1 else "share the first place in"
            return " and ".join(first), f"{what} the Swiss of {rounds} rounds."
        case _:
            return None


def won_line(event: Event, results: Sequence[Result], planned: int) -> str:
    """Return the same in one line; empty while nobody has won."""
    return " ".join(won(event, results, planned) or ())


def uneven(event: Event, results: Sequence[Result], planned: int) -> str:
    """Name the pairings whose rotations were not all played equally often.

    Empty if there are none, or if the event is finished.
    """
    if len(results) >= planned:
        return ""
    played = Counter(one.seats for one in event.active_results(results))
    often = {turned: [played[one] for one in turned] for turned in map(_turned, played)}
    found = [(turned, games) for turned, games in often.items() if min(games) < max(games)]
    if not found:
        return ""
    found.sort(key=lambda one: (min(one[1]) - max(one[1]), one[0]))
    told = "; ".join(_in_seatings(turned[0], games) for turned, games in found[:UNEVEN_TOLD])
    more = f"; {len(found) - UNEVEN_TOLD} more pairings likewise" * (len(found) > UNEVEN_TOLD)
    return f"{told}{more}: go on with the run before you trust this."


def _turned(seats: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return a table's rotations, in the same order for each of them."""
    return tuple(sorted(rotations(seats)))


def _in_seatings(seats: tuple[str, ...], games: Sequence[int]) -> str:
    *others, last = dict.fromkeys(seats)
    who = f"{', '.join(others)} and {last}{', in this order,' * (len(seats) > 2)}"
    if sum(games) == max(games):
        many = count_in_digits(sum(games), "game")
        return f"{many} of {who} {'was' if sum(games) == 1 else 'were'} played in one seating only"
    *others, last = map(str, sorted(games, reverse=True))
    return f"{who} played {', '.join(others)} and {last} games in their {len(games)} seatings"


def question_line(event: Event, results: Iterable[Result]) -> str:
    """Return the state of the sequential test of versus in one line; empty in other formats."""
    if not isinstance(event.format, Versus):
        return ""
    steps = sprt_steps(event, event.format, event.active_results(results))
    return f"Is {sides(event)[0]} better? {sprt_report.live(event.format.sprt, steps)}"


def _versus(event: Event, form: Versus, results: Iterable[Result]) -> Iterator[str]:
    yield from sprt_report.section(form.sprt, sprt_steps(event, form, results), *sides(event))


def sprt_steps(event: Event, form: Versus, results: Iterable[Result]) -> tuple[Step, ...]:
    """Return the steps of the sequential test of versus, board by board."""
    one, _ = sides(event)
    since = event.boards_of(event.units).start
    return walk(form.sprt, outcomes(form.sprt, results, one, lost_by=event.target, since=since))


def sides(event: Event) -> list[str]:
    """Return the names of the two sides of versus; the test asks about the first."""
    return [event.entrants[unit[0]].name for unit in event.units]


EARLIER = "Their games count in the ratings under their own names; they play no more."
"""The introduction to the list of earlier versions."""


def versions(event: Event, results: Sequence[Result]) -> Iterator[str]:
    """Yield a sentence for each entrant that is an earlier version."""
    for one in event.entrants:
        if one.retired:
            played = sum(one.name in result.seats for result in results)
            after = next(
                other.name
                for other in event.entrants
                if not other.retired and first_version(other.name) == first_version(one.name)
            )
            yield f"`{one.name}`, {played} games; `{after}` plays on with other files."
