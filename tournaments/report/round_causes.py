"""The points of a seat's rounds that luck and mistakes account for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from arena.analysis.timeline import Timeline
from arena.ui.progress import working
from protocol.ruleset import Ruleset, count_sides, side_of
from tournaments.storage.log_luck import LuckRecord


class RoundCauses(Struct, frozen=True):
    """Points of lead in a round that luck and mistakes account for."""

    luck: float | None
    """Points that the tiles drawn gave the seat's side, by playouts and the weight of their luck;
    negative: they took them. None: nothing is drawn, or it is not known."""
    mistakes: float | None
    """Points that the seat's own decisions lost, by playouts; None: it is not known."""

    def describe(self) -> str:
        """Return what luck and mistakes did, after "it"."""
        luck, mistakes = round(self.luck or 0.0), max(0, round(self.mistakes or 0.0))
        parts = [f"gained {_points(luck)} by good draws"] if luck > 0 else []
        if luck < 0:
            also = f", {mistakes:,} to weaker choices" if mistakes else ""
            parts.append(f"lost {_points(-luck)} to bad draws{also}")
        elif mistakes:
            parts.append(f"lost {_points(mistakes)} to weaker choices")
        causes = {"bad draws": self.luck, "weaker choices": self.mistakes}
        known = [name for name, points in causes.items() if points is not None] or causes
        return " and ".join(parts) or f"lost nothing to {' or '.join(known)}"


def _points(many: int) -> str:
    return f"{many:,} point{'s' * (many != 1)}"


def causes_by_round(timeline: Timeline, seat: int) -> dict[int, RoundCauses]:
    """Compute the luck and the mistakes of a seat in each round, in a second or less.

    There are none for rules without values.
    """
    from arena.valuation.batch import why_no_values
    from arena.valuation.decision_loss import review_seat
    from arena.valuation.luck import game_luck, has_draws

    sitting = timeline.logged.sitting
    rules, seats = sitting.rules, len(sitting.seats)
    if why_no_values(rules):
        return {}
    luck: defaultdict[int, float] = defaultdict(float)
    mistakes: defaultdict[int, float] = defaultdict(float)
    with working("Luck and mistakes"):
        for draw in game_luck(timeline).draws:
            luck[draw.round] += _lead(draw.points, rules, seat)
        for one in review_seat(timeline, seat):
            mistakes[one.round] += one.loss
    drawn = has_draws(rules, seats)
    return {
        number: RoundCauses(luck[number] if drawn else None, mistakes[number])
        for number in sorted({*luck, *mistakes})
    }


def luck_by_round(luck: LuckRecord, rules: Ruleset, seat: int) -> dict[int, float]:
    """Return the luck of a seat in each round, as luck.jsonl has it."""
    return {number: _lead(points, rules, seat) for number, points in enumerate(luck.rounds, 1)}


def _lead(points: Sequence[float], rules: Ruleset, seat: int) -> float:
    """Return the weighted luck of a seat's side less the mean of the other sides'."""
    from arena.valuation.weights import weight_of

    partners = rules.deal.partners
    sides = points[: count_sides(partners, len(points))]
    own = sides[side_of(partners, seat)]
    lead = own - (sum(sides) - own) / (len(sides) - 1)
    return weight_of(rules, len(points)).points * lead


def summed(causes: Mapping[int, RoundCauses]) -> RoundCauses:
    """Return the sums over all rounds."""
    luck = [one.luck for one in causes.values() if one.luck is not None]
    mistakes = [one.mistakes for one in causes.values() if one.mistakes is not None]
    return RoundCauses(sum(luck) if luck else None, sum(mistakes) if mistakes else None)
