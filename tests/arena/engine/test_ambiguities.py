"""What the sources leave open, as rules.md decides it in its third part; numbers are its own."""

from random import Random
from typing import Any

import pytest

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Annulled, Bade, Drew, Leads, Passed
from protocol.ruleset import ImpossibleRulesError, playable_seat_counts, set_of_tiles
from tests.support.positions import dealing, do, options, position, rules, shuffled, tiles, turn
from tests.support.scenes import asked, blocked, next_round, seen_events, went_out

# --- 1, 2: hands and the literal tie ---


def test_ambiguity_1_seven_five_five_is_one_choice_away() -> None:
    common = rules("draw", hand={"two": 7, "three": 5, "four": 5})
    assert [asked(shuffled(common, seats)).hands[0] for seats in (2, 3, 4)] == [7, 5, 5]


@pytest.mark.parametrize("tie", ["blocker", "fewest_tiles", "lowest_end", "outsider"])
def test_ambiguity_2_no_tie_break_heals_it(tie: str) -> None:
    game = went_out(rules("draw", tie=tie), "00", "66 50")
    assert game.points == (0, 0, 0)


# --- 11: partnership ---


def test_ambiguity_11_six_six_leads_and_the_turn_goes_counter_clockwise() -> None:
    hands = ["65 64", "66 21", "61 50", "44 33"]
    game = dealing("partnership", hands=hands)
    order = []
    assert options(game) == ("66 lead",)
    for _ in range(4):
        order.append(turn(game))
        game = do(game, options(game)[0])
    assert order == [1, 0, 3, 2]
    assert Passed(3) in game.playing.events


def test_ambiguity_11_later_the_lead_passes_on_with_any_tile() -> None:
    game = went_out("partnership", "66 00", "22", "33", turn=1, leader=1)
    game = next_round(game)
    assert turn(game) == 0
    assert options(game) == tuple(f"{high}{low} lead" for high, low in asked(game).hand)
    assert len(options(game)) == 7


def test_ambiguity_11_must_play_when_able_and_nothing_is_drawn() -> None:
    hands = ["21 66", "50 40", "60 51", "44 53"]
    game = position("partnership", hands=hands, line="13 32")
    assert options(game) == ("21 left", "21 right")


def test_ambiguity_11_going_out_wins_though_the_partner_is_heavy() -> None:
    game = went_out("partnership", "20", "66 65", "30")
    assert game.points == (5, 0, 5, 0)
    assert game.playing.winner == 0


def test_ambiguity_11_blocked_the_lower_total_wins_the_losers_pips() -> None:
    game = blocked("partnership", "00 20", "40", "64", "50")
    assert values.pips(game) == (2, 4, 10, 5)
    assert game.points == (0, 12, 0, 12)


# --- 12, 13: Puerto Rico and Austria ---


def test_ambiguity_12_counter_clockwise_to_200_without_a_reserve() -> None:
    game = dealing("puerto-rico", hands=["65 21", "66 22", "60 50"], stock="10")
    assert game.target == 200
    assert asked(game).boneyard.drawable == 1
    assert turn(do(game, "66 lead")) == 0


def test_ambiguity_12_nobody_has_a_double_so_the_heaviest_tile_leads() -> None:
    game = dealing("puerto-rico", hands=["21 63", "54 50", "62 40"], stock="66 55")
    # 6-3 and 5-4 count nine; the larger end decides.
    assert turn(game) == 0
    assert options(game) == ("63 lead",)


def test_ambiguity_12_five_hundred_bonuses_by_round() -> None:
    five = find_variant("puerto-rico-500")
    assert five.game.target == 500
    for number, bonus in ((1, 100), (2, 75), (3, 50), (4, 25), (5, 0)):
        game = blocked(five, "66", "50", number=number)
        assert game.points == (0, 17 + bonus)


def test_ambiguity_12_a_tied_round_uses_its_number_up() -> None:
    game = blocked("puerto-rico-500", "60", "42")
    assert game.points == (0, 0)
    game = next_round(game)
    assert game.playing.number == 2
    assert went_out("puerto-rico-500", "66", number=2).points == (12 + 75 + 100, 0)


