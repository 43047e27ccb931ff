"""The rating model against published numbers, its own formulae written out densely, and chance."""

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace
from numpy.typing import NDArray

from arena.document.blocks import Table
from protocol.records import Result, SeatFoul, UsageSum
from tests.support.fast_run import examples
from tests.support.made_up import (
    ELO,
    STRENGTH,
    ascent,
    figure,
    game,
    only_pool,
    pairs,
    played,
    rated,
)
from tournaments.rating import statistics
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Anchor, Meeting, Pool, Rating
from tournaments.report.standings import cost_sections, placing, standings_table, unanchored

COLUMNS = ("#", "bot", "Elo", "±", "games", "win %", "margin", "±", "fouls")


def by_name(pool: Pool) -> dict[str, Rating]:
    return {rating.name: rating for rating in pool.entrants}


def lead(pool: Pool, name: str, rival: str) -> float:
    return figure(by_name(pool)[name].elo) - figure(by_name(pool)[rival].elo)


# Published numbers


def one_seat(points: Sequence[Sequence[int]]) -> list[Result]:
    """Boards of games that a played in seat 0, so that no seat enters; 0, 1, 2 half points."""
    return [
        game(board, ("a", "b"), (half, 2 - half))
        for board, halves in enumerate(points)
        for half in halves
    ]


def fastchess_figures(pool: Pool, share: float) -> tuple[float, float, float]:
    """Elo, half width and LOS as fastchess has them: an interval of the score, turned into Elo."""
    error = figure(pool.errors[0][1]) * share * (1 - share) / ELO
    error *= math.sqrt((pool.boards - 1) / pool.boards)  # It takes neither CR1 nor t.
    low, high = (
        ELO * math.log(s / (1 - s)) for s in (share - 1.959964 * error, share + 1.959964 * error)
    )
    return lead(pool, "a", "b"), (high - low) / 2, statistics.normal_cdf((share - 0.5) / error)


def test_elo_of_wins_draws_and_losses_equals_fastchess() -> None:
    pool = only_pool(one_seat([[2]] * 136 + [[1]] * 111 + [[0]] * 96), prior=0)
    elo, half_width, los = fastchess_figures(pool, (136 + 111 / 2) / 343)
    assert [elo, half_width] == pytest.approx([40.70, 30.43], abs=0.005)
    assert los == pytest.approx(0.9960, abs=5e-5)
    # Ours is Student's, of the difference in Elo.
    assert pool.los[0][1] == pytest.approx(los, abs=1e-3)


# The formulae, written out


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_an_independent_optimiser_finds_the_same_maximum(seats: int) -> None:
    results = played(random.Random(seats), STRENGTH, 60, seats, first=30)
    pool = only_pool(results, prior=0)
    ratings, advantages = ascent(results)
    assert {r.name: r.elo for r in pool.entrants} == pytest.approx(ratings, abs=0.01)
    assert [s.elo for s in pool.seats] == pytest.approx(advantages, abs=0.01)


