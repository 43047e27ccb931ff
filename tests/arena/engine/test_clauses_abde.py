"""The Dutch (A) and the plain Drawing Game (B), old Draw (D) and Double Draw (E), by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

from collections import Counter

import pytest

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Drew, Leads, Lot, Played, TurnedUp
from protocol.ruleset import (
    ImpossibleRulesError,
    check_seats,
    hand_size,
    playable_seat_counts,
    set_of_tiles,
)
from protocol.tiles import tile_set
from tests.support.positions import (
    REST,
    asked,
    dealing,
    do,
    hand,
    line,
    options,
    over,
    position,
    rules,
    shuffled,
    tile,
    told,
    turn,
)
from tests.support.scenes import blocked, went_out

LINE = "13 32"
"""A line whose ends are 1 and 2; with 2-1 on its right end both are 1."""
DEAD = "60 01 16 62 23 36 64 45 56"
"""With 6-6 at an end, all sixes lie in it and both ends show six."""


def leaders(name: str, seats: int) -> Counter[int]:
    """Return who leads the first round of many games."""
    return Counter(shuffled(name, seats, board).playing.leader for board in range(1, 201))


# --- what A and B say in the same words ---


def check_hands_and_boneyard(name: str) -> None:
    for seats, size, left in ((2, 7, 14), (3, 7, 7), (4, 6, 4)):
        state = shuffled(name, seats).playing
        assert [len(held) for held in state.hands] == [size] * seats
        assert sum(map(len, state.stock)) == left
        assert state.drawable == left - 2
        assert shuffled(name, seats, 2).playing.hands != state.hands


def check_leader_is_random(name: str) -> None:
    for seats in (2, 3, 4):
        led = leaders(name, seats)
        assert set(led) == set(range(seats))
        assert min(led.values()) > 200 / seats / 2
        game = shuffled(name, seats)
        assert game.playing.events == (Leads(game.playing.leader),)


def check_lead_passes_to_the_left(name: str) -> None:
    """However a round ended: won, or tied."""
    hands = ["66 10", "55 20", "44 30"]
    for leader in range(3):
        for others in (["60", "50"], ["00", "50"]):
            held = ["21", *others]
            before = do(position(name, hands=held, line=LINE, leader=leader), "21 right")
            assert over(before) == "out"
            assert turn(dealing(name, hands=hands, after=before)) == (leader + 1) % 3


def check_clockwise(name: str) -> None:
    game = position(name, hands=["21 60", "43 53", "41 50"], line=LINE)
    for seat, move in ((0, "21 right"), (1, "pass"), (2, "41 left"), (0, "pass")):
        assert turn(game) == seat
        game = do(game, move)


def check_either_end(name: str) -> None:
    game = position(rules(name, draw_when_able=False), hands=["21 60", "40"], line="14 42")
    assert options(game) == ("21 left", "21 right")
    left, right = do(game, "21 left"), do(game, "21 right")
    assert line(left) == "21 14 42"
    assert line(right) == "14 42 21"
    assert asked(left)["ends"] == [2, 2]
    assert asked(right)["ends"] == [1, 1]


def check_nothing_left_to_draw(name: str) -> None:
    game = position(name, hands=["60 50", "21 40"], line=LINE, stock="11 22")
    assert asked(game)["boneyard"] == {"tiles": 2, "drawable": 0}
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    assert options(game) == ("21 left", "21 right")


def check_doubles(name: str) -> None:
    game = position(name, hands=["22 60", "42 21", "62 52"], line=LINE)
    game = do(game, "22 right")
    assert asked(game)["ends"] == [1, 2]
    assert options(game) == ("42 right", "21 left", "21 right")
    game = do(game, "42 right")
    # The 2-2 has been played at; it is no place to play any more.
    assert asked(game)["ends"] == [1, 4]
    assert options(game) == ("pass",)


def check_ends(name: str) -> None:
    assert told(went_out(name, "60 50"))["why"] == "out"
    ended = blocked(name, "60", "50")
    assert told(ended)["why"] == "blocked"
    assert options(ended) == ()
    # As long as a single seat can play, nobody is done (ambiguity 5).
    game = do(position(name, hands=["21 60", "50", "10"], line=LINE), "21 right")
    assert over(game) is None
    assert options(game) == ("pass",)


def check_lowest_wins(name: str) -> None:
    game = went_out(name, "60 50", "43")
    assert told(game)["pips"] == [0, 11, 7]
    assert told(game)["points"] == [18, 0, 0]
    # Blocked: the others' pips minus one's own.
    game = blocked(name, "50 40", "60 43", "30")
    assert told(game)["pips"] == [9, 13, 3]
    assert told(game)["points"] == [0, 0, 9 + 13 - 3]


def check_tie(name: str) -> None:
    game = blocked(name, "54", "63", "60 40")
    assert told(game)["pips"] == [9, 9, 10]
    assert told(game)["points"] == [0, 0, 0]
    assert game.playing.winner is None


def check_targets(name: str) -> None:
    # Seat 0 wins the 7 pips of the 6-1.
    for others, scores in (
        (("61",), (93, 99)),
        (("61", "20"), (52, 60, 60)),
        (("61", "10", "20"), (51, 60, 60, 60)),
    ):
        game = went_out(name, *others, scores=scores)
        target = (100, 61, 61)[len(others) - 1]
        assert game.target == target == game.scores[0]
        assert game.over == "target"
        assert values.places(game) == (1, *[2] * len(others))
        assert values.legal(game) == ()
        short = went_out(name, *others, scores=(scores[0] - 1, *scores[1:]))
        assert short.over is None
        assert values.needs_deal(short)


# --- A: the Dutch Drawing Game ---


def test_A_objective_reach_the_target_first() -> None:
    """A objective (target): Reach the targeted score before your opponents."""
    game = went_out("dutch", "61 60", scores=(90, 99))
    assert game.over == "target"
    assert game.scores == (103, 99)
    assert values.places(game) == (1, 2)


def test_A_players_two_to_four() -> None:
    """A players (hand): 2 to 4 players."""
    assert playable_seat_counts(find_variant("dutch")) == (2, 3, 4)
    for seats in (1, 5):
        with pytest.raises(ImpossibleRulesError):
            check_seats(find_variant("dutch"), seats)


def test_A_materials_double_six_set() -> None:
    """A materials (highest_pip, doubles): A double 6 domino set."""
    assert len(set_of_tiles(find_variant("dutch").deal)) == 28
    assert tile("66") in set_of_tiles(find_variant("dutch").deal)


def test_A_overview_partners_sit_across_and_take_turns() -> None:
    """A overview (partners): Four-player games can be played as partnerships. Partners sit across
    from each other and take turns placing tiles."""
    game = position("dutch-partners", hands=["11 60", "51 50", "54 40", "43 33"], line=LINE)
    for seat, move in enumerate(("11 left", "51 left", "54 left", "43 left")):
        assert turn(game) == seat
        game = do(game, move)
    assert line(game) == "34 45 51 11 13 32"
    # What seat 0 wins, its partner opposite wins too.
    game = do(position("dutch-partners", hands=["21", "60", "20", "50"], line=LINE), "21 right")
    assert told(game)["points"] == [9, 0, 9, 0]
    assert values.places(game) == (1, 2, 1, 2)


def test_A_overview_partners_only_at_a_table_of_four() -> None:
    """A overview (partners): Four-player games can be played as partnerships."""
    assert playable_seat_counts(find_variant("dutch-partners")) == (4,)


def test_A_setup_hands_of_seven_seven_six() -> None:
    """A setup (hand): The dominoes are shuffled; 7 tiles each for 2 or 3 players, 6 for 4."""
    check_hands_and_boneyard("dutch")


def test_A_setup_the_rest_is_the_boneyard_but_the_last_two_cannot_be_drawn() -> None:
    """A setup (reserve): The remaining tiles form the boneyard, but the last two tiles cannot be
    drawn from it."""
    game = position("dutch", hands=["60 50", "40 30"], line=LINE, stock="64 54 44")
    assert asked(game)["boneyard"] == {"tiles": 3, "drawable": 1}
    game = do(game, "draw")
    # Nobody has a one or a two, and two tiles are left: they stay.
    assert over(game) == "blocked"
    assert sum(map(len, game.playing.stock)) == 2


def test_A_setup_partners_have_seven_each_and_no_boneyard() -> None:
    """A setup (partners, hand, draw_limit): If playing with partnerships, each player draws 7 tiles
    each and there is no boneyard to draw from."""
    game = shuffled("dutch-partners", 4)
    assert [len(held) for held in game.playing.hands] == [7, 7, 7, 7]
    assert asked(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    game = position("dutch-partners", hands=["60", "21 55", "50", "40"], line=LINE)
    assert options(game) == ("pass",)


def test_A_gameplay_the_leader_is_random() -> None:
    """A gameplay (first): The leading player should be chosen randomly. (Ambiguity 7: no lot is
    drawn for it.)"""
    check_leader_is_random("dutch")


def test_A_gameplay_the_leader_may_play_any_tile() -> None:
    """A gameplay (tile): The source does not restrict the first tile: any tile may be led."""
    game = dealing("dutch", hands=["66 61 00", "55 54 53"], leader=1)
    assert options(game) == ("55 lead", "54 lead", "53 lead")


def test_A_gameplay_the_lead_passes_to_the_left() -> None:
    """A gameplay (later): The source does not mention later rounds: the lead rotates, as in C
    (C.10)."""
    check_lead_passes_to_the_left("dutch")


def test_A_gameplay_clockwise() -> None:
    """A gameplay (direction): Then in clockwise order, each player will take turns."""
    check_clockwise("dutch")
    game = position("dutch", hands=["11", "51 00", "21 60"], line=LINE, turn=2)
    assert turn(do(game, "21 right")) == 0


def test_A_gameplay_either_end_of_the_train() -> None:
    """A gameplay (none): Placing tiles to either end of the train."""
    check_either_end("dutch")


def test_A_gameplay_the_tile_must_match() -> None:
    """A gameplay (none): The tile must match on the side connected with the end of the train."""
    game = position("dutch", hands=["60 51 44 42", "40"], line=LINE, stock=REST)
    assert options(game) == ("51 left", "42 right")
    assert line(do(game, "51 left")) == "51 13 32"
    assert line(do(game, "42 right")) == "13 32 24"


def test_A_gameplay_must_play_when_able() -> None:
    """A gameplay (draw_when_able): On a player's turn, they must play a tile."""
    game = position("dutch", hands=["60 51", "40"], line=LINE, stock=REST)
    assert options(game) == ("51 left",)