@pytest.mark.parametrize(
    ("line", "last", "points"),
    [
        ("13 32", "21 right", 100),
        ("13 32", "21 left", 100),
        ("12 20 01", "41 left", 100),  # equal ends count as both
        ("13 32", "41 left", 0),
        ("12 20 01", "11 left", 0),  # a double is none
        ("13 30", "00 right", 100),  # the double blank
    ],
)
def test_ambiguity_12_capicu_and_double_blank(line: str, last: str, points: int) -> None:
    game = position("puerto-rico-500", hands=[last[:2], "66"], line=line, number=5)
    assert do(game, last).points == (12 + points, 0)


def test_ambiguity_12_no_bonus_for_who_did_not_go_out() -> None:
    lowest = rules("puerto-rico-500", winner="lowest")
    game = position(lowest, hands=["00", "66"], line="13 30", number=5)
    assert do(game, "00 right").points == (112, 0)
    game = blocked("puerto-rico-500", "66", "00", number=5)
    assert game.points == (0, 12)


def test_ambiguity_13_austrian_hands_and_pips() -> None:
    assert sum(map(sum, set_of_tiles(find_variant("austrian").deal))) == 288
    for seats, hand, left in ((2, 9, 18), (3, 7, 15)):
        game = shuffled("austrian", seats)
        assert asked(game).hands == (hand,) * seats
        assert asked(game).boneyard.drawable == asked(game).boneyard.tiles == left
        assert game.target == 100


def test_ambiguity_13_four_play_it_as_a_block_game() -> None:
    four = find_variant("austrian-block")
    assert playable_seat_counts(four) == (4,)
    game = shuffled(four, 4)
    assert asked(game).hands == (8, 8, 8, 8)
    assert (asked(game).boneyard.tiles, asked(game).boneyard.drawable) == (4, 0)
    hands = ["87 50", "21 40", "60", "85"]
    assert options(position(four, hands=hands, line="13 32")) == ("pass",)


@pytest.mark.parametrize(
    "differs",
    [
        {"first": "highest_double"},
        {"first": "double_six"},
        {"after_tie": "highest_double"},
        {"refuse_doubles": 3},
    ],
)
def test_ambiguity_13_no_convention_about_doubles_applies(differs: dict[str, Any]) -> None:
    with pytest.raises(ImpossibleRulesError, match="doubles"):
        rules("austrian", **differs)


# --- 15: Auction Draw ---

AUCTION = find_variant("auction-draw")
UNABLE = ("66 50", "21 40", "60 53")
"""On the line of the scenes seats 1 and 2 can play, seat 0 cannot."""


def buying(*hands: str, stock: str = "44 65 55", **more: Any) -> Game:
    """Seat 0 has bought the last tile for sale; it cannot play."""
    game = position(AUCTION, hands=hands or UNABLE, line="13 32", stock=stock, **more)
    return do(game, "draw")


def auctioned(*bids: int, **more: Any) -> Game:
    """Return an auction between three after seat 0 has bought; the first bid is by seat 1."""
    return do(do(buying(**more), "pass"), *map("bid {}".format, bids))


def test_ambiguity_15_hundred_chips_and_an_ante_of_three() -> None:
    game = shuffled(AUCTION, 4)
    assert AUCTION.stakes.chips == 100
    assert asked(game).scores == (-3, -3, -3, -3)
    assert asked(game).pot == 12


def test_ambiguity_15_partners_have_chips_and_pay_the_ante_as_one_side() -> None:
    """Chips move and are neither made nor lost: what the sides lack lies in the pool."""
    partners = rules("auction-draw", partners=True)
    game, luck = shuffled(partners, 4), Random(5)
    assert (asked(game).scores, asked(game).pot) == ((-3, -3, -3, -3), 6)
    while not game.over:
        listed = values.legal(game)
        game = values.act(game, luck.choice(listed)) if listed else dealing_on(game)
        assert sum(game.scores[:2]) + game.pot == 0
        assert game.scores[:2] == game.scores[2:]
    assert game.playing.number == 20


