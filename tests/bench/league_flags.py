"""False alarms and power of what a league flags: versions that got worse.

    python -m tests.bench.league_flags versions|copies [--leagues 400] [--jobs 2]

Simulated leagues of 20 bots at two seats. Their tables are chosen round by round as a league
chooses them (20 tables of 5 boards in both rotations). A board
gives its first seat luck (a standard deviation of 100 Elo, the same at all tables, and 30 Elo
more), as in `tests.bench.coverage`. Strengths are normal with the standard deviation that is named,
in Elo.

`versions`: the share of new versions
that are flagged as worse, if they are as strong as the one before, or weaker by the Elo that is
named; each of 16 bots pushes one, after a random round. "at the end" is one look after the last
round; "ever" counts a flag after any round. `copies`: the author of one of 20 equal bots pushes a
copy of it in each of 12 rounds, then goes back to the one whose rating is best: its lead over the
mean of the others, and how often it is first, so many rounds later; "as before", if it kept the
rating of that copy, and every version had a rank.

Errors are of one standard deviation of the binomial.
"""

import argparse
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import fmean, stdev
from typing import NamedTuple

from protocol.records import Result
from tests.support.results import game
from tournaments.league.pairing.choice import choose_tables
from tournaments.league.pairing.information import NO_ENCOUNTERS, count_encounters
from tournaments.league.ratings.regressions import RatedPool, comparable, find_regressions
from tournaments.league.ratings.standings import ranked_versions
from tournaments.rating.anchor import Anchor
from tournaments.rating.ratings import fit

BOTS = tuple(f"b{number:02}" for number in range(20))
TABLES, BOARDS = 20, 5
FIRST, LUCK = 30.0, 100.0


class League(NamedTuple):
    """A league that is simulated."""

    spread: float
    """Standard deviation of strengths, in Elo."""
    loss: float = 0.0
    """Elo that each new version loses."""

    def strengths(self, rng: random.Random) -> dict[str, float]:
        """Draw the strengths of all bots."""
        return {bot: rng.gauss(0, self.spread) for bot in BOTS}

    def board(
        self,
        rng: random.Random,
        strength: dict[str, float],
        tables: Sequence[tuple[str, str]],
        board: int,
    ) -> Iterator[Result]:
        """Play a board at all tables, in both rotations."""
        luck = rng.gauss(FIRST, LUCK)
        for one, other in tables:
            for first, second in ((one, other), (other, one)):
                lead = strength[first] - strength[second] + luck
                won = rng.random() * (1 + 10 ** (-lead / 400)) < 1
                yield game(board, (first, second), (1, 0) if won else (0, 1))


def chosen_rounds(
    league: League,
    rng: random.Random,
    rounds: int,
    active: Callable[[int], Collection[str]] = lambda _: BOTS,
) -> Iterator[list[Result]]:
    """Yield the results of round after round, whose tables are chosen by those before."""
    strength, met = league.strengths(rng), NO_ENCOUNTERS
    for number in range(rounds):
        names = active(number)
        strength |= {
            name: strength[name.partition("@")[0]] - league.loss * ("@" in name) for name in names
        }
        tables = [
            (table.entrants[0], table.entrants[1])
            for table in choose_tables(
                met, names, seats=2, partners=False, boards=BOARDS, number=number + 1,
                anchor=BOTS[0], tables=TABLES,
            )
        ]  # fmt: skip
        found = [
            result
            for board in range(number * BOARDS, (number + 1) * BOARDS)
            for result in league.board(rng, strength, tables, board)
        ]
        met = met.plus(count_encounters(found, partners=False))
        yield found


class Flags(NamedTuple):
    """Versions that were flagged in a league."""

    end: int
    """After the last round,"""
    ever: int
    """after any round,"""
    of: int
    """and all that were compared."""


def versions_flagged(league: League, rounds: int, seed: int) -> Flags:
    """Count the flags of new versions."""
    rng = random.Random(f"{league} {rounds} {seed}")
    pushed = {bot: rng.randrange(3, rounds - 3) for bot in BOTS[4:]}

    def active(number: int) -> list[str]:
        return [bot + "@2" * (number >= pushed.get(bot, rounds)) for bot in BOTS]

    results, ever, end, compared = list[Result](), set[str](), set[str](), set[str]()
    for number, played in enumerate(chosen_rounds(league, rng, rounds, active)):
        results += played
        (pool, *_) = fit(results, anchor=Anchor(BOTS[0], 0.0)).pools
        main = RatedPool(pool)
        new = [(name, name[:3]) for name in active(number) if name not in BOTS]
        pairs = comparable(new, main)
        end = {one.newer for one in find_regressions(pairs, main)}
        ever |= end
        compared |= {one for one, _ in pairs}
    return Flags(len(end), len(ever), len(compared))


