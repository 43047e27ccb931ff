"""Strength that a tune regains for a sample bot with spoilt weights, in games in this process.

python -m tests.bench.tuning suit            # or counting
python -m tests.bench.tuning suit --luck-in    # a quarter of the time, about twice the variance

The search and its check are those of a run with `[tune]`; then the bot's own weights play the
spoilt and the tuned ones on other deals. tournaments/EVENTS.md has the figures.
"""

import argparse
from collections.abc import Iterable, Mapping
from math import log10
from pathlib import Path

from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import LoggedGame
from arena.rules.load import load_ruleset
from arena.valuation.luck import game_luck
from arena.valuation.weights import weight_of
from protocol.records import Result
from tests.support.quick_games import Bot, play_quickly, sample
from tests.support.tunes import tune
from tournaments.formats.base import ActiveResults
from tournaments.formats.tune import Tune
from tournaments.rating.statistics import ELO
from tournaments.rating.tables import PARTS, Correction
from tournaments.schedule.schedule import stages
from tournaments.tuning.parameters import Parameter, Values, starts

RULES = load_ruleset("draw", Path())
SPOILT: Mapping[str, Mapping[str, Parameter]] = {
    "suit": {
        "pips": Parameter(start=0.07, min=0, max=0.3),
        "double": Parameter(start=1, min=0, max=6),
        "fits": Parameter(start=0, min=0, max=2),
        "safe": Parameter(start=0, min=0, max=5),
        "kinds": Parameter(start=0, min=0, max=1),
        "suit": Parameter(start=0, min=0, max=2),
    },
    "counting": {
        "pips": Parameter(start=0.02, min=0, max=0.3),
        "double": Parameter(start=0, min=0, max=5),
        "stuck": Parameter(start=1, min=0, max=50),
        "fits": Parameter(start=0, min=0, max=2),
        "safe": Parameter(start=0, min=0, max=5),
        "kinds": Parameter(start=0, min=0, max=1),
    },
}
FRESH = 600
"""Boards of a match with the bot's own weights."""


class Played(dict[str, Result]):
    """The results so far, with their luck unless it is left in."""

    def __init__(self, *, luck_in: bool) -> None:
        self.luck = None if luck_in else self
        self.known: dict[str, Correction] = {}

    def corrections(self, results: Iterable[Result]) -> dict[str, Correction]:
        return {one.game: self.known[one.game] for one in results}

    compute = corrections

    def add(self, name: str, logged: LoggedGame) -> None:
        """Add a game, with the luck to take out of it."""
        made = logged.result
        assert made
        self[name] = replace(made, game=name)
        if self.luck is not None:
            weight, luck = weight_of(RULES, 2).points, game_luck(Timeline(logged)).points
            points = tuple(round(PARTS * weight * part) for part in luck)
            self.known[name] = Correction(points, (0,) * len(points))

    def all(self) -> ActiveResults:
        return ActiveResults(self.values(), self.luck)


def bot(name: str, values: Values) -> Bot:
    """Return a sample bot with these weights."""
    module = sample(name, values)
    if name == "suit":
        return lambda question, _: int(module.choose(question))
    return lambda question, rules: int(module.choose(question, rules))


def tuned(name: str, boards: int, *, luck_in: bool) -> Values:
    """Search values for a spoilt bot; print the way and the answer."""
    one = tune(boards, **SPOILT[name])
    assert isinstance(one.format, Tune)
    results = Played(luck_in=luck_in)
    start = bot(name, starts(SPOILT[name]))
    for number, stage in enumerate(stages(one, results)):
        for plan in stage:
            names = [one.entrants[entrant].name for entrant in plan.seats]
            each = [bot(name, values) if values else start for values in plan.values]
            players = dict(zip(names, each, strict=True))
            for game in plan.games:
                results.add(game.name, play_quickly(RULES, names, players, "tune", game.board))
        if number % 10 == 0:
            print(one.format.describe_state(one, results.all()), flush=True)
    print(one.format.describe_lead(one, results.all(), True, ""))
    return one.format.best(one, results.all())


def elo_of(name: str, values: Values, boards: int) -> tuple[float, float]:
    """Return the lead of the bot's own weights over these in Elo, and its standard error."""
    players = {"own": bot(name, {}), "other": bot(name, values)}
    shares = []
    for board in range(1, boards + 1):
        places = []
        for rotation in range(2):
            made = play_quickly(RULES, ("own", "other"), players, "fresh", board, rotation).result
            assert made
            own = made.places[made.seats.index("own")]
            places.append(0.5 if made.places == (1, 1) else float(own == 1))
        shares.append(sum(places) / 2)
    share = sum(shares) / boards
    spread = (sum((one - share) ** 2 for one in shares) / (boards - 1) / boards) ** 0.5
    return -400 * log10(1 / share - 1), spread * ELO / (share * (1 - share))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("bot", choices=SPOILT)
    parser.add_argument("--boards", type=int, default=5000)
    parser.add_argument("--luck-in", action="store_true")
    chosen = parser.parse_args()
    lost, error = elo_of(chosen.bot, starts(SPOILT[chosen.bot]), FRESH)
    print(f"spoilt: {lost:.0f} ± {1.96 * error:.0f} Elo behind its own weights", flush=True)
    values = tuned(chosen.bot, chosen.boards, luck_in=chosen.luck_in)
    print(values)
    behind, error = elo_of(chosen.bot, values, FRESH)
    print(f"tuned: {behind:.0f} ± {1.96 * error:.0f} Elo behind its own weights")
    print(f"regained: {1 - behind / lost:.0%}")


if __name__ == "__main__":
    main()