def test_A_gameplay_must_draw_when_unable() -> None:
    """A gameplay (draw_limit, draw_optional): A player must draw from the boneyard if there is not
    a playable tile in their hand."""
    game = position("dutch", hands=["60 50", "40"], line=LINE, stock=REST)
    assert options(game) == ("draw",)


def test_A_gameplay_must_draw_one_then_pass() -> None:
    """A gameplay (draw_limit): They will draw one tile. If they still cannot play, they pass."""
    game = position("dutch", hands=["60 50", "21 40"], line=LINE, stock="64 61 62 63")
    game = do(game, "draw")
    assert hand(game, 0) == ("60", "50", "64")
    assert turn(game) == 0
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    assert asked(game)["hands"] == [3, 2]


def test_A_gameplay_must_play_the_drawn_tile_if_it_fits() -> None:
    """A gameplay (draw_limit, draw_when_able): If they still cannot play a tile, they pass: if they
    can, they play."""
    game = position("dutch", hands=["60 50", "21 40"], line=LINE, stock="61 64 62 63")
    game = do(game, "draw")
    assert options(game) == ("61 left",)
    assert turn(do(game, "61 left")) == 1


def test_A_gameplay_what_was_drawn_is_seen_by_the_drawer_alone() -> None:
    """A gameplay (none): They draw a tile into their hand, face down to the others."""
    game = position("dutch", hands=["60 50", "21 40"], line=LINE, stock="64 61 62 63")
    game = do(game, "draw")
    assert asked(game, 0)["events"] == [{"do": "draw", "seat": 0, "tile": [6, 4]}]
    assert asked(game, 1)["events"] == [{"do": "draw", "seat": 0}]
    assert asked(game, 1)["hand"] == [[2, 1], [4, 0]]