def sandwich(results: Sequence[Result], pool: Pool) -> NDArray[np.float64]:
    """Return the documented covariance in Elo², at prior 0, from dense matrices."""
    names = sorted(r.name for r in pool.entrants)
    seats, size = len(results[0].seats), len(pool.entrants)
    elo = [figure(by_name(pool)[name].elo) for name in names] + [s.elo for s in pool.seats] + [0.0]
    boards = sorted({result.board for result in results})
    scores = np.zeros((len(boards), size + seats))
    information = np.zeros((size + seats, size + seats))
    for result in results:
        for a, b, points in pairs(result):
            x = np.zeros(size + seats)
            x[names.index(result.seats[a])] += 1
            x[names.index(result.seats[b])] -= 1
            x[size + a] += 1
            x[size + b] -= 1
            p = 1 / (1 + 10 ** (-(x @ elo) / 400))
            information += p * (1 - p) * np.outer(x, x)
            scores[boards.index(result.board)] += (points - p) * x
    bread = np.linalg.pinv(information)
    factor = ELO**2 * len(boards) / (len(boards) - 1)
    return np.asarray(factor * bread @ scores.T @ scores @ bread, np.float64)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_errors_are_the_sandwich_of_the_docstring(seats: int) -> None:
    results = played(random.Random(seats), STRENGTH, 50, seats, deal=150)
    pool = only_pool(results, prior=0)
    covariance = sandwich(results, pool)
    order = [sorted(STRENGTH).index(r.name) for r in pool.entrants]
    for row, rating in enumerate(pool.entrants):
        i = order[row]
        t = statistics.t_quantile(0.975, rating.boards - 1)
        assert rating.half_width == pytest.approx(t * math.sqrt(covariance[i, i]), rel=1e-5)
        for column, j in enumerate(order):
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            assert pool.errors[row][column] == pytest.approx(math.sqrt(abs(variance)), abs=1e-5)
    for seat, advantage in enumerate(pool.seats, len(order)):
        last = len(order) + len(pool.seats)
        variance = covariance[seat, seat] + covariance[last, last] - 2 * covariance[seat, last]
        t = statistics.t_quantile(0.975, pool.boards - 1)
        assert advantage.half_width == pytest.approx(t * math.sqrt(variance), rel=1e-5)


# The table


@given(st.randoms(use_true_random=False), st.sampled_from([(2, 0), (3, 0), (4, 0), (4, 1)]))
@examples(15)
def test_no_order_of_the_ledger_changes_a_byte(rng: random.Random, kind: tuple[int, int]) -> None:
    seats, partners = kind
    results = played(random.Random(seats), STRENGTH, 12, seats, deal=100)
    results = [add_foul(result) if n % 5 == 0 else result for n, result in enumerate(results)]
    if partners:
        results = [pair_seats(result) for result in results]
    reference = msgspec.json.encode(rated(results, partners=bool(partners)))
    rng.shuffle(results)
    assert msgspec.json.encode(rated(results, partners=bool(partners))) == reference


def add_foul(result: Result) -> Result:
    return replace(result, why="foul", fouls=(SeatFoul(1, "gone"),))


def pair_seats(result: Result) -> Result:
    """Return the same game with seats 0 and 2 as partners."""
    first, second, *rest = result.scores
    scores = (first + rest[0], second + rest[1]) * 2
    return replace(game(result.board, result.seats, scores), why=result.why, fouls=result.fouls)


def test_an_anchor_moves_the_level_and_errors_are_over_it() -> None:
    results = played(random.Random(5), STRENGTH, 80, deal=100)
    free, anchored = only_pool(results), only_pool(results, anchor=Anchor("c", 1500))
    assert by_name(anchored)["c"].elo == 1500
    assert by_name(anchored)["c"].half_width == 0
    assert free.los == anchored.los
    assert free.seats == anchored.seats
    index = [rating.name for rating in free.entrants].index("c")
    for place, rating in enumerate(anchored.entrants):
        assert figure(rating.elo) - 1500 == pytest.approx(lead(free, rating.name, "c"), abs=1e-5)
        t = statistics.t_quantile(0.975, min(rating.boards, by_name(free)["c"].boards) - 1)
        assert figure(rating.half_width) == pytest.approx(t * figure(free.errors[place][index]))


def test_an_anchor_is_the_core_where_nobody_took_points_off_each_other() -> None:
    results = wins_over("first", ["greedy"], 2)
    assert by_name(only_pool(results))["first"].elo == 0
    pool = only_pool(results, anchor=Anchor("greedy", 1500))
    assert [(r.name, r.bound) for r in pool.entrants] == [("first", ">"), ("greedy", "")]
    assert pool.entrants[1].elo == 1500
    assert figure(pool.entrants[0].elo) == pytest.approx(
        1500 + figure(only_pool(results, anchor=Anchor("greedy", 0)).entrants[0].elo)
    )
    text = " ".join(placing(pool))
    assert "greedy is set to +1500 Elo" in text
    assert "0 Elo" not in text.replace("+1500 Elo", "")
    assert unanchored(pool, Anchor("greedy", 1500)) == []
    # Also of a chain, of which the middle has the most games.
    chain = [*wins_over("a", "b"), *wins_over("b", "c")]
    assert [r.bound for r in only_pool(chain).entrants] == [">", "", "<"]
    assert [r.bound for r in only_pool(chain, anchor=Anchor("c", 100)).entrants] == [">", ">", ""]


