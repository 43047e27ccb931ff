"""Policies: their worths against a plain reading, their chances, and what choices teach."""

from collections.abc import Sequence
from functools import cache
from math import exp

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import asdict, astuple, replace

from arena.analysis.timeline import Timeline
from arena.engine import values
from arena.engine.state import Game
from arena.rules.variants import find_variant
from arena.valuation.batch import DRAW_MOVE, MOVE_STRUCT, NO_TILE, PLAY_MOVE, RoundBatch
from arena.valuation.policy import (
    FEATURES,
    KEEN,
    PLAY_NAMES,
    UNIT,
    USUAL_POLICY,
    Choice,
    first_best,
    learn_policy,
    load_policies,
    play_out,
)
from arena.valuation.terms import Policy
from protocol.messages import Play, PlayTwo
from protocol.records import ChoiceRecord
from protocol.ruleset import Tile, set_of_tiles
from tests.support.games import any_of, log_game
from tests.support.positions import position

DRAW = find_variant("draw")


def features(game: Game, play: Play | PlayTwo) -> list[float]:
    """Return the features of a play, read from the game's own values."""
    state, tiles = game.playing, set_of_tiles(game.rules.deal)
    seat = state.turn
    hand, rival_hand = list(state.hands[seat]), state.hands[(seat + 1) % game.seats]
    line = [tile for tile in tiles if not any(tile in hand for hand in state.hands)]
    stock = [tile for tile, bit in state.table.bit.items()
             if any(bit in row for row in state.stock_rows) and tile in tiles]  # fmt: skip
    line = [tile for tile in line if tile not in stock]
    two = game.rules.turn.tiles == 2
    played = [play.left, play.right] if isinstance(play, PlayTwo) else [play.tile]
    rest = [tile for tile in hand if tile not in played]
    left, right = state.ends.left, state.ends.right
    if isinstance(play, PlayTwo):
        ends = sum(play.left) - left, sum(play.right) - right
    elif play.end == "lead":
        ends = play.tile
    else:
        total = sum(play.tile)
        ends = (total - left, right) if play.end == "left" else (left, total - right)

    def can_play(tiles: Sequence[Tile]) -> bool:
        left, right = ([tile for tile in tiles if end in tile] for end in ends)
        return any(tile != mate for tile in left for mate in right) if two else bool(left or right)

    fits = [tile for tile in rest if set(tile) & set(ends)]
    unseen = [tile for tile in tiles if tile not in hand and tile not in line]
    follow = [tile for tile in unseen if set(tile) & set(ends)]
    return [
        sum(map(sum, played)),
        sum(high == low for high, low in played),
        len(fits),
        can_play(rest),
        sum(set(ends) <= set(tile) for tile in fits),
        len({pip for tile in rest for pip in tile}),
        exp(-len(follow) * len(rival_hand) / max(len(unseen), 1)),
        not can_play(rival_hand),
        isinstance(play, PlayTwo) or play.end != "right",
        hand.index(played[0]),
    ]


def plays_in(games: Sequence[Game]) -> list[tuple[Game, Play | PlayTwo]]:
    return [
        (game, option)
        for game in games
        for option in values.legal(game)
        if isinstance(option, Play | PlayTwo)
    ]


NAMES = ["draw", "jordanian", "ukrainian", "austrian", "double-draw"]


@given(st.integers(1, 10_000), st.sampled_from(NAMES))
def test_each_worth_is_the_weighted_sum_of_what_the_play_does(board: int, name: str) -> None:
    timeline = Timeline(log_game(find_variant(name), 2, any_of(board), board=board))
    moments = [question.game for question in timeline.questions(0)][:20]
    games = [moment for moment in moments if moment.playing.phase.name == "play"]
    assume(games)
    batch = RoundBatch.from_games(games)
    policy = replace(USUAL_POLICY, place=-0.5)
    load_policies(batch.tables, (policy,) * 2)
    plays = batch.plays(with_worth=True)
    worths = {tuple(play[name] for name in ("row", *PLAY_NAMES)): play["worth"] for play in plays}
    for row, moment in enumerate(games):
        for _, option in plays_in([moment]):
            naive = np.dot(astuple(policy), features(moment, option)) * UNIT
            # Each of the parts is rounded to a thousandth.
            worth = worths[row, *batch.move(option)[1:]]
            assert abs(worth - naive) <= len(FEATURES)


