"""The rating model: results in, Elo tables with error bars out. Pure; the order never matters.

**Model.** A game is broken into pairs of seats by its order of finish; the seat that finished
ahead gets 1 point, a tie ½. With r = rating (Elo) and s = seat advantage (Elo; the last seat's
is 0), seat a's expected share against seat b is

    p = 1 / (1 + 10^(-d/400)),   d = r[a's entrant] - r[b's entrant] + s[a] - s[b]

With partners (sides 0+2 against 1+3) a side's rating is the mean of its members' and a game is
one pair. A pool is a set of entrants linked by games, and pools cannot be compared.

**Core.** An entrant that won or lost everything has no rating, only a bound. So a pool is rated by
its core, the entrants whose results are connected both ways (`Core`): only results within it
count, and the mean of its ratings is 0. An entrant outside it is not rated; it gets a 95 % bound
(`Bounds`) and stands above or below the core, whatever the bound is. So it moves nobody.

**Prior.** Ratings maximise the likelihood, times Jeffreys' prior to the power `prior` (1 unless
told otherwise; 0: maximum likelihood, as in Ordo). That is Firth's correction: as if there were
`prior` more draws for each coefficient, spread over the results by how much each tells about it.
It takes off the bias of few or one-sided games, by which maximum likelihood overstates leads.

**Errors.** Games on one board share their deals, so boards, not games, are independent. With H
the information (of the games alone), u[b] the sum of x(y - p) over board b, and G boards:

    V = G/(G-1) · H⁻¹ (Σ u[b] u[b]ᵀ) H⁻¹          95 %: ± t(0.975, boards - 1) · sqrt(V)

where `boards` are those whose results rate the entrant (for a pair of entrants: the fewer). V is
computed from the misfit and vanishes where nothing contradicts the model, as with one board. Then
H⁻¹ and the normal quantile stand in, and for seats that took no points off each other. Boards with
the same deal are one board (`Contest.rated` gives them one number): games that also have the same
seating count together as one game, so that a deal played again weighs and tells no more than once.

**Anchor.** Only differences of ratings are known. With an anchor in the core of a pool, the level
is such that it has the rating that was asked for, and ± is that of the difference to it. Where
nobody took points off each other it is the core.

**Luck.** If it is known how lucky each seat of a game was, ratings and margins are also given with
luck taken out: a side's points y become y - w · (luck in its share of the pairs), its score
likewise, with a constant w. Given all before, the luck of a draw is 0 on average, whatever it is
estimated by, so nothing is biased. The score equations are linear in y, so the fit is the same
quasi-likelihood; the errors follow from the corrected misfits, as above. The core and the bounds
stay the plain ones.
"""

from array import array
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache
from math import isnan, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import convert
from msgspec.structs import replace

from protocol.records import Result, UsageSum
from tournaments.rating import regression, statistics
from tournaments.rating.fit import (
    SINGULAR,
    Bounds,
    Cells,
    Core,
    Fit,
    bounds_of,
    chances,
    core_of,
    fit_model,
    of_one_part,
)
from tournaments.rating.regression import Bools, Design, Floats, Ints, sums
from tournaments.rating.statistics import ELO, Error
from tournaments.rating.tables import (
    LUCK_PARTS,
    MOST_COMPARED,
    PRIOR,
    Anchor,
    Bound,
    Clean,
    Corrected,
    Corrections,
    Cost,
    Gain,
    Meeting,
    Partners,
    Pool,
    Rating,
    Ratings,
    SeatAdvantage,
    add_usage,
    is_clean,
)
from tournaments.rating.tally import Tally, by_pool, collect, meetings, totals_by_deal

