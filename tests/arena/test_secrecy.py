"""What a seat is sent does not depend on what it cannot see.

The hidden tiles are dealt again at random, the same public game is played, and every byte sent to
the seat must be the same. A referee made to leak must be caught.
"""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.engine import game as engine
from arena.engine import view
from arena.engine.chance import board_seed
from arena.engine.state import Game, Round
from arena.engine.turn import can_play
from protocol.codec import encode_line
from protocol.messages import Drew
from protocol.rules import Ruleset
from tests.rulesets import rulesets

seeds = st.integers(0, 2**32).map(lambda n: board_seed(b"secret", "event", n))


def positions(rules: Ruleset, seats: int, seed: bytes, luck: random.Random) -> Iterator[Game]:
    """Every position of one round in which somebody must move."""
    game = engine.next_round(engine.new_game(rules, seats), seed)
    while game.round and not game.round.over:
        yield game
        game = engine.act(game, luck.choice(engine.legal(game)))


def sent(game: Game, seat: int) -> bytes:
    """The question that the seat to move is sent."""
    assert game.round
    memory = view.Memory(game.seats)
    memory.catch_up(game.round.events)
    options = engine.legal(game)
    return encode_line(
        view.question(game, seat, options, memory.of(seat), id=1, number=1, time_ms=1)
    )


def permuted(game: Game, seat: int, luck: random.Random) -> Game:
    """The same game with all tiles that the seat cannot see dealt again at random."""
    state = game.round
    assert state
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
    return Game(
        game.rules,
        game.seats,
        game.target,
        game.scores,
        Round(
            state.number,
            state.leader,
            state.turn,
            hands,
            stock,
            state.drawable,
            state.line,
            state.drawn,
            events,
        ),
        game.points,
    )


@given(rulesets(), st.integers(2, 4), seeds, st.randoms(use_true_random=False))
def test_hidden_tiles_change_not_one_byte(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    for game in positions(rules, seats, seed, luck):
        assert game.round
        seat = game.round.turn
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
    able = bool(state.line) and can_play(following, state.line[0][0], state.line[-1][1])
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
