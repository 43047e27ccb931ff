"""Draw Dominoes (source C): C.17 to C.37 and the paragraphs on countries, clause by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

import pytest

from arena.engine import values
from arena.rules.variants import find_variant
from protocol.messages import Drew, Passed
from protocol.ruleset import ImpossibleRulesError, check_seats, playable_seat_counts, set_of_tiles
from tests.support.positions import (
    dealing,
    do,
    options,
    over,
    position,
    rules,
    shuffled,
    tiles,
    turn,
)
from tests.support.scenes import asked, blocked, next_round, seen_events, went_out

SIXES = "60 01 16 62 23 36 64 45 56"
"""A line with every six but 6-6; both ends show six once it is played."""


# --- C.17 to C.20: when a player is unable to play ---


def test_C17_when_unable_to_play() -> None:
    """C.17 (draw_limit, reserve): When a player is unable to play: draw, or with nothing to draw,
    pass."""
    hands, line = ["66 50", "21 40"], "13 32"
    game = position(rules("draw", reserve=0), hands=hands, line=line, stock="43 11")
    assert options(game) == ("draw",)
    game = position(rules("draw", reserve=2), hands=hands, line=line, stock="43 11")
    assert options(game) == ("pass",)
    game = position(rules("block"), hands=hands, line=line, stock="43 11")
    assert options(game) == ("pass",)
    assert asked(game).boneyard.drawable == 0


def test_C18_draw_until_playable_or_empty() -> None:
    """C.18 (draw_limit, draw_when_able, reserve): A player must draw tiles until a playable tile is
    drawn or the boneyard is empty."""
    until = rules("draw", draw_when_able=False, reserve=0)
    game = position(until, hands=["66 50", "21 40"], line="13 32", stock="44 65 10 11")
    for expected in (4, 3, 2):
        assert options(game) == ("draw",)
        assert asked(game).boneyard.tiles == asked(game).boneyard.drawable == expected
        game = do(game, "draw")
    assert options(game) == ("10 left",)
    assert asked(game).hand == tiles("66 50 44 65 10")


def test_C18_an_empty_boneyard_ends_the_drawing_with_a_pass() -> None:
    """C.18 (draw_limit, draw_when_able, reserve): … or the boneyard is empty."""
    until = rules("draw", draw_when_able=False, reserve=0)
    game = position(until, hands=["66 50", "21 40"], line="13 32", stock="44 65")
    game = do(game, "draw", "draw")
    assert asked(game).boneyard.tiles == 0
    game = do(game, "pass")
    assert turn(game) == 1
    assert options(game) == ("21 left", "21 right")


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


def test_C20_one_dead_end_is_not_blocked() -> None:
    """C.20 (blocked, highest_pip): both ends show such a number, not one. (In a double-six set a
    dead end never comes alone; in a double-seven set it may.)"""
    game = position(
        rules("draw", highest_pip=7, blocked="at_once"),
        hands=["66 00", "55 44"],
        line="50 06 61 12 26 63 34 46 65 57 76",
        stock="11 22 33 51",
    )
    game = do(game, "66 right")
    assert game.playing.over is None
    assert options(game) == (*("55 left",), "draw")


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


def test_C23_a_playable_tile_must_be_played() -> None:
    """C.23 (draw_when_able): A player who holds a playable tile must play it immediately - this
    player is not allowed to draw."""
    must = rules("draw", draw_when_able=False)
    game = position(must, hands=["66 21", "50 40"], line="13 32", stock="43 10 44 55")
    assert options(game) == ("21 left", "21 right")
    game = position(must, hands=["66 50", "51 40"], line="13 32", stock="21 10 44 55")
    game = do(game, "draw")
    assert options(game) == ("21 left", "21 right")
    opening = dealing(must, hands=["66 50", "51 40"], stock="21 10 44 55")
    assert options(opening) == ("66 lead", "50 lead")


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


def test_C25_the_boneyard_is_emptied() -> None:
    """C.25 (reserve): … the boneyard is emptied."""
    game = position(
        rules("draw", reserve=0), hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55"
    )
    for left in (3, 2, 1, 0):
        game = do(game, "draw")
        assert asked(game).boneyard.tiles == left
    assert options(game) == ("pass",)


def test_C26_the_last_two_tiles_remain() -> None:
    """C.26 (reserve): The last two tiles must remain in the boneyard."""
    game = position(
        rules("draw", reserve=2), hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55"
    )
    game = do(game, "draw", "draw")
    assert asked(game).boneyard.tiles == 2
    assert options(game) == ("pass",)


def test_C26_domino_pool() -> None:
    """C.26 (reserve, draw_when_able): In England, this variant is sometimes called Domino Pool."""
    pool = find_variant("domino-pool")
    game = position(pool, hands=["66 50", "21 40"], line="13 32", stock="44 65 55")
    game = do(game, "draw", "pass")
    assert asked(game).boneyard.tiles == 2
    assert options(game) == ("21 left", "21 right")


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


def test_C27_pay_in_points_for_each_tile() -> None:
    """C.27 (fee, draw_optional): Players may draw as many tiles as they wish but must pay for each
    tile in points …"""
    game = position(
        "paid-draw", hands=["66 50", "21 40"], line="13 32", stock="44 65 10 55 54", scores=(1, 7)
    )
    assert options(game) == ("draw", "pass")
    game = do(game, "draw", "draw")
    assert asked(game).scores == (-1, 7)
    assert options(game) == ("draw", "pass")
    game = do(game, "draw")
    assert asked(game).scores == (-2, 7)
    assert options(game) == ("10 left",)
    assert asked(game).pot == 0


def test_C27_as_many_as_they_wish_may_be_none() -> None:
    """C.27 (draw_optional): … as many tiles as they wish: nobody must draw, and a table of passes
    is a blocked game."""
    game = position("paid-draw", hands=["66 50", "60 40"], line="13 32", stock="44 65 10 55 54")
    game = do(game, "pass")
    assert game.playing.over is None
    game = do(game, "pass")
    assert game.playing.over == "blocked"
    assert sum(map(len, game.playing.stock)) == 5
    assert game.scores == (0, 17 - 10)


def test_C27_a_draw_breaks_the_row_of_passes() -> None:
    """C.27 (draw_optional): … only a table of passes without a purchase is a blocked game."""
    game = position("paid-draw", hands=["66 50", "60 40"], line="13 32", stock="44 65 10 55 54")
    game = do(game, "pass", "draw", "pass")
    assert game.playing.over is None
    assert over(do(game, "pass")) == "blocked"


def test_C27_a_play_breaks_the_row_of_passes() -> None:
    """C.27 (draw_optional): … only if nobody can play or buys is the game blocked."""
    game = position("paid-draw", hands=["66 50", "21 40"], line="13 32", stock="44 65 10 55 54")
    game = do(game, "pass", "21 right", "pass")
    assert game.playing.over is None
    assert over(do(game, "pass")) == "blocked"


def test_C27_pay_in_chips_for_each_tile() -> None:
    """C.27 (fee, chips, pot): … or chips; who has none left cannot draw."""
    chips = rules("pot-draw", chips=5)
    game = position(
        chips, hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55 54", scores=(-4, 4)
    )
    game = do(game, "draw")
    assert asked(game).scores == (-5, 4)
    assert asked(game).pot == 1
    assert options(game) == ("pass",)


def test_C27_the_winner_takes_the_pot() -> None:
    """C.27 (fee, pot): … each drawn tile is paid into the pot that the round's winner takes."""
    game = position(
        "pot-draw", hands=["50", "40 21"], line="13 32", stock="44 10 60", turn=0, pot=4
    )
    game = do(game, "draw")
    assert (asked(game).pot, asked(game).scores) == (5, (-1, 0))
    game = do(game, "pass", "21 left")
    assert game.playing.over == "blocked"
    assert game.pot == 0
    own, other = values.pips(game)[1], values.pips(game)[0]
    assert game.scores == (-1, other - own + 5)
    assert game.points == (0, other - own + 5)