# Results of pairs of partners, compared with what their ratings let one expect. Pure.
#
# With y the points of a pair of partners in a game, p what ratings and seats make of it, z the
# column that says where the pair sat (1 first side, -1 second side, else 0), X the model's columns
# and W the weights p(1 - p), the pair's synergy and its error over its n games are
#
#     Σ z(y - p) / n        sqrt(G/(G-1) Σ over boards (Σ z'(y - p))²) / n,    z' = z - X(XᵀWX)⁺XᵀWz
#
# where G counts the pair's boards: z' takes off what the ratings have already made of the same
# games. Where nothing of z is left (two who always sat together; four entrants, whose three
# pairings the ratings fit exactly) the results cannot tell synergy from strength.


TOLD_APART = 1e-6
"""Share of a pair's information that the ratings must leave; with less, its synergy is unknown."""

PAIRS_AT_ONCE = 4096
"""Sums of pairs on boards that are multiplied at once, which bounds the memory."""


class _Pairs(NamedTuple):
    """The pairs of partners, numbered from 0; the other fields use these numbers."""

    members: Ints
    """The two entrants of each pair."""
    number: Ints
    """The pairs on both sides of each row of the design."""
    sign: Floats
    """1 and -1 for these pairs; 0 and 0 if both sides are the same pair."""


def partnerships(fit: Fit, names: tuple[str, ...]) -> tuple[Partners, ...]:
    """Return every two entrants that were partners against others, the greatest synergy first."""
    pairs, cells = _pairs(fit.cells, len(names)), fit.cells
    count = len(pairs.members)
    expected = cells.expected(fit.theta)
    misfit = cells.points - cells.games * expected
    number, sign = pairs.number[cells.row], pairs.sign[cells.row]
    games = sums(number.ravel(), (np.abs(sign) * cells.games[:, None]).ravel(), count)
    won = np.stack((cells.points, cells.games - cells.points), axis=1) * np.abs(sign)
    points = sums(number.ravel(), won.ravel(), count)
    gained = sums(number.ravel(), (sign * misfit[:, None]).ravel(), count)
    weight = sums(cells.row, cells.games * expected * (1 - expected), len(cells.design.column))
    errors = _errors(cells, pairs, misfit, weight)
    sums_of = np.stack((games, points, gained), axis=1).tolist()
    partners = [
        _partners(names, pairs.members[i], sums_of[i], errors[i])
        for i in np.flatnonzero(games).tolist()
    ]
    return tuple(sorted(partners, key=lambda two: (-(two.synergy or 0.0), two.names)))


def _pairs(cells: Cells, size: int) -> _Pairs:
    column = cells.design.column
    code = column[:, 0:4:2] * size + column[:, 1:4:2]
    codes, number = np.unique(code, return_inverse=True)
    members = np.stack(np.divmod(codes, size), axis=1)
    met = (code[:, 0] != code[:, 1])[:, None]
    return _Pairs(members, number.reshape(code.shape), met * np.array([1.0, -1.0]))


def _partners(
    names: tuple[str, ...], members: Ints, sums_of: Sequence[float], error: Error | None
) -> Partners:
    first, other = sorted(names[i] for i in members)
    games, points, gained = sums_of
    return Partners(
        names=(first, other),
        games=int(games),
        win_share=points / games,
        # Rounded, as ratings are: ties must fall to the name, and all machines agree.
        synergy=None if error is None else round(gained / games, 9) + 0.0,
        half_width=round(error.half_width() / games, 9) if error and error.df else None,
    )


def _errors(cells: Cells, pairs: _Pairs, misfit: Floats, weight: Floats) -> list[Error | None]:
    """Return the error of each pair's sum of misfits; None if the ratings explain all of it."""
    design, count = cells.design, len(pairs.members)
    shared = np.zeros((count, design.size))
    for side in (0, 1):
        part = (pairs.sign[:, side] * weight)[:, None] * design.value
        np.add.at(shared, (pairs.number[:, side][:, None], design.column), part)
    explained = shared @ np.linalg.pinv(design.squares(weight), SINGULAR, hermitian=True)
    information = sums(pairs.number.ravel(), (np.abs(pairs.sign) * weight[:, None]).ravel(), count)
    left = information - (explained * shared).sum(axis=1)
    variance, boards = _clustered(cells, pairs, misfit, explained)
    return [
        Error(sqrt(max(variance[i], 0.0) * n / max(n - 1, 1)), n - 1)
        if left[i] > TOLD_APART * information[i]
        else None
        for i, n in enumerate(boards.astype(int).tolist())
    ]