def test_A_gameplay_or_two_in_some_variations() -> None:
    """A gameplay (draw_limit): One (or two in some variations) tile. (Ambiguity 6: one at a time,
    and no second one once a tile fits.)"""
    game = position("dutch-two", hands=["60 50", "21 40"], line=LINE, stock="64 61 62 63")
    game = do(game, "draw")
    assert options(game) == ("draw",)
    game = do(game, "draw")
    assert options(game) == ("61 left",)
    game = position("dutch-two", hands=["60 50", "21 40"], line=LINE, stock="61 64 62 63")
    assert options(do(game, "draw")) == ("61 left",)
    game = position("dutch-two", hands=["60 50", "21 40"], line=LINE, stock="64 54 55 62 63")
    game = do(game, "draw", "draw")
    assert options(game) == ("pass",)


def test_A_gameplay_up_to_two_where_a_playable_tile_may_be_kept() -> None:
    """A gameplay (draw_limit, draw_when_able): Ambiguity 6: with draw_when_able it may go on to the
    limit, and must then play."""
    lax = rules("dutch-two", draw_when_able=True)
    game = position(lax, hands=["60 50", "21 40"], line=LINE, stock="61 64 62 63")
    game = do(game, "draw")
    assert options(game) == ("61 left", "draw")
    assert options(do(game, "draw")) == ("61 left",)


def test_A_gameplay_with_only_two_tiles_left_they_must_pass() -> None:
    """A gameplay (reserve): After the draw pile has only two tiles remaining no more can be drawn.
    If a player can no longer play a tile on their turn they must pass."""
    check_nothing_left_to_draw("dutch")


def test_A_gameplay_of_two_allowed_tiles_one_may_be_left() -> None:
    """A gameplay (draw_limit, reserve): The reserve stops the drawing before the limit does."""
    game = position("dutch-two", hands=["60 50", "21 40"], line=LINE, stock="64 62 63")
    game = do(game, "draw")
    assert options(game) == ("pass",)


def test_A_gameplay_doubles_do_not_branch() -> None:
    """A gameplay (none): Doubles are played centered but do not branch the train."""
    check_doubles("dutch")


def test_A_gameplay_ends_when_a_player_is_out_or_nobody_can_play() -> None:
    """A gameplay (blocked): The game continues until a player plays their last domino or until no
    player can play. (Ambiguity 5: the empty passes are not asked.)"""
    check_ends("dutch")


def test_A_gameplay_a_dead_layout_is_drawn_on_by_turns() -> None:
    """A gameplay (blocked, draw_limit): Ambiguity 4: with a dead layout each seat draws its limit
    and passes, and these passes do not end the round while tiles may be drawn; the last permitted
    draw does (ambiguity 22)."""
    hands = ["66 00", "55 44", "33 22"]
    game = position("dutch", hands=hands, line=DEAD, stock="11 21 31 41 51 20")
    game = do(game, "66 left")
    for seat in (1, 2, 0):
        assert turn(game) == seat
        game = do(game, "draw", "pass")
    assert options(game) == ("draw",)
    game = do(game, "draw")
    assert over(game) == "blocked"
    assert asked(game, 0)["boneyard"] == {"tiles": 2, "drawable": 0}
    assert [len(held) for held in game.playing.hands] == [2, 4, 3]


def test_A_scoring_pips_with_the_blank_at_thirteen() -> None:
    """A scoring (double_blank): Each player counts the pips remaining in their hand. The [0,0] tile
    counts as 13 pips. No dominoes: 0."""
    game = went_out("dutch", "00", "60")
    assert told(game)["pips"] == [0, 13, 6]
    assert told(game)["points"] == [19, 0, 0]
    game = blocked("dutch", "00", "65")
    assert told(game)["pips"] == [13, 11]
    assert told(game)["points"] == [0, 2]


def test_A_scoring_the_blank_counts_thirteen_in_scoring_only() -> None:
    """A scoring (double_blank): The [0,0] tile counts as 13 pips; it is still played as a blank."""
    game = position("dutch", hands=["00 65", "40"], line="12 20", stock=REST)
    assert options(game) == ("00 right",)
    assert asked(do(game, "00 right"))["ends"] == [1, 0]


def test_A_scoring_the_thirteen_heals_the_literal_tie() -> None:
    """A scoring (double_blank, tie): Ambiguity 2: who goes out against a lone 0-0 wins 13, where B
    has a tie at 0."""
    game = went_out("dutch", "00")
    assert told(game)["points"] == [13, 0]


def test_A_scoring_lowest_pips_win_the_others_minus_own() -> None:
    """A scoring (winner, points_out, points_blocked): The player with the lowest pip value wins the
    round and scores the sum of all other players' pip values minus their own."""
    check_lowest_wins("dutch")


def test_A_scoring_a_tie_scores_nothing() -> None:
    """A scoring (tie): If there is a tie, then no player scores for the round."""
    check_tie("dutch")


def test_A_scoring_partners_play_to_sixty_one() -> None:
    """A scoring (target, partners): 3 or 4-player game: 61 points, so also for partners."""
    for partners in (find_variant("dutch-partners"), rules("dutch", partners=True)):
        assert values.new_game(partners, 4).target == 61


def test_A_scoring_targets() -> None:
    """A scoring (target): Until a player reaches the targeted score: 100 for 2 players, 61 for 3 or
    4."""
    check_targets("dutch")


def test_A_end_of_round_who_reaches_the_target_wins() -> None:
    """A end (target): When a player reaches the targeted score the game ends. This player is the
    winner."""
    game = went_out("dutch", "64 50", "20", scores=(44, 60, 60))
    assert game.scores == (61, 60, 60)
    assert game.over == "target"
    assert values.places(game) == (1, 2, 2)
    assert values.legal(game) == ()


# --- B: the Drawing Game ---


def test_B_objective_reach_the_target_first() -> None:
    """B objective (target): Reach the targeted score before your opponents."""
    game = went_out("drawing-game", "61 60", scores=(90, 99))
    assert game.over == "target"
    assert values.places(game) == (1, 2)


def test_B_players_two_to_four() -> None:
    """B players (hand): 2 to 4 players."""
    assert playable_seat_counts(find_variant("drawing-game")) == (2, 3, 4)