def test_the_table_is_sorted_centred_and_counts_games() -> None:
    results = played(random.Random(1), STRENGTH, 100, first=40)
    pool = only_pool(results)
    elos = [figure(rating.elo) for rating in pool.entrants]
    assert elos == sorted(elos, reverse=True)
    assert sum(elos) == pytest.approx(0, abs=1e-5)
    assert (pool.games, pool.boards) == (200, 100)
    for rating in pool.entrants:
        mine = [result for result in results if rating.name in result.seats]
        won = sum(result.places[result.seats.index(rating.name)] == 1 for result in mine)
        assert (rating.games, rating.boards) == (len(mine), len(mine) / 2)
        assert rating.win_share == pytest.approx(won / len(mine))
        best, worst = rating.ranks
        assert 1 <= best <= pool.entrants.index(rating) + 1 <= worst <= 5


def test_the_crosstable_and_los_mirror_themselves() -> None:
    pool = only_pool(played(random.Random(2), STRENGTH, 60))
    size = len(pool.entrants)
    for i, j in itertools.product(range(size), repeat=2):
        meeting, mirror = pool.crosstable[i][j], pool.crosstable[j][i]
        assert meeting.wins + mirror.wins == meeting.games == mirror.games or i == j
        assert pool.los[i][j] + pool.los[j][i] == pytest.approx(1)
        assert pool.errors[i][j] == pool.errors[j][i]
        assert (pool.los[i][j] >= 0.5) == (i <= j)
    assert all(pool.crosstable[i][i] == Meeting(0, 0) for i in range(size))


def test_the_margin_has_an_interval_clustered_by_board() -> None:
    boards = [(30, 10), (20, -40), (5, 5), (60, 0)]
    results = [
        game(board, seats, scores)
        for board, (first, second) in enumerate(boards)
        for seats, scores in ((("a", "b"), (100 + first, 100)), (("b", "a"), (100, 100 + second)))
    ]
    sums = [first + second for first, second in boards]
    mean = sum(sums) / 8
    error = math.sqrt(4 / 3 * sum((s - 2 * mean) ** 2 for s in sums)) / 8
    rating = by_name(only_pool(results))["a"]
    assert rating.margin == pytest.approx(mean)
    assert rating.margin_half_width == pytest.approx(3.182446 * error, rel=1e-6)


def test_fouls_are_counted() -> None:
    late, crash = SeatFoul(seat=1, foul="late"), SeatFoul(seat=0, foul="gone")
    results = [
        game(0, "ab", (1, 0), (late,)),
        game(0, "ba", (0, 1), (crash,)),
        game(1, "ab", (0, 1), (crash,)),
        game(1, "ba", (1, 0)),
    ]
    assert {r.name: r.fouls for r in only_pool(results).entrants} == {"a": 1, "b": 2}
    beforehand = SeatFoul(seat=1, foul="forfeit")
    forfeits = [game(0, "ab", (0, 0), (beforehand,)), game(0, "ba", (0, 1))]
    assert {r.name: r.fouls for r in only_pool(forfeits).entrants} == {"a": 0, "b": 0}


def spoil(result: Result) -> Result:
    """Return the game that ended by a foul of seat 1."""
    return replace(result, why="foul", places=(1, 2), fouls=(SeatFoul(1, "gone"),))


def test_the_margin_leaves_out_games_that_a_foul_ended() -> None:
    rng = random.Random(7)
    results = played(rng, {"a": 100.0, "b": 0.0}, 40)
    foul_games = [spoil(game(40 + board, "ab", (board * 9, 0))) for board in range(12)]
    plain, with_fouls = by_name(only_pool(results)), by_name(only_pool([*results, *foul_games]))
    for name in "ab":
        assert with_fouls[name].margin == plain[name].margin
        assert with_fouls[name].margin_half_width == plain[name].margin_half_width
        assert with_fouls[name].games == plain[name].games + 12
    pool = only_pool([*results, *foul_games])
    assert pool.boards_save_margin == only_pool(results).boards_save_margin
    assert pool.boards_save != only_pool(results).boards_save