def _clustered(
    cells: Cells, pairs: _Pairs, misfit: Floats, explained: Floats
) -> tuple[Floats, Floats]:
    """Return, for each pair, the sum over boards of (Σ z'(y - p))², and its number of boards."""
    count, size = explained.shape
    square, boards, cross = np.zeros(count), np.zeros(count), np.zeros((count, size))
    meat = np.zeros((size, size))
    for block in regression.score_blocks(cells.design, cells.row, cells.board, misfit):
        row = cells.row[block.use]
        sums_at = (block.cluster[:, None] * count + pairs.number[row]).ravel()
        value = (pairs.sign[row] * misfit[block.use, None]).ravel()
        met = pairs.sign[row].ravel() != 0
        codes, index = np.unique(sums_at[met], return_inverse=True)
        board, pair = np.divmod(codes, count)
        totals = sums(index, value[met], len(codes))
        square += sums(pair, totals**2, count)
        boards += sums(pair, np.ones_like(pair), count)
        for first in range(0, len(codes), PAIRS_AT_ONCE):
            few = slice(first, first + PAIRS_AT_ONCE)
            np.add.at(cross, pair[few], totals[few, None] * block.scores[board[few]])
        meat += block.scores.T @ block.scores
    cross_term = 2 * (cross * explained).sum(axis=1)
    return square - cross_term + ((explained @ meat) * explained).sum(axis=1), boards


# --- the model ---


RATING_DECIMALS = 6
"""Decimals of values in Elo or in points."""
FINE = 9
"""Decimals of shares and likelihoods. Further decimals depend on the processor and its libraries,
but a report checked on another machine must have the same bytes."""


def fit(
    results: Iterable[Result],
    *,
    prior: float = PRIOR,
    partners: bool = False,
    anchor: Anchor | None = None,
    corrections: Corrections | None = None,
) -> Ratings:
    """Rate every entrant from all results at once; the order of the results changes nothing.

    `prior` counts virtual draws for each rating. With `corrections` there are ratings with luck
    taken out beside the plain ones. ValueError if the prior is negative, if the results mix numbers
    of seats or have seats that `partners` cannot split, or if with prior 0 a seat's advantage is
    not finite.
    """
    return fit_tallies(by_pool(collect(results, partners, corrections)), prior, anchor)


def fit_tallies(tallies: Iterable[Tally], prior: float, anchor: Anchor | None) -> Ratings:
    """Rate the entrants of all pools as `fit` does, from their tallies."""
    if prior < 0:
        raise ValueError(f"a prior is a number of virtual draws, not {prior}")
    pools = [_rate(tally, prior, anchor) for tally in tallies]
    pools.sort(key=lambda pool: (-len(pool.entrants), min(r.name for r in pool.entrants)))
    return Ratings(tuple(pools))


