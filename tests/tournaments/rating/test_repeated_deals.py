"""A deal that is played again counts once: ratings, bounds, margins, versus, tune."""

import random

import pytest
from msgspec.structs import replace

from protocol.records import Result
from tests.support.made_up import figure, only_pool, played
from tests.support.planned_events import event, played_through
from tournaments.formats.versus import Versus
from tournaments.rating.sprt import Sprt
from tournaments.rating.tables import Pool

STRENGTH = {"a": 60.0, "b": -20.0, "c": -40.0}


def copies(results: list[Result], times: int) -> list[Result]:
    """Return the results of boards that were played so many times, always alike."""
    return [replace(game, game=f"{copy}.{game.game}") for game in results for copy in range(times)]


def widths(pool: Pool) -> list[float]:
    return [
        figure(width) for bot in pool.entrants for width in (bot.half_width, bot.margin_half_width)
    ]


@pytest.mark.parametrize("seats", [2, 3])
def test_a_deal_played_again_moves_neither_rating_nor_interval(seats: int) -> None:
    results = played(random.Random(3), STRENGTH, 12, seats, deal=100.0)
    single, multiple = only_pool(results), only_pool(copies(results, 4))
    assert widths(multiple) == pytest.approx(widths(single))
    plain, copied = ([bot.elo for bot in pool.entrants] for pool in (single, multiple))
    assert copied == pytest.approx(plain)
    assert multiple.los == single.los
    assert multiple.boards == single.boards


def test_one_deal_in_forty_lines_is_two_games() -> None:
    results = [result for result in played(random.Random(5), {"a": 400, "b": 0}, 1) if result]
    single, multiple = only_pool(results), only_pool(copies(results, 40))
    assert [bot.elo for bot in multiple.entrants] == [bot.elo for bot in single.entrants]
    assert multiple.los == single.los
    assert {bot.margin_half_width for bot in multiple.entrants} == {None}


def test_a_deal_in_most_lines_does_not_decide() -> None:
    rng = random.Random(1)
    results = played(rng, STRENGTH, 12)
    skewed = [*results, *copies([result for result in results if result.board == 0], 30)]
    assert widths(only_pool(skewed)) == pytest.approx(widths(only_pool(results)))
    assert [x.win_share for x in only_pool(skewed).entrants] == pytest.approx(
        [x.win_share for x in only_pool(results).entrants]
    )


def test_versus_takes_the_first_board_of_a_deal_only() -> None:
    test = Sprt(max_boards=200)
    pairs = tuple((board, 1 + (board - 1) % 30) for board in range(31, 201))
    plan = replace(event(2, 2, 200, 10, form=Versus(test)), repeats=pairs)
    results = [*played_through(plan, random.Random(0), upset=0.4).values()]
    boards = [step.boards for step in Versus(test).steps(plan, results)]
    assert max(boards) <= 30


def test_rated_games_have_the_first_board_of_their_deal() -> None:
    plan = replace(event(3, 2, 4, 2), repeats=((3, 1), (4, 2)))
    results = [*played_through(plan, random.Random(0)).values()]
    assert {result.board for result in results} == {1, 2, 3, 4}
    assert {result.board for result in plan.rated(results)} == {1, 2}
