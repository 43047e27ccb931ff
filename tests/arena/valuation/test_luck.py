"""The luck of a draw: nothing over all tiles that could have come, and the same numbers always."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import DamagedLogError, LoggedGame
from arena.match.game_setup import OpenQuestion
from arena.rules.variants import VARIANTS, find_variant
from arena.valuation.luck import DIGITS, DrawLuck, _chances, _laid, excess, game_luck, has_draws
from arena.valuation.playouts import MIXED
from arena.valuation.weights import NOTHING, weight_of
from protocol.messages import Clock, Draw
from protocol.records import ChoiceRecord, DealRecord, GameRecord
from protocol.ruleset import Ruleset, derive, set_of_tiles
from protocol.tiles import Tile
from tests.support.fast_run import FAST_TABLES, NAMED_TABLES, slow_except
from tests.support.logged_games import NAMES, any_of, changed, logged
from tests.support.tables import sitting

ROOT = Path(__file__).parents[3]
TINY = derive(
    find_variant("draw"),
    "tiny",
    {"hand": 1, "reserve": 25, "first": "random", "target": 50, "max_rounds": 1},
)
"""One tile may be drawn, and then both hands are known: no playout depends on chance."""


def short(name: str) -> Ruleset:
    """Return a named game, over after a round."""
    rounds = 1 if find_variant(name).game.rounds else 0
    return derive(find_variant(name), name, {"max_rounds": 1, "rounds": rounds})


def draws_if_able(question: OpenQuestion) -> int:
    options = question.options
    return options.index(Draw()) if Draw() in options else 0


def tiny_game(drawn: Tile) -> LoggedGame:
    """Return a game in which seat 0 holds 6-6 and draws this tile, and seat 1 holds 1-1."""
    rest = [tile for tile in set_of_tiles(TINY.deal) if tile not in ((6, 6), (1, 1), drawn)]
    deal = DealRecord(
        round=1, deal=1, leader=0, lots=(), hands=(((6, 6),), ((1, 1),)), stock=((drawn, *rest),)
    )
    begun = GameRecord(game="1.tiny", number=1, board=1, commitment="0" * 64)
    draw = ChoiceRecord(seat=0, id=1_000_001, choice=1, ms=0.0)
    return LoggedGame(sitting(NAMES[:2], (1,), TINY, Clock()), begun, (deal, draw), None)


def tiny_worth(drawn: Tile) -> tuple[int, int]:
    """Return what each seat scores: the 6-6 is led, and then only another six can be played."""
    if 6 in drawn:
        return 2, 0  # It goes out, and seat 1 is left with the 1-1.
    ahead = 2 - sum(drawn)
    return max(ahead, 0), max(-ahead, 0)


def test_each_tile_is_played_on_as_often_by_each_player() -> None:
    """Else one tile would be tried by other players than the next."""
    for game in (logged(short("draw"), 2, any_of(5)), logged(short("six-six"), 2, any_of(2))):
        for chance in _chances(Timeline(game)):
            assert len(chance.orders) % len(MIXED) == 0


def test_the_luck_of_a_tile_is_its_worth_less_the_mean_of_all_that_could_have_come() -> None:
    tiles = [tile for tile in set_of_tiles(TINY.deal) if tile not in ((6, 6), (1, 1))]
    mean = np.mean([tiny_worth(tile) for tile in tiles], axis=0)
    for tile in tiles:
        total = game_luck(Timeline(tiny_game(tile)))
        (draw,) = total.draws
        assert (draw.record, draw.round, draw.seat, draw.tile) == (1, 1, 0, tile)
        assert draw.points == pytest.approx(tiny_worth(tile) - mean, abs=10**-DIGITS)
        # There is one round, so the share is that of its winner.
        assert draw.share[0] == -draw.share[1]
        assert total.points == draw.points
        assert total.share == draw.share


def with_drawn(game: LoggedGame, was: DrawLuck, tile: Tile) -> LoggedGame:
    """Return the game up to this draw, but with another tile drawn."""
    deal = next(at for at, record in enumerate(game.records)
                if isinstance(record, DealRecord) and record.round == was.round)  # fmt: skip
    swap = {was.tile: tile, tile: was.tile}
    record = game.records[deal]
    assert isinstance(record, DealRecord)
    stock = tuple(tuple(swap.get(one, one) for one in row) for row in record.stock)
    records = (*game.records[:deal], replace(record, stock=stock))
    return replace(game, records=(*records, *game.records[deal + 1 : was.record + 1]), result=None)


def candidates(game: LoggedGame, was: DrawLuck, before: Iterator[DrawLuck]) -> list[Tile]:
    """Return the tiles that could have come: those of the boneyard that were not drawn before."""
    deal = next(one for one in game.records if isinstance(one, DealRecord)
                and one.round == was.round)  # fmt: skip
    drawn = {one.tile for one in before if one.round == was.round}
    return [tile for row in deal.stock for tile in row if tile not in drawn]


@pytest.mark.parametrize(
    ("name", "seats", "which"),
    slow_except(
        [("draw", 2, 3), ("six-six", 2, 2)],
        [("draw", 2, 3), ("dutch", 3, 1), ("double-draw", 2, 0), ("six-six", 2, 2),
         ("ukrainian", 4, 0)],
    ),
)  # fmt: skip
def test_over_all_tiles_that_could_have_come_there_is_no_luck(
    name: str, seats: int, which: int
) -> None:
    rules = short(name)
    games = (logged(rules, seats, any_of(name), board=board) for board in range(1, 99))
    game = next(one for one in games if len(game_luck(Timeline(one)).draws) > which)
    draws = game_luck(Timeline(game)).draws
    was = draws[which]
    tiles = candidates(game, was, iter(draws[:which]))
    assert len(tiles) > 2
    others = [game_luck(Timeline(with_drawn(game, was, tile))).draws for tile in tiles]
    # Whichever row it lies in, the game before can have gone so, and its luck was the same.
    assert all(one[:which] == draws[:which] for one in others)
    lucks = [one[which] for one in others]
    assert [one.tile for one in lucks] == tiles
    assert lucks[tiles.index(was.tile)] == was
    most = len(tiles) * 10**-DIGITS
    for field in ("points", "share"):
        sums = np.sum([getattr(one, field) for one in lucks], axis=0)
        assert np.abs(sums).max() <= most, field
    assert any(any(one.points) for one in lucks)


def test_each_boneyard_that_is_tried_for_a_tile_drawn_with_the_deal_has_every_tile_once() -> None:
    game = logged(short("six-six"), 2, any_of("six-six"), board=2)
    chances = [one for one in _chances(Timeline(game)) if one.how]
    assert len(chances) > 2
    for one in chances:
        *drawn, place = one.places
        lying = [bit.bit_length() - 1 for bit in chain(*one.before.playing.stock_rows)]
        laid = _laid(one)
        assert len(laid) == len(one.stock) * len(one.orders)
        assert {tuple(sorted(row)) for row in laid.tolist()} == {tuple(sorted(lying))}
        assert (laid[:, drawn] == np.array(lying)[drawn]).all()
        assert laid[:, place].tolist() == np.repeat(one.stock, len(one.orders)).tolist()


@given(st.integers(1, 9), st.integers(1, 5), st.integers(2, 4), st.randoms())
def test_the_excesses_of_all_tiles_add_up_to_exactly_nothing(
    tiles: int, orders: int, seats: int, rng: "object"
) -> None:
    values = np.random.default_rng(rng.getrandbits(32)).integers(  # type: ignore[attr-defined]
        -1_000_000, 1_000_000, (tiles, orders, seats)
    )
    assert not excess(values).sum(axis=0).any()


@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, NAMED_TABLES))
def test_every_named_game_has_luck_where_tiles_are_drawn(name: str, seats: int) -> None:
    rules = short(name)
    game = logged(rules, seats, draws_if_able)
    total = game_luck(Timeline(game))
    if not has_draws(rules, seats):
        assert not total.draws
        assert weight_of(rules, seats) == NOTHING
    else:
        assert total.draws, "It draws where it may."
        assert min(weight_of(rules, seats)) >= 0
    assert len(total.points) == len(total.share) == seats
    # What one wins of a pair the other loses; each share is of all others.
    assert sum(total.share) == pytest.approx(0, abs=1e-4)
    if rules.deal.partners:
        assert total.points[:2] == total.points[2:]
        assert total.share[:2] == total.share[2:]
    for draw in total.draws:
        assert 0 <= draw.record < len(game.records)


def test_games_of_a_board_that_come_to_the_same_state_have_the_same_luck() -> None:
    game = logged(short("draw"), 2, any_of(5))
    turned = replace(
        game,
        sitting=replace(game.sitting, seats=game.sitting.seats[::-1]),
        game=replace(game.game, game="2.game"),
    )
    assert game_luck(Timeline(turned)) == game_luck(Timeline(game))
    elsewhere = replace(game, game=replace(game.game, board=2))
    assert game_luck(Timeline(elsewhere)) != game_luck(Timeline(game))


def test_a_game_that_was_cut_off_has_the_luck_of_its_draws_so_far() -> None:
    game = logged(short("draw"), 2, any_of(5))
    whole = game_luck(Timeline(game))
    cut = replace(game, records=game.records[: whole.draws[4].record + 1], result=None)
    assert game_luck(Timeline(cut)).draws == whole.draws[:5]


def test_a_log_that_cannot_have_happened_is_refused() -> None:
    game = changed(logged(short("draw"), 2, any_of(5)), ChoiceRecord, choice=99)
    with pytest.raises(DamagedLogError):
        game_luck(Timeline(game))


@pytest.mark.parametrize("name", VARIANTS)
def test_nothing_is_drawn_where_the_rules_have_no_draws(name: str) -> None:
    rules = find_variant(name)
    without = name in ("dutch-partners", "block", "partnership", "austrian-block")
    seats = 4 if rules.deal.partners or name == "austrian-block" else 2
    assert has_draws(rules, seats) is not without


PRINT = """
from arena.analysis.timeline import Timeline
from arena.rules.variants import find_variant
from arena.valuation.luck import game_luck
from protocol.ruleset import derive
from tests.support.logged_games import any_of, logged
rules = derive(find_variant("draw"), "draw", {"max_rounds": 1})
print(game_luck(Timeline(logged(rules, 2, any_of(1)))))
"""


# Slow: reports of two processes are compared by their bytes.
@pytest.mark.slow
def test_another_process_with_another_hash_seed_finds_the_same_luck() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PRINT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(game_luck(Timeline(logged(short("draw"), 2, any_of(1)))))
