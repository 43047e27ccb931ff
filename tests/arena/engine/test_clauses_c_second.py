"""Draw Dominoes (source C): C.17 to C.37 and the paragraphs on countries, clause by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

import pytest

from arena.engine import values
from arena.rules.variants import find_variant
from protocol.messages import Drew, Passed
from protocol.ruleset import set_of_tiles
from tests.support.positions import dealing, do, options, position, rules, shuffled, tiles, turn
from tests.support.scenes import asked, blocked, seen_events, went_out

SIXES = "60 01 16 62 23 36 64 45 56"
"""A line with every six but 6-6; both ends show six once it is played."""


# --- C.17 to C.20: when a player is unable to play ---


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_C19_a_limit_on_the_tiles_that_can_be_drawn(limit: int) -> None:
    """C.19 (draw_limit): There may be a limit on tiles that can be drawn."""
    limited = rules("draw", draw_limit=limit, draw_when_able=False, reserve=0)
    game = position(limited, hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55 64")
    for _ in range(limit):
        assert options(game) == ("draw",)
        game = do(game, "draw")
    assert asked(game).boneyard.drawable == 5 - limit
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    assert asked(game).events[-1] == Passed(0)


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


def test_C20_is_not_how_the_main_game_ends() -> None:
    """C.20 (blocked): As reported of some people only: the main description draws on."""
    game = position("draw", hands=["66 00", "55 44"], line=SIXES, stock="11 22 33 51 42")
    game = do(game, "66 left")
    for _ in range(3):
        assert turn(game) == 1
        assert options(game) == ("draw",)
        game = do(game, "draw")
    assert game.playing.over == "blocked"
    assert sum(map(len, game.playing.stock)) == 2
    drawn = values.pips(game)[1] - 18
    assert drawn > 0
    assert game.scores == (18 + drawn, 0)


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


def test_C22_draw_before_playing_and_after_a_playable_tile() -> None:
    """C.22 (draw_when_able): A player may draw before playing. This includes continuing to draw
    after a playable tile is drawn."""
    game = position(
        rules("draw", draw_when_able=True),
        hands=["66 21", "50 40"],
        line="13 32",
        stock="43 10 44 55 54",
    )
    assert options(game) == (*("21 left", "21 right"), "draw")
    game = do(game, "draw", "draw")
    assert tiles("10")[0] in asked(game).hand
    assert options(game) == (*("21 left", "21 right", "10 left"), "draw")
    game = do(game, "draw")
    # The boneyard is down to two, so now it must play.
    assert options(game) == ("21 left", "21 right", "10 left")


# --- C.24 to C.28: how far and for what ---


def test_C24_the_boneyard_can_be_drawn_until() -> None:
    """C.24 (reserve): The tiles in the boneyard can be drawn until: everybody sees how many are
    left and how many of them may be drawn."""
    for reserve, expected in ((0, 5), (2, 3), (5, 0), (7, 0)):
        game = position(
            rules("draw", reserve=reserve),
            hands=["66 21", "50 40"],
            line="13 32",
            stock="43 10 44 55 54",
        )
        boneyard = asked(game).boneyard
        assert (boneyard.tiles, boneyard.drawable) == (5, expected)


def test_C26_auction_draw() -> None:
    """C.26 (auction, chips, pot, ante, rounds): There is a variant Auction Draw Dominoes in which
    the last two tiles are auctioned to the players."""
    auction = find_variant("auction-draw")
    game = position(
        auction, hands=["66 50", "21 40"], line="13 32", stock="44 65 55", scores=(-3, -3), pot=6
    )
    game = do(game, "draw", "pass")
    assert turn(game) == 1
    assert options(game)[:3] == ("bid 0", "bid 1", "bid 2")
    assert auction.game.rounds == 20
    assert (
        dealing(auction, hands=["66 50", "21 40"], stock="44 65 55").pot == 2 * auction.stakes.ante
    )


# --- C.29 to C.37: scoring ---


def test_C31_the_pips_of_the_other_players() -> None:
    """C.31 (points_out, winner): A common method is for the winner to score the total pips on the
    tiles of the other player(s)."""
    for table in (("66 50",), ("66 50", "22"), ("66 50", "22", "00")):
        game = went_out(rules("draw", winner="out", points_out="others"), *table)
        assert game.points[0] == sum(values.pips(game))
        assert game.points[1:] == (0,) * len(table)


OUT_BUT_HEAVY = ("20", "66 65", "30")
"""Seat 0 goes out; its partner holds 23, their opponents 2 and 3."""


@pytest.mark.parametrize(
    ("formula", "gone", "stuck"),
    [
        ("others_minus_own", 23 - 5, 12 - 9),
        ("others", 23, 12),
        ("everybody", 23 + 5, 12 + 9),
        ("difference", 23 - 5, 12 - 9),
        ("one", 1, 1),
        ("nothing", 0, 0),
    ],
)
def test_C36_every_way_to_count_holds_for_a_side(formula: str, gone: int, stuck: int) -> None:
    """C.36 (points_out, points_blocked, partners): the winning team scores as any winner does (C.30
    to C.35), the two hands of a team counted as one."""
    partners = rules("draw-partners", points_out=formula, points_blocked=formula)
    assert went_out(partners, *OUT_BUT_HEAVY).points == (0, gone, 0, gone)
    assert blocked(partners, "00 20", "40", "64", "50").points == (0, stuck, 0, stuck)


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


def test_C_egypt_nobody_sees_what_was_drawn() -> None:
    """C Egypt (order): … the row lies face down; that a tile was drawn is all the others see."""
    game = position("arab-row", hands=["66 50", "40 44"], line="13 32", stock="65 21 64 53 43 00")
    game = do(game, "draw", "draw", "21 left")
    drawn = [event for event in seen_events(game, 1) if isinstance(event, Drew)]
    assert drawn == [Drew(0), Drew(0)]
    own = [event for event in seen_events(game, 0) if isinstance(event, Drew)]
    assert own == [Drew(0, (6, 5)), Drew(0, (2, 1))]


def test_C_egypt_elsewhere_seats_draw_from_places_of_their_own() -> None:
    """C Egypt (order): the main description lets a player choose any tile of the boneyard."""
    stock = "65 60 64 63 43 00"
    first = []
    for seat in (0, 1):
        game = position(
            rules("draw", order="scattered"),
            hands=["66 50", "40 44"],
            line="11",
            stock=stock,
            turn=seat,
        )
        first.append(asked(do(game, "draw")).hand[-1])
    assert first == [(6, 5), (0, 0)]
    row = []
    for seat in (0, 1):
        game = position(
            rules("draw", order="row"), hands=["66 50", "40 44"], line="11", stock=stock, turn=seat
        )
        row.append(asked(do(game, "draw")).hand[-1])
    assert row == [(6, 5), (6, 5)]


def test_C_egypt_no_option_names_a_tile_of_the_boneyard() -> None:
    """C Egypt (order): … they cannot choose which tile to draw: there is one way to draw."""
    game = position("arab-row", hands=["66 50", "40 21"], line="13 32", stock="65 20 64 53 43 00")
    assert options(game) == ("draw",)
    assert not any(" " in option for option in options(game))
