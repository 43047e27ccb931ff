"""Rows of arrays do, bit for bit, what rows of the engine do."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arena import engine
from arena.engine.deal import lay_out
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, find_variant
from arena.valuation.plain import settled
from arena.valuation.playouts import play_out
from arena.valuation.rows.array_rows import ArrayRows
from arena.valuation.rows.game_rows import GameRows
from arena.valuation.rows.mask_tables import mask_tables
from arena.valuation.states import States
from protocol.messages import Call, Draw, GoOn, Keep, Pass, Play, PlayTwo
from protocol.ruleset import Ruleset, playable_seat_counts, set_of_tiles
from tests.support.rulesets import MANY, many, seated

SHARE = 0.2
"""The share of states that are compared."""
KNOWN = (Play, PlayTwo, Draw, Pass, Call, GoOn)


def moments(rules: Ruleset, seats: int, luck: random.Random, rounds: int = 2) -> Iterator[Game]:
    """Yield some states of rounds that are played at random."""
    game, seed = engine.new_game(rules, seats), luck.randbytes(32)
    for _ in range(rounds):
        while not game.over:
            if engine.needs_deal(game):
                engine.begin(game, engine.chance_decides(game, seed))
            else:
                options = engine.legal(game)
                engine.act_unchecked(game, luck.choice((options[0], *options)))
            if luck.random() < SHARE:
                yield game.copy()
            if game.playing.over:
                break


def check(games: Sequence[Game], luck: random.Random) -> None:
    """Compare what becomes of these games in arrays and in the engine."""
    if not games:
        return
    arrays, rows = States.of(games), States(GameRows.of([settled(game) for game in games]))
    if mask_tables(games[0].rules, games[0].seats) is None:
        assert isinstance(arrays.rows, GameRows)
        return
    assert isinstance(arrays.rows, ArrayRows)
    seed = luck.getrandbits(32)
    same([arrays, *developed(arrays, games, seed)], [rows, *developed(rows, games, seed)])


def developed(states: States, games: Sequence[Game], seed: int) -> Iterator[States]:
    """Yield what methods of states make of those in which a seat is to move."""
    luck = random.Random(seed)
    for at, game in enumerate(games):
        options, state = engine.legal(game), game.playing
        if not options:
            continue
        two = states.taken(np.array([at, at])).with_stock(stock_orders(game, luck))
        yield two
        if state.aside.must_lead is None and state.aside.phase == "play":
            yield two.with_hands({0: hand_of(game, 1), 1: hand_of(game, 0)})
        for option in options:
            if isinstance(option, KNOWN):
                yield two.after(option)
        known = [option for option in options if isinstance(option, KNOWN)]
        if known:
            which = np.array(luck.choices(range(len(known)), k=10))
            yield two.repeated(5).after_each(known, which)
        if Draw() in options:
            tiles = [row.bit_length() - 1 for row in luck.choices([*chain(*state.stock_rows)], k=2)]
            yield two.after_draw(np.array(tiles))


def same(arrays: Sequence[States], rows: Sequence[States]) -> None:
    """Compare scores, and the ends of playouts."""
    one, other = States.joined(arrays), States.joined(rows)
    assert len(one) == len(other)
    gains, others = play_out(one), play_out(other)
    assert (one.scores + gains == other.scores + others).all()
    games = other.rows
    assert isinstance(games, GameRows)
    # An auction that is still open, in which nobody bids, may be all that is left of a round.
    open_ones = [game.playing.aside.phase == "auction" for game in games.games]
    assert ((gains == others).all(axis=1) | open_ones).all()


def stock_orders(game: Game, luck: random.Random) -> NDArray[np.int8]:
    """Return two random orders of the boneyard."""
    tiles = [bit.bit_length() - 1 for row in game.playing.stock_rows for bit in row]
    return np.array([luck.sample(tiles, len(tiles)) for _ in range(2)], np.int8).reshape(
        2, len(tiles)
    )


def hand_of(game: Game, seat: int) -> NDArray[np.int8]:
    """Return a hand, filled up with no tile."""
    held = [bit.bit_length() - 1 for bit in game.playing.hand_bits[seat]]
    return np.array([*held, -1, -1], np.int8)


@pytest.mark.parametrize("name", VARIANTS)
def test_named_games_at_all_tables(name: str) -> None:
    luck = random.Random(name)
    rules = find_variant(name)
    for seats in playable_seat_counts(rules):
        check(list(moments(rules, seats, luck)), luck)


@pytest.mark.parametrize(("name", "seats", "differs"), MANY)
def test_large_tables(name: str, seats: int, differs: dict[str, object]) -> None:
    luck = random.Random(name)
    check(list(moments(many(name, differs), seats, luck)), luck)


@given(seated(), st.randoms(use_true_random=False))
def test_random_rules(table: tuple[Ruleset, int], luck: random.Random) -> None:
    check(list(moments(*table, luck, rounds=1)), luck)


def test_numbers_are_those_of_the_set() -> None:
    game = engine.new_game(find_variant("draw"), 2)
    tiles = set_of_tiles(game.rules.deal)
    assert all(game.settings.table.bit[tile] == 1 << at for at, tile in enumerate(tiles))


def test_a_row_gains_the_same_in_any_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    luck = random.Random(1)
    states = States.of(list(moments(find_variant("draw"), 4, luck))).repeated(5)
    gains, order = play_out(states), np.array(luck.sample(range(len(states)), len(states)))
    monkeypatch.setattr("arena.valuation.rows.array_playouts.TOGETHER", 3)
    assert (play_out(states.taken(order)) == gains[order]).all()


def check_leads(rules: Ruleset, seats: int, luck: random.Random) -> None:
    """Compare how the leader of a deal is found that counts."""
    game = engine.new_game(rules, seats)
    dealt = engine.chance_decides(game, luck.randbytes(32))
    if dealt.deal == 0:
        return
    begun = game.copy()
    engine.begin(begun, dealt)
    lay_out(game, dealt)
    if engine.needs_deal(begun) or mask_tables(rules, seats) is None:
        return
    pair = [one.taken(np.array([0, 0])) for one in (States.of([game]), States(GameRows.of([game])))]
    orders = stock_orders(game, luck)
    same(*[[one.led(), one.with_stock(orders).led()] for one in pair])


@pytest.mark.parametrize("name", VARIANTS)
def test_leaders_of_named_games(name: str) -> None:
    luck = random.Random(name)
    for seats in playable_seat_counts(find_variant(name)):
        check_leads(find_variant(name), seats, luck)


@given(seated(), st.randoms(use_true_random=False))
def test_leaders_by_random_rules(table: tuple[Ruleset, int], luck: random.Random) -> None:
    check_leads(*table, luck)


def test_what_no_row_can_do_is_refused() -> None:
    game = engine.new_game(find_variant("draw"), 2)
    engine.begin(game, engine.chance_decides(game, bytes(32)))
    states, held = States.of([game]), hand_of(game, 0)
    with pytest.raises(ValueError, match="does not lie in the boneyard"):
        states.after_draw(held[:1])
    with pytest.raises(ValueError, match="fewer tiles than the boneyard"):
        states.with_stock(held[:3])
    with pytest.raises(ValueError, match="no such option"):
        states.after(Keep())
