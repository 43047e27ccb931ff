"""Draw Dominoes (source C): the deal, the play, the score, and C.1 to C.16, clause by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

import pytest

from arena.engine import values
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.rules.variants import find_variant
from protocol.errors import UserError
from protocol.messages import Annulled, Drew, Guessed, Leads, Lot
from protocol.ruleset import (
    MOST_DEALS,
    ImpossibleRulesError,
    Ruleset,
    check_seats,
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
    seed,
    shuffled,
    told,
    turn,
)
from tests.support.scenes import blocked

LINE = "13 32"
"""A line whose ends are 1 and 2; with 2-1 on its right end both are 1."""
DEAD = "60 01 16 62 23 36 64 45 56"
"""With 6-6 at an end, all sixes lie in it and both ends show six."""


def lots(game: Game) -> tuple[Lot, ...]:
    """Return the tiles drawn for the lead."""
    return tuple(event for event in game.playing.events if isinstance(event, Lot))


def out_by(rules: Ruleset | str, leader: int = 0, seats: int = 2) -> Game:
    """Return a round that seat 0 has just won by going out."""
    hands = ["21", "60", "50", "40"][:seats]
    return do(position(rules, hands=hands, line=LINE, leader=leader), "21 right")


def tied(rules: Ruleset | str, leader: int = 0) -> Game:
    """Return a round that seat 0 has just blocked and nobody has won."""
    hands = ["21 54", "63"]
    return do(position(rules, hands=hands, line=LINE, leader=leader), "21 right")


# --- the deal ---


def test_C_deal_double_six_set_or_a_larger_one() -> None:
    """C deal (highest_pip): The game uses a double six domino set, but other sets can also be used
    when you have more players."""
    assert set_of_tiles(find_variant("draw").deal) == tile_set(6)
    for highest, size in ((7, 36), (8, 45), (9, 55), (12, 91), (15, 136), (18, 190)):
        larger = rules("draw", highest_pip=highest)
        assert len(set_of_tiles(larger.deal)) == size
        game = shuffled(larger, 4)
        assert asked(game)["boneyard"] == {"tiles": size - 24, "drawable": size - 26}
    assert [
        max(playable_seat_counts(rules("draw", highest_pip=highest))) for highest in (6, 7, 9)
    ] == [4, 5, 8]
    assert asked(shuffled(rules("draw", highest_pip=9), 8))["hands"] == [6] * 8
    game = position(rules("draw", highest_pip=12), hands=["12-11 12-3", "10"], line="12-1 14")
    assert options(game) == ("12-11 left", "12-3 left")
    assert line(do(game, "12-3 left")) == "3-12 12-1 14"


def test_C_deal_the_hand_varies_with_the_number_of_players() -> None:
    """C deal (hand): The size of the hand varies with the number of players."""
    for seats, size in ((2, 7), (3, 7), (4, 6)):
        assert asked(shuffled("draw", seats))["hands"] == [size] * seats


def test_C_deal_the_rest_stays_in_the_boneyard() -> None:
    """C deal (hand): The rest of the tiles stay in the boneyard."""
    for seats, left in ((2, 14), (3, 7), (4, 4)):
        state = shuffled("draw", seats).playing
        everything = [tile for row in (*state.hands, *state.stock) for tile in row]
        assert sorted(everything) == sorted(tile_set(6))
        assert sum(map(len, state.stock)) == left


# --- the play ---


def test_C_play_four_in_partnerships_or_as_individuals() -> None:
    """C play (partners): The four handed game can be played in partnerships or as individuals."""
    assert playable_seat_counts(find_variant("draw")) == (2, 3, 4)
    assert playable_seat_counts(find_variant("draw-partners")) == (4,)
    hands = ["21", "60", "30", "50"]
    alone = do(position("draw", hands=hands, line=LINE), "21 right")
    assert told(alone)["points"] == [14, 0, 0, 0]
    sides = do(position("draw-partners", hands=hands, line=LINE), "21 right")
    assert told(sides)["points"] == [11 - 3, 0, 11 - 3, 0]


def test_C_play_the_players_draw_for_the_lead() -> None:
    """C play (first): The players draw for lead (or set). (Ambiguity 7: highest.)"""
    game = shuffled("draw", 3)
    assert len(lots(game)) >= 3
    assert game.playing.events == (*lots(game), Leads(game.playing.leader))


def test_C_play_take_turns_to_form_a_single_line() -> None:
    """C play (direction): And take turns placing tiles to form a single line."""
    game = dealing("draw", hands=["64 11", "45 22", "65 33"])
    game = do(game, "64 lead", "54 right", "65 left")
    assert turn(game) == 0
    assert line(game) == "56 64 45"


def test_C_play_on_either_end_of_the_line() -> None:
    """C play (none): A tile can be placed on either end of the line."""
    game = position("draw", hands=["21 60", "40"], line="14 42")
    assert options(game) == ("21 left", "21 right")


def test_C_play_an_equal_end_is_one_place() -> None:
    """C play (none): Where both ends show the same number a tile is listed once (ambiguity 8)."""
    game = position("draw", hands=["21 60", "40"], line="14 43 31")
    assert options(game) == ("21 left",)


def test_C_play_doubles_are_no_spinners() -> None:
    """C play (none): Doubles are played across the line, but are not spinners."""
    game = dealing("draw", hands=["66 11", "65 64 63"], stock="00 22")
    game = do(game, "66 lead")
    # Before the second tile the two long sides of the double are the ends, and equal.
    assert options(game) == ("65 left", "64 left", "63 left")
    game = do(game, "65 left", "pass", "64 right")
    assert line(game) == "56 66 64"
    # The 6-3 finds no place at the double any more.
    assert over(game) == "blocked"


def test_C_play_who_cannot_must_draw() -> None:
    """C play (draw_limit, draw_optional): A player who cannot play a tile from hand must draw from
    the boneyard."""
    game = position("draw", hands=["60 50", "40"], line=LINE, stock=REST)
    assert options(game) == ("draw",)


def test_C_play_who_does_not_wish_to_play_must_draw() -> None:
    """C play (draw_when_able): A player who does not wish to play a tile from hand must draw: there
    is no pass for it (ambiguity 3)."""
    game = position("draw", hands=["60 51", "40"], line=LINE, stock=REST)
    assert options(game) == ("51 left", "draw")


def test_C_play_draws_until_he_plays_or_two_tiles_are_left() -> None:
    """C play (draw_limit, reserve): The player continues to draw tiles until either he plays a tile
    or the boneyard is reduced to two tiles."""
    game = position("draw", hands=["60 50", "21 40"], line=LINE, stock="64 54 44 62 55 65")
    for tiles in (6, 5, 4):
        assert asked(game)["boneyard"] == {"tiles": tiles, "drawable": tiles - 2}
        assert options(game) == ("draw",)
        game = do(game, "draw")
        assert turn(game) == 0
    game = do(game, "draw")
    assert options(game) == ("62 right",)
    assert asked(game)["boneyard"] == {"tiles": 2, "drawable": 0}


def test_C_play_the_last_two_are_not_drawn_and_who_cannot_play_passes() -> None:
    """C play (reserve): The last two tiles are not drawn, and when the boneyard has only two tiles
    a player who cannot play simply passes."""
    game = position("draw", hands=["60 50", "21 40"], line=LINE, stock="11 22")
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert turn(game) == 1
    assert asked(game)["boneyard"] == {"tiles": 2, "drawable": 0}


def test_C_play_the_last_two_are_not_drawn_at_any_table() -> None:
    """C play (reserve): The last two tiles, wherever in a scattered boneyard they lie."""
    for seats in (2, 3, 4):
        hands = ["60 50", "43", "53", "33"][:seats]
        for who in range(seats):
            game = position("draw", hands=hands, line="12", stock="66 55 44 65", turn=who)
            game = do(game, "draw", "draw")
            assert over(game) == "blocked"
            assert sum(map(len, game.playing.stock)) == 2


def test_C_play_a_turn_ends_with_a_play() -> None:
    """C play (draw_when_able): A player must always end his turn by playing a tile unless the
    boneyard is reduced to two tiles and the player has no playable tile. (Ambiguity 3: after a
    voluntary draw, too.)"""
    game = position("draw", hands=["60 51", "40"], line=LINE, stock="64 54 44 55 65")
    for _ in range(3):
        assert options(game) == ("51 left", "draw")
        game = do(game, "draw")
    assert options(game) == ("51 left",)


def test_C_play_stops_when_one_dominoes() -> None:
    """C play (blocked): The hand stops when one player dominoes."""
    game = do(position("draw", hands=["21", "10 20"], line=LINE, stock=REST), "21 right")
    assert over(game) == "out"
    assert options(game) == ()


def test_C_play_stops_when_two_tiles_are_left_and_nobody_can_play() -> None:
    """C play (blocked, reserve): Or when the boneyard is reduced to two tiles and nobody can play.
    (Ambiguity 5: at once; the empty passes are not asked.)"""
    hands = ["21 60", "50", "40"]
    game = do(position("draw", hands=hands, line=LINE, stock="66 55"), "21 right")
    assert over(game) == "blocked"
    assert "pass" not in [event["do"] for event in told(game)["events"]]
    game = do(position("draw", hands=hands, line=LINE, stock="66 55 44"), "21 right")
    assert over(game) is None
    assert options(game) == ("draw",)


def test_C_play_the_last_permitted_draw_ends_it() -> None:
    """C play (blocked): Ambiguity 22: if nobody can play after the last permitted draw the round
    ends at once; the drawer's pass is not asked."""
    hands = ["21 60", "50", "40"]
    game = do(position("draw", hands=hands, line=LINE, stock="66 55 44"), "21 right", "draw")
    assert over(game) == "blocked"
    assert told(game)["events"][-1] == {"do": "draw", "seat": 1}


