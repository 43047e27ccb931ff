"""What the sources leave open, as rules.md decides it in its third part; numbers are its own."""

from random import Random
from typing import Any

from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from protocol.messages import Annulled, Bade, Drew, Leads, Passed
from protocol.ruleset import set_of_tiles
from tests.support.positions import dealing, do, options, position, rules, shuffled, tiles, turn
from tests.support.scenes import asked, blocked, seen_events

# --- 1, 2: hands and the literal tie ---


def test_ambiguity_1_seven_five_five_is_one_choice_away() -> None:
    common = rules("draw", hand={"two": 7, "three": 5, "four": 5})
    assert [asked(shuffled(common, seats)).hands[0] for seats in (2, 3, 4)] == [7, 5, 5]


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


# --- 12, 13: Puerto Rico and Austria ---


def test_ambiguity_12_five_hundred_bonuses_by_round() -> None:
    five = find_variant("puerto-rico-500")
    assert five.game.target == 500
    for number, bonus in ((1, 100), (2, 75), (3, 50), (4, 25), (5, 0)):
        game = blocked(five, "66", "50", number=number)
        assert game.points == (0, 17 + bonus)


def test_ambiguity_13_austrian_hands_and_pips() -> None:
    assert sum(map(sum, set_of_tiles(find_variant("austrian").deal))) == 288
    for seats, hand, left in ((2, 9, 18), (3, 7, 15)):
        game = shuffled("austrian", seats)
        assert asked(game).hands == (hand,) * seats
        assert asked(game).boneyard.drawable == asked(game).boneyard.tiles == left
        assert game.target == 100


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


def test_ambiguity_15_only_when_unable() -> None:
    able = position(AUCTION, hands=UNABLE, line="13 32", stock="44 65 55 54", turn=1)
    assert options(able) == ("21 left", "21 right")
    bought = position(AUCTION, hands=UNABLE, line="13 32", stock="10 65 55 54")
    assert options(do(bought, "draw")) == ("10 left",)
    assert "draw" not in options(dealing(AUCTION, hands=["66", "65"], stock="44 64 55"))


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


# --- 16, 17: fees ---


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


# --- 21, 22 ---