def dealing_on(game: Game) -> Game:
    """Return the game with its next round dealt."""
    return values.begin(game, values.chance_decides(game, bytes(32)))


def test_ambiguity_15_the_ante_is_what_is_left() -> None:
    before = blocked(AUCTION, "66", "60", "50", scores=(-98, -100, 198))
    assert before.points == (0, 0, 0)
    game = dealing(before.rules, after=before, hands=["66", "65", "64"], stock="55 54 53")
    assert game.scores == (-100, -100, 195)
    assert game.pot == 5


def test_ambiguity_15_buying_costs_a_chip_into_the_pool() -> None:
    game = position(
        AUCTION, hands=UNABLE, line="13 32", stock="44 65 55 54", scores=(-3, -3, -3), pot=9
    )
    assert options(game) == ("draw", "pass")
    game = do(game, "draw")
    assert asked(game).scores == (-4, -3, -3)
    assert asked(game).pot == 10
    assert options(game) == ("draw", "pass")


def test_ambiguity_15_only_when_unable() -> None:
    able = position(AUCTION, hands=UNABLE, line="13 32", stock="44 65 55 54", turn=1)
    assert options(able) == ("21 left", "21 right")
    bought = position(AUCTION, hands=UNABLE, line="13 32", stock="10 65 55 54")
    assert options(do(bought, "draw")) == ("10 left",)
    assert "draw" not in options(dealing(AUCTION, hands=["66", "65"], stock="44 64 55"))


def test_ambiguity_15_never_the_last_two() -> None:
    game = buying()
    assert (asked(game).boneyard.tiles, asked(game).boneyard.drawable) == (2, 0)
    assert options(game) == ("pass",)


def test_ambiguity_15_without_chips_nothing_is_bought() -> None:
    game = position(
        AUCTION, hands=UNABLE, line="13 32", stock="44 65 55", scores=(-100, 50, 41), pot=9
    )
    assert options(game) == ("pass",)


def test_ambiguity_15_a_table_of_passes_without_a_purchase_is_blocked() -> None:
    game = position(AUCTION, hands=["66 50", "60 40", "65"], line="13 32", stock="44 64 55", pot=9)
    game = do(game, "pass", "pass")
    assert game.playing.over is None
    game = do(game, "pass")
    assert game.playing.over == "blocked"
    assert game.points == (0, 9, 0)


def test_ambiguity_15_the_next_seat_opens_and_it_goes_round_twice() -> None:
    game = do(buying(), "pass")
    asked_seats = []
    while game.playing.phase.name == "auction":
        asked_seats.append(turn(game))
        assert options(game)[0] == "bid 0"
        game = do(game, "bid 0")
    assert asked_seats == [1, 2, 0, 1, 2, 0]
    # Then the turn is with the seat after the buyer.
    assert turn(game) == 1
    assert options(game) == ("21 left", "21 right")


def test_ambiguity_15_only_higher_bids_up_to_what_one_holds() -> None:
    game = auctioned(scores=(-10, -97, -3), pot=50)
    assert options(game) == ("bid 0", "bid 1", "bid 2", "bid 3")
    game = do(game, "bid 2")
    assert turn(game) == 2
    assert options(game) == ("bid 0", *map("bid {}".format, range(3, 98)))
    game = do(game, "bid 0")
    # The buyer has paid one of its ninety.
    assert options(game) == ("bid 0", *map("bid {}".format, range(3, 90)))
    game = do(game, "bid 5")
    assert turn(game) == 1
    assert options(game) == ("bid 0",)


def test_ambiguity_15_a_check_now_may_be_a_bid_later() -> None:
    game = auctioned(0, 4, 0, 7, 0, 0)
    assert game.scores == (-1, -7, 0)
    assert game.playing.phase.bidder == 1