def test_C_play_a_blocked_layout_makes_the_next_draw_all_but_two() -> None:
    """C play (blocked): If the layout is blocked, both ends showing a number of which all tiles
    have been played, the next player will have to draw all the remaining tiles except for the last
    two. (Ambiguity 4.)"""
    hands = ["66 00", "55 44", "33 22"]
    game = position("draw", hands=hands, line=DEAD, stock="11 21 31 41 51 20 30")
    game = do(game, "66 left")
    for _ in range(5):
        assert turn(game) == 1
        assert options(game) == ("draw",)
        game = do(game, "draw")
    assert over(game) == "blocked"
    assert [len(held) for held in game.playing.hands] == [1, 7, 2]
    assert sum(map(len, game.playing.stock)) == 2


def test_C_play_drawing_when_able_and_after_a_playable_tile() -> None:
    """C play (draw_when_able): It is legal to draw from the boneyard when able to play, or to
    continue drawing after a playable tile."""
    game = position("draw", hands=["60 51", "40"], line=LINE, stock="62 61 44 55 65")
    game = do(game, "draw")
    assert options(game) == ("51 left", "62 right", "draw")
    game = do(game, "draw")
    assert options(game) == ("51 left", "62 right", "61 left", "draw")


def test_C_play_the_leader_may_draw_before_the_first_tile() -> None:
    """C play (leader_may_draw): A player who does not wish to play draws: the leader is a player,
    too."""
    game = dealing("draw", hands=["66 11", "65 64"])
    assert options(game) == ("66 lead", "11 lead", "draw")
    assert options(do(game, "draw"))[-1] == "draw"


def test_C_play_the_lead_passes_to_the_left() -> None:
    """C play (later): After the hand is scored the tiles are shuffled again and the turn to lead
    passes to the player to the left of the previous leader."""
    for previous, following in ((0, 1), (1, 2), (2, 0)):
        after = out_by("draw", leader=previous, seats=3)
        dealt = values.chance_decides(after, seed())
        assert dealt.leader == following
        assert dealt.lots == ()
        assert dealt.round == 2
        game = values.begin(after, dealt)
        assert turn(game) == following
        assert game.playing.events == (Leads(following),)
        assert game.playing.line == ()
    first, second = shuffled("draw", 2), values.chance_decides(out_by("draw"), seed())
    assert first.playing.hands != second.hands