def test_a_policy_plays_each_option_as_often_as_its_worth_says() -> None:
    """One pip less is e times likelier, and 6-1 and 1-0 differ by six."""
    # The round is blocked by either: what is left tells which was played.
    game = position("draw", hands=["61 10", "55"], line="25 51", stock="")
    rows, policy = 4000, Policy(pip=-1 / 6)
    batch = RoundBatch.from_games([game]).repeat(rows)
    gains = play_out(batch, [policy] * 2, np.arange(rows) * 7919)
    share = float(np.mean(gains[:, 0] == gains[:, 0].min()))
    assert len(np.unique(gains[:, 0])) == 2
    assert share == pytest.approx(exp(1) / (1 + exp(1)), abs=0.03)
    assert len(np.unique(play_out(batch, [policy] * 2), axis=0)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_playout_without_noise_takes_the_plays_of_the_highest_worth(name: str) -> None:
    """In each turn a seat that can play takes its best play, the first of equal ones."""
    timeline = Timeline(log_game(find_variant(name), 2, any_of(5), board=5))
    games = [question.game for question in timeline.questions(0)]
    batch = RoundBatch.from_games([game for game in games if game.playing.phase.name == "play"])
    policies = replace(USUAL_POLICY, place=-0.5), KEEN
    gains, before = play_out(batch, policies), batch.scores
    while (rows := np.flatnonzero(~batch.is_over)).size:
        load_policies(batch.tables, policies)
        open_rounds = batch.select(rows)
        plays = open_rounds.plays(with_worth=True)
        best = first_best(plays["worth"], plays["row"])
        moves = np.zeros(len(rows), MOVE_STRUCT)
        for name in PLAY_NAMES:
            moves[name] = plays[name][best]
        draws = (moves["first"] == NO_TILE) & (open_rounds.choices()["draws"] != 0)
        moves["kind"] = np.where(draws, DRAW_MOVE, PLAY_MOVE)
        batch.act(rows, moves)
    assert (batch.scores - before == gains).all()


def test_noise_follows_from_the_seed_of_a_round_alone() -> None:
    game = values.new_game(DRAW, 2)
    game = values.begin(game, values.chance_decides(game, bytes([7] * 32)))
    batch, seeds = RoundBatch.from_games([game]).repeat(64), np.arange(64) * 101
    gains = play_out(batch, [USUAL_POLICY, KEEN], seeds)
    assert len(np.unique(gains, axis=0)) > 1
    order = np.arange(63, -1, -1)
    assert (play_out(batch.select(order), [USUAL_POLICY, KEEN], seeds[order]) == gains[order]).all()
    assert len(np.unique(play_out(batch, [USUAL_POLICY, KEEN]), axis=0)) == 1


TRUE = Policy(pip=0.5, double=3.0, fits=1.5, safe=1.0, left=0.5)


@cache
def choices_by(policy: Policy, boards: range = range(12)) -> list[Choice]:
    """Return choices that are made with just the chances of a policy."""
    choices = []
    for board in boards:
        game = log_game(DRAW, 2, any_of(board), board=board)
        for question in Timeline(game).questions(0):
            plays = [play for _, play in plays_in([question.game])]
            if len(plays) > 1:
                matrix = np.array([features(question.game, play) for play in plays])
                worths = matrix @ np.array(astuple(policy))
                chances = np.exp(worths - worths.max())
                rng = np.random.default_rng([board, question.number])
                index = rng.choice(len(plays), p=chances / chances.sum())
                choices.append(Choice(question.game, plays[index], board))
    return choices


def test_a_policy_is_learnt_from_its_choices() -> None:
    choices = choices_by(TRUE)
    learnt = learn_policy(choices)
    assert learnt.choices == len(choices) > 200
    for weight in ("pip", "double", "fits"):
        assert getattr(learnt.policy, weight) == pytest.approx(getattr(TRUE, weight), rel=0.35)
    assert learnt.foreseen > 0.6


def test_boards_foresee_nothing_of_themselves() -> None:
    """Noise is foreseen by chance alone, and a bot that turns round on other boards not at all."""
    choices = choices_by(TRUE)
    board_choices = [choice._replace(board=1) for choice in choices]
    assert learn_policy(board_choices).foreseen == 0
    opposite = Policy(**{name: -10.0 * weight for name, weight in asdict(TRUE).items()})
    keen = Policy(**{name: 10.0 * weight for name, weight in asdict(TRUE).items()})
    steady = learn_policy(choices_by(keen)).foreseen
    turned = [choice for choice in choices_by(keen) if choice.board % 2]
    turned += choices_by(opposite, range(0, 12, 2))
    assert learn_policy(turned).foreseen < steady / 3


def test_nothing_teaches_the_usual_policy() -> None:
    assert learn_policy([]).policy == USUAL_POLICY
    assert learn_policy(choices_by(TRUE)[:3]).policy != USUAL_POLICY


def test_forced_plays_and_draws_are_no_choices() -> None:
    timeline = Timeline(log_game(DRAW, 2, any_of(3)))
    plays = list(timeline.chosen_plays(0))
    asks = [ask for ask in timeline.questions(0) if isinstance(ask.answer, ChoiceRecord)]
    assert 0 < len(plays) < len(asks)
    assert all(len(plays_in([game])) > 1 for game, _ in plays)


def test_policies_that_ctrl_c_cut_short_are_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = position("draw", hands=["61 10", "55"], line="25 51", stock="")
    batch = RoundBatch.from_games([game])
    # They choose otherwise: one sheds pips, the other keeps them.
    light, heavy = (Policy(pip=1.0),) * 2, (Policy(pip=-1.0),) * 2
    expected = play_out(batch, light)
    assert (play_out(batch, heavy) != expected).any()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("arena.valuation.policy._packed", interrupt)
        with pytest.raises(KeyboardInterrupt):
            load_policies(batch.tables, light)
    assert (play_out(batch, light) == expected).all()