def fit_both(
    results: Iterable[Result],
    tallies: Sequence[Tally],
    *,
    prior: float = PRIOR,
    anchor: Anchor | None = None,
    stopped: Collection[str] = (),
) -> Ratings:
    """Return ratings as `fit` does, each with its cost and the rating by clean games.

    `tallies`: those of the results, by pool. `stopped`: entrants that `limits.cents` has stopped.
    `results` are read several times, so they must not be an iterator. Raises ValueError as
    `fit` does.
    """
    ratings = fit_tallies(tallies, prior, anchor)
    usage, clean = dict[str, UsageSum](), dict[tuple[str, Anchor | None], Clean]()
    all_clean = True
    for result in results:
        add_usage(usage, result)
        all_clean = all_clean and is_clean(result)
    if not all_clean:
        games = filter(is_clean, results)
        partners = any(tally.has_partners for tally in tallies)
        for pool in fit(games, prior=prior, partners=partners, anchor=anchor).pools:
            for rating in pool.entrants:
                clean[rating.name, pool.anchor] = convert(rating, Clean, from_attributes=True)
    pools = []
    for pool in ratings.pools:
        lowest = min((r.elo or 0.0 for r in pool.entrants if not r.bound), default=0.0)
        entrants = []
        for rating in pool.entrants:
            # Ratings by clean games are on the same scale with the same anchor, or with none.
            clean_rating = clean.get((rating.name, pool.anchor))
            cost = _cost(rating, usage.get(rating.name), lowest, rating.name in stopped)
            entrants.append(replace(rating, clean=clean_rating, cost=cost))
        pools.append(replace(pool, entrants=tuple(entrants)))
    return Ratings(tuple(pools))


def _cost(rating: Rating, usage: UsageSum | None, lowest: float, stopped: bool) -> Cost | None:
    if usage is None:
        return None
    cents, lead = usage.cents / rating.games, None
    if cents and rating.elo is not None and not rating.bound:
        lead = round((rating.elo - lowest) / cents, RATING_DECIMALS)
    choices = usage.model_choices + usage.fallbacks
    # A request fails, names no option, or gives the model's choice.
    requests = choices + usage.retries
    illegal = max(0, requests - usage.failures - usage.model_choices)
    return Cost(
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        retries=usage.retries,
        model_share=round(usage.model_choices / choices, RATING_DECIMALS) if choices else None,
        failed_share=round(usage.failures / requests, RATING_DECIMALS) if choices else None,
        illegal_share=round(illegal / requests, RATING_DECIMALS) if choices else None,
        cents=usage.cents,
        cents_a_game=round(cents, RATING_DECIMALS),
        elo_a_dollar=lead,
        stopped=stopped,
    )


class _Case(NamedTuple):
    """Everything computed about a pool; entrants are numbered by name."""

    tally: Tally
    games: Floats
    """Pairs of sides between each two entrants."""
    points: Floats
    """The points of the first of two entrants against the second."""
    win_share: Floats
    """The share of points that each entrant took; games that repeat a deal count as one."""
    core: Core
    fit: Fit
    bounds: Bounds
    played: regression.Clusters
    """Games and boards of each entrant."""
    margins: regression.Clusters
    """Games and boards whose margin counts, with the margin."""
    anchor: Anchor | None
    """The entrant to which ± refers, if it is in the core; None: the level."""
    corrected_fit: Fit | None
    """The fit with luck taken out; None if luck is not known, or no rating fits what is left."""
    corrected_margins: regression.Clusters | None
    """The margins with luck taken out, in parts of a point."""

    @property
    def sharpest_fit(self) -> Fit:
        """The fit by which entrants are compared: with luck taken out, where that is known."""
        return self.corrected_fit or self.fit