# --- the score ---


def test_C_score_each_counts_the_pips_in_his_hand() -> None:
    """C score (double_blank): Each player gets the total number of pips on the tiles in his hand;
    0-0 has none."""
    game = do(position("draw", hands=["21", "60 55", "00 43"], line=LINE), "21 right")
    assert told(game)["pips"] == [0, 16, 7]
    assert told(game)["hands"] == [[], [[6, 0], [5, 5]], [[4, 3], [0, 0]]]


def test_C_score_lowest_wins_the_losers_minus_own() -> None:
    """C score (winner, points_out, points_blocked): The lowest scoring player is the winner and is
    credited with the sum of the scores of the losers, minus his own total."""
    game = do(position("draw", hands=["21", "60 55", "43"], line=LINE), "21 right")
    assert told(game)["points"] == [23, 0, 0]
    game = do(position("draw", hands=["21 60", "55", "40"], line=LINE), "21 right")
    assert told(game)["points"] == [0, 0, 6 + 10 - 4]
    assert game.playing.winner == 2


def test_C_score_a_tie_for_lowest_scores_nothing() -> None:
    """C score (tie): If there is a tie for lowest score, then nobody gets a score."""
    game = tied("draw")
    assert told(game)["pips"] == [9, 9]
    assert told(game)["points"] == [0, 0]


def test_C_score_the_literal_tie_with_a_lone_blank() -> None:
    """C score (winner, tie): Ambiguity 2: one goes out, another holds only 0-0: a tie at 0, nobody
    scores. Where going out wins there is no such tie."""
    hands = ["21", "00", "60"]
    game = do(position("draw", hands=hands, line=LINE), "21 right")
    assert told(game)["points"] == [0, 0, 0]
    game = do(position(rules("draw", winner="out"), hands=hands, line=LINE), "21 right")
    assert told(game)["points"] == [6, 0, 0]
    game = do(position(rules("draw", double_blank=13), hands=hands, line=LINE), "21 right")
    assert told(game)["points"] == [19, 0, 0]


TO_A_HUNDRED = (
    "draw",
    "block",
    "arab-row",
    "jordanian",
    "south-american",
    "vietnamese",
    "ukrainian",
    "six-six",
    "french",
    "domino-pool",
    "paid-draw",
    "pot-draw",
)
"""Games of C that name no target of their own."""


@pytest.mark.parametrize("name", TO_A_HUNDRED)
def test_C_score_partners_play_to_a_hundred_unless_told_otherwise(name: str) -> None:
    """C score (target, partners): The game is played for 100 points in a … partnership game."""
    assert values.new_game(rules(name, partners=True), 4).target == 100
    assert values.new_game(rules(name, partners=True, target=61), 4).target == 61


def test_C_score_a_hundred_for_two_or_partners_sixty_one_for_three_or_four() -> None:
    """C score (target): The game is played for 100 points in a two player or partnership game, and
    for 61 points in a three or four handed game."""
    assert [values.new_game(find_variant("draw"), seats).target for seats in (2, 3, 4)] == [
        100,
        61,
        61,
    ]
    assert values.new_game(find_variant("draw-partners"), 4).target == 100
    hands = ["21", "60", "50", "40"]
    game = position("draw", hands=hands, line=LINE, scores=(46, 60, 0, 0))
    assert do(game, "21 right").over == "target"
    game = position("draw", hands=hands, line=LINE, scores=(45, 60, 0, 0))
    assert do(game, "21 right").over is None


def test_C_score_equal_scores_play_on() -> None:
    """C score (target): Played for 61 points: two best scores are no end; the partners' common
    score is one."""
    game = position("draw", hands=["21", "60", "50"], line=LINE, scores=(50, 61, 3))
    game = do(game, "21 right")
    assert game.scores == (61, 61, 3)
    assert game.over is None
    game = position(
        "draw-partners", hands=["21", "60", "30", "50"], line=LINE, scores=(92, 0, 92, 0)
    )
    game = do(game, "21 right")
    assert game.scores == (100, 0, 100, 0)
    assert game.over == "target"
    assert values.places(game) == (1, 2, 1, 2)


# --- C.1 to C.3: other hands ---


@pytest.mark.parametrize("hand_of", [5, 9, {"two": 7, "three": 5, "four": 5}])
def test_C01_different_numbers_of_tiles(hand_of: int | dict[str, int]) -> None:
    """C.1 (hand): Different numbers of tiles in the hands. (Ambiguity 1: 7/5/5 is one override
    away.)"""
    sizes = [hand_of] * 3 if isinstance(hand_of, int) else list(hand_of.values())
    chosen = rules("draw", hand=hand_of)
    for seats in playable_seat_counts(chosen):
        assert asked(shuffled(chosen, seats))["hands"] == [sizes[seats - 2]] * seats


def test_C01_more_than_the_set_has_is_refused() -> None:
    """C.1 (hand): Hands that need more tiles than there are are refused in a sentence."""
    nine = rules("draw", hand=9)
    assert playable_seat_counts(nine) == (2, 3)
    with pytest.raises(ImpossibleRulesError, match="4 seats × 9 tiles need 36 tiles"):
        check_seats(nine, 4)


def test_C02_eight_less_the_number_of_players() -> None:
    """C.2 (hand): South Americans use the formula (8 - the number of players)."""
    for seats in (2, 3, 4):
        assert asked(shuffled("south-american", seats))["hands"] == [8 - seats] * seats


