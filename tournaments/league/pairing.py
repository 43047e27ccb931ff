"""The next round of a league: who may play, and the tables that shrink intervals most."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from math import ceil, erf, pi, sqrt
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from arena.rules.english import count_in_digits
from protocol.errors import UserError, unknown_name
from protocol.records import Result
from protocol.ruleset import count_sides
from tournaments.formats.base import Entrant, first_version, version_number
from tournaments.formats.tables import Matches
from tournaments.league.ratings import rate_division, title_of
from tournaments.league.settings import LeagueSettings
from tournaments.league.state import (
    FINAL_METHOD,
    PRACTICE_METHOD,
    Admitted,
    ChosenTable,
    DivisionData,
    LeagueData,
    RoundPlan,
    held_versions,
    parse_time,
    register_digests,
    shown_time,
    week_of,
    write_utc,
)
from tournaments.league.update import entrant_of
from tournaments.plan.event import Event
from tournaments.rating import regression
from tournaments.rating.regression import Bools, Design, Floats
from tournaments.rating.statistics import ELO, Z

# Information that games have about the ratings of active versions, or would add. Pure.
#
# A Bradley–Terry fit with a prior: each version also has `PRIOR_DRAWS` virtual draws against the
# level, so that a version without games, or that won or lost everything, has a rating and a finite
# error. This fit only decides who meets; the ratings that readers see have no such prior.


Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""Two sides that met, the first in the order of names first; each has its members sorted."""


class Encounters(NamedTuple):
    """Games and points of each two sides; small however many games there were."""

    sides: int
    """Sides of a game: its seats, or two with partners; 0 before the first game."""
    games: Counter[Sides]
    half_points: Counter[Sides]
    """The half points of the first of two sides."""

    def plus(self, other: "Encounters") -> "Encounters":
        """Return both, added up."""
        return Encounters(
            self.sides or other.sides,
            self.games + other.games,
            # Sums of counters leave out zeros; here they mean lost games, and read as 0 anyway.
            self.half_points + other.half_points,
        )


NO_ENCOUNTERS = Encounters(0, Counter(), Counter())
"""The encounters before the first round."""


def count_encounters(results: Iterable[Result], partners: bool) -> Encounters:
    """Add up results.

    The encounters of several rounds are the sum of those of each, so a caller may keep the sum and
    add only the newest round.
    """
    encounters = Encounters(0, Counter(), Counter())
    for result in results:
        sides = count_sides(partners, len(result.seats))
        encounters = encounters._replace(sides=sides)
        members = [(tuple(sorted(result.seats[side::sides])), side) for side in range(sides)]
        for (left, index), (right, other) in combinations(sorted(members), 2):
            lead = result.places[other] - result.places[index]
            encounters.games[left, right] += 1
            encounters.half_points[left, right] += 1 + (lead > 0) - (lead < 0)
    return encounters


PRIOR_DRAWS = 3.0
"""Virtual draws of each version against the level: a standard deviation of 200 Elo before the
first game."""