def test_B_materials_double_six_set() -> None:
    """B materials (highest_pip, doubles): A double 6 domino set."""
    assert set_of_tiles(find_variant("drawing-game").deal) == tile_set(6)


def test_B_overview_four_may_play_as_partners() -> None:
    """B overview (partners, points_out): Four-player games can be played as partnerships; partners
    sit across from each other. Hands and boneyard stay as they are."""
    partners = rules("drawing-game", partners=True)
    assert playable_seat_counts(partners) == (4,)
    assert hand_size(partners.deal, 4) == 6
    game = position(partners, hands=["21", "60", "20", "50"], line=LINE)
    game = do(game, "21 right")
    assert told(game)["points"] == [9, 0, 9, 0]


def test_B_setup_hands_of_seven_seven_six() -> None:
    """B setup (hand): 7 tiles each in a 2 or 3-player game, 6 in a 4-player game."""
    check_hands_and_boneyard("drawing-game")


def test_B_setup_the_last_two_cannot_be_drawn() -> None:
    """B setup (reserve): The last two tiles cannot be drawn from the boneyard."""
    game = position("drawing-game", hands=["60 50", "40 30"], line=LINE, stock="64 54 44")
    game = do(game, "draw")
    assert over(game) == "blocked"
    assert sum(map(len, game.playing.stock)) == 2


def test_B_gameplay_the_leader_is_random() -> None:
    """B gameplay (first): The leading player should be chosen randomly."""
    check_leader_is_random("drawing-game")


def test_B_gameplay_the_lead_passes_to_the_left() -> None:
    """B gameplay (later): The source does not mention later rounds: the lead rotates, as in C
    (C.10)."""
    check_lead_passes_to_the_left("drawing-game")


def test_B_gameplay_clockwise() -> None:
    """B gameplay (direction): Then in clockwise order, each player will take turns."""
    check_clockwise("drawing-game")


def test_B_gameplay_either_end_of_the_train() -> None:
    """B gameplay (none): Placing tiles to either end of the train."""
    check_either_end("drawing-game")


def test_B_gameplay_the_tile_must_match() -> None:
    """B gameplay (none): The tile must match on the side connected with the end of the train."""
    game = position("drawing-game", hands=["60 51 44 42", "40"], line=LINE)
    assert options(game) == ("51 left", "42 right")


def test_B_gameplay_may_draw_if_they_cannot_play() -> None:
    """B gameplay (draw_limit, draw_optional): A player may draw tiles if they cannot play; the turn
    ends with a play, so there is nothing else."""
    game = position("drawing-game", hands=["60 50", "40"], line=LINE, stock=REST)
    assert options(game) == ("draw",)


def test_B_gameplay_may_draw_if_they_choose_not_to_play() -> None:
    """B gameplay (draw_when_able): … or choose not to play a tile immediately."""
    game = position("drawing-game", hands=["60 51", "40"], line=LINE, stock=REST)
    assert options(game) == ("51 left", "draw")


def test_B_gameplay_the_leader_may_draw_too() -> None:
    """B gameplay (leader_may_draw): On a player's turn … a player may draw: nothing excepts the
    first turn."""
    game = dealing("drawing-game", hands=["66 61", "55 54"])
    assert options(game) == ("66 lead", "61 lead", "draw")


def test_B_gameplay_drawing_needs_more_than_two_tiles() -> None:
    """B gameplay (reserve): If choosing to draw there must be more than 2 tiles remaining in the
    boneyard."""
    game = position("drawing-game", hands=["60 51", "40"], line=LINE, stock="64 54 44")
    assert options(game) == ("51 left", "draw")
    game = do(game, "draw")
    assert options(game) == ("51 left",)


def test_B_gameplay_draws_until_they_can_or_choose_to_play() -> None:
    """B gameplay (draw_limit, draw_when_able): The player continues to draw tiles until they can or
    choose to play."""
    stock = "64 61 62 63 65"
    game = position("drawing-game", hands=["60 50", "40"], line=LINE, stock=stock)
    game = do(game, "draw")
    assert options(game) == ("draw",)
    game = do(game, "draw")
    assert options(game) == ("61 left", "draw")
    game = do(game, "draw")
    assert options(game) == ("61 left", "62 right")
    assert turn(do(game, "62 right")) == 1


def test_B_gameplay_a_turn_ends_with_a_play_unless_the_boneyard_is_depleted() -> None:
    """B gameplay (draw_when_able, draw_optional): A player's turn will always end with them playing
    a tile unless the boneyard is depleted. (Ambiguity 3: after a voluntary draw, too.)"""
    game = position("drawing-game", hands=["60 51", "40"], line=LINE, stock="64 54 44 55")
    while "draw" in options(game):
        assert "pass" not in options(game)
        game = do(game, "draw")
    assert options(game) == ("51 left",)
    game = position("drawing-game", hands=["60 50", "21 40"], line=LINE, stock="64 54 44 55")
    assert options(do(game, "draw", "draw")) == ("pass",)


def test_B_gameplay_with_only_two_tiles_left_they_must_pass() -> None:
    """B gameplay (reserve): After only two tiles remain no more can be drawn; who cannot play must
    pass."""
    check_nothing_left_to_draw("drawing-game")


def test_B_gameplay_doubles_do_not_branch() -> None:
    """B gameplay (none): Doubles are played centered but do not branch the train."""
    check_doubles("drawing-game")


def test_B_gameplay_ends_when_a_player_is_out_or_nobody_can_play() -> None:
    """B gameplay (blocked): Until a player plays their last domino or no player can play."""
    check_ends("drawing-game")


def test_B_scoring_pips_of_what_is_left() -> None:
    """B scoring (double_blank): Each player counts the pips remaining in their hand; no dominoes: 0
    (and 0-0 counts what it shows)."""
    game = went_out("drawing-game", "00 60", "66 54")
    assert told(game)["pips"] == [0, 6, 21]


def test_B_scoring_lowest_pips_win_the_others_minus_own() -> None:
    """B scoring (winner, points_out, points_blocked): The lowest pip value wins the sum of all
    other players' pip values minus their own."""
    check_lowest_wins("drawing-game")


def test_B_scoring_a_tie_scores_nothing() -> None:
    """B scoring (tie): If there is a tie, then no player scores for the round."""
    check_tie("drawing-game")