def _rate(tally: Tally, prior: float, anchor: Anchor | None) -> Pool:
    games, points = meetings(tally).totals(len(tally.names))
    core = core_of(tally, anchor.name if anchor else None)
    bounds = dict(zip(tally.names, core.bound, strict=True))
    anchor = anchor if anchor and bounds.get(anchor.name) == "" else None
    zero = (core.part == 0).astype(np.float64)
    if anchor:
        zero = np.array([float(name == anchor.name) for name in tally.names])
    fit = fit_model(tally._replace(luck=None), core, zero / zero.sum(), prior)
    is_whole = tally.played[:, 3] > 0
    entrant, board, over, _ = tally.played.T
    played = regression.by_cluster(entrant, board, over, len(games))
    weight = None if tally.appearance_weight is None else tally.appearance_weight[is_whole]
    margins = regression.by_cluster(
        entrant[is_whole], board[is_whole], over[is_whole], len(games), weight
    )
    corrected_fit = corrected_margins = None
    if tally.luck:
        # With the luck taken out, a bot may have won more than all its games.
        with suppress(ValueError, np.linalg.LinAlgError):
            if core.bound.count("") > 1:
                corrected_fit = fit_model(tally, core, zero / zero.sum(), prior)
        left = tally.overs()[is_whole]
        keys = entrant[is_whole], board[is_whole]
        corrected_margins = regression.by_cluster(*keys, left, len(games), weight)
    by_deal, points_by_deal = totals_by_deal(tally)
    win_share = points_by_deal.sum(axis=1) / by_deal.sum(axis=1)
    facts = tally, games, points, win_share, core, fit, bounds_of(fit, core, tally.sides)
    return _pool(_Case(*facts, played, margins, anchor, corrected_fit, corrected_margins))


def _pool(case: _Case) -> Pool:
    tally, order = case.tally, _order(case)
    errors, los = _differences(case, order)
    ranks = statistics.rank_intervals(los)
    save, save_margin = _savings(tally)
    gain_wins, gain_margin = _gains(tally)
    level = [tally.names[i] for i in np.flatnonzero(case.core.part == 0)]
    return Pool(
        entrants=tuple(_rating(case, i, ranks[place]) for place, i in enumerate(order)),
        games=len(tally.board) * 2 // (tally.sides * (tally.sides - 1)),
        boards=int(tally.board.max()) + 1,
        seats=_seats(case),
        level=(case.anchor.name,) if case.anchor else tuple(level),
        anchor=case.anchor,
        errors=errors,
        los=los,
        crosstable=_crosstable(case, order),
        boards_save=save,
        boards_save_margin=save_margin,
        partners=partnerships(case.fit, tally.names) if tally.has_partners else (),
        gain_wins=gain_wins,
        gain_margin=gain_margin,
    )


BOUND_ORDER: tuple[Bound, ...] = (">", "", "<", "?")
"""Groups from top to bottom. Bounds grow with the games, so they put nobody above another."""


def _order(case: _Case) -> list[int]:
    """Sort the entrants for the table; one that took points off others and lost none is above."""
    core = case.core
    # An entrant above another is above all that the other is; a part's entrants have one number.
    lead = (core.reach.sum(axis=1) - core.reach.sum(axis=0)).tolist()

    def place(i: int) -> tuple[int, int, float, str]:
        group = BOUND_ORDER.index(core.bound[i])
        rated = _rated(case, i) if core.bound[i] else _elo(float(case.sharpest_fit.theta[i]))
        return group, -lead[i], -(rated or 0.0), case.tally.names[i]

    return sorted(range(len(case.games)), key=place)


def _rated(case: _Case, i: int) -> float | None:
    logit = float(case.bounds.logit[i])
    return None if isnan(logit) else _elo(logit, case.anchor.elo if case.anchor else 0.0)


def _elo(logit: float, level: float = 0.0) -> float:
    # Rounded, so that ties fall to the name.
    return round(logit * ELO + level, RATING_DECIMALS) + 0.0


def _half_width(error: Error) -> float:
    return round(error.half_width(), RATING_DECIMALS)


def _rating(case: _Case, i: int, ranks: tuple[int, int]) -> Rating:
    margin, margin_half_width = _margin(case, case.margins, i)
    return Rating(
        name=case.tally.names[i],
        elo=_rated(case, i),
        half_width=None if case.core.bound[i] else _half_width(_error(case, case.fit, i)),
        bound=case.core.bound[i],
        ranks=ranks,
        games=int(case.played.size[i]),
        boards=int(case.played.clusters[i]),
        win_share=float(case.win_share[i]),
        margin=margin,
        margin_half_width=margin_half_width,
        fouls=case.tally.fouls[i],
        corrected=_corrected(case, i),
    )