def test_ambiguity_15_highest_bid_pays_and_takes_both() -> None:
    game = auctioned(1, 2, 3, 0, 0, 0, scores=(-3, -3, -3), pot=9)
    # One chip for the tile that seat 0 bought before, and three for the two.
    assert game.scores == (-7, -3, -3)
    assert game.pot == 13
    assert sorted(game.playing.hands[0]) == sorted(tiles("66 50 44 65 55"))
    assert asked(game).boneyard.tiles == 0
    assert asked(game).hands == (5, 2, 2)
    assert turn(game) == 1


def test_ambiguity_15_bids_are_seen_and_the_tiles_are_not() -> None:
    game = auctioned(0, 0, 1, 0, 0, 0)
    bids = [event for event in seen_events(game, 1) if isinstance(event, Bade)]
    assert bids == [Bade(1, 0), Bade(2, 0), Bade(0, 1), Bade(1, 0), Bade(2, 0), Bade(0, 0)]
    assert [event for event in seen_events(game, 1) if isinstance(event, Drew)] == [Drew(0)] * 3
    own = [event for event in seen_events(game, 0) if isinstance(event, Drew)]
    assert None not in [event.tile for event in own]


def test_ambiguity_15_all_check_and_they_stay_out_for_good() -> None:
    game = auctioned(0, 0, 0, 0, 0, 0, scores=(-3, -3, -3), pot=9)
    assert game.scores == (-4, -3, -3)
    assert game.pot == 10
    assert asked(game).boneyard.tiles == 2
    game = do(game, "21 right")
    # No second auction: nobody holds a one now, so the round is over.
    assert game.playing.over == "blocked"


def test_ambiguity_15_no_auction_when_somebody_went_out() -> None:
    game = position(AUCTION, hands=["21", "66 50", "60"], line="13 32", stock="44 55", pot=9)
    game = do(game, "21 left")
    assert game.playing.over == "out"
    assert game.points == (9, 0, 0)


def test_ambiguity_15_the_auction_comes_after_the_buyers_turn() -> None:
    """Also when the bought tile can be played."""
    game = buying(stock="10 65 55")
    assert options(game) == ("10 left",)
    game = do(game, "10 left")
    assert turn(game) == 1
    assert options(game)[:2] == ("bid 0", "bid 1")


def test_ambiguity_15_the_auction_comes_before_the_blocked_question() -> None:
    """Nobody can play after the last purchase, but the two tiles may change that."""
    game = buying("66 50", "60 40", "65 53", stock="44 21 55")
    assert game.playing.over is None
    # The buyer's pass is not asked.
    assert turn(game) == 1
    assert options(game)[:2] == ("bid 0", "bid 1")
    bought = do(game, "bid 1", *["bid 0"] * 5)
    assert turn(bought) == 1
    assert options(bought) == ("21 left", "21 right")
    checked = do(game, *["bid 0"] * 6)
    assert checked.playing.over == "blocked"


def test_ambiguity_15_blocked_by_a_play_the_auction_comes_first() -> None:
    game = position(AUCTION, hands=["21 66", "60 40", "65"], line="13 32", stock="51 55", pot=9)
    game = do(game, "21 right")
    assert turn(game) == 1
    game = do(game, "bid 0", "bid 8", *["bid 0"] * 4)
    assert game.playing.over is None
    assert turn(game) == 1
    assert options(game) == ("pass",)
    game = do(game, "pass")
    assert options(game) == ("51 left",)


def test_ambiguity_15_out_wins_the_pool() -> None:
    game = went_out(AUCTION, "00", "66", scores=(-20, 3, -13), pot=30)
    assert game.points == (30, 0, 0)
    assert game.scores == (10, 3, -13)
    assert game.pot == 0


def test_ambiguity_15_blocked_the_fewest_pips_win_the_pool() -> None:
    game = blocked(AUCTION, "66", "20", "50", scores=(-10, -10, -10), pot=30)
    assert game.points == (0, 30, 0)
    assert game.scores == (-10, 20, -10)


