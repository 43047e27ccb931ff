"""Sentences about an event beside its tables: its format, progress, winner and versions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from arena.rules.english import count_in_digits, join_words
from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.formats.base import first_version
from tournaments.plan.event import Event

UNEVEN_TOLD = 3
"""The largest number of uneven pairings that are named."""


def headline(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the game, the format and the number of games played."""
    form = event.format
    parts = (
        f"{event.rules.name}, {event.seats} seats, {form.describe_boards(event)}, each board "
        "rotated through all seats.",
        form.introduce(event),
        done(event, played, planned),
    )
    return " ".join(filter(None, parts))


def done(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the number of games played."""
    of = event.format.ESTIMATE * (played < planned)
    return f"{played} of {of}{planned} games are played."


def won_line(event: Event, results: Sequence[Result], planned: int) -> str:
    """Return the winner and the title in one line; empty while nobody has won."""
    is_over = len(results) == planned
    winner = event.format.find_winner(event, event.active_results(results), is_over)
    return " ".join(winner or ())


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
    more = f"; {len(found) - UNEVEN_TOLD} more such pairings" * (len(found) > UNEVEN_TOLD)
    return f"{told}{more}: continue the run before you rely on these results."


def _turned(seats: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return a table's rotations, in the same order for each of them."""
    return tuple(sorted(rotations(seats)))


def _in_seatings(seats: tuple[str, ...], games: Sequence[int]) -> str:
    who = f"{join_words(dict.fromkeys(seats))}{', in this order,' * (len(seats) > 2)}"
    if sum(games) == max(games):
        many = count_in_digits(sum(games), "game")
        return f"{many} of {who} {'was' if sum(games) == 1 else 'were'} played in one rotation only"
    many = join_words(map(str, sorted(games, reverse=True)))
    return f"{who} played {many} games in their {len(games)} rotations"


def question_line(event: Event, results: Iterable[Result]) -> str:
    """Return the state of the sequential test of versus in one line; empty in other formats."""
    return event.format.describe_state(event, event.active_results(results))


EARLIER = "Their games count in the ratings under their own names; they no longer play."
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
            yield f"`{one.name}`, {played} games; replaced by `{after}` with other files."
