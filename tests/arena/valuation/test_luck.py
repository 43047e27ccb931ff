"""The luck of deals and draws: nothing on average, and the same numbers always."""

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from arena.analysis.timeline import Timeline, deal_of
from arena.engine import values
from arena.engine.deal import arrange_stock, lay_out
from arena.engine.state import Dealt
from arena.logs.gamelog import LoggedGame
from arena.match.referee import OpenQuestion
from arena.rules.variants import derive, find_variant
from arena.valuation.luck import (
    LUCK_DECIMALS,
    MEAN_DEALS,
    DrawLuck,
    GameLuck,
    _DealOrders,
    luck_of_games,
    weight_of,
)
from arena.valuation.terms import LuckTerms, Policy
from protocol.messages import Clock, Draw, Drew
from protocol.records import ChoiceRecord, DealRecord, GameRecord
from protocol.ruleset import Ruleset, Tile, set_of_tiles
from tests.support.fast_run import FAST_TABLES, NAMED_TABLES, slow_except
from tests.support.games import NAMES, any_of, log_game
from tests.support.tables import sitting

TINY = derive(
    find_variant("draw"),
    "tiny",
    {"hand": 1, "reserve": 25, "first": "random", "target": 50, "max_rounds": 1},
)
"""One tile may be drawn, and then both hands are known: no playout depends on chance."""


def short(name: str) -> Ruleset:
    """Return a named game, over after a round."""
    rounds = 1 if find_variant(name).game.rounds else 0
    return derive(find_variant(name), name, {"max_rounds": 1, "rounds": rounds})


def draws_if_able(question: OpenQuestion) -> int:
    options = question.options
    return options.index(Draw()) if Draw() in options else 0


def luck_of(game: LoggedGame, policies: Sequence[Policy] = (), *, deals: bool = True) -> GameLuck:
    return luck_of_games([Timeline(game)], LuckTerms(tuple(policies), deals=deals))[0]


def tiny_game(drawn: Tile) -> LoggedGame:
    """Return a game in which seat 0 holds 6-6 and draws this tile, and seat 1 holds 1-1."""
    rest = [tile for tile in set_of_tiles(TINY.deal) if tile not in ((6, 6), (1, 1), drawn)]
    deal = DealRecord(
        round=1, deal=1, leader=0, lots=(), hands=(((6, 6),), ((1, 1),)), stock=((drawn, *rest),)
    )
    game_record = GameRecord(game="1.tiny", number=1, board=1, commitment="0" * 64)
    draw = ChoiceRecord(seat=0, id=1_000_001, choice=1, ms=0.0)
    return LoggedGame(sitting(NAMES[:2], (1,), TINY, Clock()), game_record, (deal, draw), None)


def tiny_worth(drawn: Tile) -> tuple[int, int]:
    """Return what each seat scores: the 6-6 is led, and then only another six can be played."""
    if 6 in drawn:
        return 2, 0  # It goes out, and seat 1 is left with the 1-1.
    lead = 2 - sum(drawn)
    return max(lead, 0), max(-lead, 0)


HEAVY_FIRST = [Policy(pip=20.0, double=1000.0)] * 2


def draw_luck(game: LoggedGame) -> DrawLuck:
    """Return the luck of the only draw, if both play doubles first and then the heaviest tile."""
    (draw,) = [draw for draw in luck_of(game, HEAVY_FIRST).draws if draw.tile]
    return draw


def test_the_luck_of_a_tile_is_its_worth_less_the_mean_of_all_tiles() -> None:
    """The mean is the same whichever tile came: else what a bot is owed would depend on it."""
    tiles = [tile for tile in set_of_tiles(TINY.deal) if tile not in ((6, 6), (1, 1))]
    worths = np.array([tiny_worth(tile) for tile in tiles])
    draws = [draw_luck(tiny_game(tile)) for tile in tiles]
    assert [(draw.record, draw.round, draw.seat) for draw in draws] == [(1, 1, 0)] * len(tiles)
    assert [draw.tile for draw in draws] == tiles
    means = worths - np.array([draw.points for draw in draws]) / weight_of(())
    # The tiles come equally often, so the mean is that of all of them.
    assert np.abs(means - worths.mean(axis=0)).max() <= 2 * 10**-LUCK_DECIMALS
    # There is one round, so the share is that of its winner.
    assert all(draw.share[0] == -draw.share[1] for draw in draws)


def test_luck_does_not_depend_on_the_games_computed_with_it() -> None:
    games = [log_game(find_variant("draw"), 2, any_of(board), board=board) for board in (1, 2)]
    timelines = [*map(Timeline, games)]
    assert luck_of_games(timelines) == [luck_of_games([timeline])[0] for timeline in timelines]


