"""What must hold for every ruleset that the type admits (rules.md, part 4)."""

import random
from collections.abc import Iterator
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from arena.engine import game as engine
from arena.engine.chance import board_seed
from arena.engine.state import Game, Round
from protocol.messages import Draw, Option, Pass, Play
from protocol.rules import (
    Ruleset,
)
from protocol.tiles import as_held, tile_set
from tests.rulesets import rulesets

seeds = st.integers(0, 2**32).map(lambda n: board_seed(b"test", "event", n))
tables = st.integers(2, 4)


def played(rules: Ruleset, seats: int, seed: bytes, luck: random.Random) -> Iterator[Game]:
    """Every state of one game, played at random."""
    game = engine.next_round(engine.new_game(rules, seats), seed)
    yield game
    while not game.over:
        assert game.round
        if game.round.over:
            game = engine.next_round(game, seed)
        else:
            game = engine.act(game, luck.choice(engine.legal(game)))
        yield game


def dealt(game: Game) -> Round:
    assert game.round
    return game.round


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_tiles_are_conserved(rules: Ruleset, seats: int, seed: bytes, luck: random.Random) -> None:
    tiles = sorted(tile_set(rules.deal.highest_pip))
    for game in played(rules, seats, seed, luck):
        state = dealt(game)
        everywhere = [tile for hand in state.hands for tile in hand]
        everywhere += [tile for row in state.stock for tile in row]
        everywhere += [as_held(tile) for tile in state.line]
        assert sorted(everywhere) == tiles


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_there_is_an_option_until_the_round_is_over_and_every_game_ends(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    states = 0
    for game in played(rules, seats, seed, luck):
        states += 1
        options = engine.legal(game)
        assert bool(options) != bool(dealt(game).over)
        assert len(set(map(repr, options))) == len(options)
    tiles = len(tile_set(rules.deal.highest_pip))
    assert states <= rules.game.max_rounds * (tiles * (2 + seats) + 2) + 1


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_the_line_always_matches(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    for game in played(rules, seats, seed, luck):
        line = dealt(game).line
        assert all(one[1] == two[0] for one, two in pairwise(line))


def naive_options(game: Game) -> set[str]:
    """What may be done, worked out again from the clauses by brute force."""
    state, rules = dealt(game), game.rules
    hand = state.hands[state.turn]
    found: list[Option] = []
    if not state.line:
        found += [Play(tile, "lead") for tile in hand]
    else:
        left, right = state.line[0][0], state.line[-1][1]
        found += [Play(tile, "left") for tile in hand if left in tile]
        if left != right:
            found += [Play(tile, "right") for tile in hand if right in tile]
    limit = rules.turn.draw_limit
    reached = limit != "unlimited" and state.drawn >= limit
    lying = sum(len(row) for row in state.stock)
    allowed = not found or (
        rules.turn.draw_when_able and (bool(state.line) or rules.turn.leader_may_draw)
    )
    if allowed and not reached and lying > rules.boneyard.reserve:
        found.append(Draw())
    return {repr(option) for option in found or [Pass()]}


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_legal_lists_exactly_what_the_clauses_allow(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    for game in played(rules, seats, seed, luck):
        if not dealt(game).over:
            assert {repr(option) for option in engine.legal(game)} == naive_options(game)


def naive_points(game: Game) -> list[int]:
    """A second scorer that shares nothing with the engine's."""
    state, score = dealt(game), game.rules.score
    hands = []
    for hand in state.hands:
        total = 0
        for a, b in hand:
            total += score.double_blank if a == b == 0 else a + b
        hands.append(total)
    gone_out = [seat for seat, hand in enumerate(state.hands) if not hand]
    winner: int | None
    if score.winner == "out" and gone_out:
        winner = gone_out[0]
    else:
        lowest = [seat for seat in range(len(hands)) if hands[seat] == min(hands)]
        winner = lowest[0] if len(lowest) == 1 else None
    points = [0] * len(hands)
    if winner is None:
        return points
    formula = score.points_out if gone_out else score.points_blocked
    losers = sum(hands[seat] for seat in range(len(hands)) if seat != winner)
    values = {"others": losers, "others_minus_own": max(0, losers - hands[winner]), "one": 1}
    points[winner] = values[formula]
    return points


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_points_match_an_independent_recount(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    total = [0] * seats
    for game in played(rules, seats, seed, luck):
        if dealt(game).over:
            assert list(game.points) == naive_points(game)
            total = [old + new for old, new in zip(total, game.points, strict=True)]
            assert list(game.scores) == total


@given(rulesets(), tables, seeds, st.randoms(use_true_random=False))
def test_a_round_is_over_exactly_when_somebody_is_out_or_nobody_can_go_on(
    rules: Ruleset, seats: int, seed: bytes, luck: random.Random
) -> None:
    for game in played(rules, seats, seed, luck):
        state = dealt(game)
        lying = sum(len(row) for row in state.stock)
        drawable = rules.turn.draw_limit != 0 and lying > rules.boneyard.reserve
        ends = {state.line[0][0], state.line[-1][1]} if state.line else set(range(20))
        stuck = not drawable and not any(ends & set(tile) for hand in state.hands for tile in hand)
        out = any(not hand for hand in state.hands)
        assert bool(state.over) == (out or stuck)
        assert (state.over == "out") == out


@given(rulesets(), tables, seeds)
def test_the_same_seed_gives_the_same_deal(rules: Ruleset, seats: int, seed: bytes) -> None:
    new = engine.new_game(rules, seats)
    assert engine.next_round(new, seed) == engine.next_round(new, seed)


def test_a_deal_never_changes() -> None:
    """Fixed on purpose: another Python or another release must deal the same tiles."""
    game = engine.next_round(engine.new_game(Ruleset(name="draw"), 2), board_seed(b"x", "e", 1))
    assert dealt(game).hands[0] == DEAL


DEAL = ((3, 3), (2, 0), (3, 0), (6, 0), (2, 1), (6, 1), (5, 4))


@given(tables, seeds)
def test_one_seats_draws_do_not_shift_the_others(seats: int, seed: bytes) -> None:
    """Two seats share a row and take from its two ends."""
    game = engine.next_round(engine.new_game(Ruleset(name="draw"), seats), seed)
    state = dealt(game)
    from arena.engine import boneyard

    mine, _ = boneyard.draw(0, state.stock)
    _, left = boneyard.draw(1, state.stock)
    assume(sum(map(len, left)) > 1)
    assert boneyard.draw(0, left)[0] == mine