def share(found: int, of: int) -> str:
    """Word a share with its error."""
    p = found / of
    return f"{p:.3f} ± {math.sqrt(p * (1 - p) / of):.3f}"


def versions(pool: ProcessPoolExecutor, leagues: int) -> None:
    """Print how often versions are flagged that lost nothing, or this much."""
    print("| spread | loss | compared | at the end | ever |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    cases = [(0.0, 0.0), (50.0, 0.0), (150.0, 0.0), (150.0, 50.0), (150.0, 100.0), (150.0, 200.0)]
    for spread, loss in cases:
        league = League(spread, loss=loss)
        seen = list(pool.map(partial(versions_flagged, league, 24), range(leagues)))
        of = sum(one.of for one in seen)
        end, ever = sum(one.end for one in seen), sum(one.ever for one in seen)
        print(
            f"| {spread:.0f} | {loss:.0f} | {of} | {share(end, of)} | {share(ever, of)} |",
            flush=True,
        )


COPIES, AFTER = 12, 4
AUTHOR = BOTS[10]


class Look(NamedTuple):
    """The standing of one bot in a league of equals."""

    lead: float | None
    """Elo over the mean of the others; None without a rating."""
    is_first: bool
    """True if it has the first rank."""


def look_at(name: str, results: Sequence[Result], *, as_before: bool) -> Look:
    """Rate a league as its site does; `as_before`: each version that is rated has a rank."""
    main = RatedPool(fit(results, anchor=Anchor(BOTS[0], 0.0)).pools[0])
    names = [*BOTS, name]
    names.remove(AUTHOR)
    ranks = main.of(names) if as_before else ranked_versions(main, main.of(names))
    elo = {one: main.by_name[one].elo for one in names if main.has(one)}
    mine = elo.pop(name, None)
    others = fmean(one for one in elo.values() if one is not None)
    return Look(None if mine is None else mine - others, ranks[:1] == [name])


def luckiest_copy(as_before: bool, seed: int) -> list[Look]:
    """Look at an author who goes back to the luckiest copy: at once, and after each round."""
    rng, present, results, looks = random.Random(f"copies {seed}"), [AUTHOR], list[Result](), []

    def active(number: int) -> list[str]:
        if number < COPIES:
            present.append(f"{AUTHOR}@{number + 2}")
        return [present[-1] if bot == AUTHOR else bot for bot in BOTS]

    for number, played in enumerate(chosen_rounds(League(0.0), rng, COPIES + AFTER, active), 1):
        results += played
        if number == COPIES:
            main = RatedPool(fit(results, anchor=Anchor(BOTS[0], 0.0)).pools[0])
            copies = [one for one in main.by_name if one.startswith(AUTHOR)]
            present.append(copies[0] if as_before else f"{AUTHOR}@{COPIES + 2}")
        if number >= COPIES:
            looks.append(look_at(present[-1], results, as_before=as_before))
    return looks


def copies(pool: ProcessPoolExecutor, leagues: int) -> None:
    """Print what an author gains who goes back to the luckiest of many copies."""
    print("| | rounds since | Elo over the others | first |\n| --- | ---: | ---: | ---: |")
    for as_before in (True, False):
        seen = [*pool.map(partial(luckiest_copy, as_before), range(leagues))]
        for since, looks in enumerate(zip(*seen, strict=True)):
            leads = [one.lead for one in looks if one.lead is not None]
            error = stdev(leads) / math.sqrt(len(leads)) if leads else 0
            lead = f"{fmean(leads):+.1f} ± {error:.1f}" if leads else "unrated"
            first = share(sum(one.is_first for one in looks), leagues)
            print(f"| {'as before' * as_before} | {since} | {lead} | {first} |", flush=True)


PARTS = {"copies": copies, "versions": versions}


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--leagues", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    wanted = parser.parse_args()
    with ProcessPoolExecutor(wanted.jobs) as pool:
        PARTS[wanted.part](pool, wanted.leagues)


if __name__ == "__main__":
    main()
