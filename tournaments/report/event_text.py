"""Sentences about an event beside its tables: its format, progress, winner and versions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from arena.document.blocks import Section
from arena.rules.english import count_in_digits, join_words
from protocol.records import Result
from protocol.ruleset import rotations
from tournaments.formats.base import first_version
from tournaments.plan.event import Event
from tournaments.rating.tables import Pool, Ratings
from tournaments.report.results_file import LuckUsed
from tournaments.schedule.spending import stopped_entrants

OPEN = 6
"""The largest number of entrants that are named as possible winners."""
UNEVEN_TOLD = 3
"""The largest number of uneven pairings that are named."""


def headline(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the game, the format and the number of games played."""
    form = event.format
    sides = "both sides" if event.seats == 2 else "all seats"
    return (
        f"{form.name.replace('-', ' ').capitalize()} of {event.rules.name}, {event.seats} seats"
        f"{form.introduce(event)}: {form.describe_boards(event)}, each from {sides}. "
        f"{done(event, played, planned)}"
    )


def done(event: Event, played: int, planned: int) -> str:
    """Return a sentence about the number of games played."""
    if played == planned:
        return f"All {planned:,} games played."
    return f"{played:,} of {event.format.ESTIMATE}{planned:,} games played."


def main_result(event: Event, results: Sequence[Result], planned: int, ratings: Ratings) -> str:
    """Return the main result in a sentence or two, by the format and the ratings."""
    if not ratings.pools and not results:
        return "No game is finished yet."
    active, is_over = event.active_results(results), len(results) == planned
    if stopped := stopped_entrants(event, results, is_over=is_over):
        # It may have chosen the moment: no sentence may give it the event.
        return f"No result yet: {join_words(sorted(stopped))} stopped at `limits.cents`."
    ranks = ""
    if ratings.pools:
        ranks = by_ratings(ratings.pools[0]) + _not_compared(event, ratings.pools[0])
    return event.format.describe_lead(event, active, is_over, ranks)


def _not_compared(event: Event, pool: Pool) -> str:
    """Return a sentence, after a space, about the bots of which the pool's ratings say nothing."""
    rated = {one.name for one in pool.entrants}
    others = [one.name for one in event.entrants if not one.retired and one.name not in rated]
    if not others:
        return ""
    told = join_words(others) if len(others) <= OPEN else f"{len(others)} other bots"
    return f" No games compare them with {told}."


def by_ratings(pool: Pool) -> str:
    """Return a sentence about who is first, or may be, by the ratings."""
    names = [one.name for one in pool.entrants if one.ranks[0] == 1]
    if len(pool.entrants) == 2:
        one, other = (rating.name for rating in pool.entrants)
        sure = f"({_evidence(pool)}, 95 %)"
        if len(names) == 1:
            return f"**{one}** is better than {other} {sure}."
        return f"Undecided between {one} and {other} {sure}."
    if len(names) == 1:
        return f"**{names[0]}** is first (95 %)."
    if len(names) <= OPEN:
        return f"Undecided between {join_words(names)} (95 %)."
    return f"{names[0]} leads; too few boards to be sure that it is the best."


def _evidence(pool: Pool) -> str:
    """Return on what the ratings of two rest: on boards, and after a sweep on its games."""
    first = pool.entrants[0]
    if first.win_share == 1:
        return f"{first.name} won {pool.games} of {count_in_digits(pool.games, 'game')}"
    return count_in_digits(pool.boards, "board")


def format_sections(event: Event, results: Sequence[Result]) -> list[Section]:
    """Return the format's own tables without links."""
    return list(event.format.report(event, event.active_results(results), lambda *_: ""))


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


def luck_known(luck: LuckUsed | None, played: int) -> str:
    """Say of how many games the luck is known; empty if of all, or if nobody asked."""
    if luck is None or luck.games == played:
        return ""
    return (
        f"The luck of {luck.games} of {played} games is known; the others count as they were "
        "played. `boneyard report --luck` computes the rest."
    )


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
