"""Worlds replay to what the seat saw, and come as often as chance would deal them."""

from collections import Counter
from contextlib import suppress
from itertools import chain, combinations, islice
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from arena.analysis.alternative_deals import InconsistentDealError, StopAt, public, replay_round
from arena.analysis.timeline import AskedQuestion, Timeline
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.valuation import worlds
from arena.valuation.worlds import (
    HiddenTiles,
    TileNumbers,
    UncoveredError,
    hidden_tiles,
    sampled_tiles,
)
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.fast_run import examples, slow_except
from tests.support.games import any_of, overheard
from tests.support.rulesets import rules_and_seats

UNCOVERED = ("auction-draw", "ukrainian")
"""Games of which some or all questions need the general chain."""
FAST = ("draw", "dutch", "partnership")
WORLDS = 16


def cases(rules: Ruleset, seats: int, seed: int) -> list[tuple[AskedQuestion, HiddenTiles | None]]:
    """Return the questions with several options of a short random game; None: not covered."""
    short_rules = derive(rules, rules.name, {"rounds": 3})
    logged, _ = overheard(short_rules, seats, any_of(seed))
    pairs = []
    for question in chain(*map(Timeline(logged).questions, range(seats))):
        if len(question.options) > 1:
            try:
                hidden = hidden_tiles(question.game, question.history.deals[-1])
            except UncoveredError:
                hidden = None
            pairs.append((question, hidden))
    return pairs


def stop_at(question: AskedQuestion) -> StopAt:
    acts, phase = len(question.history.acts), question.game.playing.phase.name
    return StopAt(question.seat, acts, phase)


def replay(question: AskedQuestion, hidden: HiddenTiles, tiles: TileNumbers) -> Game:
    """Return the table to which the same moves lead in a world; `tiles`: those of its places."""
    tile = question.game.settings.table.tile
    moved = {tile[old]: tile[1 << int(new)] for old, new in zip(hidden.tiles, tiles, strict=True)}
    *before, dealt = question.history.deals
    hands, stock = (
        tuple(tuple(moved.get(tile, tile) for tile in row) for row in rows)
        for rows in (dealt.hands, dealt.stock)
    )
    history = question.history._replace(deals=(*before, replace(dealt, hands=hands, stock=stock)))
    *_, last = replay_round(history, stop_at(question))
    return last.game


def check_worlds(rules: Ruleset, seats: int, seed: int) -> tuple[int, int]:
    """Replay worlds of every other question; return how many were tried, and were covered."""
    questions = cases(rules, seats, seed)[::2]
    covered_cases = [(question, hidden) for question, hidden in questions if hidden]
    samples = sampled_tiles([hidden for _, hidden in covered_cases], WORLDS)
    for (question, hidden), tiles in zip(covered_cases, samples, strict=True):
        assert all(tile & mask for tile, mask in zip(hidden.tiles, hidden.allowed(), strict=True))
        for world in (0, WORLDS - 1):
            game = replay(question, hidden, tiles[:, world])
            assert public(game, question.seat) == public(question.game, question.seat)
    return len(questions), len(covered_cases)


@pytest.mark.parametrize("name", slow_except(FAST, VARIANTS))
def test_every_world_replays_to_the_same_question(name: str) -> None:
    for seats in playable_seat_counts(find_variant(name))[:2]:
        count, covered_count = check_worlds(find_variant(name), seats, seed=seats)
        assert name in UNCOVERED or count == covered_count


def test_the_first_of_two_tiles_drawn_at_once_may_fit() -> None:
    rules = derive(find_variant("dutch"), "at once", {"draw_limit": "two_at_once"})
    for seed in range(4):
        count, covered_count = check_worlds(rules, 2, seed)
        assert count == covered_count


# Slow: worlds of any ruleset, whatever its choices are, are possible ones.
@pytest.mark.slow
@examples(10)
@given(rules_and_seats(), st.integers(0, 2**32))
def test_worlds_of_any_ruleset_replay_to_the_same_question(
    table: tuple[Ruleset, int], seed: int
) -> None:
    check_worlds(*table, seed)


def test_the_same_question_gets_the_same_worlds_alone_and_among_others() -> None:
    hidden = [tiles for _, tiles in cases(find_variant("draw"), 2, 1) if tiles]
    samples = sampled_tiles(hidden, WORLDS)
    for tiles, sample in islice(zip(hidden, samples, strict=True), 0, None, 9):
        assert (sampled_tiles([tiles], WORLDS)[0] == sample).all()


# --- how often worlds come ---