@pytest.mark.parametrize(
    ("name", "changes"), [("jordanian", {}), ("ukrainian", {"missing": "redeal"}), ("draw", {})]
)
def test_a_deal_is_compared_with_deals_that_count(name: str, changes: dict[str, str]) -> None:
    rules = derive(find_variant(name), name, {**changes, "max_rounds": 1})
    game = log_game(rules, 2, any_of(3))
    before = values.new_game(rules, 2)
    (deal,) = [record for record in game.records if isinstance(record, DealRecord)][-1:]
    laid_out = before.copy()
    lay_out(laid_out, replace(deal_of(deal), deal=1))
    deals = _DealOrders(laid_out, "label").all_deals()
    tiles, size = set_of_tiles(rules.deal), len(deal.hands[0])
    assert len(deals) == 2 * MEAN_DEALS
    for row, turned in zip(deals[:MEAN_DEALS].tolist(), deals[MEAN_DEALS:].tolist(), strict=True):
        assert sorted(row) == sorted(turned) == list(range(len(tiles)))
        assert turned[: 2 * size] == row[size : 2 * size] + row[:size]
        hands = tuple(
            tuple(sorted(tiles[number] for number in row[seat * size : (seat + 1) * size]))
            for seat in range(2)
        )
        stock = arrange_stock(rules.boneyard, tuple(tiles[number] for number in row[2 * size :]), 2)
        dealt = Dealt(1, 1, deal.leader, deal.lots, hands, stock)
        assert values.begin(before, dealt).playing.phase.name != "deal"


@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, NAMED_TABLES))
def test_every_named_game_has_luck_where_tiles_are_drawn(name: str, seats: int) -> None:
    rules = short(name)
    game = log_game(rules, seats, draws_if_able)
    total = luck_of(game)
    deals = [draw for draw in total.draws if draw.tile is None]
    records = [record for record in game.records if isinstance(record, DealRecord)]
    assert 1 <= len(deals) <= sum(bool(record.hands[0]) for record in records)
    assert luck_of(game, deals=False).draws == tuple(draw for draw in total.draws if draw.tile)
    assert len(total.points) == len(total.share) == seats
    # What one wins of a pair the other loses; each share is of all others.
    assert sum(total.share) == pytest.approx(0, abs=1e-4)
    if rules.deal.partners:
        assert total.points[:2] == total.points[2:]
        assert total.share[:2] == total.share[2:]
    for draw in total.draws:
        assert 0 <= draw.record < len(game.records)


def test_each_of_two_tiles_drawn_at_once_has_its_luck() -> None:
    rules = derive(short("dutch"), "at once", {"draw_limit": "two_at_once"})
    game = log_game(rules, 2, any_of(5))
    events = [event for moment in Timeline(game).moments for event in moment.events]
    tiles = [event.tile for event in events if isinstance(event, Drew)]
    assert len(tiles) > 2
    assert [draw.tile for draw in luck_of(game).draws if draw.tile] == tiles


def test_games_of_a_board_that_come_to_the_same_state_have_the_same_luck() -> None:
    game = log_game(short("draw"), 2, any_of(5))
    turned_game = replace(
        game,
        sitting=replace(game.sitting, seats=game.sitting.seats[::-1]),
        game=replace(game.game, game="2.game"),
    )
    assert luck_of(turned_game) == luck_of(game)
    elsewhere = replace(game, game=replace(game.game, board=2))
    assert luck_of(elsewhere) != luck_of(game)


def test_a_game_that_was_cut_off_has_the_luck_of_its_draws_so_far() -> None:
    game = log_game(short("draw"), 2, any_of(5))
    luck = luck_of(game)
    cut_game = replace(game, records=game.records[: luck.draws[4].record + 1], result=None)
    assert luck_of(cut_game).draws == luck.draws[:5]


@pytest.mark.parametrize(
    ("foreseen", "weight"),
    [((), 0.6), ((0.5, 0.9), 0.6), ((0.84, 0.98), 0.775), ((1.0, 1.0), 0.95)],
)
def test_the_less_is_foreseen_the_less_luck_counts(
    foreseen: tuple[float, ...], weight: float
) -> None:
    assert weight_of(foreseen) == pytest.approx(weight)
    game = log_game(short("draw"), 2, any_of(5))
    (luck,) = luck_of_games([Timeline(game)], LuckTerms(foreseen=foreseen))
    ratio = weight / weight_of(())
    assert luck.points == pytest.approx([ratio * gain for gain in luck_of(game).points], abs=1e-4)


def test_events_of_one_name_share_no_noise() -> None:
    """Shared by all boards of a number, it would be in no interval of events rated together."""
    game = log_game(short("draw"), 2, any_of(5))
    twin = replace(game, game=replace(game.game, commitment="f" * 64))
    assert luck_of(game) != luck_of(twin)