class Information:
    """Ratings of the active versions, in natural logits, and the covariances of their errors."""

    def __init__(
        self, encounters: Encounters, active: Sequence[str], anchor: str | None, partners: bool
    ) -> None:
        """Fit all games; versions that play no more connect the others, so they count too."""
        self.partners = partners
        self.anchor = active.index(anchor) if anchor in active else None
        played = Counter[str]()
        for (left, right), count in encounters.games.items():
            played.update(dict.fromkeys((*left, *right), count))
        names = [*active, *sorted(played.keys() - set(active))]
        rating, covariance = _fit_with_prior(encounters, names)
        size = len(active)
        self.games = [played[name] for name in active]
        self.lead: Floats = rating[:size, None] - rating[None, :size]
        self.covariance: Floats = covariance[:size, :size]

    def half_widths(self) -> Floats:
        """Return the half widths of the 95 % intervals of all differences, in Elo."""
        return np.asarray(ELO * Z * np.sqrt(_variances_of_leads(self.covariance)), np.float64)

    def doubts(self) -> Floats:
        """Return twice the probability that two versions' order is not as it seems, 0 to 1."""
        # Of itself nobody is ahead: without the 1 there would be 0/0 on the diagonal.
        error = np.sqrt(_variances_of_leads(self.covariance)) + np.eye(len(self.lead))
        z = np.abs(self.lead) / error / sqrt(2)
        return np.asarray(1 - np.vectorize(erf)(z), np.float64) if len(z) else z

    def shares(self) -> Floats:
        """Return the expected share of the points of each against each, 0 to 1.

        The lead is uncertain itself, so this is an average over it.
        """
        lead = self.lead / 2 if self.partners else self.lead
        # The mean of a logistic curve over a normal lead, as the probit curve approximates it.
        flat = 1 + pi / 8 * _variances_of_leads(self.covariance)
        return np.asarray(regression.expected_share(lead / np.sqrt(flat)), np.float64)

    def worth(self, boards: int, seats: int) -> Floats:
        """Return the information of a table about the difference of each two that sit there.

        With partners the three ways to split a table of four tell together as much as each two of
        them in one game.
        """
        share, flat = self.shares(), 1 + pi / 8 * _variances_of_leads(self.covariance)
        games = boards if self.partners else boards * seats * 3 / (seats + 1)
        return np.asarray(games * share * (1 - share) / np.sqrt(flat), np.float64)

    def gains(self, weights: Floats, worth: Floats) -> Floats:
        """Return by how much a meeting of each two shrinks the weighted variances, in Elo²."""
        laplacian = np.diag(weights.sum(axis=1)) - weights
        change = _variances_of_leads(self.covariance @ laplacian @ self.covariance)
        before = _variances_of_leads(self.covariance)
        return np.asarray(ELO**2 * worth * change / (1 + worth * before))

    def add(self, table: Sequence[int], worth: Floats) -> None:
        """Add what a table will tell about its entrants; their leads stay as they are."""
        for place, index in enumerate(table):
            for other in table[:place]:
                column = self.covariance[:, index] - self.covariance[:, other]
                information = worth[index, other]
                variance = column[index] - column[other]
                self.covariance = self.covariance - np.outer(column, column) * (
                    information / (1 + information * variance)
                )


def _variances_of_leads(covariance: Floats) -> Floats:
    """Return the variance of the difference of each two."""
    variances = np.diag(covariance)
    return np.asarray(np.maximum(variances[:, None] + variances - 2 * covariance, 0), np.float64)