def test_ambiguity_15_a_tie_leaves_the_pool() -> None:
    game = blocked(AUCTION, "66", "60", "42", scores=(-10, -10, -10), pot=30)
    assert game.points == (0, 0, 0)
    assert game.pot == 30
    game = dealing(game.rules, after=game, hands=["66", "65", "64"], stock="55 54 53")
    assert game.pot == 39
    assert asked(game).pot == 39


def test_ambiguity_15_net_chips_over_a_fixed_number_of_rounds() -> None:
    for number, over in ((1, None), (19, None), (20, "rounds")):
        game = went_out(AUCTION, "66", "00", scores=(-20, 8, -18), pot=30, number=number)
        assert game.over == over
        assert game.scores == (10, 8, -18)
        assert values.places(game) == (1, 2, 3)
    # However many chips somebody has won: there is no target.
    rich = went_out(AUCTION, "66", "00", scores=(190, -95, -98), pot=3)
    assert rich.over is None


# --- 16, 17: fees ---


def test_ambiguity_16_a_fee_may_take_a_score_below_0() -> None:
    game = position("paid-draw", hands=["66 50", "21 40"], line="13 32", stock="44 65 55 54")
    game = do(game, "draw", "draw")
    assert game.scores == (-2, 0)
    assert game.pot == 0


def test_ambiguity_16_a_seat_that_drew_may_still_pass() -> None:
    game = position("paid-draw", hands=["66 50", "21 40"], line="13 32", stock="44 65 55 54")
    game = do(game, "draw", "pass")
    assert turn(game) == 1


def test_ambiguity_16_the_side_pays() -> None:
    game = position(
        rules("draw-partners", fee=1, pot=True, draw_optional=True),
        hands=["66 50", "21 40", "60", "65"],
        line="13 32",
        stock="44 64 55 54",
        scores=(5, 6, 5, 6),
    )
    game = do(game, "draw")
    assert asked(game).scores == (4, 6, 4, 6)
    assert asked(game).pot == 1


def test_ambiguity_16_the_side_wins_the_pot() -> None:
    game = blocked(
        rules("draw-partners", fee=1, pot=True, draw_optional=True), "66", "20", "65", "30", pot=4
    )
    assert game.points == (0, 23 - 5 + 4, 0, 23 - 5 + 4)
    assert game.pot == 0


def test_ambiguity_17_domino_pool_is_a_draw_game_without_stakes() -> None:
    pool = find_variant("domino-pool")
    assert (pool.stakes.fee, pool.stakes.ante, pool.stakes.pot) == (0, 0, False)
    able = position(pool, hands=["66 21", "50 40"], line="13 32", stock="44 65 55 54")
    assert options(able) == ("21 left", "21 right")
    unable = position(pool, hands=["66 50", "21 40"], line="13 32", stock="44 65 55")
    assert options(unable) == ("draw",)
    assert asked(do(unable, "draw")).boneyard.tiles == 2
    assert options(do(unable, "draw")) == ("pass",)
    assert blocked(pool, "66 50", "22", "43").points == (0, 17 + 7 - 4, 0)


# --- 18: sides ---


@pytest.mark.parametrize("name", ["draw-partners", "dutch-partners"])
def test_ambiguity_18_the_lower_total_wins_the_difference(name: str) -> None:
    game = went_out(find_variant(name), "20", "66 65", "30")
    assert game.points == (0, 18, 0, 18)
    assert game.playing.winner == 1
    assert blocked(find_variant(name), "66", "20", "65", "30").points == (0, 18, 0, 18)


@pytest.mark.parametrize(
    ("winner", "formula", "points"),
    [
        ("lowest", "others_minus_own", (0, 18, 0, 18)),
        ("lowest", "others", (0, 23, 0, 23)),
        ("out", "others", (5, 0, 5, 0)),
    ],
)
def test_ambiguity_18_both_readings_are_choices(
    winner: str, formula: str, points: tuple[int, ...]
) -> None:
    partners = rules("draw-partners", winner=winner, points_out=formula)
    game = went_out(partners, "20", "66 65", "30")
    assert game.points == points