def test_B_scoring_the_literal_tie_with_a_lone_blank() -> None:
    """B scoring (winner, tie): Ambiguity 2: somebody goes out and another holds only 0-0: both have
    0 pips, a tie, and nobody scores. No tie-break heals it."""
    for tie in ("nobody", "blocker", "fewest_tiles", "lowest_end", "outsider"):
        broken = position(
            rules("drawing-game", tie=tie), hands=["21", "00", "60 50"], line=LINE, scores=(1, 2, 3)
        )
        game = do(broken, "21 right")
        assert told(game)["why"] == "out"
        assert told(game)["pips"] == [0, 0, 11]
        assert told(game)["points"] == [0, 0, 0]
        assert game.scores == (1, 2, 3)
        assert game.playing.winner is None


def test_B_scoring_targets() -> None:
    """B scoring (target): 100 for a 2-player game, 61 for a 3 or 4-player game."""
    check_targets("drawing-game")


def test_B_scoring_partners_play_to_sixty_one() -> None:
    """B scoring (target, partners): 3 or 4-player game: 61 points, so also for partners."""
    assert values.new_game(rules("drawing-game", partners=True), 4).target == 61


def test_B_end_of_round_who_reaches_the_target_wins() -> None:
    """B end (target): When a player reaches the targeted score the game ends; it is the winner."""
    game = went_out("drawing-game", "64 50", "20", scores=(44, 60, 60))
    assert game.over == "target"
    assert values.places(game) == (1, 2, 2)


# --- D: the old Draw Game ---


def test_D_pieces_from_double_six_to_double_blank() -> None:
    """D pieces (highest_pip, doubles): Double-Six; Six-Five; … One-Blank; Double-Blank."""
    named_pieces = [(high, low) for high in range(6, -1, -1) for low in range(high, -1, -1)]
    assert named_pieces[0] == (6, 6)
    assert sorted(set_of_tiles(find_variant("old-draw").deal)) == sorted(named_pieces)


def test_D_shuffle_no_position_is_known() -> None:
    """D shuffle (none): Mixing them about to prevent the position of any domino being known."""
    seen = {shuffled("old-draw", 2, board).playing.hands[0][0] for board in range(1, 301)}
    assert seen == set(tile_set(6))


def test_D_first_pose_the_lowest_drawn_domino_leads() -> None:
    """D first pose (first): Each player draws and turns up one domino, the holder of the lowest
    number of points having the preference. (Ambiguity 7: the tied draw again.)"""
    again = 0
    for board in range(1, 101):
        for seats in (2, 3, 4):
            state = shuffled("old-draw", seats, board).playing
            lots = [event for event in state.events if isinstance(event, Lot)]
            tied, left = list(range(seats)), list(lots)
            while len(tied) > 1:
                drawn, left = left[: len(tied)], left[len(tied) :]
                assert [lot.seat for lot in drawn] == tied
                assert len({lot.tile for lot in drawn}) == len(drawn)
                lowest = min(sum(lot.tile) for lot in drawn)
                tied = [lot.seat for lot in drawn if sum(lot.tile) == lowest]
                again += len(tied) > 1
            assert not left
            assert tied == [state.leader]
            assert state.events == (*lots, Leads(state.leader))
    assert again


def test_D_first_pose_the_dominoes_used_are_returned_and_shuffled() -> None:
    """D first pose (first): The dominoes thus used are returned to the pack, and again shuffled
    with the rest. (Ambiguity 7: they reveal nothing about the deal.)"""
    at_random = rules("old-draw", first="random")
    by_lot_of_all = set()
    for board in range(1, 51):
        state = shuffled("old-draw", 2, board).playing
        assert state.hands == shuffled(at_random, 2, board).playing.hands
        lot = next(event.tile for event in state.events if isinstance(event, Lot))
        places = (*state.hands, *state.stock)
        by_lot_of_all.add(next(at for at, row in enumerate(places) if lot in row))
    assert by_lot_of_all == {0, 1, 2}


def test_D_first_pose_everybody_sees_the_lots() -> None:
    """D first pose (first): Each player drawing and turning up one domino."""
    game = shuffled("old-draw", 2)
    lot = game.playing.events[0]
    assert isinstance(lot, Lot)
    shown = {"do": "lot", "seat": 0, "tile": list(lot.tile)}
    assert asked(game, 0)["events"][0] == asked(game, 1)["events"][0] == shown


def test_D_hand_and_the_rest_is_the_stock() -> None:
    """D hand (hand, reserve): Each player takes the number appropriate to the game. The remaining
    dominoes are called the stock."""
    for seats, size in ((2, 7), (3, 7), (4, 6)):
        state = shuffled("old-draw", seats).playing
        assert [len(held) for held in state.hands] == [size] * seats
        assert sum(map(len, state.stock)) == state.drawable == 28 - seats * size


def test_D_draw_only_after_the_first_pose() -> None:
    """D draw (leader_may_draw): Pieces may be drawn from the stock after the first pose has been
    made. (Ambiguity 10: the leader may not draw before the lead.)"""
    game = dealing("old-draw", hands=["66 61", "55 54"])
    assert options(game) == ("66 lead", "61 lead")
    game = do(game, "66 lead")
    assert options(game) == ("draw",)


def test_D_draw_who_cannot_match_must_draw_until_a_piece_matches() -> None:
    """D draw (draw_limit): A player who cannot match must draw from the stock until he takes a
    piece that will match …"""
    game = position("old-draw", hands=["60 50", "40"], line=LINE, stock="64 54 62 63")
    for _ in range(3):
        assert options(game) == ("draw",)
        game = do(game, "draw")
    assert options(game) == ("62 right", "draw")