def _corrected(case: _Case, i: int) -> Corrected | None:
    if case.corrected_margins is None:
        return None
    margin, margin_half_width = _margin(case, case.corrected_margins, i, LUCK_PARTS)
    elo = half_width = None
    if case.corrected_fit and not case.core.bound[i]:
        elo = _elo(float(case.corrected_fit.theta[i]), case.anchor.elo if case.anchor else 0.0)
        half_width = _half_width(_error(case, case.corrected_fit, i))
    return Corrected(
        elo=elo, half_width=half_width, margin=margin, margin_half_width=margin_half_width
    )


def _error(case: _Case, fit: Fit, i: int) -> Error:
    """Return the error of a rating over the level."""
    if case.anchor is not None:
        anchor = np.array([case.tally.names.index(case.anchor.name)])
        (size,), (df,) = fit.lead_errors(np.array([i]), anchor)
        return Error(float(size), int(df))
    return fit.error(i, boards=fit.boards[i])


def _margin(
    case: _Case, margins: regression.Clusters, i: int, parts: int = 1
) -> tuple[float | None, float | None]:
    """Return the mean margin, a cluster mean of variance G/(G-1) Σ(board's sum)² / n², and ±.

    The margins are in so many parts of a point.
    """
    games, boards = float(margins.size[i]), int(margins.clusters[i])
    if not games:
        return None, None
    # Kept as integers until here: sides x own sum - all sums, over (sides - 1) x members.
    scale = (case.tally.sides - 1) * case.tally.left.shape[1] * parts
    mean = float(margins.mean[i]) / scale
    df = statistics.degrees_of_freedom(boards)
    if not df:
        return mean, None
    error = sqrt(boards / df * float(margins.clustered[i])) / games / scale
    return mean, _half_width(Error(error, df))


def _seats(case: _Case) -> tuple[SeatAdvantage, ...]:
    """Return the advantages over the last seat, if the fit has them."""
    tally, size = case.tally, len(case.games)
    use = of_one_part(case.core.part, tally.left, tally.right)
    halves = np.zeros((tally.sides, tally.sides))
    a, b = tally.seat[use].T
    np.add.at(halves, (a, b), tally.half[use])
    np.add.at(halves, (b, a), 2 - tally.half[use])
    way = regression.reach(halves > 0)
    boards, seats = len(regression.distinct(tally.board[use])), []
    for seat, logit in enumerate(case.fit.theta[size:].tolist()):
        trusted = bool(way[seat, -1] and way[-1, seat])
        error = case.fit.error(size + seat, boards=boards, trusted=trusted)
        seats.append(SeatAdvantage(seat=seat, elo=_elo(logit), half_width=_half_width(error)))
    return tuple(seats)


LEADS_AT_ONCE = 50_000
"""Leads that are looked at together: those of a thousand entrants are half a million."""
_Matrix = tuple[Sequence[float], ...]
_Gaps = tuple[Sequence[float | None], ...]