def test_ambiguity_18_tied_sides_when_somebody_went_out() -> None:
    """The lower total is nobody's, but whoever went out is somebody."""
    hands = ("20", "50", "30")
    for tie in ("nobody", "blocker", "fewest_tiles"):
        game = went_out(rules("draw-partners", tie=tie), *hands)
        assert game.points == (0, 0, 0, 0)
    game = went_out(rules("draw-partners", winner="out", points_out="others"), *hands)
    assert game.points == (5, 0, 5, 0)


@pytest.mark.parametrize("formula", ["others_minus_own", "difference"])
def test_points_are_never_below_0(formula: str) -> None:
    """The blocker wins a tie, but is the heaviest at the table."""
    game = blocked(rules("draw", tie="blocker", points_blocked=formula), "66 65", "40", "22", "33")
    assert game.playing.winner == 0
    assert values.pips(game) == (23, 4, 4, 6)
    assert game.points == (0, 0, 0, 0)
    assert game.scores == (0, 0, 0, 0)


def test_a_game_ends_after_its_most_rounds() -> None:
    short = rules("draw", max_rounds=3)
    assert went_out(short, "60", number=2).over is None
    assert went_out(short, "60", number=3).over == "max_rounds"


def test_the_difference_of_tied_sides_is_0() -> None:
    game = blocked(rules("draw-partners", tie="blocker"), "60", "44", "20", "00")
    assert game.playing.winner == 2
    assert game.points == (0, 0, 0, 0)


# --- 19: deals that do not count ---

STRONG = ["65 64 63 62 61", "55 54 53 11 10"]


def annulments(game: Game) -> list[Annulled]:
    return [event for event in game.playing.events if isinstance(event, Annulled)]


def test_ambiguity_19_a_strong_hand_is_declared_and_dealt_again() -> None:
    game = dealing("jordanian", hands=STRONG, stock="66 60 50", leader=1)
    assert values.needs_deal(game)
    assert values.legal(game) == ()
    assert annulments(game) == [Annulled(0, "suit")]
    game = dealing(game.rules, after=game, hands=["66 21", "44 33"], stock="11 22 55", leader=1)
    assert game.playing.number == 1
    assert turn(game) == 1
    assert asked(game).events == [Annulled(0, "suit"), Leads(1)]


def test_ambiguity_19_the_same_leader_whatever_chance_deals() -> None:
    for leader in (0, 1, 2):
        hands = [*STRONG, "00"]
        game = dealing(rules("jordanian", later="rotate"), hands=hands, stock="66", leader=leader)
        while values.needs_deal(game):
            game = next_round(game)
        assert game.playing.number == 1
        assert turn(game) == leader


def test_ambiguity_19_refused_for_doubles_asked_from_the_leader_on() -> None:
    refusing = rules("draw", refuse_doubles=2)
    hands = ["66 55 10", "44 33 20", "65 11 50", "00 22 30"]
    game = dealing(refusing, hands=hands, stock="64 63 62", leader=3)
    kept = []
    while options(game) == ("keep", "refuse"):
        kept.append(turn(game))
        # The others' hands stay hidden while this is decided.
        assert asked(game).hand == tiles(hands[kept[-1]])
        assert asked(game).hands == (3, 3, 3, 3)
        game = do(game, "keep")
    assert kept == [3, 0, 1]
    assert turn(game) == 3
    assert options(game) == (*("00 lead", "22 lead", "30 lead"), "draw")


def test_ambiguity_19_the_first_refusal_annuls_and_the_leader_stays() -> None:
    refusing = rules("draw", refuse_doubles=2)
    hands = ["66 55 10", "44 33 20", "65 11 50", "00 22 30"]
    game = do(dealing(refusing, hands=hands, stock="64 63 62", leader=3), "keep", "refuse")
    assert values.needs_deal(game)
    assert annulments(game) == [Annulled(0, "doubles")]
    again = dealing(
        game.rules,
        after=game,
        hands=["66 54 10", "44 32 20", "65 11 50", "00 21 30"],
        stock="55",
        leader=3,
    )
    assert turn(again) == 3
    assert again.playing.number == 1
    chance = values.chance_decides(game, b"any")
    assert (chance.round, chance.deal, chance.leader) == (1, 2, 3)


