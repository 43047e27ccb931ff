"""The Dutch (A) and the plain Drawing Game (B), old Draw (D) and Double Draw (E), by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

from collections import Counter

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Drew, Leads, Lot, Played, TurnedUp
from protocol.ruleset import hand_size, playable_seat_counts, set_of_tiles
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


def test_A_materials_double_six_set() -> None:
    """A materials (highest_pip, doubles): A double 6 domino set."""
    assert len(set_of_tiles(find_variant("dutch").deal)) == 28
    assert tile("66") in set_of_tiles(find_variant("dutch").deal)


def test_A_setup_hands_of_seven_seven_six() -> None:
    """A setup (hand): The dominoes are shuffled; 7 tiles each for 2 or 3 players, 6 for 4."""
    check_hands_and_boneyard("dutch")


def test_A_gameplay_the_leader_is_random() -> None:
    """A gameplay (first): The leading player should be chosen randomly. (Ambiguity 7: no lot is
    drawn for it.)"""
    check_leader_is_random("dutch")


def test_A_gameplay_the_lead_passes_to_the_left() -> None:
    """A gameplay (later): The source does not mention later rounds: the lead rotates, as in C
    (C.10)."""
    check_lead_passes_to_the_left("dutch")


def test_A_scoring_partners_play_to_sixty_one() -> None:
    """A scoring (target, partners): 3 or 4-player game: 61 points, so also for partners."""
    for partners in (find_variant("dutch-partners"), rules("dutch", partners=True)):
        assert values.new_game(partners, 4).target == 61


def test_A_scoring_targets() -> None:
    """A scoring (target): Until a player reaches the targeted score: 100 for 2 players, 61 for 3 or
    4."""
    check_targets("dutch")


# --- B: the Drawing Game ---


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


def test_B_gameplay_the_leader_is_random() -> None:
    """B gameplay (first): The leading player should be chosen randomly."""
    check_leader_is_random("drawing-game")


def test_B_gameplay_the_lead_passes_to_the_left() -> None:
    """B gameplay (later): The source does not mention later rounds: the lead rotates, as in C
    (C.10)."""
    check_lead_passes_to_the_left("drawing-game")


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
