"""Rounds in arrays do, step by step, what rounds of the engine do."""

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import engine
from arena.engine import values
from arena.engine.deal import begin, chance_decides, lay_out
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.valuation.batch import HIGHER, LEFT_END, NO_TILE, RIGHT_END, RoundBatch, mask_tables
from arena.valuation.policy import play_out
from arena.valuation.terms import why_no_values
from protocol.errors import UserError
from protocol.messages import Bid, Call, Draw, GoOn, Keep, Option, Pass, Play, PlayTwo
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.fast_run import FAST_GAMES, slow_except
from tests.support.games import play_on
from tests.support.rulesets import CROWDS, crowd_rules, rules_and_seats

SHARE = 0.2
BATCH_OPTIONS = (Play, PlayTwo, Draw, Pass, Call, GoOn)


def moments(rules: Ruleset, seats: int, rng: random.Random, rounds: int = 2) -> Iterator[Game]:
    """Yield some states of rounds that are played at random."""
    game, seed = engine.new_game(rules, seats), rng.randbytes(32)
    for _ in range(rounds):
        while not game.over:
            if engine.needs_deal(game):
                begin(game, chance_decides(game, seed))
            else:
                options = engine.legal(game)
                engine.act_unchecked(game, rng.choice((options[0], *options)))
            if rng.random() < SHARE and game.playing.phase.name != "deal":
                yield game.copy()
            if game.playing.over:
                break


def check(games: Sequence[Game], rng: random.Random) -> None:
    """Compare the course of these games in a batch and in the engine."""
    if not games or why_no_values(games[0].rules):
        return
    batch, games = RoundBatch.from_games(games), [*map(without_auction, games)]
    assert (batch.scores == [game.scores for game in games]).all()
    for row, game in enumerate(games):
        single = batch.select(np.array([row]))
        if game.playing.phase.name == "play" and not game.playing.over:
            assert options_of(single) == frozenset(map(namer(game), engine.legal(game)))
        for option in engine.legal(game):
            if isinstance(option, BATCH_OPTIONS):
                after = single.select(np.array([0, 0]))
                after.take((option, Pass()), np.array([0, 0]))
                assert_same_rounds(after, values.act(game, option))
        if game.playing.over is None:
            assert_same_stock(single, game, rng)
    check_playouts(batch, games)


def without_auction(game: Game) -> Game:
    """Return a game in whose open auction nobody bids any more."""
    while game.playing.phase.name == "auction":
        game = values.act(game, Bid(0))
    return game


def options_of(batch: RoundBatch) -> frozenset[object]:
    """Return the options of the only round of a batch."""
    (choice,), tiles = batch.choices(), batch.tables.tiles
    ends = {LEFT_END: "left", RIGHT_END: "right", HIGHER: "lead"}
    is_equal = bool(batch.left[0] == batch.right[0])
    options: list[object] = [Draw()] if choice["draws"] else []
    for _, _, first, end, second, _ in batch.plays().tolist():
        if second != NO_TILE:
            options.append(pair(tiles[first], tiles[second], is_equal))
        elif first != NO_TILE:
            options.append((tiles[first], ends[end]))
    return frozenset([*options, Pass()] if choice["passes"] else options)


def namer(game: Game) -> Any:
    """Return a function that names an option; the order of a pair on equal ends does not count."""

    def name(option: Option) -> object:
        if isinstance(option, PlayTwo):
            ends = game.playing.ends
            return pair(option.left, option.right, ends.left == ends.right)
        return (option.tile, option.end) if isinstance(option, Play) else option

    return name


def pair(left: object, right: object, equal: bool) -> object:
    return frozenset((left, right)) if equal else (left, right)


def assert_same_rounds(batch: RoundBatch, game: Game) -> None:
    """Compare each round of a batch with a game."""
    expected = RoundBatch.from_games([game]).repeat(len(batch))
    assert (batch.scores == expected.scores).all()
    assert (batch.is_over == expected.is_over).all()
    if game.playing.over:
        return
    never_used = {"stock", "front", "back", "order", "last_tile", "credited"}
    for name in {*(batch.tables.round.names or ())} - never_used:
        np.testing.assert_array_equal(batch.rounds[name], expected.rounds[name], name)
    assert stock(batch) == stock(expected)
    assert hands_in_order(batch) == hands_in_order(expected)


def hands_in_order(batch: RoundBatch) -> list[list[int]]:
    """Return the tiles of each hand of each round in their order."""
    return [
        [tile for tile in order if hands[row] & batch.tables.bits[tile]]
        for hands in batch.hands
        for row, order in enumerate(batch.order.argsort(axis=0, kind="stable").T.tolist())
    ]


def stock(batch: RoundBatch) -> list[Any]:
    """Return the tiles of each row of each boneyard."""
    return [
        [tiles[start:stop].tolist() for start, stop in zip(fronts, backs, strict=True)]
        for tiles, fronts, backs in zip(batch.stock.T, batch.front.T, batch.back.T, strict=True)
    ]