def mark_as_model(result: Result) -> Result:
    return replace(result, usage=(UsageSum(fallbacks=1), *[UsageSum()] * (len(result.seats) - 1)))


def test_ratings_with_and_without_spoilt_games_stand_side_by_side() -> None:
    results = played(random.Random(8), STRENGTH, 60)
    foul_games = [spoil(game(board, ("x", "y"), (1, 0))) for board in range(9)]
    games = [spoil(result) if number % 7 == 0 else result for number, result in enumerate(results)]
    games += [game(99, ("x", "y"), (1, 0)), *foul_games]
    games = [mark_as_model(result) if n % 5 == 3 else result for n, result in enumerate(games)]
    clean = [result for result in games if not result.fouls and result.usage is UNSET]
    full_fit, clean_fit = rated(games), fit(clean)
    assert [[replace(r, clean=None, cost=None) for r in p.entrants] for p in full_fit.pools] == [
        list(pool.entrants) for pool in fit(games).pools
    ]
    for pool, clean_pool in zip(full_fit.pools, clean_fit.pools, strict=True):
        clean_ratings = {r.name: r.clean for r in pool.entrants}
        for rating in clean_pool.entrants:
            figures = clean_ratings[rating.name]
            assert figures
            assert (figures.elo, figures.half_width, figures.bound, figures.games) == (
                rating.elo, rating.half_width, rating.bound, rating.games,
            )  # fmt: skip
    head, rows = standings_table(full_fit.pools[0]).plain()
    assert head == (*COLUMNS, "Elo in clean games", "±")
    assert {len(row) for row in rows} == {len(head)}
    # The live table fits once: it must not show empty columns.
    assert standings_table(fit(games).pools[0]).plain()[0] == COLUMNS


# Where the sandwich says nothing


def wins_over(best: str, names: Sequence[str], boards: int = 20) -> list[Result]:
    """Return games on boards of their own, all of which one bot wins."""
    return [
        game(100 + board, seats, [int(name == best) for name in seats])
        for board in range(boards)
        for name in names
        for seats in ((best, name), (name, best))
    ]


def losses_to(worst: str, names: str) -> list[Result]:
    """Return games that one bot loses, all of them."""
    return [replace(result, places=result.places[::-1]) for result in wins_over(worst, names)]


MIDDLE = {"m": 60.0, "n": 0.0, "o": -60.0}


def test_a_seat_that_always_wins_is_finite_and_uncertain() -> None:
    results = [game(board, seats, (1, 0)) for board in range(30) for seats in ("ab", "ba")]
    pool = only_pool(results)
    assert 300 < pool.seats[0].elo < 1500
    assert pool.seats[0].half_width > 100
    assert {(r.elo, r.bound) for r in pool.entrants} == {(0, "")}
    assert all(figure(r.half_width) > 20 for r in pool.entrants)