def _fit_with_prior(encounters: Encounters, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the ratings of the names, in natural logits, and their covariances."""
    size, number = len(names), {name: i for i, name in enumerate(names)}
    pairs = sorted(encounters.games)
    members = len(pairs[0][0]) if pairs else 1
    column = np.zeros((len(pairs) + size, 2 * members), np.int64)
    value = np.zeros(column.shape)
    games = np.full(len(column), PRIOR_DRAWS)
    points = np.full(len(column), PRIOR_DRAWS / 2)
    value[: len(pairs)] = np.repeat([1 / members, -1 / members], members)
    # Pairs of seats at a table of several tell less than as many games of two.
    weight = 3 / (encounters.sides + 1)
    for row, pair in enumerate(pairs):
        column[row] = [number[name] for side in pair for name in side]
        games[row] = weight * encounters.games[pair]
        points[row] = weight * encounters.half_points[pair] / 2
    column[len(pairs) :, 0], value[len(pairs) :, 0] = np.arange(size), 1.0
    nothing = np.zeros((size, size))
    rating, information = regression.logistic(
        Design(column, value, size), games, points, nothing, 0
    )
    return rating, np.asarray(np.linalg.inv(information), np.float64)


# The choice of a round's tables: those that shrink the intervals that matter most. Pure.
#
# **What matters.** Two active versions matter to each other as far as their order is open: by the
# doubt d, twice the probability that the better one is the other one, which is 1 for equal versions
# and near 0 where the order is certain. A new version's order is open against everybody, later only
# against its neighbours in rank. A version's own rating, its lead over the anchor, matters too.
# With `until` an interval counts while it is wider; nothing is played once all are narrow but those
# between versions whose order is known.
#
# **Choice.** The measure is the sum of weight x variance of the difference over all pairs; a weight
# is a mean of d and 1, so that also a version that was only lucky is asked again. For each two
# versions the information of a table says by how much it would fall; the table with the greatest
# fall is taken, its information is added, and the next is sought, as if its games had been played.
# Two versions do not meet any more once one wins nearly all of their games, for certain.
#
# Everything follows from sums of earlier games, so anybody can repeat it.


PAIRING_METHOD = "information 4"
"""Name of this method in a round's plan; a change of any choice needs another one."""
FLOOR = 0.3
"""Weight of two versions whose order seems certain, beside 1 where it is quite open. Without it
nobody asks a version again that was lucky once: ratings would be stretched, and intervals lie."""
RATING = 0.3
"""Weight of the lead over the anchor, beside 1 of two versions whose order is quite open."""
MAX_TABLE_SHARE = 1 / 2
"""Share of a round's tables at which a version may sit, so that nobody hogs a round: also not an
author who pushes a new version every hour."""
GAIN_DECIMALS = 6
"""Decimals of a gain relative to the greatest: further ones depend on the processor."""
OPEN_DOUBT = 0.05
"""Doubt below which an order counts as known."""
CERTAIN, TOP_SHARE = 1e-3, 0.9
"""Doubt below which, and share of the points from which, two versions do not meet any more: their
games would all end alike. Otherwise most games of a small class would be lost by `random`."""

REACH = 0.95
"""Share of the points against the anchor beyond which nobody waits for a narrow rating: games that
a version almost always wins or loses hardly narrow it."""


def choose_tables(
    plan: RoundPlan, encounters: Encounters, seats: int, *, partners: bool
) -> list[ChosenTable]:
    """Choose the tables of a round from the inputs in its plan, but for the tables there.

    Return the most telling first; none if nothing is worth playing. `encounters`: all finished
    rounds of the division before it, see `count_encounters`. `partners`: two sides of two; a table
    of four plays in all three splits. Ties fall to other names in each round, by its number.
    """
    if len(plan.active) < seats:
        return []
    names = sorted(plan.active)
    turn = plan.number % len(names)
    names = names[turn:] + names[:turn]
    most = max(
        ceil(MAX_TABLE_SHARE * plan.most_tables), ceil(plan.most_tables * seats / len(names))
    )
    information = Information(encounters, names, plan.anchor, partners)
    start = information.half_widths()
    is_old = np.array([bool(plan.newcomers) and name not in plan.newcomers for name in names])
    idle = np.logical_and.outer(is_old, is_old)
    tables: dict[frozenset[int], ChosenTable] = {}
    sits = np.zeros(len(names), np.int64)
    while len(tables) < plan.most_tables:
        worth = information.worth(plan.boards, seats)
        doubts = information.doubts()
        gains = information.gains(_weights(information, doubts, plan.until), worth)
        gains[sits >= most] = gains[:, sits >= most] = 0
        gains[_always_alike(information, doubts)] = 0
        gains[idle] = 0
        table = _best_table(gains, sits < most, seats, tables)
        if not table:
            break
        why = _why(information, [names[i] for i in table], table, start)
        gain = float(gains[np.ix_(table, table)].sum()) / 2
        tables[frozenset(table)] = ChosenTable(
            entrants=tuple(sorted(names[i] for i in table)), why=why, gain=float(f"{gain:.3g}")
        )
        information.add(table, worth)
        sits[table] += 1
    return list(tables.values())


def _weights(information: Information, doubts: Floats, until: float | None) -> Floats:
    weights, is_open = FLOOR + (1 - FLOOR) * doubts, doubts > OPEN_DOUBT
    if (anchor := information.anchor) is not None:
        weights[anchor] += RATING
        weights[:, anchor] += RATING
        # The lead over the anchor matters of those within its reach.
        is_near: Bools = np.abs(information.shares()[anchor] - 0.5) < REACH - 0.5
        is_near[anchor] = False
        is_open[anchor] |= is_near
        is_open[:, anchor] = is_open[anchor]
    np.fill_diagonal(weights, 0)
    if until is not None:
        is_wide = information.half_widths() > until
        weights[~is_wide] = 0
        weights *= (is_wide & is_open).any()
    return weights


def _always_alike(information: Information, doubts: Floats) -> Bools:
    """Tell of which two versions games would all end alike, for certain."""
    lopsided = np.abs(information.shares() - 0.5) > TOP_SHARE - 0.5
    return np.asarray((doubts < CERTAIN) & lopsided)


def _best_table(
    gains: Floats, may_sit: Bools, seats: int, tables: Collection[frozenset[int]]
) -> list[int]:
    """Return the table with the greatest gain: the best two, then those who add most; [] if none.

    A table that is taken does not play again: the boards are the same.
    """
    if seats == 2:
        for index, other in tables:
            gains[index, other] = gains[other, index] = 0
    if not gains.max() > 0 or may_sit.sum() < seats:
        return []
    gains = np.round(gains / gains.max(), GAIN_DECIMALS)
    table = [int(i) for i in np.unravel_index(gains.argmax(), gains.shape)]
    while len(table) < seats:
        added: Floats = np.where(may_sit, gains[table].sum(axis=0), -1)
        added[table] = -1
        added[[i for group in tables for i in group.difference(table) if group <= {*table, i}]] = -1
        if added.max() < 0:
            return []
        table.append(int(added.argmax()))
    return table


def _why(information: Information, names: list[str], table: list[int], start: Floats) -> str:
    index, other = table[:2]
    for place, name in zip(table, names, strict=True):
        if not information.games[place]:
            return f"{name} is new"
    chance, half_width = 1 - information.doubts()[index, other] / 2, start[index, other]
    if information.lead[index, other] < 0:
        index, other, names = other, index, [names[1], names[0]]
    if 2 * (1 - chance) > OPEN_DOUBT:
        return f"{names[0]} is probably ahead of {names[1]} ({100 * chance:.0f} %)"
    return f"{names[0]} and {names[1]}: ± {half_width:.0f} Elo"


# The next round of a league: whose turn it is, who may play, and at which tables.


NEWCOMER_BOARDS = {"lesson": 100, "week": 20}
"""Boards up to which a version counts as new, by the pace: with 10 it has a rank, with 20 an
interval of some ± 100 Elo, with 100 of ± 45."""
SLOW_MS = 50.0
"""Mean ms for a question from which on a bot is slow: it is asked some 800 times at a table of five
boards, and all that are pushed meanwhile wait."""
MAX_DIVISION_NAME_LENGTH = 32
"""Most characters of a division's name in the name of an event."""
LONGEST_TITLE = 80
"""Most characters of an event's title."""
NextRound = tuple[RoundPlan, Event]
"""The tables of a round and how they were chosen, and the round as an event."""


class AbleBots(NamedTuple):
    """The versions of a division that may play now, by name, and why the others may not."""

    entrants: Mapping[str, Entrant]
    exclusions: dict[str, str]


class Outlook(NamedTuple):
    """The next round of a league, and the reasons why some divisions play nothing."""

    round: NextRound | None
    """The plan and the event of the next round; None if nothing can be played now."""
    pauses: Mapping[str, str]
    """For divisions that have no round now, until when and why, as a sentence."""


def next_round(league: LeagueData, now: datetime) -> Outlook:
    """Return the next round; it belongs to the division that has played the least of its week."""
    week, pauses = week_of(now), dict[str, str]()

    def share(division: DivisionData) -> float:
        return division.boards_in(week) / division.settings.boards_a_week

    for division in sorted(league.divisions.values(), key=share):
        choice = _choice_of(league, division, now)
        if not isinstance(choice, str):
            return Outlook(choice, pauses)
        pauses[division.settings.name] = choice
    return Outlook(None, pauses)


def _choice_of(league: LeagueData, division: DivisionData, now: datetime) -> NextRound | str:
    """Return the next round of a division, its final at last, or the reason why it has none."""
    if not league.settings.has_closed(now):
        return _round_of(league, division, now)
    if division.final:
        return f"The league is closed. {title_of(division)[1] or 'The final is played.'}"
    # Who pushed at the last moment plays the boards of a newcomer first.
    choice = _round_of(league, division, now)
    return _final(league, division, now) if isinstance(choice, str) else choice


def _final(league: LeagueData, division: DivisionData, now: datetime) -> NextRound | str:
    """Return the final of a division, or the reason why it has none."""
    settings = league.settings
    entrants, exclusions = able_bots(league, division.settings.name)
    names = finalists(league, division, exclusions, max(settings.final_bots, division.seats))
    if len(names) < division.seats:
        return "The league is closed, without a final: too few bots have a rank."
    others = entrants.keys() - {*names}
    held = exclusions | dict.fromkeys(others, f"not among the first {len(names)}")
    tables = final_tables(names, division.seats)
    plan = _plan(league, division, now, names, held, settings.final_boards, len(tables))
    return _round(settings, division, replace(plan, method=FINAL_METHOD, tables=tables), entrants)


def finalists(
    league: LeagueData, division: DivisionData, held: Collection[str], most: int
) -> list[str]:
    """Return the versions of authors that stand first and are not held, sorted by name."""
    rows = rate_division(division, league).standings
    return sorted([row.name for row in rows if row.rank and row.name not in held][:most])


def final_tables(names: Sequence[str], seats: int) -> tuple[ChosenTable, ...]:
    """Return the tables at which all of these sorted names meet."""
    return tuple(ChosenTable(group, "final", 0.0) for group in combinations(names, seats))


def practice_round(
    league: LeagueData,
    entry: Admitted,
    rivals: Sequence[str],
    now: datetime,
    find_able: Callable[[str], AbleBots],
) -> NextRound:
    """Return the practice of a version against some bots, at as few tables as seat all of them.

    House bots take the seats that are left. Slow bots play a single board. `find_able`: see
    `able_bots`, for a division's name. Raises UserError, for the author, if it cannot be played.
    """
    entered = [name for name in entry.divisions or league.divisions if name in league.divisions]
    if not entered:
        raise UserError(f"{entry.bot} enters no division.")
    division = league.divisions[entered[0]]
    entrants, exclusions = find_able(entered[0])
    bots = {first_version(name): name for name in entrants if name != entry.version}
    absent = {first_version(name): why for name, why in exclusions.items()}
    # What one of these is asked may cost its author money.
    absent |= dict.fromkeys(league.settings.bots.keys() - {entry.bot}, "it has access of its own")
    for rival in rivals:
        if why := absent.get(entry.bot) or absent.get(rival):
            raise UserError(f"{entry.bot if entry.bot in absent else rival} cannot play: {why}")
        if rival not in bots:
            raise unknown_name("bot in practice.against:", rival, sorted(bots))
    seats = division.seats - 1
    names = list(dict.fromkeys(rivals))
    names += [name for name in league.settings.house if name in bots and name not in names]
    names = names[: ceil(len({*rivals}) / seats) * seats]
    if len(names) % seats:
        raise UserError(f"A table has {division.seats} seats, and too few bots can play.")
    groups = (names[place : place + seats] for place in range(0, len(names), seats))
    tables = tuple(
        ChosenTable(tuple(sorted([entry.version, *(bots[name] for name in group)])), "practice", 0)
        for group in groups
    )
    seated = sorted({name for table in tables for name in table.entrants})
    is_slow = max(question_ms(league, name) for name in seated) >= SLOW_MS
    boards = 1 if is_slow else division.settings.boards_a_table
    plan = _plan(league, division, now, seated, {}, boards, len(tables), (entry.version,))
    number = version_number(entry.version)
    plan = replace(plan, method=PRACTICE_METHOD, number=number, tables=tables)
    return _round(league.settings, division, plan, entrants)


def _plan(
    league: LeagueData,
    division: DivisionData,
    now: datetime,
    names: Iterable[str],
    held: Mapping[str, str],
    boards: int,
    most_tables: int,
    newcomers: tuple[str, ...] = (),
) -> RoundPlan:
    """Return the plan of a round whose tables are still to be chosen."""
    return RoundPlan(
        method=PAIRING_METHOD,
        number=len(division.rounds) + 1,
        division=division.settings.name,
        time=write_utc(now),
        active=tuple(names),
        held=dict(sorted(held.items())),
        boards=boards,
        most_tables=most_tables,
        until=division.settings.until,
        register=register_digests(league.folder.register)[len(league.register)],
        anchor=league.settings.anchor.name,
        tables=(),
        newcomers=newcomers,
    )


def _round_of(league: LeagueData, division: DivisionData, now: datetime) -> NextRound | str:
    """Return the next round of a division, or the reason why it plays nothing now.

    Slow bots get rounds of their own, of one board, while these have taken no more time than the
    others, or when nothing else is to play: five boards at its table would let one slow bot hold up
    a lesson. The time is boards x that of the check, which is in the register before
    the first game: a bot that could slow down when it leads would keep a lucky rating, and the
    noise of a machine would choose who meets whom.
    """
    entrants, exclusions = able_bots(league, division.settings.name)
    slow = tuple(name for name in entrants if question_ms(league, name) >= SLOW_MS)
    quick = {name: entrant for name, entrant in entrants.items() if name not in slow}
    held = exclusions | dict.fromkeys(slow, "slow")
    spent = {True: 0.0, False: 0.0}
    for round in division.rounds:
        names = [name for table in round.plan.tables for name in table.entrants]
        times = [question_ms(league, name) for name in names]
        spent[max(times) >= SLOW_MS] += round.plan.boards * sum(times)
    choose = partial(_choose, league, division, now)
    rounds = [partial(choose, quick, held, ()), partial(choose, entrants, exclusions, slow)]
    if not slow:
        return rounds[0]()
    first, second = rounds if spent[True] >= spent[False] else reversed(rounds)
    return choice if not isinstance(choice := first(), str) else second()


def question_ms(league: LeagueData, version: str) -> float:
    """Return the mean ms for a question in a version's check; at least 1, as of a house bot."""
    check = league.versions[version].check if version in league.versions else None
    return max(check.question_ms if check else 0.0, 1.0)


def describe_slow(league: LeagueData, division: DivisionData) -> dict[str, str]:
    """Return sentences about the time of each version that is slow, by its check or its games."""
    times, slow = division.thinking(), dict[str, str]()
    for name in league.active(division.settings.name):
        is_slow = question_ms(league, name) >= SLOW_MS
        mean, share = times.get(name, (question_ms(league, name), 0.0))
        if is_slow or mean >= SLOW_MS:
            sealed = league.settings.sealed and not league.versions[name].house
            unit = "million instructions" if sealed else "ms"
            slow[name] = f"It takes {mean:.0f} {unit} a question, {100 * share:.0f} % of all time."
            if is_slow:
                slow[name] += " It plays single boards in rounds of its own, so no bot waits."
    return slow


def _choose(
    league: LeagueData,
    division: DivisionData,
    now: datetime,
    entrants: Mapping[str, Entrant],
    held: Mapping[str, str],
    slow: tuple[str, ...],
) -> NextRound | str:
    """Return a round among some versions, or the reason why there is none now.

    `slow`: the slow ones, of which each table has one; empty in a round of quick ones.
    """
    settings = division.settings
    boards_a_table = 1 if slow else settings.boards_a_table
    most_tables = 1 if slow else settings.tables_a_round or ceil(len(entrants) / division.seats)
    if len(entrants) < division.seats:
        can = count_in_digits(len(entrants), "bot", "bots")
        return f"A table has {division.seats} seats, and only {can} can play. It waits for a push."
    boards, boards_kept = boards_to_play(league, division, now)
    is_free = boards >= boards_a_table
    newcomers = slow if is_free else _newcomers(league, division, slow or entrants, now)
    left = (boards if is_free else boards_kept) // boards_a_table
    if left < 1 or not (is_free or newcomers):
        return _pause(league, division, now, boards_kept)
    partners, seats = division.rules.deal.partners, division.seats
    encounters = count_encounters(division.results(), partners)
    most_tables = min(most_tables, left)
    plan = _plan(league, division, now, entrants, held, boards_a_table, most_tables, newcomers)
    tables = choose_tables(plan, encounters, seats, partners=partners)
    if not tables:
        return "More games would tell nothing new. The next round begins after the next push."
    return _round(league.settings, division, replace(plan, tables=tuple(tables)), entrants)


def boards_to_play(league: LeagueData, division: DivisionData, now: datetime) -> tuple[int, int]:
    """Return the boards that a division may play now, and those at tables of newcomers.

    By the week each day allows a seventh more, half of it for newcomers alone: otherwise those who
    push first use it up in half a minute, and who pushes next waits for midnight. In a lesson there
    are newcomers only, so boards go to who pushed, at once. The same holds when the league has
    closed, even if the week has boards left for others.
    """
    a_week, played = division.settings.boards_a_week, division.boards_in(week_of(now))
    if league.settings.has_closed(now):
        return 0, a_week
    if division.settings.pace == "lesson":
        return 0, a_week - played
    today = now.astimezone(UTC).date()
    began = parse_time(league.register[0].time).date() if league.register else today
    days = min(today.isoweekday(), max(1, (today - began).days + 1))
    left = ceil(a_week * days / 7) - played
    return left - a_week // 14, left


def _newcomers(
    league: LeagueData, division: DivisionData, names: Iterable[str], now: datetime
) -> tuple[str, ...]:
    """Return the versions of authors that have not played all boards of a newcomer."""
    closed = league.settings.has_closed(now)
    most = NEWCOMER_BOARDS["lesson" if closed else division.settings.pace]
    boards = Counter[str]()
    for round in division.rounds:
        for table in round.plan.tables:
            boards.update(dict.fromkeys(table.entrants, round.plan.boards))
    house = league.settings.house
    return tuple(name for name in names if boards[name] < most and first_version(name) not in house)


def _pause(league: LeagueData, division: DivisionData, now: datetime, boards_kept: int) -> str:
    """Return why a division has no boards left for anybody, and until when."""
    settings, today = division.settings, now.astimezone(UTC).date()
    is_lesson, is_kept = settings.pace == "lesson", boards_kept >= settings.boards_a_table
    if is_lesson and is_kept:
        return (
            f"Every version has played {NEWCOMER_BOARDS['lesson']} boards. The next round begins "
            "after the next push."
        )
    days = 8 - today.isoweekday() if is_lesson else 1
    start = datetime.combine(today + timedelta(days), datetime.min.time(), UTC)
    kept = f" but for {boards_kept} that are kept: a new version plays at once" if is_kept else ""
    return (
        f"The boards of this {'week' if is_lesson else 'day'} are played{kept}. The next round "
        f"begins on {shown_time(start, league.settings.zone)}."
    )


def able_bots(league: LeagueData, division: str) -> AbleBots:
    """Return the bots of a division that may play, and the others."""
    entrants: dict[str, Entrant] = {}
    exclusions = held_versions(league, league.divisions[division])
    for name in league.active(division):
        if name not in exclusions:
            try:
                bot = entrant_of(league.folder, league.settings, league.versions[name])
                entrants[name] = replace(bot, emblem=league.emblems[name])
            except UserError as error:
                exclusions[name] = league.folder.without_path(f"{error}")
    return AbleBots(entrants, exclusions)


def _round(
    settings: LeagueSettings,
    division: DivisionData,
    plan: RoundPlan,
    entrants: Mapping[str, Entrant],
) -> NextRound:
    """Return a round and its event, of those who sit. Raises UserError if it cannot be played."""
    options = division.settings
    names = sorted({name for table in plan.tables for name in table.entrants})
    limits = settings.limits
    if not any(first_version(name).partition("@")[0] in settings.bots for name in names):
        # Only who needs the network can be unavailable; others would only make all wait.
        limits = replace(limits, unavailable=0)
    kind = "final" if plan.is_final else f"round {plan.number}"
    title = f"{settings.title}: {options.title or options.name}, {kind}"
    event = Event(
        name=f"{options.name[:MAX_DIVISION_NAME_LENGTH]}-{plan.number}",
        title=title[-LONGEST_TITLE:],
        rules=division.rules,
        seats=division.seats,
        boards=plan.boards,
        boards_a_sitting=Matches.BOARDS_A_SITTING,
        format=Matches(tuple(table.entrants for table in plan.tables)),
        clock=settings.clock,
        fouls=settings.fouls,
        sandbox=settings.sandbox_here,
        limits=limits,
        entrants=tuple(entrants[name] for name in names),
        anchor=settings.anchor if settings.anchor.name in names else None,
        predictable=False,
    )
    return plan, event