def test_D_draw_or_until_the_stock_is_exhausted() -> None:
    """D draw (draw_limit, reserve): … or until the stock is exhausted."""
    game = position("old-draw", hands=["60 50", "21 40"], line=LINE, stock="64 54")
    game = do(game, "draw", "draw")
    assert asked(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    assert options(game) == ("pass",)


def test_D_draw_as_many_as_he_pleases_whether_he_can_match_or_not() -> None:
    """D draw (draw_when_able, draw_limit): After the lead, the player who has to pose may draw as
    many pieces as he pleases, whether he can match or not. The right of drawing is unlimited."""
    game = position("old-draw", hands=["61 50", "40"], line=LINE, stock=REST)
    stock = asked(game)["boneyard"]["tiles"]
    assert stock == 28 - 5
    for _ in range(stock):
        assert options(game)[-1] == "draw"
        game = do(game, "draw")
    assert asked(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    assert len(hand(game, 0)) == 25
    # With all of them in hand he must pose (ambiguity 3).
    assert not {"draw", "pass"} & set(options(game))


def test_D_go_the_opponent_must_play_if_he_can() -> None:
    """D go (none): A player unable to match says "Go", and his opponent must play if he can."""
    game = position("old-draw", hands=["60 50", "21 40"], line=LINE)
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert asked(game)["events"][-1] == {"do": "pass", "seat": 0}
    assert options(game) == ("21 left", "21 right")


def test_D_scoring_as_at_the_block_game() -> None:
    """D scoring (winner, points_out, points_blocked, tie): The scoring is as at the Block game.
    (Ambiguity 10: out scores the others' pips; blocked: the fewest pips, minus own; tie:
    nobody.)"""
    for name in ("old-draw", "block"):
        assert told(went_out(name, "00"))["points"] == [0, 0]
        assert went_out(name, "00").playing.winner == 0
        assert told(went_out(name, "60 50", "43"))["points"] == [18, 0, 0]
        assert told(blocked(name, "60 40", "43", "55"))["points"] == [0, 10 + 10 - 7, 0]
        assert told(blocked(name, "60", "33"))["points"] == [0, 0]


def test_D_scoring_to_a_hundred_at_every_table() -> None:
    """D scoring (target): Ambiguity 10: to 100 for any number of seats, 2 to 4."""
    for seats in (2, 3, 4):
        assert values.new_game(find_variant("old-draw"), seats).target == 100


def test_D_alternate_leading() -> None:
    """D leading (later): Alternate leading is as at the Block game."""
    for led, leads in ((0, 1), (1, 0)):
        game = position("old-draw", hands=["21", "60"], line=LINE, leader=led)
        game = dealing("old-draw", hands=["66", "55 54"], after=do(game, "21 left"))
        assert turn(game) == leads
        assert game.playing.events == (Leads(leads),)


def test_D_some_leave_two_dominoes_in_the_stock() -> None:
    """D reserve (reserve): With some players all the pieces are not allowed to be drawn, and the
    player is obliged to leave two dominoes in the stock."""
    game = position("old-draw-reserve", hands=["61 50", "40"], line=LINE, stock="64 54 44")
    game = do(game, "draw")
    assert options(game) == ("61 left",)
    assert asked(game)["boneyard"] == {"tiles": 2, "drawable": 0}


def test_D_otherwise_the_rule_for_unlimited_drawing_governs() -> None:
    """D reserve (reserve, draw_limit): This point must be determined previous to beginning the
    game, otherwise the rule for unlimited drawing governs."""
    game = position("old-draw", hands=["61 50", "40"], line=LINE, stock="64 54 44")
    game = do(game, "draw", "draw", "draw")
    assert options(game) == ("61 left",)
    assert find_variant("old-draw").boneyard.reserve == 0
    assert find_variant("old-draw").turn.draw_limit == "unlimited"


# --- E: Double Draw ---


def test_E_equipment_double_six_for_two_to_four() -> None:
    """E equipment (highest_pip): The game uses a double six domino set; best for two to four."""
    assert set_of_tiles(find_variant("double-draw").deal) == tile_set(6)
    assert playable_seat_counts(find_variant("double-draw")) == (2, 3, 4)


def test_E_deal_one_player_is_picked_to_be_the_dealer() -> None:
    """E deal (first): One player is picked to be the dealer: so at first it is random who sits to
    his left and begins."""
    assert set(leaders("double-draw", 3)) == {0, 1, 2}


def test_E_deal_eight_minus_the_number_of_players() -> None:
    """E deal (hand): Each player gets (8 minus the number of players) tiles."""
    for seats in (2, 3, 4):
        game = shuffled("double-draw", seats)
        assert asked(game)["hands"] == [8 - seats] * seats


def test_E_deal_one_tile_is_turned_face_up() -> None:
    """E deal (starter): The dealer draws one tile at random from the remainder and turns it face up
    on the table."""
    turned_up = set()
    for board in range(1, 101):
        game = shuffled("double-draw", 2, board)
        state = game.playing
        (starter,) = state.line
        assert state.events[-1] == TurnedUp(starter)
        assert not any(starter in row for row in (*state.hands, *state.stock))
        turned_up.add(starter)
        for seat in (0, 1):
            seen = asked(game, seat)
            assert seen["line"] == [list(starter)]
            assert seen["events"][-1] == {"do": "turn_up", "tile": list(starter)}
            assert seen["ends"] == list(starter)
    assert len(turned_up) > 20


def test_E_deal_the_rest_is_the_boneyard() -> None:
    """E deal (reserve): All the rest of the tiles are left face down in the boneyard."""
    for seats in (2, 3, 4):
        left = 28 - seats * (8 - seats) - 1
        assert asked(shuffled("double-draw", seats))["boneyard"] == {
            "tiles": left,
            "drawable": left,
        }


def test_E_play_tiles_match_end_to_end() -> None:
    """E play (none): Tiles are laid end to end by matching the suits in the usual manner.
    (Ambiguity 8: on a line of one tile the two ends are its two halves.)"""
    hands = ["61 42 55", "50 40", "33 32"]
    game = dealing("double-draw", hands=hands, stock="64 00 11 22")
    assert line(game) == "64"
    game = do(game, "61 + 42")
    assert line(game) == "16 64 42"
    played = [event for event in game.playing.events if isinstance(event, Played)]
    assert played == [Played(0, (1, 6), "left"), Played(0, (4, 2), "right")]


def test_E_play_doubles_have_no_significance() -> None:
    """E play (none): Doubles may or may not be played crosswise; they have no significance.
    (Ambiguity 8: where both ends are equal a pair is listed once.)"""
    game = position("double-draw", hands=["62 63 50", "21 43"], line="66", stock=REST)
    assert options(game) == ("62 + 63",)
    game = position("double-draw", hands=["66 44 50", "21 43"], line="64", stock=REST)
    game = do(game, "66 + 44")
    assert asked(game)["ends"] == [6, 4]


def test_E_play_the_seat_to_the_dealers_left_makes_the_first_play() -> None:
    """E play (direction): The player to the dealer's left makes the first play of the round."""
    game = dealing("double-draw", hands=["61 42", "50 40", "33 32"], stock="64 00", leader=2)
    assert turn(game) == 2
    assert game.playing.events[0] == Leads(2)
    assert turn(do(game, "draw")) == 0


def test_E_play_the_lead_deals_the_next_round() -> None:
    """E play (later): The lead in this hand will be the dealer for the next round and so on around
    the table: then his left neighbour leads."""
    hands = ["61 42", "50 40", "33 32"]
    game = position("double-draw", hands=["61 42", "50", "33"], line="64", leader=2)
    game = do(game, "61 + 42")
    assert over(game) == "out"
    game = dealing("double-draw", hands=hands, stock="64 00", after=game)
    assert game.playing.leader == 0
    game = position("double-draw", hands=["61 42", "50", "33"], line="64", leader=0)
    game = dealing("double-draw", hands=hands, stock="64 00", after=do(game, "61 + 42"))
    assert game.playing.leader == 1


def test_E_play_1_two_tiles_on_opposite_ends() -> None:
    """E play 1 (tiles): Playing two tiles on the opposite ends of the line. (Ambiguity 8: both fit
    the ends as they stand; a pair that can be played must be.)"""
    game = position("double-draw", hands=["61 65 42 55", "50"], line="64", stock=REST)
    assert options(game) == ("61 + 42", "65 + 42")
    game = do(game, "65 + 42")
    assert line(game) == "56 64 42"
    assert hand(game, 0) == ("61", "55")
    assert turn(game) == 1


def test_E_play_1_not_both_on_one_end_nor_one_on_the_other() -> None:
    """E play 1 (tiles): On the opposite ends: 6-5 and 5-1 cannot both go to the six, and a lone 6-5
    is no play."""
    game = position("double-draw", hands=["65 51 33", "50"], line="64", stock=REST)
    assert options(game) == ("draw",)


def test_E_play_1_one_tile_cannot_serve_both_ends() -> None:
    """E play 1 (tiles): Two tiles: one that fits both ends is still one."""
    game = position("double-draw", hands=["64 55", "50"], line="61 14", stock=REST)
    assert options(game) == ("draw",)
    game = position("double-draw", hands=["64 62 55", "50"], line="61 14", stock=REST)
    assert options(game) == ("62 + 64",)
    game = position("double-draw", hands=["64 62 54", "50"], line="61 14", stock=REST)
    assert options(game) == ("64 + 54", "62 + 64", "62 + 54")


def test_E_play_1_who_cannot_play_draws_one_and_play_passes() -> None:
    """E play 1 (draw_ends_turn, draw_when_able): If the boneyard is not empty and he cannot play,
    he draws one tile and play passes to the next player."""
    hands, stock = ["65 51 33", "50 40", "30"], "42 10"
    game = position("double-draw", hands=hands, line="64", stock=stock)
    game = do(game, "draw")
    # Even a tile that would make a pair waits for the next turn.
    assert len(hand(game, 0)) == 4
    assert turn(game) == 1
    assert not any(event == {"do": "pass", "seat": 0} for event in asked(game)["events"])


def test_E_play_1_one_tile_left_and_the_boneyard_not_empty() -> None:
    """E play 1 (draw_ends_turn): Ambiguity 8: with one tile left he cannot play while tiles may be
    drawn, so he draws, though the tile would fit."""
    game = position("double-draw", hands=["65", "50 40"], line="64", stock="00")
    assert options(game) == ("draw",)


def test_E_play_2_last_tile_on_either_end() -> None:
    """E play 2 (tiles): If the boneyard is empty and the player has one tile left, then he can set
    the tile on either end. (Ambiguity 8: and must, if it fits.)"""
    game = position("double-draw", hands=["64", "50 40"], line="61 14")
    assert options(game) == ("64 left", "64 right")
    for move, lies in (("64 left", "46 61 14"), ("64 right", "61 14 46")):
        after = do(game, move)
        assert over(after) == "out"
        assert line(after) == lies
        assert told(after)["points"] == [9, 0]


def test_E_play_2_on_equal_ends_it_is_listed_once() -> None:
    """E play 2 (tiles): Ambiguity 8: where both ends are equal a single play is listed once."""
    game = position("double-draw", hands=["64", "50 40"], line="61 12 26")
    assert options(game) == ("64 left",)


def test_E_play_3_boneyard_empty_and_unable_he_passes() -> None:
    """E play 3 (tiles): If the boneyard is empty and the player cannot play a tile, he passes."""
    game = position("double-draw", hands=["55", "61 42"], line="64")
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    assert options(game) == ("61 + 42",)


def test_E_play_3_with_two_tiles_left_it_takes_a_pair() -> None:
    """E play 3 (tiles): Ambiguity 8: with the boneyard empty and two or more tiles one needs a
    pair, else one passes."""
    game = position("double-draw", hands=["65 51", "61 42"], line="64")
    assert options(game) == ("pass",)


def dead(hands: list[str], stock: str = "") -> Game:
    """Return a line that seat 0 blocks by playing 6-0 and 6-6: then every six is in it."""
    return position("double-draw", hands=hands, line="01 16 62 23 36 64 45 56", stock=stock)


KILLS = "60 + 66"


def test_E_blocked_any_player_can_call() -> None:
    """E blocked (blocked): Any player can call "blocked game" when they notice it. (Ambiguity 9:
    all are asked in turn order, the next to move first.)"""
    game = do(dead(["60 66 55", "00 11", "22"], stock="33 44"), KILLS)
    assert asked(game)["ends"] == [6, 6]
    assert over(game) is None
    for seat in (1, 2, 0):
        assert turn(game) == seat
        assert options(game) == ("call", "go_on")
        called = do(game, "call")
        assert over(called) == "blocked"
        assert told(called)["events"][-1] == {"do": "call", "seat": seat}
        game = do(game, "go_on")
    assert turn(game) == 1
    assert options(game) == ("draw",)


def test_E_blocked_a_call_stops_all_play_and_the_hands_are_scored() -> None:
    """E blocked (blocked): All play immediately stops and the hands are scored, which keeps the
    scores from getting larger."""
    game = do(dead(["60 66 55", "00 11", "22"], stock="33 44"), KILLS, "call")
    assert sum(map(len, game.playing.stock)) == 2
    assert told(game)["pips"] == [10, 2, 4]
    assert told(game)["points"] == [0, 12, 0]
    assert options(game) == ()


def test_E_blocked_going_on_says_nothing_and_it_is_asked_each_turn() -> None:
    """E blocked (blocked): Whoever does not notice says nothing. (Ambiguity 9: asked each time the
    turn moves on; the first call ends the round.)"""
    game = do(dead(["60 66 55", "00 11", "22"], stock="33 44"), KILLS, "go_on", "go_on", "go_on")
    assert [event["do"] for event in asked(game)["events"]] == ["play", "play"]
    game = do(game, "draw")
    assert turn(game) == 2
    assert options(game) == ("call", "go_on")
    game = do(game, "go_on", "call")
    assert told(game)["events"][-1] == {"do": "call", "seat": 0}


def test_E_blocked_nobody_noticed_so_the_boneyard_is_drawn_empty() -> None:
    """E blocked (blocked): If nobody noticed this, players would continue to draw tiles until the
    boneyard was empty. (Ambiguity 5: then the round ends; no empty passes are asked.)"""
    game = do(dead(["60 66 55", "00 11", "22"], stock="33 44"), KILLS)
    game = do(game, "go_on", "go_on", "go_on", "draw", "go_on", "go_on", "go_on", "draw")
    assert over(game) == "blocked"
    assert sum(map(len, game.playing.stock)) == 0
    assert sum(isinstance(event, Drew) for event in game.playing.events) == 2
    assert sum(told(game)["pips"]) == 16 + 6 + 8


def test_E_blocked_a_false_call_cannot_be_made() -> None:
    """E blocked (blocked): When the line has all of one suit inside it and an end is in that suit.
    (Ambiguity 9: before that nobody is asked.)"""
    game = dead(["60 53 33", "66 11", "22"], stock="34 44")
    game = do(game, "draw")
    # Both a six and the 6-6 are still out, and seat 1 has no pair.
    assert turn(game) == 1
    assert options(game) == ("draw",)


def test_E_blocked_may_be_called_in_any_draw_game() -> None:
    """E blocked (blocked): Any player can call "blocked game": also where one tile is played a
    turn, from the lead on."""
    chosen = rules("draw", blocked="call")
    game = do(dealing(chosen, hands=["66 11", "55 22"]), "66 lead")
    assert options(game) == ("draw",)
    game = position(chosen, hands=["66 00", "55 44"], line=DEAD, stock="11 21 31")
    game = do(game, "66 left")
    assert options(game) == ("call", "go_on")
    assert told(do(game, "call"))["points"] == [18, 0]


def test_E_blocked_may_be_called_with_a_larger_set() -> None:
    """E blocked (blocked, highest_pip): all tiles of one suit: a double-seven set has eight."""
    game = position(
        rules("double-draw", highest_pip=7),
        hands=["75 60 33", "00 11", "22"],
        line="76 62 23 36 64 45 56 66 61 10",
        stock="44 55",
    )
    assert options(do(game, "75 + 60")) == ("call", "go_on")


def test_E_blocked_going_out_comes_before_a_call() -> None:
    """E blocked (blocked): The round ends when someone dominoes or when someone calls: who dominoes
    with the pair that kills the line has ended it."""
    game = do(dead(["60 66", "00 11"], stock="33 44"), KILLS)
    assert over(game) == "out"


def test_E_scoring_the_round_ends_when_every_player_has_passed() -> None:
    """E scoring (blocked): … or when every player has passed in his turn. (Ambiguity 5: as soon as
    nobody can play and nothing can be drawn.)"""
    game = position("double-draw", hands=["61 42 55", "33 31", "22 30"], line="64")
    game = do(game, "61 + 42")
    # The ends are 1 and 2: nobody has a pair for them.
    assert over(game) == "blocked"
    assert told(game)["pips"] == [10, 10, 7]
    assert told(game)["points"] == [0, 0, 10 + 10 - 7]


def test_E_scoring_the_last_draw_of_all() -> None:
    """E scoring (blocked, draw_ends_turn): Ambiguity 22: if nobody can play after the last tile was
    drawn the round ends at once."""
    game = position("double-draw", hands=["55 33", "50 40"], line="64", stock="00")
    game = do(game, "draw")
    assert over(game) == "blocked"
    assert told(game)["pips"] == [16, 9]


def test_E_scoring_lowest_wins_the_losers_minus_own() -> None:
    """E scoring (winner, points_out, points_blocked): The lowest scoring player is credited with
    the sum of the scores of the losers, minus his own total."""
    game = do(position("double-draw", hands=["61 42", "55", "43"], line="64"), "61 + 42")
    assert told(game)["why"] == "out"
    assert told(game)["points"] == [17, 0, 0]
    game = do(dead(["60 66 55", "00 11", "40"], stock="33"), KILLS, "call")
    assert told(game)["points"] == [0, 10 + 4 - 2, 0]


def test_E_scoring_a_tie_scores_nothing() -> None:
    """E scoring (tie): If there is a tie for lowest score, then nobody gets a score."""
    game = do(dead(["60 66 55", "22", "40"], stock="33"), KILLS, "call")
    assert told(game)["pips"] == [10, 4, 4]
    assert told(game)["points"] == [0, 0, 0]


def test_E_scoring_a_hundred_for_two_sixty_one_for_three_or_four() -> None:
    """E scoring (target): 100 points in a two player game, 61 in a three or four handed game."""
    targets = [values.new_game(find_variant("double-draw"), seats).target for seats in (2, 3, 4)]
    assert targets == [100, 61, 61]


def test_E_scoring_a_hundred_for_partners() -> None:
    """E scoring (target, partners): 100 points in a partnership game."""
    partners = rules("double-draw", partners=True)
    assert values.new_game(partners, 4).target == 100
    game = do(position(partners, hands=["61 42", "55", "43", "50"], line="64"), "61 + 42")
    assert told(game)["points"] == [15 - 7, 0, 15 - 7, 0]