def test_unbeaten_and_winless_entrants_have_bounds() -> None:
    middle = played(random.Random(6), MIDDLE, 60)
    pool = only_pool([*middle, *wins_over("best", "mno"), *losses_to("worst", "mno")])
    assert [r.bound for r in pool.entrants] == [">", "", "", "", "<"]
    best, *core, worst = pool.entrants
    assert (best.name, best.half_width, worst.name, worst.half_width) == (
        "best",
        None,
        "worst",
        None,
    )
    # 20 games of each in either seat: 5 % at the bound.
    for extreme, sign in ((best, 1), (worst, -1)):
        leads = [sign * (figure(extreme.elo) - figure(rating.elo)) for rating in core]
        seats = (pool.seats[0].elo, -pool.seats[0].elo)
        chances = [1 / (1 + 10 ** (-(lead + seat) / 400)) for lead in leads for seat in seats]
        assert math.prod(chances) ** 20 == pytest.approx(0.05, rel=1e-6)
    assert pool.errors[0][1:] == pool.errors[-1][:-1] == [None] * 4
    assert all(pool.los[0][column] > 0.999 for column in range(1, 5))
    assert (best.ranks, worst.ranks) == ((1, 1), (5, 5))


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_extreme_entrants_move_nobody_else(prior: float) -> None:
    """All others have the same bytes, however many games it has."""
    core = only_pool(played(random.Random(6), MIDDLE, 60), prior)
    for names in ("m", "mno"):
        extremes = [*wins_over("best", names, 200), *losses_to("worst", names)]
        pool = only_pool([*played(random.Random(6), MIDDLE, 60), *extremes], prior)
        ratings = {r.name: r for r in pool.entrants if not r.bound}
        for rating in core.entrants:
            row = ratings[rating.name]
            assert (row.elo, row.half_width) == (rating.elo, rating.half_width)
        assert pool.level == core.level == ("m", "n", "o")
        assert pool.seats == core.seats


def test_the_level_is_all_of_the_core() -> None:
    lucky = [*wins_over("best", "mno"), game(500, ("best", "n"), (0, 1))]
    pool = only_pool([*played(random.Random(6), MIDDLE, 60), *lucky])
    assert [r.bound for r in pool.entrants] == [""] * 4
    assert pool.level == ("best", "m", "n", "o")
    assert sum(figure(rating.elo) for rating in pool.entrants) == pytest.approx(0, abs=1e-5)


def test_jeffreys_prior_is_half_the_logarithm_of_the_information() -> None:
    """Two bots without seats: what maximises p^w (1-p)^l sqrt(n p (1-p)) has half a game more."""
    pool = only_pool(one_seat([[2]] * 57 + [[0]] * 3))
    assert lead(pool, "a", "b") == pytest.approx(ELO * math.log(57.5 / 3.5), abs=1e-5)
    ten = only_pool(one_seat([[2]] * 57 + [[0]] * 3), prior=10)
    assert lead(ten, "a", "b") == pytest.approx(ELO * math.log(62 / 8), abs=1e-5)


def test_pools_without_a_common_game_get_their_own_tables() -> None:
    pair = played(random.Random(7), {"a": 100.0, "b": 0.0}, 30)
    trio = played(random.Random(8), {"x": 100.0, "y": 0.0, "z": 0.0}, 30)
    ratings = fit(pair + trio)
    assert [sorted(by_name(pool)) for pool in ratings.pools] == [["x", "y", "z"], ["a", "b"]]
    assert ratings.pools == (only_pool(trio), only_pool(pair))