TIGHT = {
    "passes": derive(find_variant("draw"), "tight", {"hand": 13}),
    "pairs": derive(find_variant("double-draw"), "tight", {"hand": 12, "draw_limit": 0}),
    "suits": derive(find_variant("block"), "tight", {"hand": 13, "annul_suit": 7}),
}
"""Games in which the few tiles that nobody holds name a world."""
EACH = {"passes": 7, "pairs": 7, "suits": 28}
"""Of how many questions one is tried: those of "suits" have most worlds, and take longest."""
SAMPLED = 4_000
Left = frozenset[int]


def possible_stocks(question: AskedQuestion, hidden: HiddenTiles) -> set[Left]:
    """Return the tiles that may be left in the boneyard, found by trying."""
    stocks = set[Left]()
    truth = [bit.bit_length() - 1 for bit in hidden.tiles]
    stock = [index for index, place in enumerate(hidden.places) if place.holder is None]
    for left in combinations(range(len(truth)), len(stock)):
        tiles = truth.copy()
        # Who lies in the boneyard changes places with who must not.
        wrong, free = sorted({*left} - {*stock}), sorted({*stock} - {*left})
        for index, target in zip(wrong, free, strict=True):
            tiles[index], tiles[target] = tiles[target], tiles[index]
        with suppress(InconsistentDealError):
            game = replay(question, hidden, np.array(tiles, np.uint8))
            if public(game, question.seat) == public(question.game, question.seat):
                stocks.add(frozenset(tiles[index] for index in stock))
    return stocks


@pytest.mark.parametrize("game", slow_except(("passes", "pairs"), TIGHT))
def test_every_possible_world_comes_as_often_as_the_next(game: str) -> None:
    counts = []
    for question, hidden in islice(cases(TIGHT[game], 2, 5), 5, None, EACH[game]):
        assert hidden
        stock = [index for index, place in enumerate(hidden.places) if place.holder is None]
        sampled = sampled_tiles([hidden], SAMPLED)[0][stock].T.tolist()
        frequencies, expected = Counter(map(frozenset, sampled)), possible_stocks(question, hidden)
        assert set(frequencies) == expected
        mean, free = SAMPLED / len(expected), len(expected) - 1
        chi = sum((frequencies[left] - mean) ** 2 / mean for left in expected)
        assert chi <= free + 4.5 * (2 * free) ** 0.5, f"{frequencies} of {expected}"
        counts.append(len(expected))
    assert min(counts) < max(counts), counts


def sampled_shares(question: AskedQuestion, hidden: HiddenTiles, count: int) -> NDArray[np.float64]:
    """Return for each other seat and tile the share of worlds in which it holds the tile."""
    tiles, size = sampled_tiles([hidden], count)[0], len(question.game.settings.table.tiles)
    seats = [seat for seat in range(question.game.seats) if seat != question.seat]
    shares = np.zeros((len(seats), size))
    for row, seat in enumerate(seats):
        hands = tiles[[place.holder == seat for place in hidden.places]]
        for tile in range(size):
            if hidden.unseen >> tile & 1:
                shares[row, tile] = (hands == tile).any(axis=0).mean()
    return shares


def known_questions(rules: Ruleset, seats: int) -> list[tuple[AskedQuestion, HiddenTiles]]:
    """Return the two questions of a game at which most is known of the hidden tiles."""

    def facts(hidden: HiddenTiles) -> int:
        excluded = sum((hidden.unseen & place.excluded).bit_count() for place in hidden.places)
        return excluded + 10 * sum(limit.tile_count == 2 for limit in hidden.limits)

    pairs = [(question, hidden) for question, hidden in cases(rules, seats, 7) if hidden]
    return sorted(pairs, key=lambda pair: facts(pair[1]), reverse=True)[:2]


TABLES = [("draw", 2), ("dutch", 2), ("dutch", 3), ("double-draw", 2), ("double-draw", 3)]
TABLES += [("puerto-rico", 3), ("partnership", 4), ("jordanian", 2), ("vietnamese", 2)]


@pytest.mark.parametrize(("name", "seats"), slow_except(TABLES[:1], TABLES[::2]))
def test_more_rounds_lead_to_no_other_worlds(name: str, seats: int) -> None:
    for question, hidden in known_questions(find_variant(name), seats):
        usual = sampled_shares(question, hidden, 500)
        with (
            mock.patch.object(worlds, "MIXING_ROUNDS", 400),
            mock.patch.object(worlds, "BOUND_ROUNDS", 1_000),
        ):
            worlds._circles.cache_clear()
            long = sampled_shares(question, hidden, 500)
        worlds._circles.cache_clear()
        assert np.abs(usual - long).max() < 4.5 * (0.5 / 500) ** 0.5
