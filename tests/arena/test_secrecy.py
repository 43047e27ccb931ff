"""What a seat is sent does not depend on what it cannot see.

The hidden tiles are dealt again at random, the same public game is played, and every byte sent to
the seat must be the same. A referee made to leak must be caught.
"""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.engine import game as engine
from arena.engine import view
from arena.engine.chance import board_seed
from arena.engine.state import Game
from protocol.codec import encode_line
from protocol.messages import Drew, Lot
from protocol.rules import Ruleset
from protocol.tiles import tile_set
from tests.rulesets import seated

DOUBLE_SIX = tile_set(6)
seeds = st.integers(0, 2**32).map(lambda n: board_seed(b"secret", "event", n))


def positions(rules: Ruleset, seats: int, seed: bytes, luck: random.Random) -> Iterator[Game]:
    """Every position of one round in which somebody must choose."""
    game = engine.new_game(rules, seats)
    game = engine.begin(game, engine.chance_decides(game, seed))
    while not game.playing.over:
        if engine.needs_deal(game):
            game = engine.begin(game, engine.chance_decides(game, seed))
            continue
        options = engine.legal(game)
        if len(options) > 1:
            yield game
        game = engine.act(game, luck.choice(options))


def sent(game: Game, seat: int) -> bytes:
    """The question that the seat to move is sent."""
    memory = view.Memory(game.seats)
    memory.catch_up(game.playing)
    options = engine.legal(game)
    return encode_line(
        view.question(game, seat, options, memory.of(seat), id=1, number=1, time_ms=1)
    )


def permuted(game: Game, seat: int, luck: random.Random) -> Game:
    """The same game with all tiles that the seat cannot see dealt again at random."""
    state = game.playing
    hidden = [t for other, hand in enumerate(state.hands) if other != seat for t in hand]
    hidden += [tile for row in state.stock for tile in row]
    luck.shuffle(hidden)
    deck = iter(hidden)
    hands = tuple(
        hand if other == seat else tuple(next(deck) for _ in hand)
        for other, hand in enumerate(state.hands)
    )
    stock = tuple(tuple(next(deck) for _ in row) for row in state.stock)
    drawn = iter(hidden)
    events = tuple(
        Drew(event.seat, next(drawn, None))
        if isinstance(event, Drew) and event.seat != seat
        else event
        for event in state.events
    )
    lots = tuple(Lot(lot.seat, luck.choice(DOUBLE_SIX)) for lot in state.aside.lots)
    aside = replace(state.aside, lots=lots)
    return replace(game, round=replace(state, hands=hands, stock=stock, events=events, aside=aside))


@given(seated(), seeds, st.randoms(use_true_random=False))
def test_hidden_tiles_change_not_one_byte(
    table: tuple[Ruleset, int], seed: bytes, luck: random.Random
) -> None:
    for game in positions(*table, seed, luck):
        seat = game.playing.turn
        assert sent(permuted(game, seat, luck), seat) == sent(game, seat)


def leaks_drawn_tiles(game: Game, seat: int) -> bytes:
    assert game.round
    return sent(game, seat) + repr(game.round.events).encode()


def leaks_the_others_hands(game: Game, seat: int) -> bytes:
    assert game.round
    return sent(game, seat) + repr(game.round.hands).encode()


def leaks_whether_the_next_can_play(game: Game, seat: int) -> bytes:
    assert game.round
    state = game.round
    following = state.hands[(seat + 1) % game.seats]
    ends = {state.line[0][0], state.line[-1][1]} if state.line else set()
    able = any(ends & set(tile) for tile in following)
    return sent(game, seat) + bytes([able])


@pytest.mark.parametrize(
    "leak", [leaks_drawn_tiles, leaks_the_others_hands, leaks_whether_the_next_can_play]
)
def test_a_referee_that_leaks_is_caught(leak: object) -> None:
    assert callable(leak)
    caught = 0
    for number in range(20):
        luck = random.Random(number)
        seed = board_seed(b"secret", "event", number)
        for game in positions(Ruleset(name="draw"), 2, seed, luck):
            assert game.round
            seat = game.round.turn
            caught += leak(permuted(game, seat, luck), seat) != leak(game, seat)
    assert caught > 20