@pytest.mark.parametrize(
    ("results", "partners", "complaint"),
    [
        ([game(0, "a", (1,))], False, "a game of 1 seats"),
        ([game(0, "abc", (1, 2, 3))], True, "a game of 3 seats with partners"),
        ([game(0, "ab", (1, 2)), game(0, "abc", (1, 2, 3))], False, "mix games of 2 and of 3"),
    ],
)
def test_results_that_cannot_be_rated_are_refused(
    results: list[Result], partners: bool, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        fit(results, partners=partners)
    with pytest.raises(ValueError, match="virtual draws"):
        fit([], prior=-1)


# More seats


def test_partners_are_rated_as_the_mean_of_their_side() -> None:
    rng, results = random.Random(9), []
    for board in range(1500):
        a, b, c, d = rng.sample(sorted(STRENGTH), 4)
        for seats in ((a, b, c, d), (b, a, d, c)):
            edge = (
                STRENGTH[seats[0]] + STRENGTH[seats[2]] - STRENGTH[seats[1]] - STRENGTH[seats[3]]
            ) / 2
            won = rng.random() < 1 / (1 + 10 ** (-edge / 400))
            results.append(game(board, seats, (10, 4) * 2 if won else (4, 10) * 2))
    pool = only_pool(results, partners=True)
    for rating in pool.entrants:
        assert (
            abs(figure(rating.elo) - STRENGTH[rating.name]) < 1.5 * figure(rating.half_width) < 60
        )
        assert rating.margin == pytest.approx(6 * (2 * rating.win_share - 1))
    assert [s.seat for s in pool.seats] == [0]
    assert pool.games == 3000


# Chance


def test_the_gain_of_boards_equals_one_by_hand() -> None:
    boards = [((1, 0), (1, 0)), ((1, 0), (1, 0)), ((1, 0), (0, 1)), ((1, 0), (0, 1))] * 3
    results = [
        game(n, seats, scores)
        for n, pair in enumerate(boards)
        for seats, scores in zip(("ab", "ba"), pair, strict=True)
    ]
    # a makes 1, 0 / 1, 0 / 1, 1 / 1, 1, thrice: mean 3/4; 24/23 x 24 x 3/16 over 12/11 x 12 x 1/4.
    save = only_pool(results).boards_save
    assert save
    assert save.value == pytest.approx((24 / 23 * 4.5) / (12 / 11 * 3), abs=1e-6)
    assert save.low < save.value < save.high
    assert only_pool(results[:8]).boards_save is None
    assert only_pool([game(n, "ab", (n % 2, 1)) for n in range(9)]).boards_save is None


@pytest.mark.parametrize("partners", [False, True])
def test_another_machines_algebra_comes_to_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch, partners: bool
) -> None:
    """Linear algebra libraries differ in the last bits from processor to processor."""
    rng = random.Random(5)
    results = [
        game(board, rng.sample("abcdef", 4), [rng.randrange(90) for _ in range(2)] * 2)
        for board in range(60)
        for _ in range(4)
    ]
    reference = msgspec.json.encode(fit(results, partners=partners))
    noise = np.random.default_rng(1)

    def perturb(function: Any) -> Any:
        def perturbed(*words: Any, **more: Any) -> Any:
            exact = function(*words, **more)
            return exact * (1 + 1e-14 * noise.standard_normal(exact.shape))

        return perturbed

    for name in ("inv", "solve", "pinv"):
        monkeypatch.setattr(np.linalg, name, perturb(getattr(np.linalg, name)))
    assert msgspec.json.encode(fit(results, partners=partners)) == reference


def test_costs_stand_beside_the_ratings_that_they_do_not_change() -> None:
    """Elo a dollar: over the lowest rating, for each dollar that a hundred games cost."""
    results = played(random.Random(3), STRENGTH, 40)
    plain = rated(results)
    dear = [
        replace(result, usage=tuple(UsageSum(cents=0.5 * (name == "a")) for name in result.seats))
        for result in results
    ]
    (pool,) = rated(dear).pools
    cost = {rating.name: rating.cost for rating in pool.entrants}
    ratings = {rating.name: rating for rating in pool.entrants}
    assert [replace(rating, cost=None) for rating in pool.entrants] == [*plain.pools[0].entrants]
    assert [name for name in cost if cost[name]] == ["a"]
    assert cost["a"]
    lead = figure(ratings["a"].elo) - min(figure(rating.elo) for rating in pool.entrants)
    assert (cost["a"].cents, cost["a"].cents_a_game) == (0.5 * ratings["a"].games, 0.5)
    assert cost["a"].elo_a_dollar == pytest.approx(lead / 0.5)
    table = cost_sections(pool)[0].blocks[0]
    assert isinstance(table, Table)
    assert [row[0].text for row in table.groups[0].rows] == ["a"]


def test_few_boards_give_errors_of_independent_games() -> None:
    """Two boards that happened to be alike, or not, gave ± 7 beside ± 1791 in one table."""
    results = [
        result
        for board in (1, 2)
        for first, second, points in (("a", "b", (1, 0)), ("a", "c", (1, 0)), ("b", "c", (1, 0)))
        for result in (
            game(board, (first, second), points if board == 1 else (0, 1)),
            game(board, (second, first), (1, 0)),
        )
    ]
    (pool,) = fit(results).pools
    half = [figure(rating.half_width) for rating in pool.entrants]
    assert 100 < min(half) <= max(half) < 500
    assert all(rating.margin_half_width is None for rating in pool.entrants)
