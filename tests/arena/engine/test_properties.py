"""Properties of every ruleset that the type admits (rules.md, part 4)."""

import random
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.engine import turn, values
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, derive, find_variant
from protocol.messages import (
    Bid,
    Call,
    Draw,
    GoOn,
    Guess,
    Keep,
    Option,
    Pass,
    Play,
    PlayTwo,
    Refuse,
)
from protocol.messages import End as Where
from protocol.ruleset import MOST_DEALS, Ruleset, high_first, playable_seat_counts, set_of_tiles
from tests.support.fast_run import FAST_GAMES, slow_except
from tests.support.positions import snapshot
from tests.support.rulesets import CROWDS, crowd_rules, rules_and_seats

seeds = st.integers(0, 2**32).map(lambda n: board_seed(b"test", "event", n))
lucks = st.randoms(use_true_random=False)
Table = tuple[Ruleset, int]


def begin_round(game: Game, seed: bytes) -> Game:
    return values.begin(game, values.chance_decides(game, seed))


def states_of_game(table: Table, seed: bytes, rng: random.Random) -> Iterator[Game]:
    """Yield every state of one game, played at random."""
    game = begin_round(values.new_game(*table), seed)
    yield game
    while not game.over:
        if values.needs_deal(game):
            game = begin_round(game, seed)
        else:
            game = values.act(game, rng.choice(values.legal(game)))
        yield game


def check_everything(table: Table, seed: bytes, rng: random.Random) -> None:
    """Check all properties of one game. What each rule says is compared with the batch of rounds,
    in arena/valuation."""
    rules, seats = table
    tiles, states = sorted(set_of_tiles(rules.deal)), 0
    for game in states_of_game(table, seed, rng):
        states += 1
        check_conservation(game, tiles)
        assert all(left[1] == right[0] for left, right in pairwise(game.playing.line))
        check_options(game)
        out = any(not hand for hand in game.playing.hands) and game.playing.phase.name == "play"
        assert (game.playing.over == "out") == (out and game.playing.phase.deal > 0)
        assert not rules.stakes.chips or min(game.scores) >= -rules.stakes.chips
    a_deal = len(tiles) * (3 + 2 * seats) + 4 * seats
    assert states <= max(rules.game.max_rounds, rules.game.rounds) * (a_deal + MOST_DEALS * seats)


def check_conservation(game: Game, tiles: list[tuple[int, int]]) -> None:
    state = game.playing
    all_tiles = [tile for hand in state.hands for tile in hand]
    all_tiles += [tile for row in state.stock for tile in row]
    all_tiles += [high_first(tile) for tile in state.line]
    guessing = state.phase.deal == 0
    assert sorted(all_tiles) == ([] if guessing else tiles)


def check_options(game: Game) -> None:
    """Check that a round has options until it is over or must be dealt, and lists none twice."""
    options = values.legal(game)
    assert bool(options) != values.needs_deal(game)
    assert len(set(map(repr, options))) == len(options)


@given(rules_and_seats(), seeds, lucks)
def test_every_ruleset_keeps_every_property(table: Table, seed: bytes, rng: random.Random) -> None:
    check_everything(table, seed, rng)


# Slow: every named game keeps every property of the engine.
@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_every_named_game_keeps_every_property(name: str) -> None:
    rules = find_variant(name)
    for seats in playable_seat_counts(rules):
        for number in range(5):
            check_everything((rules, seats), board_seed(b"n", name, number), random.Random(number))


@pytest.mark.parametrize(("name", "seats", "differs"), CROWDS)
def test_more_than_four_seats_keep_every_property(
    name: str, seats: int, differs: dict[str, Any]
) -> None:
    for number in range(4):
        seed = board_seed(b"n", name, number)
        check_everything((crowd_rules(name, differs), seats), seed, random.Random(number))


@given(rules_and_seats(), seeds, lucks)
def test_act_takes_what_legal_lists_and_nothing_else(
    table: Table, seed: bytes, rng: random.Random
) -> None:
    """Options of every kind that a message can state, at some moments of a game."""
    for game in islice(states_of_game(table, seed, rng), 0, 30, 6):
        legal = values.legal(game)
        for option in message_options(game, rng):
            if option in legal:
                assert snapshot(values.act(game, option)) == snapshot(
                    values.act_unchecked(game, option)
                )
            else:
                with pytest.raises(values.IllegalOptionError, match="Not a legal option now"):
                    values.act(game, option)


def message_options(game: Game, rng: random.Random) -> list[Option]:
    """Return options of every kind, with some tiles of the set."""
    tiles = rng.sample(set_of_tiles(game.rules.deal), 6)
    tiles += [tile for hand in game.playing.hands for tile in hand[:2]]
    ends: tuple[Where, ...] = ("lead", "left", "right")
    plays: list[Option] = [Play(tile, end) for tile in tiles for end in ends]
    pairs: list[Option] = [PlayTwo(tile, next_tile) for tile, next_tile in pairwise(tiles)]
    turned_plays: list[Option] = [Play((low, high), "left") for high, low in tiles if high > low]
    bids: list[Option] = [Bid(chips) for chips in (-1, 0, 1, 9, 10**6)]
    asides: list[Option] = [Draw(), Pass(), Keep(), Refuse(), Guess("odd"), Call(), GoOn()]
    return [*plays, *pairs, *turned_plays, *bids, *asides, *values.legal(game)]


def test_no_option_is_legal_when_nobody_is_to_move() -> None:
    game = values.new_game(Ruleset(name="draw"), 2)
    with pytest.raises(values.IllegalOptionError):
        values.act(game, Pass())
    short_rules = derive(find_variant("block"), "short", {"rounds": 1})
    *_, final_game = states_of_game((short_rules, 2), bytes(32), random.Random(1))
    assert final_game.over
    with pytest.raises(values.IllegalOptionError):
        values.act(final_game, Pass())


@given(st.integers(2, 4), seeds)
def test_one_seats_draws_do_not_shift_the_others(seats: int, seed: bytes) -> None:
    """Two seats share a row and take from its two ends."""
    game = begin_round(values.new_game(Ruleset(name="draw"), seats), seed)
    lone_round, shared_round = game.playing.copy(), game.playing.copy()
    tile = turn.take(game.settings, lone_round, 0)
    turn.take(game.settings, shared_round, 1)
    assume(shared_round.stock_size > 1)
    assert turn.take(game.settings, shared_round, 0) == tile


def test_very_many_chips_still_fit_a_line() -> None:
    """With a thousand chips and great bonuses every bid was an option: a reader met such a line."""
    differs = {"chips": 1000, "bonus": [100_000]}
    game = values.new_game(derive(find_variant("auction-draw"), "rich", differs), 2)
    game.scores = (100_000, 100_000)
    game = begin_round(game, board_seed(b"rich", "e", 1))
    bids = turn.legal_bids(game, game.playing)
    assert len(bids) == turn.MOST_BIDS + 2
    assert [bid.chips for bid in bids[:3]] == [0, 1, 2]
    assert bids[-1].chips == 100_997  # an ante of 3 is paid