def test_C03_one_tile_each_then_draw_in_turn_for_the_six_six() -> None:
    """C.3 (hand, missing, first): Vietnamese start each player with a hand of one tile and draw in
    turn until someone obtains the 6-6 to start. (Ambiguity 14: the reserve does not hold, hands
    stay uneven.)"""
    # Seat 0 takes from the front, seat 1 from the back.
    game = dealing("vietnamese", hands=["10", "20"], stock="30 40 66 50 21", leader=0)
    drawn = [event for event in game.playing.events if isinstance(event, Drew)]
    assert [event.seat for event in drawn] == [0, 1, 0, 1, 0]
    assert hand(game, 0) == ("10", "30", "40", "66")
    assert hand(game, 1) == ("20", "21", "50")
    assert asked(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    assert game.playing.events[-1] == Leads(0)
    assert options(game) == ("66 lead",)


def test_C03_a_dealt_six_six_starts_at_once() -> None:
    """C.3 (missing): Until someone obtains the 6-6. (Ambiguity 14: a dealt one counts.)"""
    game = dealing("vietnamese", hands=["10", "66"], leader=0)
    assert game.playing.events == (Leads(1),)
    assert options(game) == ("66 lead",)
    assert asked(game)["hands"] == [1, 1]


def test_C03_the_six_six_of_a_lone_hand_is_out_at_once() -> None:
    """C.3 (hand): A hand of one tile: who was dealt the 6-6 begins with it, and is out."""
    game = do(dealing("vietnamese", hands=["10", "66"], leader=0), "66 lead")
    assert over(game) == "out"
    assert told(game)["points"] == [0, 1]


def test_C03_what_was_drawn_for_the_lead_stays_hidden() -> None:
    """C.3 (missing): They draw in turn: what a seat drew only that seat sees."""
    game = dealing("vietnamese", hands=["10", "20"], stock="30 66 50 21", leader=1)
    seen = asked(game, 0)["events"]
    assert [event.get("tile") for event in seen if event["seat"] == 1 and "tile" in event] == []
    assert asked(game, 1)["events"][0] == {"do": "draw", "seat": 1, "tile": [2, 1]}


def test_C03_draws_for_the_lead_are_no_draws_of_the_turn() -> None:
    """C.3 (missing, draw_limit): They draw to start the game; the turn has all its draws."""
    turns = {"draw_limit": 1, "draw_when_able": True, "leader_may_draw": True}
    may_draw = rules("vietnamese", tile="any", reserve=0, **turns)
    game = dealing(may_draw, hands=["10", "20"], stock="30 66 50 21", leader=0)
    assert options(game) == ("10 lead", "30 lead", "66 lead", "draw")


def test_C03_in_every_round_with_a_new_lot() -> None:
    """C.3 (later): To start the game. (Ambiguity 14: in every round, with a new lot for who draws
    first.)"""
    before = do(dealing("vietnamese", hands=["10", "66"]), "66 lead")
    first_to_draw = {values.chance_decides(before, seed(board)).leader for board in range(20)}
    assert first_to_draw == {0, 1}
    game = dealing("vietnamese", hands=["66", "20"], after=before)
    assert options(game) == ("66 lead",)


# --- C.4 to C.6: demanding a redeal ---

THREE_DOUBLES = "66 55 44 10 20 30 40"
NO_DOUBLES = "65 64 63 62 61 60 54"
FIVE_FIVES = "50 51 52 53 55 31 32"
ORDINARY = ["66 65 43 42 21 20 10", "55 54 33 32 61 60 30"]


def test_C04_demanding_a_redeal_deals_the_same_round_again() -> None:
    """C.4 (refuse_doubles): Demanding a redeal. (Ambiguity 19: the same leader, the round is not
    counted.)"""
    chosen = rules("draw", refuse_doubles=3)
    game = dealing(chosen, hands=[NO_DOUBLES, THREE_DOUBLES], leader=0)
    game = do(game, "refuse")
    assert values.needs_deal(game)
    assert options(game) == ()
    assert over(game) is None
    again = values.chance_decides(game, seed())
    assert (again.round, again.deal, again.leader, again.lots) == (1, 2, 0, ())
    game = dealing(chosen, hands=[NO_DOUBLES, "55 44 10 20 30 40 50"], after=game)
    assert game.playing.number == 1
    assert turn(game) == 0
    assert asked(game)["round"] == 1
    assert asked(game)["scores"] == [0, 0]
    assert game.playing.events == (Leads(0), Annulled(1, "doubles"), Leads(0))


@pytest.mark.parametrize("least", [3, 4])
def test_C05_a_player_with_too_many_doubles_may_annul_the_hand(least: int) -> None:
    """C.5 (refuse_doubles): A player who is dealt more than a certain number of doubles - at least
    three or at least four - may annul the hand and demand a redeal."""
    four = "66 55 44 33 10 20 30"
    weak = four if least == 4 else THREE_DOUBLES
    chosen = rules("draw", refuse_doubles=least)
    game = dealing(chosen, hands=[NO_DOUBLES, weak], leader=0)
    assert turn(game) == 1
    assert options(game) == ("keep", "refuse")
    kept = do(game, "keep")
    assert turn(kept) == 0
    assert options(kept)[0] == "65 lead"
    refused = do(game, "refuse")
    assert asked(refused, 0)["events"][-1] == {"do": "annul", "seat": 1, "why": "doubles"}
    one_less = weak.replace("44", "40") if least == 4 else "66 55 10 20 30 40 50"
    game = dealing(chosen, hands=[NO_DOUBLES, one_less], leader=0)
    assert options(game)[0] == "65 lead"


def test_C05_asked_in_turn_from_the_leader_and_seen_by_nobody_else() -> None:
    """C.5 (refuse_doubles): A player may annul: a decision. (Ambiguity 19: asked from the leader
    on; whoever keeps the hand says nothing.)"""
    chosen = rules("draw", refuse_doubles=2)
    hands = ["66 55 10 20 30 40 50", NO_DOUBLES, "44 33 21 31 41 51 32"]
    game = dealing(chosen, hands=hands, leader=2)
    before = asked(game, 1)["events"]
    assert turn(game) == 2
    game = do(game, "keep")
    assert turn(game) == 0
    game = do(game, "keep")
    assert turn(game) == 2
    assert options(game)[0] == "44 lead"
    assert asked(game, 1)["events"] == before == [{"do": "leads", "seat": 2}]


def test_C05_antes_are_not_paid_for_a_refused_deal() -> None:
    """C.5 (refuse_doubles, ante): To annul the hand. (Ambiguity 19: antes go back.)"""
    chosen = rules("auction-draw", refuse_doubles=3)
    game = dealing(chosen, hands=[NO_DOUBLES, THREE_DOUBLES], leader=0)
    refused = do(game, "refuse")
    assert (refused.scores, refused.pot) == ((0, 0), 0)
    kept = do(game, "keep")
    assert (kept.scores, kept.pot) == ((-3, -3), 6)


def test_C05_the_last_of_many_deals_counts() -> None:
    """C.5 (refuse_doubles): To demand a redeal; but not for ever, so that every round ends."""
    chosen = rules("draw", refuse_doubles=3)
    game = dealing(chosen, hands=[NO_DOUBLES, THREE_DOUBLES], leader=0)
    for _ in range(MOST_DEALS - 1):
        assert options(game) == ("keep", "refuse")
        game = dealing(chosen, hands=[NO_DOUBLES, THREE_DOUBLES], after=do(game, "refuse"))
    assert turn(game) == 0
    assert options(game)[0] == "65 lead"


def test_C05_doubles_that_were_drawn_for_the_lead_do_not_count() -> None:
    """C.5 (refuse_doubles, missing): A player who is *dealt* so many doubles: those drawn for the
    6-6 are no reason to annul."""
    chosen = rules("six-six", refuse_doubles=3)
    hands, stock = ["11 22 40 30 10 20 50", "21 31 41 51 61 32 42"], "44 66 55 33 43 53"
    game = dealing(chosen, hands=hands, stock=stock, leader=0)
    drawn = [one for one in game.playing.hands[0] if one[0] == one[1]]
    assert len(drawn) >= 3
    assert options(game)[0] == "66 lead"


def test_C05_a_set_without_doubles_gives_no_reason() -> None:
    """C.5 (refuse_doubles, doubles): Without doubles nothing can be refused for them."""
    with pytest.raises(ImpossibleRulesError, match="refuse_doubles"):
        rules("austrian", refuse_doubles=3)


def test_C06_five_tiles_of_one_number_must_be_declared() -> None:
    """C.6 (annul_suit): Some groups require a player who has 5 or more tiles showing the same
    number to declare this and annul the hand for a redeal."""
    game = dealing("jordanian", hands=["66 64 63 21 10 20 30", FIVE_FIVES], leader=0)
    assert game.playing.events == (Annulled(1, "suit"),)
    assert values.needs_deal(game)
    assert options(game) == ()
    game = dealing("jordanian", hands=ORDINARY, after=game)
    assert turn(game) == 0
    assert game.playing.number == 1
    assert asked(game)["events"][0] == {"do": "annul", "seat": 1, "why": "suit"}
    # With two such hands one declaration is enough.
    game = dealing("jordanian", hands=[NO_DOUBLES, FIVE_FIVES], leader=0)
    assert game.playing.events == (Annulled(0, "suit"),)


def test_C06_the_last_of_many_deals_counts() -> None:
    """C.6 (annul_suit): Annul the hand for a redeal; but not for ever, so that every round ends."""
    hands = ["66 64 63 21 10 20 30", FIVE_FIVES]
    game = dealing("jordanian", hands=hands, leader=0)
    for _ in range(MOST_DEALS - 1):
        assert values.needs_deal(game)
        game = dealing("jordanian", hands=hands, after=game)
    assert options(game)[0] == "66 lead"


def test_C06_four_of_one_number_are_no_reason() -> None:
    """C.6 (annul_suit): 5 or more: four are a hand like any other; the double counts once."""
    four = "50 51 52 55 31 32 60"
    game = dealing("jordanian", hands=["66 64 63 21 10 20 30", four], leader=0)
    assert options(game)[0] == "66 lead"


def test_C06_comes_before_the_missing_double_and_the_doubles() -> None:
    """C.6 (annul_suit, missing, refuse_doubles): Ambiguity 19, the order: C.6, then the missing
    double, then C.5 asked from the leader on."""
    chosen = rules(
        "six-six",
        annul_suit=5,
        missing="redeal",
        refuse_doubles=2,
        later="double_six",
        first="double_six",
    )
    game = dealing(chosen, hands=["11 22 44 30 40 10 20", FIVE_FIVES])
    assert game.playing.events[-1] == Annulled(1, "suit")
    game = dealing(chosen, hands=["11 22 44 30 40 10 20", "50 51 52 54 63 31 32"], after=game)
    assert game.playing.events[-1] == Annulled(None, "missing")
    game = dealing(chosen, hands=["11 22 44 30 40 10 20", "66 51 52 54 63 31 32"], after=game)
    assert turn(game) == 0
    assert options(game) == ("keep", "refuse")
    assert options(do(game, "keep")) == ("66 lead",)


# --- C.7 to C.13: who leads ---


def test_C07_the_leader_may_be_chosen_anew_after_a_tied_round() -> None:
    """C.7 (after_tie, later): The player who leads, either initially or after a blocked hand, may
    be chosen in various ways."""
    chosen = rules("draw", after_tie="highest_double")
    hands = ["55 61", "44 66"]
    assert turn(dealing(chosen, hands=hands, after=tied(chosen, leader=0))) == 1
    assert turn(dealing(chosen, hands=hands, after=tied(chosen, leader=1))) == 1
    assert turn(dealing(chosen, hands=hands, after=out_by(chosen, leader=1))) == 0
    assert turn(dealing("draw", hands=hands, after=tied("draw", leader=1))) == 0


@pytest.mark.parametrize(
    ("after_blocked", "leads"),
    [
        ("as_later", 2),
        ("rotate", 2),
        ("same", 1),
        ("winner", 0),
        ("highest_double", 1),
        ("double_six", 0),
    ],
)
def test_C07_the_leader_may_be_chosen_anew_after_a_blocked_round(
    after_blocked: str, leads: int
) -> None:
    """C.7 (after_blocked, later): The player who leads, either initially or after a blocked hand,
    may be chosen in various ways: here only after a blocked one."""
    chosen = rules("draw", after_blocked=after_blocked, missing="next_double")
    new = ["66 10", "55 20", "65 30"] if after_blocked == "double_six" else ["44", "55", "65"]
    before = blocked(chosen, "20", "60", "54", leader=1)
    assert before.playing.winner == 0
    assert turn(dealing(chosen, hands=new, after=before)) == leads
    out = out_by(chosen, leader=1, seats=3)
    assert turn(dealing(chosen, hands=new, after=out)) == 2


@pytest.mark.parametrize("first", ["lowest", "count", "double_six"])
def test_C07_lots_may_be_drawn_after_a_blocked_round(first: str) -> None:
    """C.7 (after_blocked, first): after a blocked hand the players draw again as at first, or for
    the highest tile where no lot was drawn at first."""
    chosen = rules("draw", first=first, after_blocked="lot")
    seen = set()
    for board in range(1, 30):
        dealt = values.chance_decides(blocked(chosen, "20", "60", "54"), seed(board))
        pips = [sum(lot.tile) for lot in dealt.lots[-3:]]
        if len(dealt.lots) == 3 and (first == "count" or len(set(pips)) == 3):
            found = {"lowest": min(pips), "double_six": max(pips)}.get(first)
            leader = sum(pips) % 3 if first == "count" else pips.index(found or 0)
            assert dealt.leader == leader
            seen.add(leader)
    assert seen == {0, 1, 2}
    assert not values.chance_decides(out_by(chosen, 0, seats=3), seed()).lots


def test_C07_a_tied_round_goes_before_a_blocked_one() -> None:
    """C.7 (after_blocked, after_tie): a blocked round that nobody won is both."""
    chosen = rules("draw", after_blocked="highest_double", after_tie="same")
    hands = ["66 10", "44 20"]
    assert turn(dealing(chosen, hands=hands, after=tied(chosen, leader=1))) == 1
    chosen = rules("draw", after_blocked="highest_double")
    assert turn(dealing(chosen, hands=hands, after=tied(chosen, leader=1))) == 0


@pytest.mark.parametrize(("later", "leads"), [("highest_double", 2), ("double_six", 0)])
def test_C07_a_double_may_lead_every_later_round(later: str, leads: int) -> None:
    """C.7 (later, first): the ways of C.12 and C.13 for later rounds alone: the first was led by
    lot."""
    chosen = rules("draw", later=later)
    assert lots(shuffled(chosen, 3))
    new = ["65 66" if later == "double_six" else "65 10", "33 20", "55 30"]
    for before in (out_by(chosen, 1, seats=3), blocked(chosen, "20", "60", "54", leader=1)):
        assert turn(dealing(chosen, hands=new, after=before)) == leads


def test_C08_the_highest_tile_drawn_leads() -> None:
    """C.8 (first): Players can draw for the highest tile. (Ambiguity 7: the tied draw again, the
    tiles go back, and everybody sees the lots.)"""
    again = 0
    for board in range(1, 101):
        for seats in (2, 3, 4):
            game = shuffled("draw", seats, board)
            drawing, left = list(range(seats)), list(lots(game))
            while len(drawing) > 1:
                drawn, left = left[: len(drawing)], left[len(drawing) :]
                assert [lot.seat for lot in drawn] == drawing
                highest = max(sum(lot.tile) for lot in drawn)
                drawing = [lot.seat for lot in drawn if sum(lot.tile) == highest]
                again += len(drawing) > 1
            assert not left
            assert drawing == [turn(game)]
    assert again
    game = shuffled("draw", 2)
    one = lots(game)[1]
    assert asked(game)["events"][1] == {"do": "lot", "seat": 1, "tile": list(one.tile)}


def test_C08_the_lots_say_nothing_of_the_deal() -> None:
    """C.8 (first): They draw for the lead. (Ambiguity 7: the real deal has its own order.)"""
    for board in range(1, 21):
        by_lot = shuffled("draw", 3, board).playing
        at_random = shuffled(rules("draw", first="random"), 3, board).playing
        assert (by_lot.hands, by_lot.stock) == (at_random.hands, at_random.stock)


def test_C08_a_new_lot_for_every_round() -> None:
    """C.8 (first, later): Either initially or after a hand: players draw again."""
    chosen = rules("draw", later="lot")
    dealt = values.chance_decides(out_by(chosen), seed())
    assert len(dealt.lots) >= 2
    best = max(sum(lot.tile) for lot in dealt.lots[-2:])
    assert sum(dealt.lots[-2 + dealt.leader].tile) == best


def test_C09_the_last_leader_leads_again() -> None:
    """C.9 (later): The last player who led, leads again."""
    chosen = rules("draw", later="same")
    for leader in (0, 1, 2):
        before = out_by(chosen, leader, seats=3)
        assert turn(dealing(chosen, hands=["66", "55", "44"], after=before)) == leader


def test_C10_the_lead_rotates_clockwise() -> None:
    """C.10 (later): The lead rotates clockwise around the table."""
    for leader in (0, 1, 2):
        before = out_by("draw", leader=leader, seats=3)
        assert turn(dealing("draw", hands=["66", "55", "44"], after=before)) == (leader + 1) % 3


def test_C10_in_the_direction_of_play() -> None:
    """C.10 (later, direction): Around the table, as the turn passes: counter-clockwise where play
    goes that way."""
    chosen = rules("draw", direction="counter_clockwise")
    before = out_by(chosen, leader=0, seats=3)
    game = dealing(chosen, hands=["66 11", "55 22", "44 33"], after=before)
    assert turn(game) == 2
    assert turn(do(game, "44 lead")) == 1


def test_C10_or_the_winner_leads() -> None:
    """C.10 (later): Ambiguity 20: where the winner leads, after a round without one the leader
    stays; with partners it is the seat that went out, else the lighter one of the winning side."""
    chosen = rules("draw", later="winner")
    assert turn(dealing(chosen, hands=["66", "55"], after=out_by(chosen, leader=1))) == 0
    assert turn(dealing(chosen, hands=["66", "55"], after=tied(chosen, leader=1))) == 1

    partners, new = rules("draw-partners", later="winner"), ["66", "55", "44", "33"]
    before = do(position(partners, hands=["60", "50", "21", "40"], line=LINE, turn=2), "21 right")
    assert turn(dealing(partners, hands=new, after=before)) == 2
    hands = ["21 60", "53", "40", "54"]
    before = do(position(partners, hands=hands, line=LINE, leader=3), "21 right")
    assert told(before)["pips"] == [6, 8, 4, 9]
    assert turn(dealing(partners, hands=new, after=before)) == 2


def test_C11_the_total_divided_by_the_number_of_players() -> None:
    """C.11 (first): All players draw a tile and expose them. The total is divided by the number of
    players, then one is added; the player (1 to n) of that number leads. (Only the remainder gives
    such a number.)"""
    check_counted(rules("draw", first="count"))


def test_C11_the_players_are_numbered_by_their_seats() -> None:
    """C.11 (first, direction): The players are numbered from 1 to (n): by their seats, whichever
    way the turn passes."""
    check_counted(rules("draw", first="count", direction="counter_clockwise"))


def check_counted(chosen: Ruleset) -> None:
    for seats in (2, 3, 4):
        seen = set()
        for board in range(1, 61):
            game = shuffled(chosen, seats, board)
            shown = lots(game)
            assert [lot.seat for lot in shown] == list(range(seats))
            number = sum(sum(lot.tile) for lot in shown) % seats + 1
            assert turn(game) == number - 1
            seen.add(number)
        assert seen == set(range(1, seats + 1))


def guessing() -> Game:
    """Return a caller, seat 1, before a total of 11 + 2."""
    game = values.new_game(rules("draw", first="odd_even"), 2)
    return values.begin(game, Dealt(1, 0, 1, (Lot(0, (6, 5)), Lot(1, (2, 0))), ((), ()), ()))


def test_C11_two_may_call_odd_or_even() -> None:
    """C.11 (first): In a two handed game the players can just call out "odd" or "even" as a guess
    what the total will be when they expose their tiles."""
    game = guessing()
    assert turn(game) == 1
    assert options(game) == ("odd", "even")
    for call, leader in (("odd", 1), ("even", 0)):
        after = do(game, call)
        assert values.needs_deal(after)
        after = dealing(after.rules, hands=["66 11", "55 22"], after=after)
        assert turn(after) == leader
        assert after.playing.events == (
            Guessed(1, "odd" if call == "odd" else "even"),
            Lot(0, (6, 5)),
            Lot(1, (2, 0)),
            Leads(leader),
        )
        assert after.playing.number == 1


def test_C11_the_tiles_are_not_seen_before_the_call() -> None:
    """C.11 (first): A guess to what the total will be: nothing is exposed before it."""
    question = asked(guessing())
    assert question["events"] == []
    assert question["hand"] == []
    assert question["boneyard"] == {"tiles": 0, "drawable": 0}


def test_C11_the_caller_is_drawn_at_random() -> None:
    """C.11 (first): Just call out: one of the two, drawn at random, and the call comes before the
    deal."""
    game = values.new_game(rules("draw", first="odd_even"), 2)
    dealt = [values.chance_decides(game, seed(board)) for board in range(20)]
    assert {one.leader for one in dealt} == {0, 1}
    assert {one.deal for one in dealt} == {0}
    assert {one.hands for one in dealt} == {((), ())}


def test_C11_odd_or_even_is_for_two() -> None:
    """C.11 (first): In a two handed game."""
    chosen = rules("draw", first="odd_even")
    assert playable_seat_counts(chosen) == (2,)
    with pytest.raises(UserError, match="table of two"):
        check_seats(chosen, 3)


def test_C12_the_highest_double_leads() -> None:
    """C.12 (first): In Ukraine and some central Asian countries the player with the highest double
    leads. (Ambiguity 14: with any tile.)"""
    game = dealing("ukrainian", hands=["44 65", "55 11", "33 22"], leader=0)
    assert turn(game) == 1
    assert game.playing.events == (Leads(1),)
    assert options(game) == ("55 lead", "11 lead", "draw")


def test_C12_nobody_has_a_double() -> None:
    """C.12 (missing): With no double dealt the seats draw in turn until there is one (ambiguity
    14); or the heaviest tile leads, or it is dealt again."""
    hands = ["65 10", "64 20"]
    # Seat 1 draws first, from the back; then seat 0 from the front.
    game = dealing("ukrainian", hands=hands, stock="22 63 54 41", leader=1)
    assert hand(game, 1) == ("64", "20", "41")
    assert hand(game, 0) == ("65", "10", "22")
    assert turn(game) == 0
    game = dealing(rules("ukrainian", missing="next_double"), hands=hands, leader=1)
    assert turn(game) == 0
    assert game.playing.events == (Leads(0),)
    game = dealing(rules("ukrainian", missing="redeal"), hands=hands, leader=1)
    assert game.playing.events == (Annulled(None, "missing"),)
    assert values.chance_decides(game, seed()).leader == 1


def test_C12_in_every_round() -> None:
    """C.12 (later): The player with the highest double leads. (Ambiguity 14: in every round.)"""
    before = out_by("ukrainian", leader=0)
    assert turn(dealing("ukrainian", hands=["44 65", "55 11"], after=before)) == 1


def test_C13_the_game_must_be_started_with_the_six_six() -> None:
    """C.13 (first, tile): Some play that the game must be started with the 6-6. (Ambiguity 14: a
    required lead is the only option; no drawing before it, whatever leader_may_draw says.)"""
    game = dealing("six-six", hands=["55 65", "66 11", "44 64"], leader=0)
    assert game.rules.turn.leader_may_draw
    assert turn(game) == 1
    assert options(game) == ("66 lead",)


def test_C13_draws_in_turn_for_the_six_six() -> None:
    """C.13 (missing): If no one holds the 6-6 players draw in turn from the boneyard until someone
    obtains this tile. (Ambiguity 14: from the leader by lot; no reserve in this phase, but after
    it.)"""
    # Seats 0 and 1 draw from the two ends of the first three tiles, seat 2 from the other three.
    hands, stock = ["55 65", "64 11", "44 63"], "10 20 30 40 50 66"
    game = dealing("six-six", hands=hands, stock=stock, leader=1)
    drawn = [(event.seat, event.tile) for event in game.playing.events if isinstance(event, Drew)]
    assert drawn == [(1, (3, 0)), (2, (4, 0)), (0, (1, 0)), (1, (2, 0)), (2, (5, 0)), (0, (6, 6))]
    assert game.playing.events[-1] == Leads(0)
    assert turn(game) == 0
    assert options(game) == ("66 lead",)
    assert asked(game)["hands"] == [4, 4, 4]
    game = dealing("six-six", hands=hands, stock="66 10 20 30 40 50", leader=0)
    assert asked(game)["hands"] == [3, 2, 2]
    assert asked(game)["boneyard"] == {"tiles": 5, "drawable": 3}


def test_C13_the_six_six_may_be_the_very_last_tile() -> None:
    """C.13 (missing, reserve): Until someone obtains this tile. (Ambiguity 14: the reserve does not
    hold; play goes on with uneven hands.)"""
    game = dealing("six-six", hands=["55 65", "64 11"], stock="10 66 20", leader=0)
    assert asked(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    assert asked(game)["hands"] == [4, 3]
    assert options(game) == ("66 lead",)
    game = do(game, "66 lead")
    assert options(game) == ("64 left",)


def test_C13_in_every_round_with_a_new_lot() -> None:
    """C.13 (later): The game must be started with the 6-6. (Ambiguity 14: in every round, with a
    new lot for who draws first.)"""
    before = out_by("six-six", leader=0)
    assert {values.chance_decides(before, seed(board)).leader for board in range(20)} == {0, 1}
    game = dealing("six-six", hands=["55 65", "66 11"], after=before)
    assert options(game) == ("66 lead",)


def test_C13_the_next_double_or_a_new_deal_instead() -> None:
    """C.13 (missing, tile): If no one holds the 6-6: elsewhere the highest double dealt leads, or
    it is dealt again."""
    hands = ["44 65", "55 11"]
    game = dealing(rules("six-six", missing="next_double"), hands=hands)
    assert options(game) == ("55 lead",)
    game = dealing(rules("six-six", missing="redeal"), hands=hands)
    assert game.playing.events == (Annulled(None, "missing"),)
    assert asked(game, 1)["events"] == [{"do": "annul", "seat": None, "why": "missing"}]


def test_C13_the_six_six_of_another_set() -> None:
    """C.13 (highest_pip): In another set its highest double takes the place of the 6-6."""
    game = dealing(rules("six-six", highest_pip=9), hands=["66 65", "99 11"])
    assert options(game) == ("99 lead",)


def test_C13_a_set_without_doubles_has_none() -> None:
    """C.13 (first, doubles): A set without doubles has no 6-6 to start with."""
    with pytest.raises(ImpossibleRulesError, match="without doubles"):
        rules("six-six", doubles=False)


# --- C.14 to C.16: the first tile ---


def test_C14_the_first_tile_has_its_own_choice() -> None:
    """C.14 (tile): The first tile played can be: whatever the leader chooses, or a required one."""
    hands = ["44 65", "55 11"]
    for tile, able in (("any", ("44 lead", "65 lead", "draw")), ("highest", ("44 lead",))):
        assert options(dealing(rules("draw", tile=tile), hands=hands)) == able


def test_C15_whatever_tile_the_player_chooses() -> None:
    """C.15 (tile): Whatever tile the player chooses. This is common in France."""
    game = dealing("french", hands=["66 65 10", "55 11 00"], leader=1)
    assert options(game) == ("55 lead", "11 lead", "00 lead", "draw")
    assert line(do(game, "11 lead")) == "11"


@pytest.mark.parametrize(
    ("held", "must"),
    [
        ("65 66 11", "66"),
        ("65 11 44", "44"),
        ("65 00 64", "00"),
        ("54 63 10", "63"),
        ("63 64 54", "64"),
    ],
)
def test_C16_the_six_six_or_the_highest_double_or_the_most_spots(held: str, must: str) -> None:
    """C.16 (tile): The tile is required to be the 6-6, or the player's highest double, or the tile
    with most spots if no double is held (equal spots: the larger end decides)."""
    game = dealing(rules("draw", tile="highest"), hands=["55 22", held], leader=1)
    assert options(game) == (f"{must} lead",)


def test_C16_is_about_the_leader_only() -> None:
    """C.16 (tile, first): The player's highest double: the leader's own, whoever holds a higher
    one; nor does it bind later tiles."""
    game = dealing(rules("draw", tile="highest"), hands=["66 41", "44 54"], leader=1)
    assert options(game) == ("44 lead",)
    game = do(game, "44 lead")
    assert options(game) == ("41 left", "draw")


def test_C16_the_double_that_won_the_lead() -> None:
    """C.16 (tile, first): Where a double wins the lead it is the tile that must be led; without a
    double anywhere the heaviest tile (ambiguity 12)."""
    chosen = rules("draw", first="highest_double", tile="set_double")
    assert options(dealing(chosen, hands=["44 65", "55 11"])) == ("55 lead",)
    assert options(dealing(chosen, hands=["54 41", "63 10"])) == ("63 lead",)
    # Without a double having won the lead there is nothing that must be led.
    game = dealing(chosen, hands=["44 65", "55 11"], after=out_by(chosen, leader=0))
    assert options(game) == ("55 lead", "11 lead", "draw")


def test_C16_cannot_be_asked_of_a_line_that_has_begun() -> None:
    """C.16 (tile, starter): With a tile turned up there is no first tile to require."""
    with pytest.raises(ImpossibleRulesError, match="starter"):
        rules("double-draw", tile="highest")