def _differences(case: _Case, order: list[int]) -> tuple[_Gaps, _Matrix]:
    """Return standard errors (Elo) of all rating differences, and likelihoods of superiority."""
    part = case.core.part
    errors = np.where(np.eye(len(order)) > 0, 0.0, np.nan)
    los = chances(case.bounds, case.fit, case.core, case.tally)
    rows, columns = np.nonzero(np.tril(part[:, None] == part, -1))
    # Luck is taken out of the core alone, as are the ratings that this shows.
    for fit, use in (case.sharpest_fit, part[rows] == 0), (case.fit, part[rows] > 0):
        pairs = np.flatnonzero(use)
        for few in np.array_split(pairs, 1 + len(pairs) // LEADS_AT_ONCE):
            i, j = rows[few], columns[few]
            sizes, df = fit.lead_errors(i, j)
            leads = (ELO * (fit.theta[i] - fit.theta[j])).tolist()
            chances_ahead = map(_superiority, leads, map(Error, sizes.tolist(), df.tolist()))
            better = np.fromiter(chances_ahead, np.float64, len(leads))
            errors[i, j] = errors[j, i] = sizes
            los[i, j], los[j, i] = better, 1 - better
    gaps = (errors[i, order].round(RATING_DECIMALS) for i in order)
    likelihoods = (los[i, order].round(FINE) for i in order)
    if len(order) > MOST_COMPARED:
        # Nobody stores them, and as objects the values of a thousand entrants take 64 MB.
        return tuple(array("d", row) for row in gaps), tuple(array("d", row) for row in likelihoods)
    return (
        tuple([None if isnan(gap) else gap for gap in row.tolist()] for row in gaps),
        tuple(row.tolist() for row in likelihoods),
    )


def _crosstable(case: _Case, order: list[int]) -> tuple[tuple[Meeting, ...], ...]:
    """Return all meetings; equal ones are one value: of a thousand entrants most never met."""
    meeting = cache(lambda games, wins: Meeting(int(games), wins))
    rows = ((case.games[i, order].tolist(), case.points[i, order].tolist()) for i in order)
    return tuple(tuple(map(meeting, games, points)) for games, points in rows)


def _superiority(lead: float, error: Error) -> float:
    # A lead this small is rounding; without an error there is nothing to compare it with.
    return 0.5 if abs(lead) < 1e-6 or error.size == 0 else error.cdf(lead)


def _savings(tally: Tally) -> tuple[Gain | None, Gain | None]:
    """Return the savings by duplicate boards, of points and of margin; see `regression.saving`."""
    met, pair, sign, design = _sides(tally)
    board, count = tally.board[met], len(design.column)
    points, margin = (
        regression.saving(pair[use], board[use], value, count)
        for value, use in (
            (sign * (tally.half - 1)[met], np.ones(len(pair), np.bool_)),
            ((sign * tally.lead[met])[tally.is_whole[met]], tally.is_whole[met]),
        )
    )
    return points, margin


def _gains(tally: Tally) -> tuple[Gain | None, Gain | None]:
    """Return the gains by taking luck out, for points and for the margin, if luck is known."""
    if tally.luck is None:
        return None, None
    met, pair, sign, design = _sides(tally)
    is_whole, board = tally.is_whole[met], tally.board[met]
    sides, members = tally.sides, tally.left.shape[1]
    # Both in 1 / (2 x sides x members x PARTS) points.
    points = sign * (tally.half - 1)[met] * np.int64(sides * members * LUCK_PARTS)
    net_points = points - sign * tally.luck.half[met] * 2 * (sides - 1)
    lead, less = (sign * leads[met] for leads in (tally._replace(luck=None).leads(), tally.leads()))
    wins = regression.variance_ratio(design, pair, board, (points, net_points))
    left = lead[is_whole], less[is_whole]
    return wins, regression.variance_ratio(design, pair[is_whole], board[is_whole], left)


def _sides(tally: Tally) -> tuple[Bools, Ints, Ints, Design]:
    """Assign numbers to the pairs of different sides that met.

    The values are: the pairs that count; the number of each; 1 if its first side is first in order,
    else -1; for each number the entrants, 1 on the side that is first in order, -1 on the other.
    """
    size, members = len(tally.names), tally.left.shape[1]
    left, right = (side @ size ** np.arange(members) for side in (tally.left, tally.right))
    met, base = left != right, size**members
    codes = np.minimum(left, right) * base + np.maximum(left, right)
    sides, pair = regression.numbered(codes[met], base * base)
    column = sides[:, None] // size ** np.arange(2 * members) % size
    value = np.broadcast_to(np.repeat([-1.0, 1.0], members), column.shape)
    return met, pair, np.where(left < right, 1, -1)[met], Design(column, value, size)