def test_C28_one_tile_a_turn_then_play_if_possible() -> None:
    """C.28 (draw_limit): The number of tiles may be limited to one … After drawing the player must
    play if possible."""
    one = rules("draw", draw_limit=1)
    game = position(one, hands=["66 50", "21 40"], line="13 32", stock="10 44 65 55 54")
    game = do(game, "draw")
    assert options(game) == ("10 left",)
    game = do(game, "10 left")
    assert turn(game) == 1


def test_C28_two_tiles_a_turn_then_pass() -> None:
    """C.28 (draw_limit): … or two per turn … or pass if they have no playable tile."""
    two = rules("draw", draw_limit=2, draw_when_able=False)
    game = position(two, hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55 54")
    game = do(game, "draw", "draw")
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    stops = position(two, hands=["66 50", "21 40"], line="13 32", stock="10 65 60 55 54")
    assert options(do(stops, "draw")) == ("10 left",)


# --- C.29 to C.37: scoring ---


def test_C29_scoring_shows_all_hands() -> None:
    """C.29 (winner, points_out): Scoring: the hands are counted and shown, one player is credited,
    the others with nothing."""
    game = went_out("draw", "66", "50 40", "33")
    assert values.pips(game) == (0, 12, 9, 6)
    assert game.playing.hands == ((), tiles("66"), tiles("50 40"), tiles("33"))
    assert game.points == game.scores == (27, 0, 0, 0)
    assert values.legal(game) == ()


def test_C30_one_point_for_going_out() -> None:
    """C.30 (points_out, winner): The winner of the game - the player who goes out … - scores just
    1 point."""
    game = went_out("point-a-round", "66", "50 40", "00")
    assert game.playing.winner == 0
    assert game.points == (1, 0, 0, 0)


def test_C30_one_point_in_a_blocked_game() -> None:
    """C.30 (points_blocked): … or has fewest remaining pips in a blocked game - scores just
    1 point."""
    game = blocked("point-a-round", "66", "22", "50")
    assert game.points == (0, 1, 0)


def test_C30_no_one_scores_a_tied_blocked_game() -> None:
    """C.30 (points_blocked, tie): In case of a tied blocked game no one scores."""
    game = blocked("point-a-round", "40", "22", "50")
    assert game.playing.over == "blocked"
    assert game.points == (0, 0, 0)
    assert game.playing.winner is None


def test_C31_the_pips_of_the_other_players() -> None:
    """C.31 (points_out, winner): A common method is for the winner to score the total pips on the
    tiles of the other player(s)."""
    for table in (("66 50",), ("66 50", "22"), ("66 50", "22", "00")):
        game = went_out(rules("draw", winner="out", points_out="others"), *table)
        assert game.points[0] == sum(values.pips(game))
        assert game.points[1:] == (0,) * len(table)


def test_C32_blocked_the_fewest_pips_win() -> None:
    """C.32 (winner, points_blocked): In the case of a blocked game, normally the winner is the
    player with fewest pips."""
    for winner in ("out", "lowest"):
        game = blocked(rules("draw", winner=winner), "66 50", "22 20", "43")
        assert values.pips(game) == (17, 6, 7)
        assert game.playing.winner == 1


def test_C33_everybody() -> None:
    """C.33 (points_blocked): the winner may score the total of all the remaining pips including
    their own."""
    game = blocked(rules("draw", points_blocked="everybody"), "66 50", "22 20", "43")
    assert game.points == (0, 17 + 6 + 7, 0)


def test_C34_others_less_their_own() -> None:
    """C.34 (points_blocked): the winner may score the total of the other player's pips less their
    own pips."""
    game = blocked(rules("draw", points_blocked="others_minus_own"), "66 50", "22 20", "43")
    assert game.points == (0, 17 + 7 - 6, 0)


def test_C35_the_sum_of_differences() -> None:
    """C.35 (points_blocked): the winner may score the total of the differences between the other
    players' pips and their own pips."""
    game = blocked(rules("draw", points_blocked="difference"), "66 50", "22 20", "43")
    assert game.points == (0, (17 - 6) + (7 - 6), 0)
    two = blocked(rules("draw", points_blocked="difference"), "66 50", "22 20")
    assert two.points == (0, 17 - 6)


OUT_BUT_HEAVY = ("20", "66 65", "30")
"""Seat 0 goes out; its partner holds 23, their opponents 2 and 3."""


def test_C36_the_team_of_the_player_who_went_out() -> None:
    """C.36 (winner, points_out, partners): the winners may be the team in which one of the players
    went out … just the total pips on the tiles of the losing team."""
    game = went_out(rules("draw-partners", winner="out", points_out="others"), *OUT_BUT_HEAVY)
    assert game.playing.winner == 0
    assert game.points == (5, 0, 5, 0)


def test_C36_the_team_with_the_fewest_pips() -> None:
    """C.36 (winner, points_out, partners): … or the team that has fewest pips (in which case the
    team of the player who went out may lose …): the difference, or the losers' total."""
    game = went_out(rules("draw-partners", points_out="others_minus_own"), *OUT_BUT_HEAVY)
    assert game.points == (0, 23 - 5, 0, 23 - 5)
    game = went_out(rules("draw-partners", points_out="others"), *OUT_BUT_HEAVY)
    assert game.points == (0, 23, 0, 23)
    light = went_out(rules("draw-partners"), "66", "20", "65")
    assert light.points == (21, 0, 21, 0)


def test_C36_blocked_the_lighter_team() -> None:
    """C.36 (winner, points_blocked, partners): … the score may be the difference …, or just the
    total pips on the tiles of the losing team; blocked, the fewest pips under both readings."""
    hands = ("00 20", "40", "64", "50")
    for winner, formula, points in (
        ("lowest", "others_minus_own", 3),
        ("lowest", "others", 12),
        ("out", "others_minus_own", 3),
        ("out", "others", 12),
    ):
        differs = {"winner": winner, "points_out": "others", "points_blocked": formula}
        game = blocked(rules("draw-partners", **differs), *hands)
        assert values.pips(game) == (2, 4, 10, 5)
        assert game.points == (0, points, 0, points)


def test_C36_the_difference_needs_the_fewest_pips() -> None:
    """C.36 (winner, points_out, partners): The score may be the difference … (if the winning team
    is determined by the number of pips)."""
    for formula in ("others_minus_own", "difference"):
        with pytest.raises(ImpossibleRulesError, match="set points_out = others"):
            rules("draw-partners", winner="out", points_out=formula)


def test_C36_the_winner_of_the_lighter_team_leads() -> None:
    """C.36 (winner, later): … the team with the fewest pips: its player who went out leads."""
    game = went_out(rules("draw-partners", later="winner"), "00", "60", "50", turn=2)
    assert game.playing.winner == 2
    assert turn(next_round(game)) == 2


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


def test_C37_no_one_scores() -> None:
    """C.37 (tie): In the case of a tied blocked game … either no one scores …"""
    game = blocked(rules("draw", tie="nobody"), "42", "60", "66")
    assert game.playing.winner is None
    assert game.points == (0, 0, 0)


def test_C37_fewest_tiles() -> None:
    """C.37 (tie): … or the tie may be resolved in favour of the player with fewest tiles …"""
    game = blocked(rules("draw", tie="fewest_tiles"), "20 40", "60", "66")
    assert game.points == (0, 6 + 12 - 6, 0)
    still_tied = blocked(rules("draw", tie="fewest_tiles"), "42", "60", "66")
    assert still_tied.points == (0, 0, 0)


def test_C37_lowest_end() -> None:
    """C.37 (tie): … or against the player with the largest number of pips on any of their tile
    ends …"""
    game = blocked(rules("draw", tie="lowest_end"), "60", "42", "66")
    assert game.points == (0, 6 + 12 - 6, 0)
    still_tied = blocked(rules("draw", tie="lowest_end"), "40 20", "42", "66")
    assert still_tied.points == (0, 0, 0)


def test_C37_outsider() -> None:
    """C.37 (tie): … or … giving the game to the player who has fewest remaining pips ignoring
    those involved in the tie."""
    game = blocked(
        rules("draw", tie="outsider", points_blocked="everybody"), "60", "42", "66", "50 30"
    )
    assert values.pips(game) == (6, 6, 12, 8)
    assert game.points == (0, 0, 0, 32)
    assert blocked(rules("draw", tie="outsider"), "60", "42").points == (0, 0)


def test_C37_fewest_tiles_of_teams() -> None:
    """C.37 (tie, points_blocked): … in favour of the team with the fewest tiles in both hands."""
    tied = rules("draw-partners", tie="fewest_tiles", points_blocked="others")
    assert blocked(tied, "60 20", "44", "53", "50 30 00").scores == (16, 0, 16, 0)


def test_C37_tie_of_teams() -> None:
    """C.37 (tie, partners): … the tie of two sides is resolved alike: fewest tiles, lowest end;
    there is no outsider."""
    hands = ("60", "22 20", "42", "33")
    for tie, points in (
        ("nobody", (0, 0, 0, 0)),
        ("outsider", (0, 0, 0, 0)),
        ("fewest_tiles", (12, 0, 12, 0)),
        ("lowest_end", (0, 12, 0, 12)),
    ):
        game = blocked(rules("draw-partners", tie=tie, points_blocked="others"), *hands)
        assert values.pips(game) == (6, 6, 6, 6)
        assert game.points == points


# --- the paragraphs ---


@pytest.mark.parametrize(("name", "limit"), [("dutch", 1), ("dutch-two", 2)])
def test_C_dutch_draws_one_or_two_and_passes(name: str, limit: int) -> None:
    """C Dutch (draw_limit, draw_when_able): A player draws one or two tiles from the boneyard, and
    passes his turn if this does not give him a playable tile."""
    dutch = find_variant(name)
    game = position(dutch, hands=["66 50", "21 40"], line="13 32", stock="44 65 60 55 54")
    game = do(game, *["draw"] * limit)
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert options(game) == ("21 left", "21 right")


def test_C_dutch_double_blank_counts_13() -> None:
    """C Dutch (double_blank): The 0-0 counts as 13 points."""
    game = went_out("dutch", "00 20", "50")
    assert values.pips(game) == (0, 15, 5)
    assert game.points == (20, 0, 0)
    assert blocked("dutch", "00", "66").points == (0, 1)


def test_C_partnership_seven_each_and_no_boneyard() -> None:
    """C partnership (partners, hand, draw_limit, reserve): Each player takes 7 tiles and there is
    no boneyard and therefore no draw."""
    game = shuffled("partnership", 4)
    assert [len(hand) for hand in game.playing.hands] == [7] * 4
    assert (asked(game).boneyard.tiles, asked(game).boneyard.drawable) == (0, 0)
    assert playable_seat_counts(find_variant("partnership")) == (4,)
    game = position("partnership", hands=["66 50", "21 40", "60 51", "44 53"], line="13 32")
    assert options(game) == ("pass",)


def test_C_partnership_partners_share_points_and_places() -> None:
    """C partnership (partners, points_out): the four-player game with partners: seats 0 and 2
    against 1 and 3."""
    game = went_out("partnership", "66 65", "54 20", "55", scores=(60, 80, 60, 80))
    assert game.points == (33, 0, 33, 0)
    assert game.scores == (93, 80, 93, 80)
    assert values.places(game) == (1, 2, 1, 2)
    assert game.over is None


def test_C_puerto_rico_two_or_three_players_seven_tiles_each() -> None:
    """C Puerto Rico (hand): When there are two or three players a draw game with seven tiles each
    is played."""
    game_rules = find_variant("puerto-rico")
    assert playable_seat_counts(game_rules) == (2, 3)
    for seats, left in ((2, 14), (3, 7)):
        game = shuffled(game_rules, seats)
        assert [len(hand) for hand in game.playing.hands] == [7] * seats
        assert asked(game).boneyard.drawable == left
    with pytest.raises(ImpossibleRulesError):
        check_seats(game_rules, 4)


def test_C_puerto_rico_double_six_starts_and_must_be_led() -> None:
    """C Puerto Rico (first, tile): It is usual for the holder of the double six … to start the
    game, and the player must begin with this double."""
    game = dealing("puerto-rico", hands=["55 21", "44 66", "50 40"], stock="10 11 00")
    assert turn(game) == 1
    assert options(game) == ("66 lead",)


def test_C_puerto_rico_highest_double_dealt_starts() -> None:
    """C Puerto Rico (first, missing, tile): … or if it is not dealt the holder of the highest
    double dealt … the player must begin with this double."""
    game = dealing("puerto-rico", hands=["33 65", "44 21", "50 64"], stock="66 55 00")
    assert turn(game) == 1
    assert options(game) == ("44 lead",)


def test_C_puerto_rico_winner_begins_next() -> None:
    """C Puerto Rico (later, direction): Thereafter the winner of each game begins the next."""
    game = went_out("puerto-rico", "66", "50", turn=2, leader=0)
    assert game.playing.winner == 2
    assert game.playing.leader == 0
    game = next_round(game)
    assert game.playing.number == 2
    assert turn(game) == 2
    # With any tile: only the first lead is a double by law.
    assert len(options(game)) == 7
    after = do(game, options(game)[0])
    assert after.playing.turn == 1


def test_C_puerto_rico_draws_until_playable() -> None:
    """C Puerto Rico (draw_limit, reserve): A player who cannot play draws from the boneyard until
    he finds a playable tile …"""
    game = position("puerto-rico", hands=["66 50", "21 40"], line="13 32", stock="44 65 10 11")
    for _ in range(3):
        assert options(game) == ("draw",)
        game = do(game, "draw")
    assert options(game) == ("10 left",)
    last = position("puerto-rico", hands=["66 50", "21 40"], line="13 32", stock="10")
    assert options(do(last, "draw")) == ("10 left",)


def test_C_puerto_rico_no_drawing_when_able() -> None:
    """C Puerto Rico (draw_when_able): … but it is illegal to draw when able to play."""
    game = position("puerto-rico", hands=["66 21", "51 40"], line="13 32", stock="44 65 10 11")
    assert options(game) == ("21 left", "21 right")


def test_C_puerto_rico_winner_scores_all_hands() -> None:
    """C Puerto Rico (points_out, points_blocked): The winner scores the total number of pips left
    in the hands of all players and the other players score nothing."""
    game = went_out("puerto-rico", "66 50", "22")
    assert game.points == (21, 0, 0)
    game = blocked("puerto-rico", "66 50", "22", "54")
    assert game.points == (0, 17 + 4 + 9, 0)


def test_C_puerto_rico_going_out_wins_against_double_blank() -> None:
    """C Puerto Rico (winner): The winner … of the game is who goes out, also against 0-0."""
    game = went_out("puerto-rico", "00", "22")
    assert game.points == (4, 0, 0)


def test_C_puerto_rico_blocked_fewest_pips() -> None:
    """C Puerto Rico (winner, blocked): In the case of a blocked game the winner is the player with
    the least pips."""
    game = blocked("puerto-rico", "66 50", "54", "22")
    assert game.playing.winner == 2
    assert next_round(game).playing.leader == 2


def test_C_puerto_rico_tie_no_winner_and_highest_double_starts() -> None:
    """C Puerto Rico (tie, after_tie, tile): In case of a tie some play that there is no winner and
    the highest double starts the next game."""
    game = blocked("puerto-rico", "60", "42", "66")
    assert game.playing.winner is None
    assert game.points == (0, 0, 0)
    following = dealing(
        game.rules, after=game, hands=["55 21", "50 40", "65 44"], stock="66 11 00", leader=1
    )
    assert turn(following) == 0
    assert options(following) == ("55 lead",)


def test_C_puerto_rico_tie_the_blocker_wins() -> None:
    """C Puerto Rico (tie): … others play that the player who blocked the game is the winner."""
    game = blocked("puerto-rico-blocker", "66", "60", "42")
    assert game.playing.winner == 0
    assert game.points == (24, 0, 0)
    game = next_round(game)
    assert turn(game) == 0
    assert len(options(game)) == 7
    assert blocked("puerto-rico-blocker", "60", "66", "42", turn=2).playing.winner == 2


def test_C_puerto_rico_five_hundred() -> None:
    """C Puerto Rico (bonus, capicu, out_with_blank, target): This game is described in detail on
    Jose Carillo's Puertorican Dominoes page: to 500, with bonuses."""
    five = find_variant("puerto-rico-500")
    for number, bonus in enumerate((100, 75, 50, 25, 0), 1):
        game = went_out(five, "66", "50", number=number)
        # The last tile, 2-1, fits both ends of the line.
        assert game.points == (17 + bonus + 100, 0, 0)
    plain = position(five, hands=["41", "66"], line="13 32", number=5)
    assert do(plain, "41 left").points == (12, 0)
    blank = position(five, hands=["00", "66"], line="13 30", number=5)
    game = do(blank, "00 right")
    assert game.points == (112, 0)
    assert game.over is None
    assert game.target == 500


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


def test_C_austria_draws_until_playable_to_the_end() -> None:
    """C Austria (draw_when_able, reserve): the draw game in Austria: draw to the last tile, play
    when able."""
    game = position("austrian", hands=["87 50", "21 40"], line="13 32", stock="84 85 10")
    game = do(game, "draw", "draw", "draw")
    assert asked(game).boneyard.tiles == 0
    assert options(game) == ("10 left",)


def test_C_austria_dead_suit_has_eight_tiles() -> None:
    """C Austria (doubles, blocked): in a set without doubles a number is dead with its eighth
    tile."""
    line = "80 01 18 82 23 38 84 45 58 86 67"
    game = position(
        rules("austrian", blocked="at_once"), hands=["87 20", "65 30"], line=line, stock="31 42"
    )
    game = do(game, "87 right")
    assert game.playing.over == "blocked"
    assert values.pips(game) == (2, 14)


def test_C_egypt_draws_from_one_end_of_a_row() -> None:
    """C Egypt (order): form the boneyard tiles into a row and require players who draw to take
    tiles from a specific end of this row - they cannot choose."""
    game = position(
        "arab-row", hands=["66 50", "40 44", "60 55"], line="13 32", stock="65 54 64 51 21 43 00"
    )
    game = do(game, "draw")
    assert asked(game).hand[-1] == (6, 5)
    game = do(game, "draw", "draw", "draw")
    assert asked(game).hand == tiles("66 50 65 54 64 51")
    assert options(game)[:1] == ("51 left",)
    game = do(game, "51 left")
    # The next seat draws on where the last one stopped.
    assert turn(game) == 1
    assert options(game) == ("draw",)
    game = do(game, "draw")
    assert asked(game).hand[-1] == (2, 1)


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
