"""Draw Dominoes (source C): C.17 to C.37 and the paragraphs on countries, clause by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

from arena.rules.variants import find_variant
from protocol.messages import Drew
from protocol.ruleset import set_of_tiles
from tests.support.positions import do, options, position, rules, shuffled

SIXES = "60 01 16 62 23 36 64 45 56"
"""A line with every six but 6-6; both ends show six once it is played."""


# --- C.17 to C.20: when a player is unable to play ---


def test_C20_a_blocked_game_ends_at_once() -> None:
    """C.20 (blocked): When both ends show a number of which all tiles have been played the game
    immediately ends and is scored. No further tiles are drawn."""
    game = position(
        rules("draw", blocked="at_once"),
        hands=["66 00", "55 44"],
        line=SIXES,
        stock="11 22 33 51 42",
    )
    game = do(game, "66 left")
    state = game.playing
    assert state.over == "blocked"
    assert sum(map(len, state.stock)) == 5
    assert not any(isinstance(event, Drew) for event in state.events)
    assert game.scores == (18, 0)


# --- C.21 to C.23: when able to play ---


def test_C21_when_able_to_play() -> None:
    """C.21 (draw_when_able, draw_limit): When able to play: never a pass, and a draw only as the
    next two clauses say."""
    for able in (True, False):
        for limit in (0, 1, "unlimited"):
            game = position(
                rules("draw", draw_when_able=able, draw_limit=limit),
                hands=["66 21", "50 40"],
                line="13 32",
                stock="43 11 44",
            )
            offered = options(game)
            assert offered[:2] == ("21 left", "21 right")
            assert ("draw" in offered) == (able and limit != 0)
            assert "pass" not in offered


# --- C.24 to C.28: how far and for what ---


# --- C.29 to C.37: scoring ---


# --- the paragraphs ---


def test_C_austria_double_eight_without_doubles() -> None:
    """C Austria (highest_pip, doubles, hand): The game is played using an 8-8 set without doubles
    (36 tiles)."""
    austrian = find_variant("austrian")
    whole = set_of_tiles(austrian.deal)
    assert len(whole) == 36
    assert max(map(max, whole)) == 8
    assert all(high != low for high, low in whole)
    for seats, hand in ((2, 9), (3, 7)):
        game = shuffled(austrian, seats)
        everywhere = [tile for held in game.playing.hands for tile in held]
        everywhere += [tile for row in game.playing.stock for tile in row]
        assert sorted(everywhere) == sorted(whole)
        assert [len(held) for held in game.playing.hands] == [hand] * seats