def assert_same_stock(batch: RoundBatch, game: Game, rng: random.Random) -> None:
    """Compare a boneyard laid anew, and hands that seats exchanged."""
    batch, game = batch.select(np.array([0, 0])), game.copy()
    state, old = game.playing, game.playing.hand_bits
    tiles = [*chain(*state.stock_rows)]
    rng.shuffle(tiles)
    batch.lay_stock(np.array([bit.bit_length() - 1 for bit in tiles], np.int8))
    order = iter(tiles)
    for row in state.stock_rows:
        row[:] = [next(order) for _ in row]
    if state.phase.must_lead is None and state.phase.name == "play":
        hands = [[bit.bit_length() - 1 for bit in hand] for hand in old]
        batch.set_hands({0: np.array([*hands[1], -1]), 1: np.array([*hands[0], -1])})
        state.hand_bits[:2] = old[1], old[0]
        state.hand_masks[:2] = sum(old[1]), sum(old[0])
    assert_same_rounds(batch, game)


def check_playouts(batch: RoundBatch, games: Sequence[Game]) -> None:
    """Compare playouts with the plain player of the engine, and those of other batches."""
    ends = [game.copy() for game in games]
    for game in ends:
        play_on(game)
    gains = play_out(batch)
    assert (batch.scores + gains == [game.scores for game in ends]).all()
    assert not gains[batch.is_over].any(), "A round that is over brings no more."
    assert (play_out(RoundBatch.joined([batch, batch])) == np.tile(gains, (2, 1))).all()


# Slow: some named games, large tables and random rules are compared beside it.
@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_a_batch_plays_every_named_game(name: str) -> None:
    rng = random.Random(name)
    rules = find_variant(name)
    for seats in playable_seat_counts(rules):
        check(list(moments(rules, seats, rng)), rng)


@pytest.mark.parametrize(("name", "seats", "differs"), CROWDS)
def test_a_batch_plays_at_large_tables(name: str, seats: int, differs: dict[str, object]) -> None:
    rng = random.Random(name)
    check(list(moments(crowd_rules(name, differs), seats, rng)), rng)


@given(rules_and_seats(), st.randoms(use_true_random=False))
def test_a_batch_plays_by_random_rules(table: tuple[Ruleset, int], rng: random.Random) -> None:
    check(list(moments(*table, rng, rounds=1)), rng)


def test_a_round_gains_the_same_in_any_batch() -> None:
    rng = random.Random(1)
    batch = RoundBatch.from_games(list(moments(find_variant("draw"), 4, rng))).repeat(5)
    gains, order = play_out(batch), np.array(rng.sample(range(len(batch)), len(batch)))
    for rows in np.array_split(order, 9):
        assert (play_out(batch.select(rows)) == gains[rows]).all()


def check_leads(rules: Ruleset, seats: int, rng: random.Random) -> None:
    """Compare how the leader of a deal is found that counts."""
    game = engine.new_game(rules, seats)
    deal = chance_decides(game, rng.randbytes(32))
    if why_no_values(rules):
        return
    dealt_game = values.begin(game, deal)
    lay_out(game, deal)
    if not engine.needs_deal(dealt_game):
        batch = RoundBatch.from_games([game, game])
        batch.find_leaders(game.playing.phase.method)
        assert_same_rounds(batch, dealt_game)


@given(rules_and_seats(), st.randoms(use_true_random=False))
def test_a_batch_finds_the_leader_of_a_deal(table: tuple[Ruleset, int], rng: random.Random) -> None:
    check_leads(*table, rng)


FEW_ADDRESSES = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)
from arena.rules.variants import find_variant
from arena.valuation.batch import kernel_of, mask_tables
kernel_of(mask_tables(find_variant("draw"), 2))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows bounds no addresses")
def test_the_kernel_needs_few_addresses_where_they_are_bounded() -> None:
    subprocess.run((sys.executable, "-c", FEW_ADDRESSES), check=True)


def test_what_no_batch_can_do_is_refused() -> None:
    game = engine.new_game(find_variant("draw"), 2)
    begin(game, chance_decides(game, bytes(32)))
    batch = RoundBatch.from_games([game])
    with pytest.raises(ValueError, match="fewer tiles than the boneyard"):
        batch.lay_stock(np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="no such option"):
        batch.take((Keep(),), np.array([0]))


@pytest.mark.parametrize(
    ("differs", "why"),
    [
        ({"refuse_doubles": 5}, "seats may refuse a deal"),
        ({"first": "odd_even"}, "seats guess odd or even"),
        ({"highest_pip": 12, "hand": 9}, "a set has 91 tiles, more than 61"),
    ],
)
def test_rules_without_values_are_refused_by_name(differs: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=f"no values for the rules mine: {why}"):
        mask_tables(derive(find_variant("draw"), "mine", differs), 2)
