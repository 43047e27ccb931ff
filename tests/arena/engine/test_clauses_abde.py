"""The Dutch (A) and the plain Drawing Game (B), old Draw (D) and Double Draw (E), by clause."""

# ruff: noqa: N802 - a test is called as its clause is.

from collections import Counter

from protocol.messages import Leads, Lot, TurnedUp
from protocol.ruleset import tile_set
from tests.support.positions import REST, ask, do, hand, options, position, rules, shuffled

LINE = "13 32"
"""A line whose ends are 1 and 2; with 2-1 on its right end both are 1."""


def leaders(name: str, seats: int) -> Counter[int]:
    """Return who leads the first round of many games."""
    return Counter(shuffled(name, seats, board).playing.leader for board in range(1, 201))


# --- what A and B say in the same words ---


def check_leader_is_random(name: str) -> None:
    for seats in (2, 3, 4):
        led = leaders(name, seats)
        assert set(led) == set(range(seats))
        assert min(led.values()) > 200 / seats / 2
        game = shuffled(name, seats)
        assert game.playing.events == (Leads(game.playing.leader),)


# --- A: the Dutch Drawing Game ---


def test_A_gameplay_the_leader_is_random() -> None:
    """A gameplay (first): The leading player should be chosen randomly. (Ambiguity 7: no lot is
    drawn for it.)"""
    check_leader_is_random("dutch")


# --- B: the Drawing Game ---


def test_B_gameplay_the_leader_is_random() -> None:
    """B gameplay (first): The leading player should be chosen randomly."""
    check_leader_is_random("drawing-game")


# --- D: the old Draw Game ---


def test_D_shuffle_no_position_is_known() -> None:
    """D shuffle (none): Mixing them about to prevent the position of any domino being known."""
    tiles = {shuffled("old-draw", 2, board).playing.hands[0][0] for board in range(1, 301)}
    assert tiles == set(tile_set(6))


def test_D_first_pose_the_lowest_drawn_domino_leads() -> None:
    """D first pose (first): Each player draws and turns up one domino, the holder of the lowest
    number of points having the preference. (Ambiguity 7: the tied draw again.)"""
    ties = 0
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
                ties += len(tied) > 1
            assert not left
            assert tied == [state.leader]
            assert state.events == (*lots, Leads(state.leader))
    assert ties


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
        by_lot_of_all.add(next(index for index, row in enumerate(places) if lot in row))
    assert by_lot_of_all == {0, 1, 2}


def test_D_first_pose_everybody_sees_the_lots() -> None:
    """D first pose (first): Each player drawing and turning up one domino."""
    game = shuffled("old-draw", 2)
    lot = game.playing.events[0]
    assert isinstance(lot, Lot)
    lot_event = {"do": "lot", "seat": 0, "tile": list(lot.tile)}
    assert ask(game, 0)["events"][0] == ask(game, 1)["events"][0] == lot_event


def test_D_draw_as_many_as_he_pleases_whether_he_can_match_or_not() -> None:
    """D draw (draw_when_able, draw_limit): After the lead, the player who has to pose may draw as
    many pieces as he pleases, whether he can match or not. The right of drawing is unlimited."""
    game = position("old-draw", hands=["61 50", "40"], line=LINE, stock=REST)
    stock = ask(game)["boneyard"]["tiles"]
    assert stock == 28 - 5
    for _ in range(stock):
        assert options(game)[-1] == "draw"
        game = do(game, "draw")
    assert ask(game)["boneyard"] == {"tiles": 0, "drawable": 0}
    assert len(hand(game, 0)) == 25
    # With all of them in hand he must pose (ambiguity 3).
    assert not {"draw", "pass"} & set(options(game))


# --- E: Double Draw ---


def test_E_deal_one_player_is_picked_to_be_the_dealer() -> None:
    """E deal (first): One player is picked to be the dealer: so at first it is random who sits to
    his left and begins."""
    assert set(leaders("double-draw", 3)) == {0, 1, 2}


def test_E_deal_one_tile_is_turned_face_up() -> None:
    """E deal (starter): The dealer draws one tile at random from the remainder and turns it face up
    on the table."""
    starters = set()
    for board in range(1, 101):
        game = shuffled("double-draw", 2, board)
        state = game.playing
        (starter,) = state.line
        assert state.events[-1] == TurnedUp(starter)
        assert not any(starter in row for row in (*state.hands, *state.stock))
        starters.add(starter)
        for seat in (0, 1):
            question = ask(game, seat)
            assert question["line"] == [list(starter)]
            assert question["events"][-1] == {"do": "turn_up", "tile": list(starter)}
            assert question["ends"] == list(starter)
    assert len(starters) > 20