ORDER = {"annul_suit": 5, "missing": "redeal", "first": "double_six", "refuse_doubles": 2}


def test_ambiguity_19_then_the_doubles_asked_from_the_holder_on() -> None:
    hands = ["65 64 63 22 00", "66 44 53 11 20"]
    game = dealing(rules("draw", **ORDER), hands=hands, stock="61 60 50", leader=0)
    assert annulments(game) == []
    assert turn(game) == 1
    assert options(game) == ("keep", "refuse")
    game = do(game, "keep")
    assert turn(game) == 0
    game = do(game, "keep")
    assert turn(game) == 1
    assert options(game)[-1] == "draw"


# --- 20: the winner leads ---


def test_ambiguity_20_without_a_winner_the_leader_stays() -> None:
    winner = rules("draw", later="winner")
    tied = blocked(winner, "66", "60", "42", leader=2)
    assert tied.playing.winner is None
    assert turn(next_round(tied)) == 2
    won = blocked(winner, "66", "60", "65", leader=2)
    assert turn(next_round(won)) == 1


def test_ambiguity_20_unless_the_rules_say_otherwise() -> None:
    tied = blocked("puerto-rico", "66", "60", "42", leader=2)
    game = dealing(tied.rules, after=tied, hands=["66 21", "50 40", "55 44"], stock="11", leader=1)
    assert turn(game) == 0
    assert options(game) == ("66 lead",)
    blocker = blocked("puerto-rico-blocker", "66", "60", "42", leader=2)
    assert turn(next_round(blocker)) == 0


def test_ambiguity_20_of_partners_the_one_that_went_out() -> None:
    side = rules("draw-partners", later="winner")
    game = went_out(side, "66", "20", "65", turn=2)
    assert game.playing.winner == 2
    assert turn(next_round(game)) == 2


def test_ambiguity_20_else_the_lighter_seat_of_the_winning_side() -> None:
    side = rules("draw-partners", later="winner")
    assert blocked(side, "66", "30", "65", "20").playing.winner == 3
    assert turn(next_round(blocked(side, "66", "30", "65", "20"))) == 3
    assert blocked(side, "66", "20", "65", "30").playing.winner == 1
    # Also when somebody of the other side went out.
    lost = went_out(side, "30", "66 65", "20")
    assert lost.playing.winner == 3


# --- 21, 22 ---


@pytest.mark.parametrize("limit", [1, 2, "unlimited"])
def test_ambiguity_22_the_drawers_pass_is_not_asked(limit: int | str) -> None:
    last = rules("draw", draw_limit=limit)
    game = position(last, hands=["66 50", "60 40"], line="13 32", stock="44 65 55")
    game = do(game, "draw")
    assert game.playing.over == "blocked"
    assert game.playing.events[-1] == Drew(0, (4, 4))
    assert game.points == (0, 17 + 8 - 10)


def test_ambiguity_22_unless_somebody_can_play() -> None:
    last = rules("draw", draw_limit=1)
    game = position(last, hands=["66 50", "21 40"], line="13 32", stock="44 65 55")
    game = do(game, "draw")
    assert game.playing.over is None
    assert options(game) == ("pass",)


def test_ambiguity_22_a_limit_alone_does_not_end_the_round() -> None:
    """Tiles may be drawn yet, though not by this seat."""
    last = rules("draw", draw_limit=1)
    game = position(last, hands=["66 50", "60 40"], line="13 32", stock="44 65 55 54")
    game = do(game, "draw", "pass")
    assert turn(game) == 1
    assert options(game) == ("draw",)
    assert do(game, "draw").playing.over == "blocked"
