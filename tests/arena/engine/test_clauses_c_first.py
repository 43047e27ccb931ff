"""Draw Dominoes (source C): the deal, the play, the score, and C.1 to C.16, clause by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

import pytest

from arena.engine import values
from arena.engine.state import Dealt, Game
from protocol.messages import Guessed, Leads, Lot
from protocol.ruleset import MOST_DEALS, Ruleset
from tests.support.positions import (
    ask,
    dealing,
    do,
    options,
    over,
    position,
    rules,
    seed,
    shuffled,
    turn,
)

LINE = "13 32"
"""A line whose ends are 1 and 2; with 2-1 on its right end both are 1."""


def lots(game: Game) -> tuple[Lot, ...]:
    """Return the tiles drawn for the lead."""
    return tuple(event for event in game.playing.events if isinstance(event, Lot))


def round_won(rules: Ruleset | str, leader: int = 0, seats: int = 2) -> Game:
    """Return a round that seat 0 has just won by going out."""
    hands = ["21", "60", "50", "40"][:seats]
    return do(position(rules, hands=hands, line=LINE, leader=leader), "21 right")


def blocked_round(rules: Ruleset, *hands: str) -> Game:
    """Return a round that seat 0 has just blocked; these hands, without a one, are left."""
    game = do(position(rules, hands=[f"21 {hands[0]}", *hands[1:]], line=LINE), "21 right")
    assert over(game) == "blocked"
    return game


# --- the play ---


def test_C_play_the_players_draw_for_the_lead() -> None:
    """C play (first): The players draw for lead (or set). (Ambiguity 7: highest.)"""
    game = shuffled("draw", 3)
    assert len(lots(game)) >= 3
    assert game.playing.events == (*lots(game), Leads(game.playing.leader))


# --- C.1 to C.3: other hands ---


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


def test_C05_the_last_of_many_deals_counts() -> None:
    """C.5 (refuse_doubles): To demand a redeal; but not for ever, so that every round ends."""
    ruleset = rules("draw", refuse_doubles=3)
    game = dealing(ruleset, hands=[NO_DOUBLES, THREE_DOUBLES], leader=0)
    for _ in range(MOST_DEALS - 1):
        assert options(game) == ("keep", "refuse")
        game = dealing(ruleset, hands=[NO_DOUBLES, THREE_DOUBLES], after=do(game, "refuse"))
    assert turn(game) == 0
    assert options(game)[0] == "65 lead"


def test_C05_doubles_that_were_drawn_for_the_lead_do_not_count() -> None:
    """C.5 (refuse_doubles, missing): A player who is *dealt* so many doubles: those drawn for the
    6-6 are no reason to annul."""
    ruleset = rules("six-six", refuse_doubles=3)
    hands, stock = ["11 22 40 30 10 20 50", "21 31 41 51 61 32 42"], "44 66 55 33 43 53"
    game = dealing(ruleset, hands=hands, stock=stock, leader=0)
    doubles = [tile for tile in game.playing.hands[0] if tile[0] == tile[1]]
    assert len(doubles) >= 3
    assert options(game)[0] == "66 lead"


def test_C06_the_last_of_many_deals_counts() -> None:
    """C.6 (annul_suit): Annul the hand for a redeal; but not for ever, so that every round ends."""
    hands = ["66 64 63 21 10 20 30", FIVE_FIVES]
    game = dealing("jordanian", hands=hands, leader=0)
    for _ in range(MOST_DEALS - 1):
        assert values.needs_deal(game)
        game = dealing("jordanian", hands=hands, after=game)
    assert options(game)[0] == "66 lead"


# --- C.7 to C.13: who leads ---


@pytest.mark.parametrize("first", ["lowest", "count", "double_six"])
def test_C07_lots_may_be_drawn_after_a_blocked_round(first: str) -> None:
    """C.7 (after_blocked, first): after a blocked hand the players draw again as at first, or for
    the highest tile where no lot was drawn at first."""
    ruleset = rules("draw", first=first, after_blocked="lot")
    leaders = set()
    for board in range(1, 30):
        deal = values.chance_decides(blocked_round(ruleset, "20", "60", "54"), seed(board))
        pips = [sum(lot.tile) for lot in deal.lots[-3:]]
        if len(deal.lots) == 3 and (first == "count" or len(set(pips)) == 3):
            leading_pips = {"lowest": min(pips), "double_six": max(pips)}.get(first)
            leader = sum(pips) % 3 if first == "count" else pips.index(leading_pips or 0)
            assert deal.leader == leader
            leaders.add(leader)
    assert leaders == {0, 1, 2}
    assert not values.chance_decides(round_won(ruleset, 0, seats=3), seed()).lots


def test_C08_the_highest_tile_drawn_leads() -> None:
    """C.8 (first): Players can draw for the highest tile. (Ambiguity 7: the tied draw again, the
    tiles go back, and everybody sees the lots.)"""
    ties = 0
    for board in range(1, 101):
        for seats in (2, 3, 4):
            game = shuffled("draw", seats, board)
            drawing, left = list(range(seats)), list(lots(game))
            while len(drawing) > 1:
                drawn, left = left[: len(drawing)], left[len(drawing) :]
                assert [lot.seat for lot in drawn] == drawing
                highest = max(sum(lot.tile) for lot in drawn)
                drawing = [lot.seat for lot in drawn if sum(lot.tile) == highest]
                ties += len(drawing) > 1
            assert not left
            assert drawing == [turn(game)]
    assert ties
    game = shuffled("draw", 2)
    second_lot = lots(game)[1]
    assert ask(game)["events"][1] == {"do": "lot", "seat": 1, "tile": list(second_lot.tile)}


def test_C08_the_lots_say_nothing_of_the_deal() -> None:
    """C.8 (first): They draw for the lead. (Ambiguity 7: the real deal has its own order.)"""
    for board in range(1, 21):
        by_lot = shuffled("draw", 3, board).playing
        at_random = shuffled(rules("draw", first="random"), 3, board).playing
        assert (by_lot.hands, by_lot.stock) == (at_random.hands, at_random.stock)


def test_C08_a_new_lot_for_every_round() -> None:
    """C.8 (first, later): Either initially or after a hand: players draw again."""
    ruleset = rules("draw", later="lot")
    deal = values.chance_decides(round_won(ruleset), seed())
    assert len(deal.lots) >= 2
    best = max(sum(lot.tile) for lot in deal.lots[-2:])
    assert sum(deal.lots[-2 + deal.leader].tile) == best


def test_C11_the_total_divided_by_the_number_of_players() -> None:
    """C.11 (first): All players draw a tile and expose them. The total is divided by the number of
    players, then one is added; the player (1 to n) of that number leads. (Only the remainder gives
    such a number.)"""
    check_counted(rules("draw", first="count"))


def test_C11_the_players_are_numbered_by_their_seats() -> None:
    """C.11 (first, direction): The players are numbered from 1 to (n): by their seats, whichever
    way the turn passes."""
    check_counted(rules("draw", first="count", direction="counter_clockwise"))


def check_counted(ruleset: Ruleset) -> None:
    for seats in (2, 3, 4):
        numbers = set()
        for board in range(1, 61):
            game = shuffled(ruleset, seats, board)
            drawn_lots = lots(game)
            assert [lot.seat for lot in drawn_lots] == list(range(seats))
            number = sum(sum(lot.tile) for lot in drawn_lots) % seats + 1
            assert turn(game) == number - 1
            numbers.add(number)
        assert numbers == set(range(1, seats + 1))


def guess_game() -> Game:
    """Return a caller, seat 1, before a total of 11 + 2."""
    game = values.new_game(rules("draw", first="odd_even"), 2)
    return values.begin(game, Dealt(1, 0, 1, (Lot(0, (6, 5)), Lot(1, (2, 0))), ((), ()), ()))


def test_C11_two_may_call_odd_or_even() -> None:
    """C.11 (first): In a two handed game the players can just call out "odd" or "even" as a guess
    what the total will be when they expose their tiles."""
    game = guess_game()
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
    question = ask(guess_game())
    assert question["events"] == []
    assert question["hand"] == []
    assert question["boneyard"] == {"tiles": 0, "drawable": 0}


def test_C11_the_caller_is_drawn_at_random() -> None:
    """C.11 (first): Just call out: one of the two, drawn at random, and the call comes before the
    deal."""
    game = values.new_game(rules("draw", first="odd_even"), 2)
    deals = [values.chance_decides(game, seed(board)) for board in range(20)]
    assert {deal.leader for deal in deals} == {0, 1}
    assert {deal.deal for deal in deals} == {0}
    assert {deal.hands for deal in deals} == {((), ())}


def test_C13_in_every_round_with_a_new_lot() -> None:
    """C.13 (later): The game must be started with the 6-6. (Ambiguity 14: in every round, with a
    new lot for who draws first.)"""
    before = round_won("six-six", leader=0)
    assert {values.chance_decides(before, seed(board)).leader for board in range(20)} == {0, 1}
    game = dealing("six-six", hands=["55 65", "66 11"], after=before)
    assert options(game) == ("66 lead",)
