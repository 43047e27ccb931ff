"""Entrants that have spent what an event allows them, and the games that they leave. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from arena.rules.english import count_in_digits
from protocol.records import Result, UsageSum
from tournaments.plan.event import Event
from tournaments.rating.tables import sum_usage
from tournaments.schedule.schedule import sittings


def spent_out(event: Event, sums: Mapping[str, UsageSum]) -> frozenset[str]:
    """Return the entrants whose answers have cost all that `limits.cents` allows, by these sums."""
    most = event.limits.cents
    if most is None:
        return frozenset()
    return frozenset(name for name, usage in sums.items() if usage.cents >= most)


def stopped_entrants(event: Event, results: Iterable[Result], *, is_over: bool) -> frozenset[str]:
    """Return the entrants that leave games because their answers have cost all that they may."""
    return frozenset() if is_over else spent_out(event, sum_usage(results)) - event.retired


def has_one_of(game: str, names: Collection[str]) -> bool:
    """Tell whether one of the entrants sits in a game, by the game's name."""
    return any(f".{name}." in f"{game}." for name in names)


def describe_spent_out(event: Event, results: Mapping[str, Result]) -> Iterator[str]:
    """Yield a sentence for each entrant that plays no more because of what it has spent."""
    if event.limits.cents is None:
        return
    sums = sum_usage(results.values())
    stopped = sorted(spent_out(event, sums) - event.retired)
    left = dict.fromkeys(stopped, 0)
    for plan in sittings(event, results) if stopped else ():
        missing = sum(game.name not in results for game in plan.games)
        for name in stopped:
            left[name] += missing * has_one_of(f".{plan.who}", (name,))
    for name, games in left.items():
        if games:
            yield (
                f"{name} has spent {sums[name].cents:.2f} of {event.limits.cents:g} cents "
                f"(limits.cents): {count_in_digits(games, 'game')} of it are not played. It states "
                "its costs itself, so it could choose this moment: nobody has won yet. Raise the "
                "limit and run the same command again to play the rest."
            )
